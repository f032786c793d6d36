"""Losses on raw arrays: one pass each, half precision added up in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import FLOAT32, FLOAT64, INT64, as_array
from .matrices import is_low_precision
from .norm import wide
from .rows import row_starts, total

UINT64 = np.dtype("uint64")

NONE, MEAN, SUM = 0, 1, 2


def reduced(values: Any, reduction: int) -> Any:
    """All values, their mean or their sum."""
    if reduction == NONE:
        return values
    total = np.add.reduce(wide(values), axis=None)
    if reduction == MEAN:
        total = total / values.dtype.type(values.size) if values.dtype in (FLOAT32, FLOAT64) \
            else total / values.size
    return as_array(total).astype(values.dtype)


def squared_error(x: Any, target: Any, reduction: int) -> Any:
    """The squares of the differences, or their mean or sum."""
    apart = x - target
    if reduction == NONE:
        return apart * apart
    dtype = apart.dtype
    if dtype is FLOAT32 or dtype is FLOAT64:
        flat = apart.reshape(-1)
        total = flat.dot(flat)
        return total if reduction == SUM else total / dtype.type(apart.size)
    return reduced(wide(apart) ** 2, reduction).astype(dtype)


def smooth_error(x: Any, target: Any, beta: float, scale: float, reduction: int) -> Any:
    """Quadratic below ``beta`` and linear above it, times ``scale``."""
    apart = np.absolute(wide(x) - wide(target))
    near = apart < beta
    values = np.where(near, apart * apart * (0.5 / beta), apart - 0.5 * beta) * scale
    return reduced(values.astype(x.dtype, copy=False), reduction)


def _checked(target: Any, classes: int, ignore: int) -> tuple[Any, Any]:
    """Targets that can index, and which of them count (None for all)."""
    if not target.size:
        return target, None
    # Seen as unsigned, a negative number is too large as well.
    unsigned = target.view(UINT64) if target.dtype is INT64 else target
    if not 0 <= ignore < classes and unsigned.item(unsigned.argmax()) < classes:
        return target, None
    counts = target != ignore
    wrong = counts & ((target < 0) | (target >= classes))
    if wrong.any():
        raise IndexError(f"Target {target[wrong][0]} is out of bounds.")
    return np.where(counts, target, 0), counts


def _picked(x: Any, target: Any) -> Any:
    """The value of each target's class (dimension 1)."""
    if not x.size:
        return np.zeros(target.shape, x.dtype)
    if x.ndim == 2 and x.flags.c_contiguous:
        return x.take(row_starts(*x.shape) + target)
    return np.take_along_axis(x, target[:, None], 1)[:, 0]


def _placed(values: Any, shape: tuple[int, ...], target: Any, dtype: Any) -> Any:
    """Zeros with each of ``values`` at its target's class (dimension 1)."""
    whole = np.zeros(shape, dtype)
    if not whole.size:
        return whole
    if len(shape) == 2:
        whole.put(row_starts(*shape) + target, values)
    else:
        np.put_along_axis(whole, target[:, None],
                          np.broadcast_to(values, target.shape)[:, None], 1)
    return whole


def class_weights(target: Any, weight: Any, counts: Any, dtype: Any) -> Any:
    """What each target's loss is multiplied by; None for one everywhere."""
    if weight is None:
        return None if counts is None else counts.astype(dtype)
    # Without classes every target is one that is to be ignored.
    found = weight.take(target) if weight.size else np.zeros(target.shape, weight.dtype)
    return found if counts is None else np.where(counts, found, np.zeros((), found.dtype))


def negative_likelihood(x: Any, target: Any, weight: Any, reduction: int, ignore: int) -> Any:
    """Minus the log-likelihood of the target classes, (batch, classes, *space)."""
    if x.ndim == 1:
        loss = negative_likelihood(x[None], target.reshape(1), weight, reduction, ignore)
        return loss if reduction != NONE else loss.reshape(target.shape)
    target, counts = _checked(target, x.shape[1], ignore)
    values = _picked(x, target)
    dtype = x.dtype
    if weight is None and counts is None:
        if reduction != MEAN or is_low_precision(dtype):
            return reduced(-values, reduction)
        return dtype.type(0 - total(values.reshape(-1))) / dtype.type(values.size)
    scale = class_weights(target, weight, counts, dtype)
    values = np.where(scale == 0, np.zeros((), dtype), -values * scale)
    if reduction != MEAN:
        return reduced(values, reduction)
    loss = np.add.reduce(wide(values), axis=None)
    divisor = np.add.reduce(wide(scale), axis=None)
    return as_array(loss / as_array(divisor).astype(loss.dtype)).astype(dtype)


