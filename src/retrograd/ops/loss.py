"""Losses."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ..backend import loss as arrays
from ..backend import xp
from ..base import dtypes
from ..base.errors import no_dims, size_mismatch
from ..base.modes import switched
from ..core.op import Array, Index, composite, elementwise, op
from ..core.tensor import Tensor
from .activation import _log_softmax, logsigmoid
from .norm import pairwise_distance
from .overloads import kinds, no_kernel
from .pointwise import (
    _clamp_min_number,
    _clamp_numbers,
    abs,
    exp,
    log,
    log1p,
    minimum,
    sigmoid,
    sqrt,
    where,
    xlogy,
)
from .product import scalar_type
from .reduce import mean, sum
from .shape import broadcast_shapes, expand, reshape

NONE, MEAN, SUM = arrays.NONE, arrays.MEAN, arrays.SUM
_REDUCTIONS = {"none": NONE, "mean": MEAN, "sum": SUM}


def reduction_code(reduction: str, size_average: bool | None = None,
                   reduce: bool | None = None) -> int:
    """The number of a reduction, from its name or the older pair of flags."""
    if size_average is not None or reduce is not None:
        average = size_average is None or size_average
        reduction = "none" if reduce is False else "mean" if average else "sum"
        warnings.warn("size_average and reduce args will be deprecated, please use "
                      f"reduction='{reduction}' instead.", UserWarning, stacklevel=4)
    try:
        return _REDUCTIONS[reduction]
    except (KeyError, TypeError):
        raise ValueError(f"{reduction} is not a valid value for reduction") from None


def reduced(values: Tensor, reduction: int) -> Tensor:
    """All values, their mean or their sum."""
    return values if reduction == NONE else mean(values) if reduction == MEAN else sum(values)


def share(g: Any, count: int, reduction: int, factor: float = 1.0) -> Any:
    """An output's gradient as it reaches each of ``count`` values, times ``factor``."""
    if reduction == MEAN:
        factor = factor / (count or 1)
    return g if factor == 1 else g * factor


def element_count(input: Any) -> int:
    return math.prod(input.shape)


def _broadcast_pair(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The pair in one shape, with PyTorch's warning that this is probably a mistake."""
    warnings.warn(
        f"Using a target size ({target.shape}) that is different to the input size ({input.shape})"
        ". This will likely lead to incorrect results due to broadcasting. Please ensure they have "
        "the same size.", UserWarning, stacklevel=4)
    return _expanded_pair(input, target)


def _expanded_pair(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    shapes = [tuple(input.shape), tuple(target.shape)]
    try:
        shape = tuple(xp.broadcast_shapes(*shapes))
    except ValueError:
        raise size_mismatch(shapes) from None
    return expand(input, shape), expand(target, shape)


def _pair(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """``input`` and ``target`` in one shape and dtype."""
    if input._data.shape != target._data.shape:
        input, target = _broadcast_pair(input, target)
    if input._data.dtype is not target._data.dtype and input.dtype is not target.dtype:
        kind = dtypes.promote_types(input.dtype, target.dtype)
        input, target = input.to(kind), target.to(kind)
    return input, target


def _refuse_integers(input: Any, kernel: str) -> None:
    if input.dtype.kind in "biu":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(input)}'")


# ---------------------------------------------------------------- differences


@op(method=False, function=None)
def _mse_loss(input: Array, target: Array, reduction: int) -> Any:
    _refuse_integers(input, "mse_cpu")
    return arrays.squared_error(input, target, reduction)


_mse_loss.op.node_name = "MseLossBackward0"
_mse_loss.vjp(
    input=lambda g, input, target, reduction: (input - target) * share(
        g, element_count(input), reduction, 2.0),
    target=lambda g, input, target, reduction: (target - input) * share(
        g, element_count(input), reduction, 2.0))


@composite(function="nn.functional")
def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
             reduce: bool | None = None, reduction: str = "mean",
             weight: Tensor | None = None) -> Tensor:
    """The mean of the squared differences."""
    if weight is not None or size_average is not None or reduce is not None \
            or input._data.shape != target._data.shape \
            or input._data.dtype is not target._data.dtype:
        code = reduction_code(reduction, size_average, reduce)
        input, target = _pair(input, target)
        if weight is not None:
            return _weighted((input - target) ** 2, weight, code)
        return _mse_loss(input, target, code)
    return _mse_loss(input, target, reduction_code(reduction))


def _weighted(values: Tensor, weight: Tensor, reduction: int) -> Tensor:
    if tuple(weight.shape) != tuple(values.shape):
        raise ValueError("Weights and input must have the same size.")
    values = values * weight
    return values if reduction == NONE else sum(values) if reduction == SUM \
        else sum(values) / sum(weight)


@composite(function="nn.functional")
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
            reduce: bool | None = None, reduction: str = "mean",
            weight: Tensor | None = None) -> Tensor:
    """The mean of the absolute differences."""
    code = reduction_code(reduction, size_average, reduce)
    if input._data.shape != target._data.shape:
        input, target = _broadcast_pair(input, target)
    values = abs(input - target)
    return reduced(values, code) if weight is None else _weighted(values, weight, code)


