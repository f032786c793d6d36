"""Functions of neural networks, as modules use them: what the ops declare for this namespace."""

# Written by `make stubs` from the declared functions and docs/stub_types.py.
# ruff: noqa

from ..base.dtypes import dtype
from ..core.tensor import Tensor
from ..random import Generator
from ..types import Number
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload
from ..ops.products.scaled import ScalingType as ScalingType, SwizzleType as SwizzleType

def adaptive_avg_pool1d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """The means of ``output_size`` nearly equal parts of a signal."""
    ...
def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means of a grid of ``output_size`` nearly equal parts of an image."""
    ...
def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means of a grid of ``output_size`` nearly equal parts of a volume."""
    ...
@overload
def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int | None] | None,
                        return_indices: Literal[False] = False) -> Tensor:
    """The largest values of ``output_size`` nearly equal parts of a signal."""
    ...
@overload
def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int | None] | None, *,
                        return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest values of ``output_size`` nearly equal parts of a signal."""
    ...
@overload
def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int | None] | None,
                        return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest values of ``output_size`` nearly equal parts of a signal."""
    ...
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: int | Sequence[int] | None,
                                     return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool1d`, and where in a signal each maximum lies."""
    ...
@overload
def adaptive_max_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None,
                        return_indices: Literal[False] = False) -> Tensor:
    """The largest values of a grid of ``output_size`` nearly equal parts of an image."""
    ...
@overload
def adaptive_max_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None, *,
                        return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest values of a grid of ``output_size`` nearly equal parts of an image."""
    ...
@overload
def adaptive_max_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None,
                        return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest values of a grid of ``output_size`` nearly equal parts of an image."""
    ...
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: int | Sequence[int] | None,
                                     return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool2d`, and where in an image each maximum lies."""
    ...
@overload
def adaptive_max_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None,
                        return_indices: Literal[False] = False) -> Tensor:
    """The largest values of a grid of ``output_size`` nearly equal parts of a volume."""
    ...
@overload
def adaptive_max_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None, *,
                        return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest values of a grid of ``output_size`` nearly equal parts of a volume."""
    ...
@overload
def adaptive_max_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None,
                        return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest values of a grid of ``output_size`` nearly equal parts of a volume."""
    ...
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: int | Sequence[int] | None,
                                     return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool3d`, and where in a volume each maximum lies."""
    ...
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Where each map of ``theta`` takes the elements of images or volumes of ``size``."""
    ...
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                  inplace: bool = False) -> Tensor:
    """Dropout to the value that keeps mean and variance of :func:`selu` units."""
    ...
def avg_pool1d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """The mean of every window of a signal."""
    ...
def avg_pool2d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The mean of every window of an image.

    The mean of each window, which shares the gradient equally.

    >>> F.avg_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """
    ...
def avg_pool3d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The mean of every window of a volume."""
    ...
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
               weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Mean 0 and variance 1 for each channel over the batch, then scaled and shifted.

        Without ``training`` the running statistics take the place of the batch's own.
        

    ``y = (x - mean) / √(var + eps) · weight + bias`` for each channel: of the batch in
    training, else of the running averages.

    >>> F.batch_norm(torch.tensor([[1.0], [3.0]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    ...
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2`` for each k, plus ``bias``, over the last dimensions."""
    ...
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                         size_average: bool | None = None, reduce: bool | None = None,
                         reduction: str = 'mean') -> Tensor:
    """Minus the log-likelihood of ``target`` under the probabilities ``input``."""
    ...
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None, reduce: bool | None = None,
                                     reduction: str = 'mean',
                                     pos_weight: Tensor | None = None) -> Tensor:
    """Binary cross entropy of ``target`` under the sigmoid of ``input``.

    The mean of ``-t · log σ(x) - (1 - t) · log(1 - σ(x))`` with
    ``σ`` the sigmoid, without overflow.

    >>> F.binary_cross_entropy_with_logits(torch.tensor([0.0, 2.0]), torch.tensor([0.0, 1.0]))
    tensor(0.4100)
    """
    ...
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """An :func:`elu` whose slope is continuous for every ``alpha``."""
    ...
def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """In-place version of :func:`celu`."""
    ...
