"""The likelihood of classes."""

from __future__ import annotations

import math
from typing import Any

from ...backend import loss as loss_kernels, xp
from ...base.errors import no_dims
from ...core.op import Array, Index, composite, op
from ...core.tensor import Tensor
from ..batching import all_batched, folded, inner_rank, unfolded
from ..checks.losses import check_classes, check_likelihood, wrong_weight
from ..elementwise.comparison import ne
from ..elementwise.where import kept, where
from ..indexing.index_tensors import index, index_rule
from ..memory.casts import in_dtype_of
from ..nn.softmax import _log_softmax
from ..reductions.sums import sum
from ..shapes.expanding import expand
from ..shapes.reshaping import reshape
from .reduction import MEAN, NONE, SUM, _reduced, reduction_code


@op(vjp=lambda g, target, weight, reduction, ignore_index:
    _nll_loss(g, target, weight, reduction, ignore_index))
def _likelihood_gradient(output: Array, target: Index, weight: Index | None, shape: Any,
                         reduction: int, ignore_index: int) -> Any:
    return loss_kernels.spread_likelihood(output, shape, xp.as_array(target), weight, reduction,
                                          ignore_index)


def _declare_likelihood(name: str, node: str) -> Any:
    @op(name=name, node=node)
    def loss(input: Array, target: Index, weight: Index | None, reduction: int,
             ignore_index: int) -> Any:
        if weight is not None or input.dtype is not xp.FLOAT32:
            check_likelihood(input, weight)
        target = xp.in_rows(xp.as_array(target))
        return loss_kernels.negative_likelihood(input, target, weight, reduction, ignore_index)

    loss.vjp(input=lambda g, target, weight, like, reduction, ignore_index: _likelihood_gradient(
        g, target, weight, like.shape, reduction, ignore_index))
    loss.jvp(input=lambda tangent, target, weight, reduction, ignore_index: _nll_loss(
        tangent, target, weight, reduction, ignore_index))
    return loss


_nll_loss = _declare_likelihood("_nll_loss", "NllLossBackward0")
_nll_loss2d = _declare_likelihood("_nll_loss2d", "NllLoss2DBackward0")


def _class_weights(batch: Any, target: Any, weight: Any, ignore_index: int, like: Any) -> Any:
    """What each batched target's likelihood counts."""
    counted = ne(target, ignore_index)
    if weight is None:
        return in_dtype_of(like, counted)
    safe = kept(target, counted)
    picked = index_rule(batch.but(index=True, input=True), weight, safe, (0,)) \
        if batch["weight"] else index(weight, safe, (0,))
    return kept(picked, counted)


def _losses(values: Any, weights: Any, reduction: int) -> Any:
    if reduction == NONE:
        return values
    total = _reduced(values, SUM)
    return total / _reduced(weights, SUM) if reduction == MEAN else total


@_nll_loss.batch
@_nll_loss2d.batch
def _(batch: Any, input: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    input, target = all_batched(batch, input=input, target=target)
    if inner_rank(input) == 1:
        single = target.ndim == 2
        values = _nll_loss(input, reshape(target, (batch.size,)), None, NONE, ignore_index)
        values = reshape(values, target.shape) if single and reduction == NONE else values
        target = target if values.ndim == target.ndim else reshape(target, (batch.size,))
    else:
        values = unfolded(batch, _nll_loss(folded(input), folded(target), None, NONE, ignore_index))
    weights = _class_weights(batch, target, weight, ignore_index, input)
    if weight is not None:
        values = values * weights
    return _losses(values, weights, reduction)


@_likelihood_gradient.batch
def _(batch: Any, output: Any, target: Any, weight: Any, shape: Any, reduction: int,
      ignore_index: int) -> Any:
    output, target = all_batched(batch, output=output, target=target)
    if len(shape) == 1:
        target, output = reshape(target, (batch.size,)), reshape(output, (batch.size,))
    weights = _class_weights(batch, target, weight, ignore_index, output)
    if reduction == MEAN:
        output = output / _reduced(weights, SUM)
    g = reshape(output, (batch.size, *(1,) * inner_rank(target))) if reduction != NONE else output
    g = expand(g * weights, target.shape)
    if len(shape) == 1:
        return _likelihood_gradient(g, target, None, (batch.size, *shape), NONE, ignore_index)
    whole = (batch.size * shape[0], *shape[1:])
    return unfolded(batch, _likelihood_gradient(folded(g), folded(target), None, whole, NONE,
                                                ignore_index))


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
    check_classes(input, target, weight)
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
        raise RuntimeError("cross_entropy: " + wrong_weight(classes, weight))
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