@op(method=False, function=None, node="SmoothL1LossBackward0",
    guard=kinds("f", "smooth_l1_cpu"))
def _smooth_l1_loss(input: Array, target: Array, reduction: int, beta: float) -> Any:
    return arrays.smooth_error(input, target, beta, 1.0, reduction)


_smooth_l1_loss.vjp(
    input=lambda g, input, target, reduction, beta: _clamp_numbers(
        (input - target) * (1 / beta), -1.0, 1.0) * share(g, element_count(input), reduction),
    target=lambda g, input, target, reduction, beta: _clamp_numbers(
        (target - input) * (1 / beta), -1.0, 1.0) * share(g, element_count(input), reduction))


@composite(function="nn.functional")
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                   reduce: bool | None = None, reduction: str = "mean",
                   beta: float = 1.0) -> Tensor:
    """Squared differences below ``beta``, absolute ones above it."""
    code = reduction_code(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _pair(input, target)
    if beta == 0:
        return reduced(abs(input - target), code)
    return _smooth_l1_loss(input, target, code, float(beta))


@op(method=False, function=None, node="HuberLossBackward0", guard=kinds("f", "huber_cpu"))
def _huber_loss(input: Array, target: Array, reduction: int, delta: float) -> Any:
    return arrays.smooth_error(input, target, delta, delta, reduction)


_huber_loss.vjp(
    input=lambda g, input, target, reduction, delta: _clamp_numbers(
        input - target, -delta, delta) * share(g, element_count(input), reduction),
    target=lambda g, input, target, reduction, delta: _clamp_numbers(
        target - input, -delta, delta) * share(g, element_count(input), reduction))


@composite(function="nn.functional")
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
               weight: Tensor | None = None) -> Tensor:
    """Squared differences below ``delta``, ``delta`` times absolute ones above it."""
    code = reduction_code(reduction)
    input, target = _pair(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return _huber_loss(input, target, code, float(delta))
    return _weighted(_huber_loss(input, target, NONE, float(delta)), weight, code)


# ---------------------------------------------------------------- likelihood of classes


def _check_likelihood(input: Any, weight: Any) -> None:
    _refuse_integers(input, "nll_loss_out_frame")
    if weight is not None and weight.dtype != input.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(input)} but found "
                           f"{scalar_type(weight)}")


@op(method=False, function=None)
def _likelihood_gradient(output: Array, target: Index, weight: Index | None, shape: Any,
                         reduction: int, ignore_index: int) -> Any:
    return arrays.spread_likelihood(output, shape, xp.as_array(target), weight, reduction,
                                    ignore_index)


def _declare_likelihood(name: str, node: str) -> Any:
    def kernel(input: Array, target: Index, weight: Index | None, reduction: int,
               ignore_index: int) -> Any:
        if weight is not None or input.dtype is not xp.FLOAT32:
            _check_likelihood(input, weight)
        return arrays.negative_likelihood(input, xp.as_array(target), weight, reduction,
                                          ignore_index)

    kernel.__name__ = name
    made = op(method=False, function=None, node=node)(kernel)
    made.vjp(input=lambda g, target, weight, like, reduction, ignore_index: _likelihood_gradient(
        g, target, weight, like.shape, reduction, ignore_index))
    made.jvp(input=lambda tangent, target, weight, reduction, ignore_index: _nll_loss(
        tangent, target, weight, reduction, ignore_index))
    return made