def channel_shuffle(input: Tensor, groups: int, *, out: Tensor | None = None) -> Tensor:
    """Channels in another order: the first of each group, then the second of each."""
    ...
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
           stride: int | Sequence[int] = 1, padding: int | Sequence[int] | str = 0,
           dilation: int | Sequence[int] = 1, groups: int = 1) -> Tensor:
    """The cross-correlation of a batch of signals with ``weight``."""
    ...
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
           stride: int | Sequence[int] = 1, padding: int | Sequence[int] | str = 0,
           dilation: int | Sequence[int] = 1, groups: int = 1) -> Tensor:
    """The cross-correlation of a batch of images with ``weight``.

    ``y[o, r, c] = bias[o] + Σ weight[o, i, u, v] · x[i, r·stride + u, c·stride + v]`` over a
    padded input.

    >>> F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    ...
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
           stride: int | Sequence[int] = 1, padding: int | Sequence[int] | str = 0,
           dilation: int | Sequence[int] = 1, groups: int = 1) -> Tensor:
    """The cross-correlation of a batch of volumes with ``weight``."""
    ...
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0, *,
             out: Tensor | None = None) -> Tensor:
    """:func:`conv1d` of signals of (time, batch, channels) with kernels of (time, in, out)."""
    ...
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
                     stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     output_padding: int | Sequence[int] = 0, groups: int = 1,
                     dilation: int | Sequence[int] = 1) -> Tensor:
    """The transpose of :func:`conv1d` as a map of its input."""
    ...
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
                     stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     output_padding: int | Sequence[int] = 0, groups: int = 1,
                     dilation: int | Sequence[int] = 1) -> Tensor:
    """The transpose of :func:`conv2d` as a map of its input."""
    ...
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
                     stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     output_padding: int | Sequence[int] = 0, groups: int = 1,
                     dilation: int | Sequence[int] = 1) -> Tensor:
    """The transpose of :func:`conv3d` as a map of its input."""
    ...
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: bool | None = None, reduce: bool | None = None,
                          reduction: str = 'mean') -> Tensor:
    """One minus the cosine for similar pairs, the cosine above ``margin`` for others."""
    ...
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between ``x1`` and ``x2`` along ``dim``.

    ``y = a · b / max(|a| |b|, eps)`` along ``dim``.

    >>> F.cosine_similarity(torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0]), dim=0)
    tensor(0.7071)
    """
    ...
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                  size_average: bool | None = None, ignore_index: int = -100,
                  reduce: bool | None = None, reduction: str = 'mean',
                  label_smoothing: float = 0.0) -> Tensor:
    """Minus the log-likelihood of the target classes under softmax of ``input``.

        ``target`` holds class indices, or a probability for every class.
        

    The mean of ``-log softmax(input)[i, target[i]]``; the gradient of the scores is
    ``(softmax - one_hot(target)) · g / n``. A target may also be probabilities of classes.

    >>> F.cross_entropy(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1]))
    tensor(0.2201)
    """
    ...
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
             target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: str = 'mean',
             zero_infinity: bool = False) -> Tensor:
    """Minus the log-likelihood of sequences of labels under log-probabilities at each time."""
    ...
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """``input`` with elements zeroed at random and the rest scaled up, while training.

    In training each element is zero with probability ``p``, and the others are
    ``x / (1 - p)``.

    >>> F.dropout(torch.ones(3), p=0.5, training=False)
    tensor([1., 1., 1.])
    """
    ...
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:
    """Dropout of whole channels."""
    ...
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:
    """Dropout of whole channels."""
    ...
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:
    """Dropout of whole channels."""
    ...
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input``, bent towards ``-alpha`` where it is negative.

    ``y = x`` where ``x > 0``, else ``alpha · (e^x - 1)``.

    >>> F.elu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    ...
