"""Exponentials that add up to one, their logarithms, and the gradients of both, on raw arrays."""

from __future__ import annotations

from typing import Any

from .. import xp
from .precision import wide
from .rows import maxima_along, sums_along


def softmax(array: Any, axis: int) -> Any:
    """Exponentials along ``axis``, divided by their sum."""
    y = xp.exp(_below_maximum(array, axis))
    return _finished(y / sums_along(y, axis), array)


def log_softmax(array: Any, axis: int) -> Any:
    """Logarithm of :func:`softmax`, with no overflow on the way."""
    # Two differences, since the sum of what is subtracted would have lost small digits.
    y = _below_maximum(array, axis)
    return _finished(y - xp.log(sums_along(xp.exp(y), axis)), array)


def softmax_gradient(gradient: Any, output: Any, axis: int) -> Any:
    """What reaches the input of :func:`softmax`."""
    g, y = wide(gradient), wide(output)
    return _finished((g - sums_along(g * y, axis)) * y, gradient)


def log_softmax_gradient(gradient: Any, output: Any, axis: int) -> Any:
    """What reaches the input of :func:`log_softmax`."""
    g = wide(gradient)
    return _finished(g - xp.exp(wide(output)) * sums_along(g, axis), gradient)


def _below_maximum(array: Any, axis: int) -> Any:
    """How far each element lies below the largest one along ``axis``."""
    x = wide(array)
    return x - maxima_along(x, axis) if x.size else x


def _finished(found: Any, like: Any) -> Any:
    return xp.in_rows(xp.cast(found, like.dtype))
