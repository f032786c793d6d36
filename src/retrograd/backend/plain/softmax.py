"""Exponentials that add up to one, their logarithms, and the gradients of both, on raw arrays."""

from __future__ import annotations

from typing import Any

from .. import xp
from .precision import wide
from .rows import row_maxima, row_sums


def softmax(array: Any, axis: int) -> Any:
    """Exponentials along ``axis``, divided by their sum."""
    y = xp.exp(_below_maximum(array, axis))
    return _finished(y / _sum(y, axis), array)


def log_softmax(array: Any, axis: int) -> Any:
    """Logarithm of :func:`softmax`, with no overflow on the way."""
    # Two differences, since the sum of what is subtracted would have lost small digits.
    y = _below_maximum(array, axis)
    return _finished(y - xp.log(_sum(xp.exp(y), axis)), array)


def softmax_gradient(gradient: Any, output: Any, axis: int) -> Any:
    """What reaches the input of :func:`softmax`."""
    g, y = wide(gradient), wide(output)
    return _finished((g - _sum(g * y, axis)) * y, gradient)


def log_softmax_gradient(gradient: Any, output: Any, axis: int) -> Any:
    """What reaches the input of :func:`log_softmax`."""
    g = wide(gradient)
    return _finished(g - xp.exp(wide(output)) * _sum(g, axis), gradient)


def _below_maximum(array: Any, axis: int) -> Any:
    """How far each element lies below the largest one along ``axis``."""
    x = wide(array)
    if not x.size:
        return x
    return x - (row_maxima(x) if x.ndim == 2 and axis == 1
                else xp.max(x, axis=axis if x.ndim else None, keepdims=True))


def _sum(array: Any, axis: int) -> Any:
    return row_sums(array) if array.ndim == 2 and axis == 1 \
        else xp.sum(array, axis=axis if array.ndim else None, keepdims=True)


def _finished(found: Any, like: Any) -> Any:
    return xp.in_rows(xp.cast(found, like.dtype))
