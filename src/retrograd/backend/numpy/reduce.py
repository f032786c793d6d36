"""Reductions and scans on NumPy arrays: dot products, and ufuncs that scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, reduce as plain
from ..plain.reduce import accumulated, product
from . import FLOAT32, FLOAT64, LARGE, cast, copies, in_rows, quiet, xp
from .copies import overwrite
from .expressions import fused
from .native import native, neighbours
from .rows import ones as column_of_ones

copy_in_rows = vars(copies)["copy_in_rows"]  # a plain body, which no checker sees there
_add: Any = np.add.reduce

# Up to this many elements a dot product with ones is twice as fast as a reduction, and unlike
# ``array.dot`` this one looks at no floating point flags.
_dot = np.vdot
_FEW = 64
_ONES32 = [np.ones(_FEW, FLOAT32)[:n] for n in range(_FEW + 1)]
_ONES64 = [np.ones(_FEW, FLOAT64)[:n] for n in range(_FEW + 1)]

# Sums of more numbers than this are taken in blocks.
_LONG = 2048
_BLOCK = 256
# Up to so many rows BLAS does not share the sums among its threads.
_ROW, _ROWS = 512, 512
# A gradient of up to this many elements is filled; a larger one is an expanded view.
_SMALL = 4096


def sum_all(array: Any) -> Any:
    # The two dtypes that have dot products, up to a few elements.
    dtype = array.dtype
    size = array.size
    if dtype is FLOAT32:
        if not array.ndim:
            return array[()]
        if size <= _FEW:
            return _dot(array, _ONES32[size])
    elif dtype is FLOAT64:
        if not array.ndim:
            return array[()]
        if size <= _FEW:
            return _dot(array, _ONES64[size])
    with quiet():
        return _sum_many(array)


@native("sum_along(array, without(array, None, False), 0, array.ndim)[()]", when="ready(array)")
def _sum_many(array: Any) -> Any:
    # Large arrays row by row: BLAS reads several times as quickly as a ufunc adds.
    dtype = array.dtype
    if array.size < 2 * LARGE or not array.flags.c_contiguous \
            or (dtype is not FLOAT32 and dtype is not FLOAT64):
        return accumulated(xp.sum, array, None, False, None)
    flat = array.reshape(-1)
    whole = flat.size - flat.size % _ROW
    rows, ones = flat[:whole].reshape(-1, _ROW), column_of_ones(_ROW, dtype).reshape(-1)
    sums = [rows[start:start + _ROWS].dot(ones) for start in range(0, len(rows), _ROWS)]
    return _add(np.concatenate([*sums, flat[whole:]]))


@native("sum_along(array, without(array, dim, keepdims), *neighbours(array, dim))",
        when="dtype is None and array.size > 1023 and ready(array) and neighbours(array, dim)")
def total(array: Any, dim: tuple[int, ...] | None, keepdims: bool, dtype: Any = None) -> Any:
    # The two dtypes that need no other one; long sums of float32 along one axis in blocks.
    axis = dim if dim and array.ndim else None
    own = array.dtype
    if dtype is None and (own is FLOAT32 or own is FLOAT64):
        if own is FLOAT32 and array.size > _LONG and axis and len(axis) == 1 \
                and array.shape[axis[0]] > _LONG:
            return _sum_in_blocks(array, axis[0], keepdims)
        return in_rows(_add(array, axis, None, None, keepdims))
    return accumulated(xp.sum, array, axis, keepdims, dtype)


def _sum_in_blocks(array: Any, axis: int, keepdims: bool) -> Any:
    """NumPy adds one by one along all axes but the last; sums of blocks keep more digits."""
    lead = (slice(None),) * axis
    length = array.shape[axis]
    whole = length - length % _BLOCK
    blocks = array[(*lead, slice(whole))].reshape(
        (*array.shape[:axis], whole // _BLOCK, _BLOCK, *array.shape[axis + 1:]))
    found = _add(_add(blocks, axis + 1), axis, keepdims=keepdims)
    return in_rows(found + _add(array[(*lead, slice(whole, None))], axis, keepdims=keepdims))


def spread(array: Any, shape: tuple[int, ...], dtype: Any, dim: tuple[int, ...] | None,
           keepdims: bool) -> Any:
    # One number for a small array.
    if array.shape or not shape:
        return plain.spread(array, shape, dtype, dim, keepdims)
    whole = np.empty(shape, dtype)
    if whole.size > _SMALL:
        return plain.spread(array, shape, dtype, dim, keepdims)
    whole.fill(array if array.dtype is dtype else cast(array, dtype))
    return whole


def log_sums(array: Any, axis: int) -> Any:
    # The ufunc knows no complex numbers. Each sum takes on the roundings of all before it.
    if not array.ndim or array.dtype.kind == "c":
        return plain.log_sums(array, axis)
    return cast(in_rows(np.logaddexp.accumulate(array.astype(FLOAT64), axis=axis)), array.dtype)


def plain_variance(array: Any, correction: float) -> Any:
    # A dot product: always quicker.
    distance = (array - sum_all(array) / array.size).ravel()
    return distance.dot(distance) / max(array.size - correction, 0)


@fused
def _quotient(whole: Any, array: Any) -> Any:
    return whole / array


def products_of_others(array: Any, axis: int) -> Any:
    # A product that is neither zero nor NaN has no zero among its factors.
    if array.size >= LARGE and (array.dtype is FLOAT32 or array.dtype is FLOAT64):
        whole = product(array, axis, True, None)
        if np.all(whole) and not np.isnan(whole).any():
            return _quotient(whole, array)
    return plain.products_of_others(array, axis)


def shifted(array: Any, axis: int, reverse: bool) -> Any:
    # One copy, a step further.
    if not array.ndim:
        return plain.shifted(array, axis, reverse)
    found, lead = np.empty(array.shape, array.dtype), (slice(None),) * (axis % array.ndim)
    ends = [(*lead, part) for part in (slice(1, None), slice(None, -1))]
    overwrite(found[ends[reverse]], array[ends[not reverse]])
    found[(*lead, slice(-1, None) if reverse else slice(1))] = 0
    return found


def scanned(combine: Callable[[Any, Any], Any], array: Any, axis: int) -> Any:
    # A ufunc goes through the array once.
    if not isinstance(combine, np.ufunc):
        return plain.scanned(combine, array, axis)
    return in_rows(combine.accumulate(array, axis=axis))


_RUNNING = "array.size > 1023 and ready(array) and (dtype is None or dtype == array.dtype)"


def spans(array: Any, dim: tuple[int, ...] | None) -> tuple[int, int] | None:
    """The first of neighbouring dimensions and the one behind them; None with others between."""
    return (0, array.ndim) if not dim or len(dim) == array.ndim else neighbours(array, dim)


def divisor(array: Any, dim: tuple[int, ...] | None, correction: float) -> float:
    """What a sum of squares is divided by."""
    return float(max(plain.count_along(array.shape, dim) - correction, 0))


_PART = "array.size > 1023 and ready(array) and dtype is None and "

fill_with_plain_bodies(
    globals(), plain,
    product=native("product_along(array, without(array, (axis,), keepdims), axis, axis + 1)",
                   when=_PART + "axis is not None and 0 <= axis < array.ndim"),
    sum_of_numbers=native("sum_of_numbers_along(array, without(array, dim, keepdims), "
                          "*neighbours(array, dim))", when=_PART + "neighbours(array, dim)"),
    **{name: native("variance_along(array, without(array, dim or None, keepdims), "
                    "without(array, dim or None, keepdims), *spans(array, dim), "
                    f"divisor(array, dim, correction), {name == 'standard_deviation'})",
                    spans, divisor,
                    when="array.size > 1023 and ready(array) and spans(array, dim)")
       for name in ("variance", "standard_deviation")},
    exclusive_products=native("product_before(array, like(array), axis, reverse)",
                              when="array.size > 1023 and array.ndim and ready(array)"),
    recurrence=native("recurrence(factor, term, like(term), axis, reverse)",
                      when="term.size > 1023 and term.ndim and alike(factor, term)"),
    running_extreme=native(
        "running_extreme(array, empty(s := array.shape, array.dtype), empty(s, INT64), axis, "
        "largest)",
        when="array.ndim and ready(array)"),
    running_sums=native("running_sum(array, like(array), axis, False)", when=_RUNNING),
    running_products=native("running_product(array, like(array), axis, False)", when=_RUNNING),
    reversed_sums=native("running_sum(array, like(array), axis, True)",
                         when="array.size > 1023 and ready(array)"))
