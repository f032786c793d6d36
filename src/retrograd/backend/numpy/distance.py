"""Norms and pairwise distances on NumPy arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import FLOAT32, FLOAT64, as_array, cast
from .reduce import axes_of, is_half, packed, widened

_add: Any = np.add.reduce
_largest: Any = np.maximum.reduce
_smallest: Any = np.minimum.reduce


def norm(array: Any, ord: float, dim: tuple[int, ...] | None, keepdims: bool,
         dtype: np.dtype | None = None) -> Any:
    """The ``ord``-norm over ``dim``; a real number also for complex arrays."""
    if dtype is not None and array.dtype != dtype:
        array = cast(array, dtype)
    own = array.dtype
    if is_half(own):
        return packed(_norm(widened(array), ord, dim, keepdims)).astype(own)
    return packed(_norm(array, ord, dim, keepdims))


def _norm(array: Any, ord: float, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    axis = axes_of(array, dim)
    if ord == 2 and axis is None and not keepdims and (
            array.dtype is FLOAT32 or array.dtype is FLOAT64):
        flat = array.ravel()
        return np.sqrt(flat.dot(flat))
    size = np.abs(array)
    if ord == 2:
        return np.sqrt(_add(size * size, axis=axis, keepdims=keepdims))
    if ord == 1:
        return _add(size, axis=axis, keepdims=keepdims)
    if ord == math.inf:
        return _largest(size, axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return _smallest(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return _add(size != 0, axis=axis, keepdims=keepdims, dtype=size.dtype)
    return _add(size ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


# Above this many numbers the differences of all pairs are not held at once.
_MANY = 1 << 22


def pairwise(x1: Any, x2: Any, ord: float) -> Any:
    """The norm of the difference of each row of ``x1`` and each row of ``x2``."""
    own = x1.dtype
    x1, x2 = widened(as_array(x1))[..., :, None, :], widened(as_array(x2))[..., None, :, :]
    shape = np.broadcast_shapes(x1.shape, x2.shape)
    if math.prod(shape) <= _MANY or ord in (0, math.inf):
        found = _norm(x1 - x2, ord, (len(shape) - 1,), False) if shape[-1] else np.zeros(
            shape[:-1], x1.dtype)
        return packed(found).astype(own, copy=False)
    total = np.zeros(shape[:-1], x1.dtype)
    for column in range(shape[-1]):
        apart = np.abs(x1[..., column] - x2[..., column])
        total += apart * apart if ord == 2 else apart if ord == 1 else apart ** ord
    if ord == 1:
        return total.astype(own, copy=False)
    return (np.sqrt(total) if ord == 2 else total ** (1.0 / ord)).astype(own, copy=False)


def renormed(array: Any, ord: float, dim: tuple[int, ...], maxnorm: float) -> Any:
    """``array`` with slices of too large a norm scaled down."""
    own = array.dtype
    array = widened(array)
    size = _norm(array, ord, dim, True)
    factor = np.where(size > maxnorm, maxnorm / (size + 1e-7), 1).astype(size.dtype)
    return packed(array * factor).astype(own, copy=False)
