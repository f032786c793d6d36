"""Norms and pairwise distances on NumPy arrays, in bounded memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plain import distance as plain
from ..plain import fill_with_plain_bodies
from ..plain.precision import wide
from . import FLOAT32, FLOAT64, cast

# Above this many numbers the differences of all pairs are not held at once.
_MANY = 1 << 22


def _norm(array: Any, ord: float, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    # BLAS, for the length of a whole array.
    if ord == 2 and not keepdims and not (dim and array.ndim) and (
            array.dtype is FLOAT32 or array.dtype is FLOAT64):
        flat = array.ravel()
        return np.sqrt(flat.dot(flat))
    return plain._norm(array, ord, dim, keepdims)


def pairwise(x1: Any, x2: Any, ord: float) -> Any:
    # One column after the other, where the differences are many and their powers are added up.
    shape = np.broadcast_shapes((*x1.shape[:-1], 1, x1.shape[-1]),
                                (*x2.shape[:-2], 1, *x2.shape[-2:]))
    if math.prod(shape) <= _MANY or ord in (0, math.inf):
        return plain.pairwise(x1, x2, ord)
    left, right = wide(x1)[..., :, None, :], wide(x2)[..., None, :, :]
    total = np.zeros(shape[:-1], left.dtype)
    for column in range(shape[-1]):
        apart = np.abs(left[..., column] - right[..., column])
        total += apart * apart if ord == 2 else apart if ord == 1 else apart ** ord
    if ord != 1:
        total = np.sqrt(total) if ord == 2 else total ** (1.0 / ord)
    return cast(total, x1.dtype)


fill_with_plain_bodies(globals(), plain)