def spread_likelihood(g: Any, shape: tuple[int, ...], target: Any, weight: Any, reduction: int,
                      ignore: int) -> Any:
    """The gradient of :func:`negative_likelihood`."""
    if len(shape) == 1:
        return spread_likelihood(as_array(g).reshape(target.shape or (1,)) if reduction == NONE
                                 else g, (1, *shape), target.reshape(1), weight, reduction,
                                 ignore)[0]
    target, counts = _checked(target, shape[1], ignore)
    dtype = g.dtype
    if weight is None and counts is None:
        values = g / dtype.type(-target.size) if reduction == MEAN else -g
        return _placed(values, shape, target, dtype)
    scale = class_weights(target, weight, counts, dtype)
    values = -g
    if reduction == MEAN:
        values = values / as_array(np.add.reduce(wide(scale), axis=None)).astype(values.dtype)
    values = np.where(scale == 0, np.zeros((), dtype), values * scale)
    return _placed(values, shape, target, dtype)


def binary_cross_entropy(x: Any, target: Any, weight: Any, reduction: int) -> Any:
    """Minus the log-likelihood of probabilities; logarithms are held above -100."""
    wide_x = wide(x)
    if wide_x.size and not ((wide_x >= 0) & (wide_x <= 1)).all():
        raise RuntimeError("all elements of input should be between 0 and 1")
    hit, miss = np.maximum(np.log(wide_x), -100), np.maximum(np.log1p(-wide_x), -100)
    values = (target - 1) * miss - target * hit
    values = values if weight is None else values * weight
    return reduced(np.asarray(values, x.dtype), reduction)


def logistic_loss(x: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    """Binary cross entropy of logits."""
    wide_x = wide(x)
    rest = np.log1p(np.exp(-np.absolute(wide_x))) + np.maximum(-wide_x, 0)
    if pos_weight is not None:
        rest = rest * ((pos_weight - 1) * target + 1)
    values = (1 - target) * wide_x + rest
    values = values if weight is None else values * weight
    return reduced(np.asarray(values, x.dtype), reduction)


def hinge_margins(x: Any, target: Any, p: int, margin: float, weight: Any) -> Any:
    """For each sample and wrong class, how far it is from being ``margin`` below the right one."""
    if target.size and not 0 <= target.min() <= target.max() < x.shape[1]:
        raise RuntimeError("target out of range")
    rows = np.arange(x.shape[0])
    apart = margin - x[rows, target][:, None] + x
    apart = np.maximum(apart, 0)
    apart[rows, target] = 0
    scale = 1 / x.shape[1]
    scale = scale if weight is None else weight[target][:, None] * scale
    return (apart if p == 1 else apart * apart) * scale


def hinge_slopes(x: Any, target: Any, p: int, margin: float, weight: Any) -> Any:
    """The derivative of each sample's summed :func:`hinge_margins`."""
    rows = np.arange(x.shape[0])
    apart = margin - x[rows, target][:, None] + x
    slope = (apart > 0).astype(x.dtype) if p == 1 else 2 * np.maximum(apart, 0)
    slope[rows, target] = 0
    scale = 1 / x.shape[1]
    slope = slope * (scale if weight is None else weight[target][:, None] * scale)
    slope[rows, target] = -slope.sum(1)
    return slope.astype(x.dtype)


def hinge_curvature(g: Any, x: Any, target: Any, p: int, margin: float, weight: Any) -> Any:
    """The symmetric second derivative of :func:`hinge_margins`, applied to ``g``."""
    if p == 1:
        return np.zeros_like(g)
    rows = np.arange(x.shape[0])
    bends = (margin - x[rows, target][:, None] + x > 0).astype(x.dtype)
    bends[rows, target] = 0
    scale = 2 / x.shape[1]
    bends = bends * (scale if weight is None else weight[target][:, None] * scale)
    change = bends * (g - g[rows, target][:, None])
    change[rows, target] = -change.sum(1)
    return change
