"""Losses on NumPy arrays: BLAS adds up, and flat indices reach the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, loss as plain
from . import FLOAT32, FLOAT64, INT64, LARGE
from .expressions import fused
from .matrices import dot  # noqa: F401 - in the plain bodies
from .native import alike, in_order, native
from .pointwise import bounded  # noqa: F401 - in the plain bodies
from .rows import row_starts, total  # noqa: F401 - in the plain bodies

UINT64 = np.dtype("uint64")


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


def are_classes(target: Any, weight: Any, dtype: Any, rank: int) -> bool:
    """Whether kernels know these: a class for each row, all of the same weight."""
    return rank == 2 and weight is None and target.dtype is INT64 \
        and (dtype is FLOAT32 or dtype is FLOAT64) and in_order(target)


def are_known(x: Any, target: Any) -> bool:
    """Whether kernels of errors know these: large ones of one shape, in float32 or float64."""
    return x.size >= LARGE and (x.dtype is FLOAT32 or x.dtype is FLOAT64) and alike(x, target)


def weighs(g: Any, x: Any) -> bool:
    """Whether there is a gradient for each element, or one for all."""
    return g.dtype is x.dtype and (not g.ndim or (g.shape == x.shape and in_order(g)))


fill_with_plain_bodies(
    globals(), plain, _smooth_errors=fused, smooth_error=native(
        "smooth_total(x, target, empty((), x.dtype), beta, bend, steepest, reduction == 1)[()]",
        are_known, when="reduction and are_known(x, target)"),
    smooth_gradient=lambda body: native(
        "smooth_gradient(asarray(g), x, target, like(x), bend, steepest)", are_known, weighs,
        when="are_known(x, target) and weighs(g, x)")(fused(body)),
    negative_likelihood=native(
        "negative_likelihood(x, target, empty((), x.dtype), reduction, ignore)[()] if reduction "
        "else negative_likelihood(x, target, empty(len(x), x.dtype), reduction, ignore)",
        are_classes, when="are_classes(target, weight, x.dtype, x.ndim) and in_order(x)"),
    spread_likelihood=native(
        "spread_likelihood(asarray(g), target, empty(shape, g.dtype), reduction, ignore)",
        are_classes,
        when="are_classes(target, weight, g.dtype, len(shape)) and in_order(asarray(g))"))