_nll_loss = _declare_likelihood("_nll_loss", "NllLossBackward0")
_nll_loss2d = _declare_likelihood("_nll_loss2d", "NllLoss2DBackward0")
_likelihood_gradient.vjp(output=lambda g, target, weight, reduction, ignore_index: _nll_loss(
    g, target, weight, reduction, ignore_index))


def _check_classes(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    rank, classes = input.ndim, input.shape[1] if input.ndim > 1 else input.shape[0]
    if rank == 1 and target.ndim == 1 and target.shape[0] != 1:
        raise ValueError("For 1D input, 1D target must have size 1, but got target size: "
                         f"{target.shape[0]}")
    if rank > 1 and (not target.ndim or input.shape[0] != target.shape[0]):
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
                         f"({target.shape[0] if target.ndim else 0}).")
    if rank <= 2 and target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    expected = (input.shape[0], *input.shape[2:])
    if rank > 2 and tuple(target.shape) != expected:
        if rank == 4:
            raise RuntimeError(f"size mismatch (got input: {list(input.shape)} , target: "
                               f"{list(target.shape)}")
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.shape)}")
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError("expected target dtype to be Long or Byte, but got "
                           f"{target.dtype.alias}")
    if weight is not None and (weight.numel() != classes or (rank <= 2 and weight.ndim != 1)):
        raise RuntimeError("weight tensor should be defined either for all or no classes"
                           if rank > 2 else _wrong_weight(classes, weight))
    if rank == target.ndim == 1 and input.shape[0] != target.shape[0]:
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)}, target: "
                           f"{list(target.shape)})")
    if rank > 2 and rank != 4 and not input.numel() and target.numel():
        # Signals and volumes are seen as images, without any pixels if they have no elements.
        raise RuntimeError(
            f"size mismatch (got input: {[*input.shape[:2], 0, 0]} , target: "
            f"{[target.shape[0], 1, target.numel() // target.shape[0]]}")


def _wrong_weight(classes: int, weight: Tensor) -> str:
    return (f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}")


def _is_usual(input: Tensor, target: Tensor, weight: Tensor | None) -> bool:
    """Whether these are a batch of vectors and a class for each, about which nothing is wrong."""
    x, classes = input._data, target._data
    return weight is None and x.ndim == 2 and classes.dtype is xp.INT64 \
        and x.shape[:1] == classes.shape


