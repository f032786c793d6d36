"""Losses on NumPy arrays: BLAS adds up, and flat indices reach the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..interface import MEAN, NONE
from ..plain import fill_with_plain_bodies
from ..plain import loss as plain
from . import FLOAT32, FLOAT64, INT64
from .native import in_order, native
from .rows import row_starts, total

UINT64 = np.dtype("uint64")


def squared_error(x: Any, target: Any, reduction: int) -> Any:
    # BLAS adds up the two dtypes that it has.
    apart = x - target
    dtype = apart.dtype
    if reduction == NONE or not (dtype is FLOAT32 or dtype is FLOAT64):
        return plain.squared_error(x, target, reduction)
    flat = apart.reshape(-1)
    found = flat.dot(flat)
    return found / dtype.type(apart.size) if reduction == MEAN else found


def _checked(target: Any, classes: int, ignore: int) -> tuple[Any, Any]:
    # Seen as unsigned, a negative number is too large as well.
    if target.dtype is INT64 and target.size and not 0 <= ignore < classes:
        unsigned = target.view(UINT64)
        if unsigned.item(unsigned.argmax()) < classes:
            return target, None
    return plain._checked(target, classes, ignore)


def _picked(x: Any, target: Any) -> Any:
    # Matrices that lie in memory row by row.
    if x.size and x.ndim == 2 and x.flags.c_contiguous:
        return x.take(row_starts(*x.shape) + target)
    return plain._picked(x, target)


def _placed(values: Any, shape: tuple[int, ...], target: Any, dtype: Any) -> Any:
    # Matrices.
    if len(shape) != 2 or 0 in shape:
        return plain._placed(values, shape, target, dtype)
    whole = np.zeros(shape, dtype)
    whole.put(row_starts(*shape) + target, values)
    return whole


def reduced(values: Any, reduction: int) -> Any:
    # BLAS adds up the two dtypes that it has.
    dtype = values.dtype
    if reduction == NONE or not (dtype is FLOAT32 or dtype is FLOAT64):
        return plain.reduced(values, reduction)
    found = total(values.reshape(-1))
    return found / dtype.type(values.size) if reduction == MEAN else found


def are_classes(target: Any, weight: Any, dtype: Any, rank: int) -> bool:
    """Whether kernels know these: a class for each row, all of the same weight."""
    return rank == 2 and weight is None and target.dtype is INT64 \
        and (dtype is FLOAT32 or dtype is FLOAT64) and in_order(target)


fill_with_plain_bodies(
    globals(), plain,
    negative_likelihood=native(
        "negative_likelihood(x, target, empty((), x.dtype), reduction, ignore)[()] if reduction "
        "else negative_likelihood(x, target, empty(len(x), x.dtype), reduction, ignore)",
        are_classes, when="are_classes(target, weight, x.dtype, x.ndim) and in_order(x)"),
    spread_likelihood=native(
        "spread_likelihood(asarray(g), target, empty(shape, g.dtype), reduction, ignore)",
        are_classes,
        when="are_classes(target, weight, g.dtype, len(shape)) and in_order(asarray(g))"))
