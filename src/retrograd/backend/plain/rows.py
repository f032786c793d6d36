"""Sums, products and extremes along the rows of a matrix."""

from __future__ import annotations

from typing import Any

from .. import xp


def row_sums(x: Any) -> Any:
    """The sum of every row, as a column."""
    return xp.sum(x, axis=1, keepdims=True)


def row_products(x: Any, y: Any) -> Any:
    """The inner product of every row of ``x`` with that of ``y``, as a column."""
    return row_sums(x * y)


def row_maxima(x: Any) -> Any:
    """The largest element of every row, as a column; NaN is larger than any."""
    return xp.max(x, axis=1, keepdims=True)


def column_sums(x: Any) -> Any:
    """The sum of every column, as a vector."""
    return xp.sum(x, axis=0)


def total(x: Any) -> Any:
    """The sum of a vector."""
    return xp.sum(x)


def sums_along(x: Any, axis: int) -> Any:
    """The sums along an axis, which stays."""
    return row_sums(x) if x.ndim == 2 and axis == 1 else _along(row_sums, xp.sum, x, axis)


def maxima_along(x: Any, axis: int) -> Any:
    """The largest elements along an axis, which stays."""
    return row_maxima(x) if x.ndim == 2 and axis == 1 else _along(row_maxima, xp.max, x, axis)


def _along(of_rows: Any, function: Any, x: Any, axis: int) -> Any:
    if x.size and 2 < x.ndim == axis + 1:
        return of_rows(x.reshape(-1, x.shape[-1])).reshape(*x.shape[:-1], 1)
    return function(x, axis=axis if x.ndim else None, keepdims=True)
