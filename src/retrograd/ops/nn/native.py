"""What modules compute, under the names and with the arguments of PyTorch's own kernels.

Norms give their moments too; gradients flow through those of group norm alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base import dtypes
from ...base.errors import canonical_dim, existing_dim
from ...base.warning import warn
from ...core.op import Sizes, composite, public, publish
from ...core.out_rules import CASTABLE, Out
from ...core.tensor import Tensor
from ..checks.embeddings import check_index_kind
from ..checks.norms import check_vectors
from ..checks.recurrence import check_cell
from ..creation.filled import empty_like
from ..linalg.functions import matrix_norm
from ..products.linear_layers import linear
from ..reductions.norms import vector_norm
from ..shapes.dimensions import transpose
from ..shapes.reshaping import reshape
from . import batch_norm as batch_norms
from .adaptive_pooling import adaptive_max_pool1d
from .embedding import shorten_rows
from .layer_norm import layer_norm

# ---------------------------------------------------------------- norms and their moments


def _moments(input: Tensor, dims: Sequence[int], eps: float) -> tuple[Tensor, Tensor]:
    """The mean over ``dims`` and one over the deviation, with those dims of length one."""
    wide = input.float() if input.element_size() == 2 else input
    var, mean = wide.var(dims, correction=0, keepdim=True), wide.mean(dims, keepdim=True)
    return mean.to(input.dtype), (var + eps).rsqrt().to(input.dtype)


@composite()
def native_layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None,
                      bias: Tensor | None, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`layer_norm`, the means and one over the deviations."""
    output = layer_norm(input, normalized_shape, weight, bias, eps)
    first = input.ndim - len(normalized_shape)
    return (output, *_moments(input.detach(), tuple(range(first, input.ndim)), eps))