def elu_(input: Tensor, alpha: Number = 1.0, scale: Number = 1, input_scale: Number = 1) -> Tensor:
    """In-place version of :func:`elu`."""
    ...
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """The rows of ``weight`` at the indices ``input``; no gradient reaches row ``padding_idx``.

    The rows of ``weight`` that ``input`` names; a row's gradient is the sum over its uses.

    >>> F.embedding(torch.tensor([1, 0, 1]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.],
            [3., 4.]])
    """
    ...
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None,
                  max_norm: float | None = None, norm_type: float = 2,
                  scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> Tensor:
    """The sum, mean or maximum of the rows of ``weight`` that each bag of indices lists."""
    ...
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                          inplace: bool = False) -> Tensor:
    """:func:`alpha_dropout` of whole channels."""
    ...
def fold(input: Tensor, output_size: int | Sequence[int], kernel_size: int | Sequence[int],
         dilation: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
         stride: int | Sequence[int] = 1) -> Tensor:
    """Add columns up into images, each where :func:`unfold` would take it from."""
    ...
@overload
def fractional_max_pool2d(input: Tensor, kernel_size: int | Sequence[int],
                          output_size: int | Sequence[int] | None = None,
                          output_ratio: float | Sequence[float] | None = None,
                          return_indices: Literal[False] = False,
                          _random_samples: Tensor | None = None) -> Tensor:
    """The largest values of windows at random distances in an image."""
    ...
