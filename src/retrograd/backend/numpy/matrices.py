"""Products of NumPy arrays: the shortest way to BLAS."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies
from ..plain import matrices as plain
from ..plain.precision import is_half
from . import FLOAT32, FLOAT64
from .native import native, strided
from .routines import routine, routines_for

_matmul = np.matmul


def are_small(a: Any, b: Any) -> bool:
    """Whether there are pairs of matrices, each too small for BLAS to use threads."""
    return a.shape[:-2] == b.shape[:-2] and math.prod(a.shape[-2:]) * b.shape[-1] <= 1 << 24 \
        and strided(a, b)


def product_like(a: Any, b: Any) -> Any:
    return np.empty((*a.shape[:-1], b.shape[-1]), a.dtype)


@native("batched_product(a, b, product_like(a, b))", are_small, product_like,
        when="a.ndim > 2 and a.size * b.shape[-1] >= 1 << 17 and are_small(a, b)")
def product(a: Any, b: Any) -> Any:
    dtype = a.dtype  # the two that need no other one
    return _matmul(a, b) if dtype is FLOAT32 or dtype is FLOAT64 else plain.product(a, b)


def dot(a: Any, b: Any) -> Any:
    dtype = a.dtype  # the method is cheaper to call than the function
    return a.dot(b) if dtype is FLOAT32 or dtype is FLOAT64 else plain.dot(a, b)


@lru_cache(maxsize=64)
def _ones(count: int, dtype: Any) -> Any:
    return np.ones(count, dtype)


def sum_rows(array: Any) -> Any:
    dtype = array.dtype  # BLAS beats a reduction by far
    return _ones(array.shape[0], dtype).dot(array) if dtype is FLOAT32 or dtype is FLOAT64 \
        else plain.sum_rows(array)


def affine(x: Any, weight: Any, bias: Any) -> Any:
    if is_half(x.dtype):
        return plain.affine(x, weight, bias)
    y = x.dot(weight.T)  # one buffer, in the dtype that is wanted anyway
    y += bias
    return y


_SMALL = 32
"""For matrices up to this size NumPy's call is the quicker one, and all are done by one."""


def eigh(a: Any, side: str) -> tuple[Any, Any]:
    find = routine("syevd", a.dtype) if a.size and a.shape[-1] > _SMALL else None
    if find is None:
        return plain.eigh(a, side)
    values, vectors = np.empty(a.shape[:-1], a.dtype), np.empty(a.shape, a.dtype)
    info = np.empty(a.shape[:-2], np.int32)
    with routines_for(a.shape[-1]):
        for index in np.ndindex(a.shape[:-2]):
            values[index], vectors[index], info[index] = find(a[index], lower=side == "L")
    return plain.eigh(a, side) if info.any() else (values, vectors)  # which says why


fill_with_plain_bodies(globals(), plain, triangle=native(
    "triangle(array, like(array), diagonal, upper)", when="array.ndim > 1 and ready(array)"))
