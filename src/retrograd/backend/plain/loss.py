"""Losses on raw arrays; half precision is added up in float32."""

from __future__ import annotations

import math
from typing import Any

from .. import xp
from ..interface import MEAN, NONE, SUM
from .matrices import dot
from .pointwise import bounded
from .precision import is_half, wide
from .rows import total

# Losses of classes are added up by so many, what those come to again, and so on.
_CASCADE, _LEVELS = 16, 8


def reduced(values: Any, reduction: int) -> Any:
    """All values, their mean or their sum."""
    if reduction == NONE:
        return values
    found = total(wide(values).reshape(-1))
    return xp.cast(found if reduction == SUM else _divided(found, values.size), values.dtype)


def _divided(number: Any, count: int) -> Any:
    """A number divided, in its own dtype; that of nothing is NaN."""
    return number / (count or math.nan)


def squared_error(x: Any, target: Any, reduction: int) -> Any:
    """The squares of the differences, or their mean or sum."""
    apart = x - target
    if reduction == NONE:
        return apart * apart
    flat = wide(apart).reshape(-1)
    found = dot(flat, flat)
    return xp.cast(found if reduction == SUM else _divided(found, flat.size), apart.dtype)


def smooth_error(x: Any, target: Any, beta: float, bend: float, steepest: float,
                 reduction: int) -> Any:
    """Quadratic below ``beta``, where the slope grows by ``bend``, and linear above it."""
    values = _smooth_errors(wide(x), wide(target), beta, bend, steepest)
    return reduced(xp.cast(values, x.dtype), reduction)


def _smooth_errors(x: Any, target: Any, beta: float, bend: float, steepest: float) -> Any:
    apart = xp.absolute(x - target)
    return xp.where(apart < beta, apart * apart * (0.5 * bend), (apart - 0.5 * beta) * steepest)


def smooth_gradient(g: Any, x: Any, target: Any, bend: float, steepest: float) -> Any:
    """``g`` times the slope of :func:`smooth_error`."""
    return bounded((x - target) * bend, -steepest, steepest) * g


def _checked(target: Any, classes: int, ignore: int) -> tuple[Any, Any]:
    """Targets that can index, and which of them count (None for all)."""
    counts = target != ignore
    wrong = counts & ((target < 0) | (target >= classes))
    if xp.any(wrong):
        raise IndexError(f"Target {int(target[wrong][0])} is out of bounds.")
    return xp.where(counts, target, 0), None if xp.all(counts) else counts


def _picked(x: Any, target: Any) -> Any:
    """The value of each target's class (dimension 1)."""
    if not x.size:
        return xp.zeros(target.shape, x.dtype)
    return xp.take_along_axis(x, target[:, None], axis=1)[:, 0]


def _placed(values: Any, shape: tuple[int, ...], target: Any, dtype: Any) -> Any:
    """Zeros with each of ``values`` at its target's class (dimension 1)."""
    whole = xp.zeros(shape, dtype)
    if whole.size:
        xp.put_along_axis(whole, target[:, None],
                          xp.broadcast_to(values, target.shape)[:, None], axis=1)
    return whole


def class_weights(target: Any, weight: Any, counts: Any, dtype: Any) -> Any:
    """What each target's loss is multiplied by; None for one everywhere."""
    if weight is None:
        return None if counts is None else counts.astype(dtype)
    # Without classes every target is one that is to be ignored.
    found = xp.take(weight, target) if weight.size else xp.zeros(target.shape, weight.dtype)
    return found if counts is None else xp.where(counts, found, xp.zeros((), found.dtype))


def _counted(values: Any, counts: Any) -> Any:
    """Values, and zero for targets that are ignored, whatever these came to."""
    return values if counts is None else xp.where(counts, values, xp.zeros((), values.dtype))