@overload
def fractional_max_pool2d(input: Tensor, kernel_size: int | Sequence[int],
                          output_size: int | Sequence[int] | None = None,
                          output_ratio: float | Sequence[float] | None = None, *,
                          return_indices: Literal[True],
                          _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The largest values of windows at random distances in an image."""
    ...
@overload
def fractional_max_pool2d(input: Tensor, kernel_size: int | Sequence[int],
                          output_size: int | Sequence[int] | None = None,
                          output_ratio: float | Sequence[float] | None = None,
                          return_indices: bool = False,
                          _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """The largest values of windows at random distances in an image."""
    ...
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: int | Sequence[int],
                                       output_size: int | Sequence[int] | None = None,
                                       output_ratio: float | Sequence[float] | None = None,
                                       return_indices: bool = False,
                                       _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """:func:`fractional_max_pool2d`, and where in its plane each maximum lies."""
    ...
@overload
def fractional_max_pool3d(input: Tensor, kernel_size: int | Sequence[int],
                          output_size: int | Sequence[int] | None = None,
                          output_ratio: float | Sequence[float] | None = None,
                          return_indices: Literal[False] = False,
                          _random_samples: Tensor | None = None) -> Tensor:
    """The largest values of windows at random distances in a volume."""
    ...
@overload
def fractional_max_pool3d(input: Tensor, kernel_size: int | Sequence[int],
                          output_size: int | Sequence[int] | None = None,
                          output_ratio: float | Sequence[float] | None = None, *,
                          return_indices: Literal[True],
                          _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The largest values of windows at random distances in a volume."""
    ...
@overload
def fractional_max_pool3d(input: Tensor, kernel_size: int | Sequence[int],
                          output_size: int | Sequence[int] | None = None,
                          output_ratio: float | Sequence[float] | None = None,
                          return_indices: bool = False,
                          _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """The largest values of windows at random distances in a volume."""
    ...
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: int | Sequence[int],
                                       output_size: int | Sequence[int] | None = None,
                                       output_ratio: float | Sequence[float] | None = None,
                                       return_indices: bool = False,
                                       _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """:func:`fractional_max_pool3d`, and where in its volume each maximum lies."""
    ...
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | float, full: bool = False,
                      eps: float = 1e-06, reduction: str = 'mean') -> Tensor:
    """Minus the log-likelihood of ``target`` under normal distributions."""
    ...
def gelu(input: Tensor, *, approximate: str = 'none', out: Tensor | None = None) -> Tensor:
    """``input`` times the normal probability of being below it.

    ``y = x · Φ(x)`` with the normal distribution ``Φ``; ``approximate="tanh"`` is a formula close
    to it.

    >>> F.gelu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    ...
def glu(input: Tensor, dim: int = -1, *, out: Tensor | None = None) -> Tensor:
    """The first half of ``input`` along ``dim``, times the sigmoid of the second."""
    ...
def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros',
                align_corners: bool | None = None) -> Tensor:
    """``input`` at the places of ``grid``, whose edges are -1 and 1, x before y."""
    ...
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """Mean 0 and variance 1 over each group of channels, then scaled and shifted."""
    ...
def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None,
               bias: Tensor | None = None, out_dtype: dtype | None = None) -> Tensor:
    """The matrix product of each group; ``offs`` says where groups of rows or columns end."""
    ...
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10,
                   dim: int = -1) -> Tensor:
    """A differentiable sample of a category, nearly one-hot for small ``tau``."""
    ...
def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """``input``, or 0 where it is no farther than ``lambd`` from 0."""
    ...
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A sigmoid of three straight pieces."""
    ...
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input`` times :func:`hardsigmoid` of it."""
    ...
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0,
             inplace: bool = False) -> Tensor:
    """``input`` held between two bounds, where the gradient stops."""
    ...
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """In-place version of :func:`hardtanh`."""
    ...
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0,
                         size_average: bool | None = None, reduce: bool | None = None,
                         reduction: str = 'mean') -> Tensor:
    """``input`` where ``target`` is 1, and what it lacks to ``margin`` where that is -1."""
    ...
def huber_loss(input: Tensor, target: Tensor, reduction: str = 'mean', delta: float = 1.0,
               weight: Tensor | None = None) -> Tensor:
    """Squared differences below ``delta``, ``delta`` times absolute ones above it."""
    ...
def instance_norm(input: Tensor, running_mean: Tensor | None = None,
                  running_var: Tensor | None = None, weight: Tensor | None = None,
                  bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1,
                  eps: float = 1e-05) -> Tensor:
    """Mean 0 and variance 1 for each channel of each sample, then scaled and shifted."""
    ...
def interpolate(input: Tensor, size: int | Sequence[int] | None = None,
                scale_factor: float | Sequence[float] | None = None, mode: str = 'nearest',
                align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
                antialias: bool = False) -> Tensor:
    """``input`` resampled to another size."""
    ...
def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None,
           reduce: bool | None = None, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """The Kullback-Leibler divergence of log-probabilities ``input`` from ``target``."""
    ...
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
            reduce: bool | None = None, reduction: str = 'mean',
            weight: Tensor | None = None) -> Tensor:
    """The mean of the absolute differences.

    The mean of ``|input - target|``.

    >>> F.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(1.)
    """
    ...
def layer_norm(input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-05, cudnn_enable: bool = True) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted.

    ``y = (x - mean) / √(var + eps) · weight + bias`` over the last dims.

    >>> F.layer_norm(torch.tensor([[1.0, 2.0, 3.0]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
    """
    ...
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input``, times a small slope where it is negative.

    ``y = x`` where ``x > 0``, else ``negative_slope · x``.

    >>> F.leaky_relu(torch.tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    ...
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place version of :func:`leaky_relu`."""
    ...
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``, over the last dimension.

    ``y = x Aᵀ + b``.

    >>> F.linear(torch.ones(1, 2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([0.5, 0.0]))
    tensor([[3.5000, 7.0000]])
    """
    ...
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *,
                         linear_bias: Tensor | None = None, weight: Tensor | None = None,
                         reduction: str = 'mean', ignore_index: int | None = None,
                         label_smoothing: float = 0.0, options: Any = None) -> Tensor:
    """:func:`cross_entropy` of the scores that a linear layer gives ``input``.

    With ``options`` the scores are computed some rows at a time, and again in the backward pass.
    """
    ...
def local_response_norm(input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75,
                        k: float = 1.0) -> Tensor:
    """Each element divided by a power of the mean square over neighbouring channels."""
    ...
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
                dtype: dtype | None = None) -> Tensor:
    """The logarithm of softmax, computed safely.

    ``yᵢ = xᵢ - log Σ e^xⱼ`` along ``dim``; the gradient is ``g - e^y · Σ g``.

    >>> F.log_softmax(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([-2.4076, -1.4076, -0.4076])
    """
    ...
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the sigmoid, exact at both ends."""
    ...
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int | Sequence[int],
              stride: int | Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """The norm of each window of the last dimension."""
    ...
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: int | Sequence[int],
              stride: int | Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """The norm of each window of the last two dimensions."""
    ...
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: int | Sequence[int],
              stride: int | Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """The norm of each window of the last three dimensions."""
    ...
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = 'mean') -> Tensor:
    """What ``input1`` lacks to being ``margin`` above (or below) ``input2``."""
    ...
@overload
def max_pool1d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
               return_indices: Literal[False] = False) -> Tensor:
    """The largest value of every window of a signal."""
    ...
@overload
def max_pool1d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               dilation: int | Sequence[int] = 1, ceil_mode: bool = False, *,
               return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest value of every window of a signal."""
    ...
