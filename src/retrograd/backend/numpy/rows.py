"""Sums, products and extremes along the rows of a matrix of NumPy's.

A reduction of NumPy's costs a function call for each row and adds numbers up one by one; these take
BLAS, or indices, where that is quicker. All of them expect float32 or float64.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, rows as plain
from .native import native

# From about twice as many elements BLAS shares a sum among threads, which costs more than it saves.
_WITHOUT_THREADS = 1 << 18
# Longer rows are added up in pairs, for the sake of precision.
_LONG_ROW = 1 << 13


@lru_cache(maxsize=64)
def ones(count: int, dtype: Any) -> Any:
    """A column of ones, which is not to be written to."""
    return np.ones((count, 1), dtype)


@lru_cache(maxsize=256)
def number(value: float, dtype: Any) -> Any:
    """A number as a zero-dim array, which an array meets in half the time; not to be written to."""
    return np.asarray(value, dtype)


@lru_cache(maxsize=16)
def row_starts(rows: int, width: int) -> Any:
    """Where each row of a matrix begins in its flat memory; not to be written to."""
    return np.arange(rows) * width


def row_sums(x: Any) -> Any:
    width = x.shape[1]
    if width > _LONG_ROW:
        return np.add.reduce(x, axis=1, keepdims=True)
    if x.size <= _WITHOUT_THREADS:
        return x.dot(ones(width, x.dtype))
    return np.einsum("ij->i", x)[:, None]


def row_products(x: Any, y: Any) -> Any:
    width = x.shape[1]
    if width >= 64:
        return np.vecdot(x, y)[:, None]
    if x.size <= _WITHOUT_THREADS:
        return (x * y).dot(ones(width, x.dtype))
    return np.einsum("ij,ij->i", x, y)[:, None]


def row_maxima(x: Any) -> Any:
    rows, width = x.shape
    if rows >= 256 and width <= 16:
        return np.maximum.reduce(x.T.copy(), axis=0)[:, None]
    if not x.flags.c_contiguous:
        return np.maximum.reduce(x, axis=1, keepdims=True)
    return x.take(x.argmax(1) + row_starts(rows, width))[:, None]


def column_sums(x: Any) -> Any:
    if x.size <= _WITHOUT_THREADS:
        return ones(x.shape[0], x.dtype).reshape(-1).dot(x)
    return np.add.reduce(x, axis=0)


@native("sum_along(x, empty((), x.dtype), 0, 1)[()]", when="x.size >= LARGE and ready(x)")
def total(x: Any) -> Any:
    return np.add.reduce(x) if x.size > _LONG_ROW else x.dot(ones(x.size, x.dtype))[0]


fill_with_plain_bodies(globals(), plain)
