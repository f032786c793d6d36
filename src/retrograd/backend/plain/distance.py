"""Norms and pairwise distances on raw arrays."""

from __future__ import annotations

import math
from typing import Any

from .. import xp
from .precision import is_half, wide
from .reduce import axes_of


def norm(array: Any, ord: float, dim: tuple[int, ...] | None, keepdims: bool,
         dtype: Any = None) -> Any:
    """The ``ord``-norm over ``dim``; a real number also for complex arrays."""
    if dtype is not None:
        array = xp.cast(array, dtype)
    if is_half(array.dtype):
        return norm(wide(array), ord, dim, keepdims).astype(array.dtype)
    return xp.in_rows(_norm(array, ord, dim, keepdims))


def _norm(array: Any, ord: float, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    axis = axes_of(array, dim)
    size = xp.abs(array)
    if ord == 2:
        return xp.sqrt(xp.sum(size * size, axis=axis, keepdims=keepdims))
    if ord == 1:
        return xp.sum(size, axis=axis, keepdims=keepdims)
    if ord == math.inf:
        return xp.max(size, axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return xp.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return xp.sum(size != 0, axis=axis, keepdims=keepdims, dtype=size.dtype)
    return xp.sum(size ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


def pairwise(x1: Any, x2: Any, ord: float) -> Any:
    """The norm of the difference of each row of ``x1`` and each row of ``x2``."""
    apart = wide(x1)[..., :, None, :] - wide(x2)[..., None, :, :]
    return xp.cast(norm_of_rows(apart, ord), x1.dtype)


def norm_of_rows(apart: Any, ord: float) -> Any:
    """The norm of each row, also of rows of nothing."""
    if not apart.shape[-1]:
        return xp.zeros(apart.shape[:-1], apart.dtype)
    return xp.in_rows(_norm(apart, ord, (apart.ndim - 1,), False))


def renormed(array: Any, ord: float, dim: tuple[int, ...], maxnorm: float) -> Any:
    """``array`` with slices of too large a norm scaled down."""
    size = _norm(wide(array), ord, dim, True)
    factor = xp.where(size > maxnorm, maxnorm / (size + 1e-7), xp.ones((), size.dtype))
    return xp.cast(xp.in_rows(wide(array) * factor), array.dtype)