@overload
def max_pool1d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest value of every window of a signal."""
    ...
def max_pool1d_with_indices(input: Tensor, kernel_size: int | Sequence[int],
                            stride: int | Sequence[int] | None = None,
                            padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1,
                            ceil_mode: bool = False,
                            return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """:func:`max_pool1d`, and where in a signal each maximum lies."""
    ...
@overload
def max_pool2d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
               return_indices: Literal[False] = False) -> Tensor:
    """The largest value of every window of an image.

    The largest value of each window; the gradient goes to its place.

    >>> F.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    ...
@overload
def max_pool2d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               dilation: int | Sequence[int] = 1, ceil_mode: bool = False, *,
               return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest value of every window of an image.

    The largest value of each window; the gradient goes to its place.

    >>> F.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    ...
@overload
def max_pool2d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest value of every window of an image.

    The largest value of each window; the gradient goes to its place.

    >>> F.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    ...
def max_pool2d_with_indices(input: Tensor, kernel_size: int | Sequence[int],
                            stride: int | Sequence[int] | None = None,
                            padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1,
                            ceil_mode: bool = False,
                            return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """:func:`max_pool2d`, and where in an image each maximum lies."""
    ...
@overload
def max_pool3d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
               return_indices: Literal[False] = False) -> Tensor:
    """The largest value of every window of a volume."""
    ...
@overload
def max_pool3d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               dilation: int | Sequence[int] = 1, ceil_mode: bool = False, *,
               return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest value of every window of a volume."""
    ...
@overload
def max_pool3d(input: Tensor, kernel_size: int | Sequence[int],
               stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
               dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest value of every window of a volume."""
    ...