def negative_likelihood(x: Any, target: Any, weight: Any, reduction: int, ignore: int) -> Any:
    """Minus the log-likelihood of the target classes, (batch, classes, *space)."""
    if x.ndim == 1:
        loss = negative_likelihood(x[None], target.reshape(1), weight, reduction, ignore)
        return loss if reduction != NONE else loss.reshape(target.shape)
    target, counts = _checked(target, x.shape[1], ignore)
    values = _picked(x, target)
    dtype = x.dtype
    if weight is None and counts is None and (reduction == NONE or not is_half(dtype)):
        loss = reduced(values, reduction)
        return -loss if reduction == NONE else 0 - loss  # a sum shows no minus zero
    scale = class_weights(target, weight, counts, dtype)
    values = -values if scale is None else _counted(-values * scale, counts)
    if reduction == NONE:
        return values
    loss = _total(values)
    if reduction == SUM:
        return loss
    divisor = xp.full((), target.size, dtype) if scale is None else _total(scale)
    return xp.as_array(loss / divisor).astype(dtype)


def _total(values: Any) -> Any:
    """The sum of all values; PyTorch adds up the losses of classes in half precision itself."""
    if not is_half(values.dtype):
        return xp.as_array(reduced(values, SUM))
    parts, ahead = [], xp.zeros((_CASCADE - 1,), values.dtype)
    values = values.reshape(-1)
    for _ in range(_LEVELS - 1):
        # The first value of a level goes up at once, and then what each so many came to.
        values = xp.concatenate([ahead, values])
        whole = values.size // _CASCADE * _CASCADE
        parts.append(_rounded_sums(values[whole:].reshape(1, -1)))
        values = _rounded_sums(values[:whole].reshape(-1, _CASCADE))
    parts.append(_rounded_sums(values.reshape(1, -1)))
    return _rounded_sums(xp.concatenate(parts).reshape(1, -1)).reshape(())


def _rounded_sums(rows: Any) -> Any:
    """The sum of each row, rounded after every addition."""
    return xp.cumsum(rows, axis=1)[:, -1] if rows.shape[1] else xp.zeros((len(rows),), rows.dtype)


def spread_likelihood(g: Any, shape: tuple[int, ...], target: Any, weight: Any, reduction: int,
                      ignore: int) -> Any:
    """The gradient of :func:`negative_likelihood`."""
    if len(shape) == 1:
        return spread_likelihood(xp.as_array(g).reshape(target.shape or (1,)) if reduction == NONE
                                 else g, (1, *shape), target.reshape(1), weight, reduction,
                                 ignore)[0]
    target, counts = _checked(target, shape[1], ignore)
    dtype = g.dtype
    if weight is None and counts is None:
        values = _divided(-g, target.size) if reduction == MEAN else -g
        return _placed(values, shape, target, dtype)
    scale = class_weights(target, weight, counts, dtype)
    values = -g
    if reduction == MEAN:
        values = values / _total(scale).astype(values.dtype)
    values = _counted(values * scale, counts)
    return _placed(values, shape, target, dtype)


def binary_cross_entropy(x: Any, target: Any, weight: Any, reduction: int) -> Any:
    """Minus the log-likelihood of probabilities; logarithms are held above -100."""
    wide_x = wide(x)
    if wide_x.size and not ((wide_x >= 0) & (wide_x <= 1)).all():
        raise RuntimeError("all elements of input should be between 0 and 1")
    hit, miss = xp.maximum(xp.log(wide_x), -100), xp.maximum(xp.log1p(-wide_x), -100)
    values = (target - 1) * miss - target * hit
    values = values if weight is None else values * weight
    return reduced(xp.cast(values, x.dtype), reduction)


