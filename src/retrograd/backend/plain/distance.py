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
    if ord == 2:
        return lengths(array, dim, keepdims)
    if ord == 1:
        return sizes(array, dim, keepdims)
    axis = axes_of(array, dim)
    size = xp.abs(array)
    if ord == math.inf:
        return xp.max(size, axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return xp.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return xp.sum(size != 0, axis=axis, keepdims=keepdims, dtype=size.dtype)
    return xp.sum(size ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


def lengths(array: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The root of the sum of squares over ``dim``."""
    size = xp.abs(array)
    return xp.sqrt(xp.sum(size * size, axis=axes_of(array, dim), keepdims=keepdims))


def sizes(array: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The sum of absolute values over ``dim``."""
    return xp.sum(xp.abs(array), axis=axes_of(array, dim), keepdims=keepdims)


def pairwise(x1: Any, x2: Any, ord: float) -> Any:
    """The norm of the difference of each row of ``x1`` and each row of ``x2``."""
    apart = wide(x1)[..., :, None, :] - wide(x2)[..., None, :, :]
    return xp.cast(norm_of_rows(apart, ord), x1.dtype)


def pairwise_gradient(g: Any, x1: Any, x2: Any, y: Any) -> Any:
    """The gradient of ``x1``, of the 2-norms ``y`` of its differences to the rows of ``x2``."""
    factor = wide(g) / xp.where(y == 0, xp.ones((), y.dtype), y)
    factor = xp.where(y == 0, xp.zeros((), factor.dtype), factor)[..., None]
    apart = wide(x1)[..., :, None, :] - wide(x2)[..., None, :, :]
    return xp.cast(xp.in_rows(xp.sum(apart * factor, axis=-2)), x1.dtype)


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