@composite()
def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int,
                      HxW: int, group: int, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """``group_norm`` of N samples of C channels, the means and one over the deviations."""
    check_vectors(input, C, weight=weight, bias=bias)
    if input.numel() != N * C * HxW:
        raise RuntimeError(
            "Expected X.numel() == N * C * HxW to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)")
    output = batch_norms._torch_group_norm(input, group, weight, bias, eps)
    mean, scale = _moments(reshape(input, (N, group, C // group * HxW)), (2,), eps)
    return output, reshape(mean, (N, group)), reshape(scale, (N, group))


@composite(out=Out("expected scalar type {result} but found {out}"))
def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                      running_mean: Tensor | None, running_var: Tensor | None, training: bool,
                      momentum: float, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """``batch_norm``; while training, also the means and one over the deviations."""
    output = batch_norms._torch_batch_norm(input, weight, bias, running_mean, running_var,
                                           training, momentum, eps, False)
    if not training:
        return output, input.new_empty(0), input.new_empty(0)
    dims = tuple([d for d in range(input.ndim) if d != 1])
    mean, scale = _moments(input.detach(), dims, eps)
    return output, reshape(mean, (-1,)), reshape(scale, (-1,))


@composite()
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Elements zeroed at random and the rest scaled up, and which ones were kept."""
    if not input.numel():
        return input, empty_like(input, requires_grad=False)
    mask = empty_like(input, dtype=dtypes.bool, requires_grad=False)
    if train is False:
        return input.clone(), mask.fill_(True)
    if not input.is_floating_point() and not input.is_complex():
        raise RuntimeError(CASTABLE.format(result="Float", out=input.dtype.alias))
    mask.bernoulli_(1 - p)
    return input * mask * (1 / (1 - p) if p < 1 else 0.0), mask


@composite()
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm of each slice along ``dim``, or of all elements for -1."""
    if dim == -1:
        return vector_norm(v, pow)  # type: ignore[no-any-return]
    axis = existing_dim(canonical_dim(dim, v.ndim), v.ndim)
    rows = transpose(v, 0, axis)
    found = vector_norm(reshape(rows, (rows.shape[0], -1)), pow, 1)
    return transpose(reshape(found, (-1,) + (1,) * (v.ndim - 1)), 0, axis)  # type: ignore


def _warn_of(name: str, instead: str) -> None:
    warn(f"at::{name} is deprecated and it is just left for JIT compatibility. It will be removed "
         f"in a future PyTorch release. Please use `linalg.{instead}` instead", once=True)


@composite()
def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """The root of the sum of squares over ``dim``; deprecated."""
    _warn_of("frobenius_norm", "vector_norm(A, 2., dim, keepdim)")
    return vector_norm(input, 2.0, dim, keepdim)  # type: ignore[no-any-return]


@composite()
def nuclear_norm(input: Tensor, dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of singular values; deprecated."""
    _warn_of("nuclear_norm", "matrix_norm(A, 'nuc', dim, keepdim)")
    return matrix_norm(input, "nuc", dim, keepdim)


# ---------------------------------------------------------------- arguments in another order


@public("instance_norm", method=False)
def _instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                   running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: bool,
                   momentum: float, eps: float, cudnn_enabled: bool) -> Tensor:
    """``nn.functional.instance_norm``, with the parameters first."""
    return batch_norms.instances_normalized(input, running_mean, running_var, weight, bias,
                                            use_input_stats, momentum, eps)


@public("adaptive_max_pool1d", method=False)
def _adaptive_max_pool1d(input: Tensor, output_size: Sizes) -> tuple[Tensor, Tensor]:
    """``nn.functional.adaptive_max_pool1d``: the maxima, and where they were."""
    return adaptive_max_pool1d(input, output_size, return_indices=True)  # type: ignore


@public("embedding_renorm_", method=False)
def _embedding_renorm(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows at ``indices`` that are longer than ``max_norm``, in place."""
    check_index_kind("embedding_renorm_", indices, position=2)
    return shorten_rows(input, indices, max_norm, norm_type)


# ---------------------------------------------------------------- one step of recurrent networks


def _gates(count: int, input: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """What the input and the state give to each of ``count`` gates."""
    return linear(input, w_ih, b_ih), linear(hidden, w_hh, b_hh)


def _declare_cell(activation: str) -> None:
    @composite(name=f"rnn_{activation}_cell",
               doc=f"The next state of a network that remembers by {activation}.")
    def cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
             b_hh: Tensor | None = None) -> Tensor:
        check_cell(1, input, (hx,), w_ih, w_hh)
        of_input, of_state = _gates(1, input, hx, w_ih, w_hh, b_ih, b_hh)
        return getattr(of_input + of_state, activation)()  # type: ignore[no-any-return]


_declare_cell("tanh")
_declare_cell("relu")


@composite()
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
             b_hh: Tensor | None = None) -> Tensor:
    """The next state of gated recurrent units."""
    check_cell(3, input, (hx,), w_ih, w_hh)
    of_input, of_state = [part.chunk(3, 1)
                          for part in _gates(3, input, hx, w_ih, w_hh, b_ih, b_hh)]
    reset, update = [(i + h).sigmoid() for i, h in zip(of_input[:2], of_state[:2], strict=True)]
    fresh = (of_input[2] + reset * of_state[2]).tanh()
    return (hx - fresh) * update + fresh  # type: ignore[no-any-return]


@composite()
def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor,
              b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The next state of long short-term memory: what is shown, and what is kept."""
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    check_cell(4, input, hx, w_ih, w_hh)
    of_input, of_state = _gates(4, input, hx[0], w_ih, w_hh, b_ih, b_hh)
    let_in, keep, fresh, show = (of_input + of_state).chunk(4, 1)
    kept = keep.sigmoid() * hx[1] + let_in.sigmoid() * fresh.tanh()
    return show.sigmoid() * kept.tanh(), kept


publish(Tensor.addmv_, "addmv_", method=False)  # type: ignore[attr-defined]
publish(Tensor.as_strided_, "as_strided_", method=False)  # type: ignore[attr-defined]