def max_pool3d_with_indices(input: Tensor, kernel_size: int | Sequence[int],
                            stride: int | Sequence[int] | None = None,
                            padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1,
                            ceil_mode: bool = False,
                            return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """:func:`max_pool3d`, and where in a volume each maximum lies."""
    ...
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: int | Sequence[int],
                 stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
                 output_size: Sequence[int] | None = None) -> Tensor:
    """The values of a max pooling of signals where they came from, among zeros."""
    ...
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: int | Sequence[int],
                 stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
                 output_size: Sequence[int] | None = None) -> Tensor:
    """The values of a max pooling of images where they came from, among zeros."""
    ...
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: int | Sequence[int],
                 stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
                 output_size: Sequence[int] | None = None) -> Tensor:
    """The values of a max pooling of volumes where they came from, among zeros."""
    ...
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input`` times the hyperbolic tangent of its softplus."""
    ...
def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
             reduce: bool | None = None, reduction: str = 'mean',
             weight: Tensor | None = None) -> Tensor:
    """The mean of the squared differences.

    The mean of ``(input - target)²``; the gradient is ``2 · g · (input - target) / n``.

    >>> F.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """
    ...
def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int,
                                 num_heads: int, in_proj_weight: Tensor | None,
                                 in_proj_bias: Tensor | None, bias_k: Tensor | None,
                                 bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
                                 out_proj_weight: Tensor, out_proj_bias: Tensor | None,
                                 training: bool = True, key_padding_mask: Tensor | None = None,
                                 need_weights: bool = True, attn_mask: Tensor | None = None,
                                 use_separate_proj_weight: bool = False,
                                 q_proj_weight: Tensor | None = None,
                                 k_proj_weight: Tensor | None = None,
                                 v_proj_weight: Tensor | None = None,
                                 static_k: Tensor | None = None, static_v: Tensor | None = None,
                                 average_attn_weights: bool = True,
                                 is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
    """What :class:`MultiheadAttention` computes, given its weights: output, and attention."""
    ...
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0,
                      weight: Tensor | None = None, size_average: bool | None = None,
                      reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """How far wrong classes are from being ``margin`` below the right one."""
    ...
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                           reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """How far the classes that are not meant are from being 1 below each of those that are.

    Each row of ``target`` lists the classes that are meant, up to the first -1.
    """
    ...
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: bool | None = None, reduce: bool | None = None,
                                reduction: str = 'mean') -> Tensor:
    """The mean over the classes of binary cross entropy with logits."""
    ...
def native_channel_shuffle(input: Tensor, groups: int, *, out: Tensor | None = None) -> Tensor:
    """Channels in another order: the first of each group, then the second of each."""
    ...
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
             size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None,
             reduction: str = 'mean') -> Tensor:
    """Minus the log-likelihood of the target classes under log-probabilities.

    The mean of ``-input[i, target[i]]``, where ``input`` are log-probabilities.

    >>> F.nll_loss(torch.tensor([[-0.5, -1.5]]), torch.tensor([1]))
    tensor(1.5000)
    """
    ...
def normalize(input: Tensor, p: float = 2.0, dim: int | Sequence[int] | None = 1,
              eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """``input`` divided by its ``p``-norm over ``dim``.

    ``y = x / max(|x|, eps)`` along ``dim``.

    >>> F.normalize(torch.tensor([3.0, 4.0]), dim=0)
    tensor([0.6000, 0.8000])
    """
    ...
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Zeros with a one at each index, along a new last dimension.

    Zeros with a one at the place that each number names.

    >>> F.one_hot(torch.tensor([0, 2]), 3)
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    ...
def pad(input: Tensor, pad: Sequence[int], mode: str = 'constant',
        value: float | None = None) -> Tensor:
    """``input`` with its last dimensions lengthened (last one first, both sides).

    ``pad`` names the sizes before and after, of the last dim first.

    >>> F.pad(torch.tensor([[1, 2]]), (1, 1), value=0)
    tensor([[0, 1, 2, 0]])
    """
    ...
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06,
                      keepdim: bool = False) -> Tensor:
    """The ``p``-norm of the differences along the last dimension."""
    ...
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The ``p``-norm distance between each two rows, without doubles and without zeros."""
    ...
def pixel_shuffle(input: Tensor, upscale_factor: int, *, out: Tensor | None = None) -> Tensor:
    """Channels rearranged into blocks of ``upscale_factor`` squared pixels."""
    ...
def pixel_unshuffle(input: Tensor, downscale_factor: int, *, out: Tensor | None = None) -> Tensor:
    """Blocks of pixels rearranged into channels: undoes :func:`pixel_shuffle`."""
    ...
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-08,
                     reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """Minus the log-likelihood of counts ``target`` under Poisson distributions."""
    ...
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``input``, times a learned slope where it is negative; one slope, or one per channel."""
    ...
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input``, or 0 where it is negative.

    ``y = max(x, 0)``; the gradient passes where ``x > 0``.

    >>> F.relu(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    ...
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``input`` held between 0 and 6."""
    ...
def relu_(input: Tensor) -> Tensor:
    """In-place version of :func:`relu`."""
    ...
def rms_norm(input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """Divided by the root mean square over the last dimensions, then scaled."""
    ...
def rrelu(input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333,
          training: bool = False, inplace: bool = False) -> Tensor:
    """A leaky unit with random slopes while training, and their mean otherwise."""
    ...
def rrelu_(input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333,
           training: bool = False, generator: Generator | None = None) -> Tensor:
    """In-place version of :func:`rrelu`."""
    ...
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor,
                                 attn_mask: Tensor | None = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: float | None = None,
                                 enable_gqa: bool = False) -> Tensor:
    """The values, averaged with weights ``softmax(query @ key.T * scale + mask)``.

    ``y = softmax(Q Kᵀ · scale + mask) V`` with ``scale = 1 / √d``.

    >>> query, keys, values = torch.ones(1, 2, 4), torch.ones(1, 3, 4), torch.ones(1, 3, 5)
    >>> F.scaled_dot_product_attention(query, keys, values).shape
    torch.Size([1, 2, 5])
    """
    ...