def logistic_loss(x: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    """Binary cross entropy of logits."""
    wide_x = wide(x)
    rest = xp.cast(xp.log1p(xp.exp(-xp.absolute(wide_x))) + xp.maximum(-wide_x, 0), x.dtype)
    if pos_weight is not None:
        rest = rest * ((pos_weight - 1) * target + 1)
    values = (1 - target) * x + rest
    values = values if weight is None else values * weight
    return reduced(xp.cast(values, x.dtype), reduction)


def hinge_margins(x: Any, target: Any, p: int, margin: float, weight: Any) -> Any:
    """For each sample and wrong class, how far it is from being ``margin`` below the right one."""
    if target.size and not 0 <= int(target.min()) <= int(target.max()) < x.shape[1]:
        raise RuntimeError("target out of range")
    rows = xp.arange(x.shape[0])
    apart = margin - x[rows, target][:, None] + x
    apart = xp.maximum(apart, 0)
    apart[rows, target] = 0
    scale = 1 / x.shape[1]
    scale = scale if weight is None else weight[target][:, None] * scale
    return (apart if p == 1 else apart * apart) * scale


def hinge_slopes(x: Any, target: Any, p: int, margin: float, weight: Any) -> Any:
    """The derivative of each sample's summed :func:`hinge_margins`."""
    rows = xp.arange(x.shape[0])
    apart = margin - x[rows, target][:, None] + x
    slope = (apart > 0).astype(x.dtype) if p == 1 else 2 * xp.maximum(apart, 0)
    slope[rows, target] = 0
    scale = 1 / x.shape[1]
    slope = slope * (scale if weight is None else weight[target][:, None] * scale)
    slope[rows, target] = -slope.sum(1)
    return slope.astype(x.dtype)


def hinge_curvature(g: Any, x: Any, target: Any, p: int, margin: float, weight: Any) -> Any:
    """The symmetric second derivative of :func:`hinge_margins`, applied to ``g``."""
    if p == 1:
        return xp.zeros_like(g)
    rows = xp.arange(x.shape[0])
    bends = (margin - x[rows, target][:, None] + x > 0).astype(x.dtype)
    bends[rows, target] = 0
    scale = 2 / x.shape[1]
    bends = bends * (scale if weight is None else weight[target][:, None] * scale)
    change = bends * (g - g[rows, target][:, None])
    change[rows, target] = -change.sum(1)
    return change


def _meant_classes(target: Any, classes: int) -> tuple[Any, Any, Any]:
    """The classes of each row up to the first -1: as indices, which of these count, as a mask."""
    if target.size and not -1 <= int(target.min()) <= int(target.max()) < classes:
        raise RuntimeError("argument #2 'target' is out of range")
    counts = xp.cumsum(target < 0, axis=1) == 0
    longest = int(xp.max(xp.sum(counts, axis=1))) if target.size else 0
    counts = counts[:, :longest]
    listed = xp.where(counts, target[:, :longest], 0)
    mask = xp.zeros(target.shape, xp.BOOL)
    rows = xp.broadcast_to(xp.arange(len(target))[:, None], listed.shape)
    mask[rows[counts], listed[counts]] = True
    return listed, counts, mask


def _multilabel_hinges(x: Any, target: Any) -> tuple[Any, Any]:
    """For each class that is meant and each that is not, what they lack to being 1 apart."""
    listed, counts, mask = _meant_classes(target, x.shape[1])
    apart = 1 - xp.take_along_axis(x, listed, axis=1)[:, :, None] + x[:, None]
    return xp.where(counts[:, :, None] & ~mask[:, None], xp.maximum(apart, 0), 0), listed


def multilabel_margins(x: Any, target: Any) -> Any:
    """The summed hinges of each sample, divided by the number of classes."""
    if x.ndim < 2:
        return multilabel_margins(x.reshape(1, -1), target.reshape(1, -1)).reshape(())
    return (xp.sum(_multilabel_hinges(x, target)[0], axis=(1, 2)) / x.shape[1]).astype(x.dtype)


def multilabel_slopes(x: Any, target: Any) -> Any:
    """The derivative of :func:`multilabel_margins`."""
    if x.ndim < 2:
        return multilabel_slopes(x.reshape(1, -1), target.reshape(1, -1)).reshape(x.shape)
    hinges, listed = _multilabel_hinges(x, target)
    bends = (hinges > 0).astype(x.dtype)
    found = xp.sum(bends, axis=1)
    rows = xp.broadcast_to(xp.arange(len(x))[:, None], listed.shape)
    xp.add_at(found, (rows, listed), -xp.sum(bends, axis=2))
    return found / x.shape[1]