@composite(function="nn.functional")
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
             size_average: bool | None = None, ignore_index: int = -100,
             reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Minus the log-likelihood of the target classes under log-probabilities."""
    code = reduction_code(reduction, size_average, reduce)
    if _is_usual(input, target, weight):
        return _nll_loss(input, target, None, code, ignore_index)
    rank = input.ndim
    if not rank:
        raise ValueError(f"Expected 1 or more dimensions (got {rank})")
    _check_classes(input, target, weight)
    if rank == 2:
        return _nll_loss(input, target, weight, code, ignore_index)
    if rank > 2:
        loss = _nll_loss2d(input, target, weight, code, ignore_index)
        return reshape(loss, tuple(target.shape)) if code == NONE and rank != 4 else loss
    return _nll_loss(input, target, weight, code, ignore_index)


def _probability_entropy(input: Tensor, target: Tensor, weight: Tensor | None, code: int,
                         label_smoothing: float, axis: int) -> Tensor:
    """Cross entropy with a probability for every class."""
    if not input.ndim:
        raise no_dims(1)
    classes = input.shape[axis]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError("cross_entropy: " + _wrong_weight(classes, weight))
    log_probability = _log_softmax(input, axis)
    if label_smoothing:
        even: Any = _even_part(label_smoothing, classes)
        target = target * (1 - label_smoothing) + even
    if weight is not None:
        shape = tuple([classes if d == axis else 1 for d in range(input.ndim)])
        log_probability = log_probability * reshape(weight, shape)
    if code == NONE:
        return -sum(log_probability * target, axis)
    total = -sum(log_probability * target)
    return total if code == SUM else total / (input.numel() / (classes or 1))


def _even_part(label_smoothing: float, classes: int) -> float:
    """What a class gets of the likelihood that is spread over all."""
    return label_smoothing / classes if classes else math.inf


def _smoothed_entropy(input: Tensor, target: Tensor, weight: Tensor | None, code: int,
                      ignore_index: int, label_smoothing: float, axis: int) -> Tensor:
    """Cross entropy with a part of the likelihood spread evenly over the classes."""
    classes = input.shape[axis]
    log_probability = _log_softmax(input, axis)
    exact = nll_loss(log_probability, target, weight, ignore_index=ignore_index,
                     reduction=("none", "mean", "sum")[code])
    if weight is not None:
        shape = tuple([classes if d == axis else 1 for d in range(input.ndim)])
        log_probability = log_probability * reshape(weight, shape)
    spread = -sum(log_probability, axis)
    ignored = target == ignore_index
    spread = where(ignored, spread.new_zeros(()), spread)
    if code == MEAN:
        if weight is None:
            spread = sum(spread) / sum(~ignored).to(spread.dtype)
        else:
            used = where(ignored, target.new_zeros(()), target)
            scales = where(ignored, weight.new_zeros(()), weight.detach()[used])
            spread = sum(spread) / sum(scales)
    elif code == SUM:
        spread = sum(spread)
    return exact * (1 - label_smoothing) + spread * _even_part(label_smoothing, classes)


@composite(function="nn.functional")
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                  size_average: bool | None = None, ignore_index: int = -100,
                  reduce: bool | None = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """Minus the log-likelihood of the target classes under softmax of ``input``.

    ``target`` holds class indices, or a probability for every class.
    """
    code = reduction_code(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError("label_smoothing must be between 0.0 and 1.0. Got: "
                           f"{label_smoothing}")
    axis = 0 if input.ndim == 1 else 1
    if _is_usual(input, target, weight) and not label_smoothing:
        return _nll_loss(_log_softmax(input, axis), target, None, code, ignore_index)
    if tuple(input.shape) == tuple(target.shape):
        if not target.dtype.is_floating_point:
            raise RuntimeError("Expected floating point type for target with class probabilities, "
                               f"got {target.dtype.alias}")
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _probability_entropy(input, target, weight, code, label_smoothing, axis)
    if label_smoothing > 0:
        return _smoothed_entropy(input, target, weight, code, ignore_index, label_smoothing, axis)
    return nll_loss(_log_softmax(input, axis), target, weight, None, ignore_index, None, reduction)


# ---------------------------------------------------------------- likelihood of two outcomes


@op(method=False, function=None, guard=kinds("f", "binary_cross_entropy"))
def _binary_cross_entropy(input: Array, target: Array, weight: Index | None,
                          reduction: int) -> Any:
    return arrays.binary_cross_entropy(input, target, weight, reduction)


_binary_cross_entropy.op.node_name = "BinaryCrossEntropyBackward0"


def weighted_share(g: Any, weight: Any, input: Any, reduction: int) -> Any:
    g = share(g, element_count(input), reduction)
    return g if weight is None else g * weight


_binary_cross_entropy.vjp(
    input=lambda g, input, target, weight, reduction: (input - target) / _clamp_min_number(
        (1 - input) * input, 1e-12) * weighted_share(g, weight, input, reduction),
    target=lambda g, input, weight, reduction: (log1p(-input) - log(input)) * weighted_share(
        g, weight, input, reduction))


@composite(function="nn.functional")
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                         size_average: bool | None = None, reduce: bool | None = None,
                         reduction: str = "mean") -> Tensor:
    """Minus the log-likelihood of ``target`` under the probabilities ``input``."""
    code = reduction_code(reduction, size_average, reduce)
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input "
                         f"size ({input.shape}) is deprecated. Please ensure they have the same "
                         "size.")
    for other in (target, weight):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(f"Found dtype {other.dtype.alias} but expected "
                               f"{input.dtype.alias}")
    if weight is not None and tuple(weight.shape) != tuple(input.shape):
        whole = tuple(broadcast_shapes(target.shape, weight.shape))
        check_fits(tuple(input.shape), (whole,))
        weight = expand(weight, whole)
    return _binary_cross_entropy(input, target, weight, code)


@elementwise(method=False, function=None, promote="float", node="LogSigmoidBackward0")
def softplus_of_negative(input: Array) -> Any:
    """``log(1 + exp(-x))``."""
    return xp.log1p(xp.exp(-xp.absolute(input))) + xp.maximum(-input, 0)


softplus_of_negative.vjp(input=lambda g, input: -g * sigmoid(-input))


@op(method=False, function=None, node="BinaryCrossEntropyWithLogitsBackward0")
def _logistic_loss(input: Array, target: Array, weight: Index | None, pos_weight: Index | None,
                   reduction: int) -> Any:
    return arrays.logistic_loss(input, target, weight, pos_weight, reduction)


def logistic_slope(input: Any, target: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return sigmoid(input) - target
    favoured = pos_weight * target
    return (favoured + 1 - target) * sigmoid(input) - favoured


def logistic_target_slope(input: Any, pos_weight: Any) -> Any:
    return -input if pos_weight is None else (
        pos_weight - 1) * softplus_of_negative(input) - input


_logistic_loss.vjp(
    input=lambda g, input, target, weight, pos_weight, reduction: logistic_slope(
        input, target, pos_weight) * weighted_share(g, weight, input, reduction),
    target=lambda g, input, weight, pos_weight, reduction: logistic_target_slope(
        input, pos_weight) * weighted_share(g, weight, input, reduction))


def check_fits(shape: tuple[int, ...], both: Any) -> None:
    """A weight may be broadcast to the values that it scales, but not the other way round."""
    try:
        whole = tuple(xp.broadcast_shapes(*both))
    except ValueError:
        raise size_mismatch(both) from None
    if whole != shape:
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape "
                           f"{list(whole)}")


@composite(function="nn.functional")
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None,
                                     reduce: bool | None = None, reduction: str = "mean",
                                     pos_weight: Tensor | None = None) -> Tensor:
    """Binary cross entropy of ``target`` under the sigmoid of ``input``."""
    code = reduction_code(reduction, size_average, reduce)
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size "
                         f"({input.shape})")
    if not target.dtype.is_floating_point:
        if not input.dtype.is_floating_point:
            raise no_kernel("log_sigmoid_cpu", input.dtype)
        raise RuntimeError(f"result type {input.dtype.alias} can't be cast to the desired output "
                           f"type {target.dtype.alias}")
    input, target = _pair(input, target)
    shape = tuple(input.shape)
    if pos_weight is not None and tuple(pos_weight.shape) != shape:
        check_fits(shape, (tuple(pos_weight.shape), shape))
    if weight is not None and tuple(weight.shape) != shape:
        check_fits(shape, (shape, tuple(weight.shape)))
    return _logistic_loss(input, target, weight, pos_weight, code)


# ---------------------------------------------------------------- losses made of other ops


@composite(function="nn.functional")
def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None,
           reduce: bool | None = None, reduction: str = "mean",
           log_target: bool = False) -> Tensor:
    """The Kullback-Leibler divergence of log-probabilities ``input`` from ``target``."""
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.", UserWarning, stacklevel=2)
    if not (input.dtype.is_floating_point and target.dtype.is_floating_point):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    over_batch = reduction == "batchmean"
    code = SUM if over_batch else reduction_code(reduction, size_average, reduce)
    values = exp(target) * (target - input) if log_target else \
        xlogy(target, target) - target * input
    result = reduced(values, code)
    return result / input.shape[0] if over_batch and input.ndim else result


@composite(function="nn.functional")
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0,
                         size_average: bool | None = None, reduce: bool | None = None,
                         reduction: str = "mean") -> Tensor:
    """``input`` where ``target`` is 1, and what it lacks to ``margin`` where that is -1."""
    code = reduction_code(reduction, size_average, reduce)
    zero = input.new_zeros(())
    # The margin is a number of the input's own type, which cuts it off for integers.
    margin = margin if input.dtype.is_floating_point else int(margin)
    values = where(target != 1, _clamp_min_number(margin - input, 0), zero) + where(
        target != -1, input, zero)
    return reduced(values, code)


@composite(function="nn.functional")
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:
    """What ``input1`` lacks to being ``margin`` above (or below) ``input2``."""
    code = reduction_code(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    return reduced(_clamp_min_number(-target * (input1 - input2) + float(margin), 0), code)


@composite(function="nn.functional")
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: bool | None = None, reduce: bool | None = None,
                          reduction: str = "mean") -> Tensor:
    """One minus the cosine for similar pairs, the cosine above ``margin`` for others."""
    code = reduction_code(reduction, size_average, reduce)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.ndim != target.ndim + 1 or input2.ndim != target.ndim + 1:
        kind = "1D target tensor expects 2D" if target.ndim else "0D target tensor expects 1D"
        raise RuntimeError(f"{kind} input tensors, but found inputs with sizes "
                           f"{list(input1.shape)} and {list(input2.shape)}.")
    tiny = 1e-12
    product = sum(input1 * input2, -1)
    lengths = sqrt((sum(input1 * input1, -1) + tiny) * (sum(input2 * input2, -1) + tiny))
    cosine = product / lengths
    zero = cosine.new_zeros(())
    values = where(target == 1, 1 - cosine, zero) + where(
        target == -1, _clamp_min_number(cosine - margin, 0), zero)
    return reduced(values, code)


def _check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    ranks = (anchor.ndim, positive.ndim, negative.ndim)
    if len(set(ranks)) > 1:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the "
                           f"same number of dimensions, but got: anchor {ranks[0]}D, positive "
                           f"{ranks[1]}D, and negative {ranks[2]}D inputs")


def _triplet(near: Tensor, far: Tensor, other: Tensor | None, margin: float,
             code: int) -> Tensor:
    far = far if other is None else minimum(far, other)
    return reduced(_clamp_min_number(margin + near - far, 0), code)


@composite(function="nn.functional")
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,
                        p: float = 2, eps: float = 1e-6, swap: bool = False,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:
    """How much nearer than ``margin`` the negative is, compared with the positive."""
    code = reduction_code(reduction, size_average, reduce)
    _check_triplet(anchor, positive, negative, margin)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    other = pairwise_distance(positive, negative, p, eps) if swap else None
    return _triplet(near, far, other, margin, code)


@composite(function="nn.functional")
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *,
                                      distance_function: Any = None, margin: float = 1.0,
                                      swap: bool = False, reduction: str = "mean") -> Tensor:
    """:func:`triplet_margin_loss` with any distance."""
    code = reduction_code(reduction)
    _check_triplet(anchor, positive, negative, margin)
    distance = pairwise_distance if distance_function is None else distance_function
    other = distance(positive, negative) if swap else None
    return _triplet(distance(anchor, positive), distance(anchor, negative), other, margin, code)


@op(method=False, function=None, node="SoftMarginLossBackward0")
def _soft_margin_loss(input: Array, target: Index, reduction: int) -> Any:
    apart = -input * target
    values = xp.log1p(xp.exp(-xp.absolute(apart))) + xp.maximum(apart, 0)
    return arrays.reduced(values.astype(input.dtype, copy=False), reduction)


_soft_margin_loss.vjp(input=lambda g, input, target, reduction: -target * sigmoid(
    -input * target) * share(g, element_count(input), reduction))


@composite(function="nn.functional")
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                     reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """``log(1 + exp(-target * input))`` for targets of 1 and -1."""
    code = reduction_code(reduction, size_average, reduce)
    if tuple(input.shape) != tuple(target.shape):
        input, target = _expanded_pair(input, target)
    if not input.dtype.is_floating_point:
        raise RuntimeError("result type Float can't be cast to the desired output type "
                           f"{input.dtype.alias}")
    return _soft_margin_loss(input, target.to(input.dtype), code)


@composite(function="nn.functional")
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: bool | None = None, reduce: bool | None = None,
                                reduction: str = "mean") -> Tensor:
    """The mean over the classes of binary cross entropy with logits."""
    code = reduction_code(reduction, size_average, reduce)
    values = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    values = values if weight is None else values * weight
    if not input.ndim:
        raise no_dims(-1)
    return reduced(sum(values, input.ndim - 1) / input.shape[-1], code)


@op(method=False, function=None)
def _hinge_slopes(input: Array, target: Index, weight: Index | None, p: int, margin: float) -> Any:
    return arrays.hinge_slopes(input, target, p, margin, weight)


@op(method=False, function=None, node="MultiMarginLossBackward0",
    guard=kinds("f", "multi_margin_loss_cpu_kernel"))
def _multi_margin_loss(input: Array, target: Index, weight: Index | None, p: int, margin: float,
                       reduction: int) -> Any:
    values = arrays.hinge_margins(input, target, p, margin, weight).sum(1)
    return arrays.reduced(values.astype(input.dtype), reduction)


def per_sample(g: Any, count: int, reduction: int) -> Any:
    """An output's gradient as a column, one row for each sample."""
    g = share(g, count, reduction)
    return reshape(g, (count, 1)) if reduction == NONE else g