def scaled_mm(mat_a: Tensor, mat_b: Tensor, scale_a: Tensor | Sequence[Tensor], scale_recipe_a: Any,
              scale_b: Tensor | Sequence[Tensor], scale_recipe_b: Any, swizzle_a: Any = None,
              swizzle_b: Any = None, bias: Tensor | None = None, output_dtype: dtype | None = ...,
              contraction_dim: Sequence[int] = (), use_fast_accum: bool = False) -> Tensor:
    """The product of two matrices of 8 bits, whose scales are as the recipes say."""
    ...
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """:func:`elu` scaled so that it keeps mean 0 and variance 1."""
    ...
def selu_(input: Tensor) -> Tensor:
    """In-place version of :func:`selu`."""
    ...
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-x)).

    ``y = 1 / (1 + e^-x)``; the gradient is ``g · y · (1 - y)``.

    >>> torch.sigmoid(torch.tensor([-2.0, 0.0, 2.0]))
    tensor([0.1192, 0.5000, 0.8808])
    """
    ...
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input`` times its sigmoid.

    ``y = x · sigmoid(x)``.

    >>> F.silu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """
    ...
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                   reduce: bool | None = None, reduction: str = 'mean',
                   beta: float = 1.0) -> Tensor:
    """Squared differences below ``beta``, absolute ones above it.

    The mean of ``d² / 2beta`` where ``d = |input - target| < beta``, else of
    ``d - beta / 2``.

    >>> F.smooth_l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 4.0]))
    tensor(0.8125)
    """
    ...
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                     reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """``log(1 + exp(-target * input))`` for targets of 1 and -1."""
    ...
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: dtype | None = None) -> Tensor:
    """Exponentials along ``dim``, divided by their sum.

    ``yᵢ = e^xᵢ / Σ e^xⱼ`` along ``dim``; the gradient is ``y · (g - Σ g y)``.

    >>> F.softmax(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([0.0900, 0.2447, 0.6652])
    """
    ...
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: dtype | None = None) -> Tensor:
    """Softmax of the negative."""
    ...
def softplus(input: Tensor, beta: float = 1, threshold: float = 20, *,
             out: Tensor | None = None) -> Tensor:
    """log(1 + exp(βx)) / β, and ``input`` itself where βx is beyond ``threshold``.

    ``y = ln(1 + e^(beta · x)) / beta``; the gradient is ``g · sigmoid(beta · x)``.

    >>> F.softplus(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([0.3133, 0.6931, 1.3133])
    """
    ...
def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """``input`` moved towards 0 by ``lambd``, and no farther than 0."""
    ...
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    ...
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent.

    ``y = (e^x - e^-x) / (e^x + e^-x)``; the gradient is ``g · (1 - y²)``.

    >>> torch.tanh(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.7616,  0.0000,  0.7616])
    """
    ...
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    ...
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input``, or ``value`` where it is not above ``threshold``."""
    ...
def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """In-place version of :func:`threshold`."""
    ...
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,
                        p: float = 2, eps: float = 1e-06, swap: bool = False,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = 'mean') -> Tensor:
    """How much nearer than ``margin`` the negative is, compared with the positive."""
    ...
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *,
                                      distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
                                      margin: float = 1.0, swap: bool = False,
                                      reduction: str = 'mean') -> Tensor:
    """:func:`triplet_margin_loss` with any distance."""
    ...
def unfold(input: Tensor, kernel_size: int | Sequence[int], dilation: int | Sequence[int] = 1,
           padding: int | Sequence[int] = 0, stride: int | Sequence[int] = 1) -> Tensor:
    """Every window of a batch of images as a column."""
    ...
def upsample(input: Tensor, size: int | Sequence[int] | None = None,
             scale_factor: float | Sequence[float] | None = None, mode: str = 'nearest',
             align_corners: bool | None = None) -> Tensor:
    """:func:`interpolate` under its older name."""
    ...
def upsample_bilinear(input: Tensor, size: int | Sequence[int] | None = None,
                      scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """:func:`interpolate` by straight lines between corners, under its older name."""
    ...
def upsample_nearest(input: Tensor, size: int | Sequence[int] | None = None,
                     scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """:func:`interpolate` by the nearest elements, under its older name."""
    ...
