"""Exponentials that add up to one on NumPy arrays: as matrices, whose rows BLAS adds up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..plain import fill_with_plain_bodies
from ..plain import softmax as plain
from ..plain.precision import is_half, wide
from . import FLOAT32, along_rows
from .native import native
from .rows import row_maxima, row_products, row_sums


class _Along(NamedTuple):
    """What is computed along the second dimension, which stays."""

    maxima: Callable[[Any], Any]
    sums: Callable[[Any], Any]
    products: Callable[[Any, Any], Any]


_ROWS = _Along(row_maxima, row_sums, row_products)
_BLOCKS = _Along(lambda x: np.maximum.reduce(x, axis=1, keepdims=True),
                 lambda x: np.add.reduce(x, axis=1, keepdims=True),
                 lambda x, y: np.add.reduce(x * y, axis=1, keepdims=True))


# Up to this many elements the plain body is quicker, but for matrices with short rows.
_FEW = 1024


def _folded(compute: Callable[..., Any], otherwise: Callable[..., Any], axis: int,
            *arrays: Any) -> Any:
    """``compute`` along ``axis`` of arrays of one shape, as matrices or in three dimensions."""
    first = arrays[0]
    shape, dtype = first.shape, first.dtype
    rank = len(shape)
    if rank == 2 and axis == 1 and dtype is FLOAT32 and 0 < shape[1] < 256 and shape[0]:
        return compute(_ROWS, *arrays)
    if first.size <= _FEW:
        return otherwise(*arrays, axis)
    if is_half(dtype):
        return _folded(compute, otherwise, axis, *map(wide, arrays)).astype(dtype)
    inner = math.prod(shape[axis + 1:])
    folded = (-1, shape[axis]) if inner == 1 else (-1, shape[axis], inner)
    along = _ROWS if inner == 1 else _BLOCKS
    with along_rows(folded[-1]):
        found = compute(along, *[a.reshape(folded) for a in arrays])
    return found if found.shape == shape else found.reshape(shape)


@native("softmax(array, like(array), axis)", when="array.ndim and ready(array)")
def softmax(array: Any, axis: int) -> Any:
    return _folded(_softmax, plain.softmax, axis, array)


def _softmax(along: _Along, x: Any) -> Any:
    y = x - along.maxima(x)
    np.exp(y, y)
    y /= along.sums(y)
    return y


@native("log_softmax(array, like(array), axis)", when="array.ndim and ready(array)")
def log_softmax(array: Any, axis: int) -> Any:
    return _folded(_log_softmax, plain.log_softmax, axis, array)


def _log_softmax(along: _Along, x: Any) -> Any:
    # Two differences, since the sum of what is subtracted would have lost small digits.
    y = x - along.maxima(x)
    y -= np.log(along.sums(np.exp(y)))
    return y


@native("softmax_gradient(gradient, output, like(gradient), axis)",
        when="output.ndim and alike(gradient, output)")
def softmax_gradient(gradient: Any, output: Any, axis: int) -> Any:
    return _folded(_softmax_gradient, plain.softmax_gradient, axis, gradient, output)


def _softmax_gradient(along: _Along, g: Any, y: Any) -> Any:
    found = g - along.products(g, y)
    found *= y
    return found


@native("log_softmax_gradient(gradient, output, like(gradient), axis)",
        when="output.ndim and alike(gradient, output)")
def log_softmax_gradient(gradient: Any, output: Any, axis: int) -> Any:
    return _folded(_log_softmax_gradient, plain.log_softmax_gradient, axis, gradient, output)


def _log_softmax_gradient(along: _Along, g: Any, y: Any) -> Any:
    found = np.exp(y)
    found *= along.sums(g)
    return np.subtract(g, found, found)


fill_with_plain_bodies(globals(), plain)