# The slopes change only where a hinge bends (p=1); for p=2 their own rule is the next order.
_multi_margin_loss.vjp(
    input=lambda g, input, target, weight, p, margin, reduction: _hinge_slopes(
        input, target, weight, p, margin) * per_sample(g, input.shape[0], reduction))
_hinge_slopes.vjp(input=lambda g, input, target, weight, p, margin: _hinge_curvature(
    g, input, target, weight, p, margin))


@op(method=False, function=None)
def _hinge_curvature(output: Array, input: Index, target: Index, weight: Index | None, p: int,
                     margin: float) -> Any:
    return arrays.hinge_curvature(output, input, target, p, margin, weight)


_hinge_curvature.vjp(output=lambda g, input, target, weight, p, margin: _hinge_curvature(
    g, input, target, weight, p, margin))


@composite(function="nn.functional")
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0,
                      weight: Tensor | None = None, size_average: bool | None = None,
                      reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """How far wrong classes are from being ``margin`` below the right one."""
    code = reduction_code(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    classes = input.shape[-1] if input.ndim else 1
    if input.ndim > 2 or not classes:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, "
                           f"but got: {list(input.shape)}")
    samples = tuple(input.shape[:1]) if input.ndim == 2 else (1,)
    if tuple(target.shape) != samples and (input.ndim == 2 or target.ndim):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size {list(samples)}, but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}.")
    if input.ndim < 2:
        loss = multi_margin_loss(reshape(input, (1, -1)), reshape(target, (1,)), p, margin, weight,
                                 reduction=reduction)
        return reshape(loss, target.shape) if code == NONE else loss
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got "
                           f"{list(weight.shape)}")
    if target.dtype is not dtypes.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.alias}")
    return _multi_margin_loss(input, target, weight, p, margin, code)


