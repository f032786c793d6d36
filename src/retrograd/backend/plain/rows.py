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