@composite(function="nn.functional")
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: bool = False,
                      eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """Minus the log-likelihood of ``target`` under normal distributions."""
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = input.new_zeros(()) + var if not input.ndim else expand(
            input.new_zeros(()) + var, tuple(input.shape))
    if tuple(var.shape) != tuple(input.shape):
        if tuple(input.shape[:-1]) == tuple(var.shape):
            var = reshape(var, (*var.shape, 1))
        elif not (tuple(input.shape[:-1]) == tuple(var.shape[:-1]) and var.shape[-1] == 1):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    if not type(var)._is_traced and bool((var < 0).any()):  # type: ignore[attr-defined]
        raise ValueError("var has negative entry/entries")
    held = var.clone()
    # The floor of the variance is no part of the derivative.
    with switched(grad=False):
        held.clamp_(min=eps)
    values = 0.5 * (log(held) + (input - target) ** 2 / held)
    if full:
        values = values + 0.5 * math.log(2 * math.pi)
    return reduced(values, _REDUCTIONS[reduction])


@composite(function="nn.functional")
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-8,
                     reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Minus the log-likelihood of counts ``target`` under Poisson distributions."""
    code = reduction_code(reduction, size_average, reduce)
    values = exp(input) - target * input if log_input else input - target * log(input + eps)
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)
        values = values + where(target <= 1, stirling.new_zeros(()), stirling)
    return reduced(values, code)
