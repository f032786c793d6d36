"""Reductions and scans on NumPy arrays, with PyTorch's dtypes and treatment of NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import FLOAT32, FLOAT64, INT64, as_array, broadcast, cast, quiet
from .index import places_along

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

# A gradient of up to this many elements is filled; a larger one is an expanded view.
_SMALL = 4096


def axes_of(array: Any, dim: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """``dim`` as an ``axis`` argument: none given means all, and a scalar has none."""
    return dim if dim and array.ndim else None


def count_along(shape: tuple[int, ...], dim: tuple[int, ...] | None) -> int:
    """How many elements are reduced to one."""
    if not dim or not shape:
        return math.prod(shape)
    return math.prod([shape[d] for d in dim])


def is_half(dtype: np.dtype) -> bool:
    """Whether sums of this dtype are accumulated in float32."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def widened(array: Any) -> Any:
    """Half precision as float32, anything else as it is."""
    return array.astype(FLOAT32) if is_half(array.dtype) else array


def packed(array: Any) -> Any:
    """A result in row-major order, whatever the order of what it was computed from."""
    return array if array.ndim < 2 or array.flags.c_contiguous else array.copy("C")


def accumulated(ufunc: Any, array: Any, axis: Any, keepdims: bool, dtype: np.dtype | None) -> Any:
    """``ufunc.reduce`` in the dtype PyTorch gives: integers in int64, half precision by float32."""
    if dtype is None:
        dtype = INT64 if array.dtype.kind in "biu" else array.dtype
    elif array.dtype != dtype:
        array = cast(array, dtype)
    if is_half(dtype):
        array = ufunc.reduce(array.astype(FLOAT32), axis=axis, keepdims=keepdims)
        return packed(array).astype(dtype)
    return packed(ufunc.reduce(array, axis=axis, keepdims=keepdims, dtype=dtype))


def sum_all(array: Any) -> Any:
    """The sum of every element; floating point warnings are never raised."""
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
        return accumulated(np.add, array, None, False, None)


def total(array: Any, dim: tuple[int, ...] | None, keepdims: bool,
          dtype: np.dtype | None = None) -> Any:
    """The sum over ``dim``."""
    axis = dim if dim and array.ndim else None
    own = array.dtype
    if dtype is None and (own is FLOAT32 or own is FLOAT64):
        if own is FLOAT32 and array.size > _LONG and axis and len(axis) == 1 \
                and array.shape[axis[0]] > _LONG:
            return _sum_in_blocks(array, axis[0], keepdims)
        return packed(_add(array, axis, None, None, keepdims))
    return accumulated(np.add, array, axis, keepdims, dtype)


def _sum_in_blocks(array: Any, axis: int, keepdims: bool) -> Any:
    """NumPy adds one by one along all axes but the last; sums of blocks keep more digits."""
    lead = (slice(None),) * axis
    length = array.shape[axis]
    whole = length - length % _BLOCK
    blocks = array[(*lead, slice(whole))].reshape(
        (*array.shape[:axis], whole // _BLOCK, _BLOCK, *array.shape[axis + 1:]))
    found = _add(_add(blocks, axis + 1), axis, keepdims=keepdims)
    return packed(found + _add(array[(*lead, slice(whole, None))], axis, keepdims=keepdims))


def mean(array: Any, dim: tuple[int, ...] | None, keepdims: bool,
         dtype: np.dtype | None = None) -> Any:
    """The mean over ``dim``."""
    wanted = array.dtype if dtype is None else dtype
    if array.dtype != wanted:
        array = cast(array, wanted)
    count = count_along(array.shape, dim)
    if is_half(wanted):
        return (total(array.astype(FLOAT32), dim, keepdims) / (count or math.nan)).astype(wanted)
    # Dividing by NaN gives the mean of nothing without a floating point warning.
    return total(array, dim, keepdims) / (count or math.nan)


def spread(array: Any, shape: tuple[int, ...], dtype: np.dtype, dim: tuple[int, ...] | None,
           keepdims: bool) -> Any:
    """The adjoint of a sum: every element gets the value of the sum it was part of."""
    if array.dtype is not dtype:
        array = cast(array, dtype)
    if not array.shape:
        if not shape:
            return array
        whole = np.empty(shape, dtype)
        if whole.size <= _SMALL:
            whole.fill(array)
            return whole
    if dim and shape and not keepdims:
        array = array.reshape(tuple([1 if i in dim else n for i, n in enumerate(shape)]))
    return broadcast(array, shape)


def product(array: Any, axis: int | None, keepdims: bool, dtype: np.dtype | None) -> Any:
    """The product along ``axis``, or of everything."""
    return accumulated(np.multiply, array, axis if array.ndim else None, keepdims, dtype)


def products_of_others(array: Any, axis: int) -> Any:
    """For each element, the product of all the others along ``axis``."""
    if not array.ndim:
        return np.ones((), array.dtype)
    own = array.dtype
    array = widened(array)
    whole = np.multiply.reduce(array, axis=axis, keepdims=True)
    if np.all(array):
        return (whole / array).astype(own, copy=False)
    return (exclusive_products(array, axis, False)
            * exclusive_products(array, axis, True)).astype(own, copy=False)


def exclusive_products(array: Any, axis: int, reverse: bool) -> Any:
    """The product of the elements before each one (after it, if ``reverse``)."""
    moved = _from_front(array, axis, reverse)
    out = np.ones_like(moved)
    if len(moved) > 1:
        np.multiply.accumulate(moved[:-1], axis=0, out=out[1:])
    return _to_place(out, axis, reverse)


def _from_front(array: Any, axis: int, reverse: bool) -> Any:
    moved = np.moveaxis(np.atleast_1d(array), axis, 0)
    return moved[::-1] if reverse else moved


def _to_place(array: Any, axis: int, reverse: bool) -> Any:
    return np.ascontiguousarray(np.moveaxis(array[::-1] if reverse else array, 0, axis))


def shifted(array: Any, axis: int, reverse: bool) -> Any:
    """Each element's predecessor (successor, if ``reverse``), zero where there is none."""
    moved = _from_front(array, axis, reverse)
    out = np.zeros_like(moved)
    out[1:] = moved[:-1]
    return _to_place(out, axis, reverse)


def recurrence(factor: Any, term: Any, axis: int, reverse: bool) -> Any:
    """``y[k] = factor[k] * y[k - 1] + term[k]`` along ``axis`` (``y[k + 1]``, if ``reverse``)."""
    a = _from_front(factor, axis, reverse)
    y = _from_front(term, axis, reverse).copy()
    length = len(y)
    if length <= 64 or y.size >= 64 * length:
        for k in range(1, length):
            y[k] += a[k] * y[k - 1]
        return _to_place(y, axis, reverse)
    # Long and thin: windows of doubling length, a logarithmic number of array operations.
    a = a.copy()
    step = 1
    while step < length:
        y[step:] += a[step:] * y[:-step]
        a[step:] *= a[:-step].copy()
        step *= 2
    return _to_place(y, axis, reverse)


def cumulated(ufunc: Any, array: Any, axis: int, dtype: np.dtype | None) -> Any:
    """``ufunc.accumulate`` in the dtype PyTorch gives."""
    if dtype is None:
        dtype = INT64 if array.dtype.kind in "biu" else array.dtype
    array = cast(array, dtype)
    if not array.ndim:
        return array[()]
    if is_half(dtype):
        return packed(ufunc.accumulate(array.astype(FLOAT32), axis=axis)).astype(dtype)
    return packed(ufunc.accumulate(array, axis=axis, dtype=dtype))


def reversed_sums(array: Any, axis: int) -> Any:
    """The sum of each element and all after it."""
    if not array.ndim:
        return array[()]
    flipped = np.flip(array, axis)
    return np.ascontiguousarray(np.flip(cumulated(np.add, flipped, axis, None), axis))


def log_sums(array: Any, axis: int) -> Any:
    """Logarithms of the running sums of exponentials."""
    if not array.ndim:
        return array[()]
    own = array.dtype
    if own.kind != "c":
        found = packed(np.logaddexp.accumulate(widened(array), axis=axis))
        return found.astype(own, copy=False)
    moved = _from_front(array, axis, False)
    out = moved.copy()
    for k in range(1, len(out)):
        top = np.maximum(out[k - 1].real, moved[k].real)
        top = np.where(np.isfinite(top), top, 0)
        out[k] = np.log(np.exp(out[k - 1] - top) + np.exp(moved[k] - top)) + top
    return _to_place(out, axis, False)


def log_sum(array: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    own = array.dtype
    array = widened(array)
    axis = axes_of(array, dim)
    top = np.maximum.reduce(array.real, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isinf(top), top.dtype.type(0), top)
    found = np.log(_add(np.exp(array - top), axis=axis, keepdims=keepdims))
    found = found + (top if keepdims else np.squeeze(top, axis))
    return packed(found).astype(own, copy=False)


def plain_variance(array: Any, correction: float) -> Any:
    """The variance of every element of a float array."""
    distance = (array - sum_all(array) / array.size).ravel()
    return distance.dot(distance) / max(array.size - correction, 0)


def variance(array: Any, dim: tuple[int, ...] | None, keepdims: bool, correction: float) -> Any:
    """The mean square distance from the mean, and the mean itself."""
    own = array.dtype
    array = widened(array)
    count = count_along(array.shape, dim)
    axis = axes_of(array, dim)
    centre = total(array, dim, True) / count
    distance = array - centre
    square = distance.real ** 2 + distance.imag ** 2 if own.kind == "c" else distance * distance
    found = packed(_add(square, axis=axis, keepdims=keepdims) / max(count - correction, 0))
    if not keepdims:
        centre = np.squeeze(centre, axis) if array.ndim else centre
    if is_half(own):
        return found.astype(own), centre.astype(own)
    return found, centre


def standard_deviation(array: Any, dim: tuple[int, ...] | None, keepdims: bool,
                       correction: float) -> Any:
    """The root of the variance, and the mean."""
    found, centre = variance(array, dim, keepdims, correction)
    return np.sqrt(found), centre


def nan_mask(array: Any) -> Any:
    return np.isnan(array) if array.dtype.kind in "fcV" else np.zeros(array.shape, bool)


def not_nan(array: Any) -> Any:
    """One where there is a number and zero where there is none, in the array's dtype."""
    return (~nan_mask(array)).astype(array.dtype)


def sum_of_numbers(array: Any, dim: tuple[int, ...] | None, keepdims: bool,
                   dtype: np.dtype | None) -> Any:
    """The sum of what is not NaN."""
    return total(np.where(nan_mask(array), array.dtype.type(0), array), dim, keepdims, dtype)


# ---------------------------------------------------------------- extremes


def extreme(ufunc: Any, array: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The largest or smallest value over ``dim``; NaN wins."""
    return packed(ufunc.reduce(array, axis=axes_of(array, dim), keepdims=keepdims))


def arg_extreme(find: Any, array: Any, axis: int | None, keepdims: bool) -> Any:
    """Where the first largest or smallest value lies; NaN wins."""
    if array.dtype.kind == "V":
        array = array.astype(FLOAT32)
    array = as_array(array)
    if not array.ndim:
        return INT64.type(0)
    return find(array, axis=axis, keepdims=keepdims)


def taken_at(array: Any, index: Any, axis: int, keepdims: bool) -> Any:
    """The one element along ``axis`` that ``index``, kept in its dims, names."""
    found = array[places_along(index, axis)]
    return found if keepdims else found.squeeze(axis)


def winners(array: Any, value: Any) -> Any:
    """Where ``array`` holds the extreme ``value``; where it is NaN, if that won."""
    found = array == value
    return found | (np.isnan(array) & np.isnan(value)) if array.dtype.kind in "fV" else found


def shared(array: Any, mask: Any, dim: tuple[int, ...] | None) -> Any:
    """A value for each reduction in equal parts over the places in ``mask``, zero elsewhere.

    Where ``mask`` has no place at all, there is nobody to give it to: NaN.
    """
    count = np.count_nonzero(mask, axis=axes_of(mask, dim), keepdims=True)
    count = np.asarray(count).astype(array.dtype)
    part = array.reshape(count.shape) / count
    return np.where(mask, part, np.where(count == 0, np.nan, 0).astype(array.dtype))


def averaged(array: Any, mask: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The mean over the places in ``mask``: the adjoint of :func:`shared`."""
    count = np.count_nonzero(mask, axis=axes_of(mask, dim), keepdims=keepdims)
    kept = np.where(mask, array, array.dtype.type(0))
    return total(kept, dim, keepdims) / np.asarray(count).astype(array.dtype)


def running_extreme(array: Any, axis: int, largest: bool) -> tuple[Any, Any]:
    """Running maximum or minimum, and where it was last met; NaN wins and stays."""
    array = as_array(array)
    if not array.ndim:
        return array.copy(), np.zeros((), INT64)
    ufunc: Any = np.maximum if largest else np.minimum
    if array.dtype.kind == "b":
        ufunc = np.logical_or if largest else np.logical_and
    values = packed(ufunc.accumulate(array, axis=axis))
    moved, best = np.moveaxis(array, axis, 0), np.moveaxis(values, axis, 0)
    positions = np.arange(len(moved)).reshape((-1,) + (1,) * (array.ndim - 1))
    met = moved == best
    if array.dtype.kind in "fV":
        met |= np.isnan(moved)
    indices = np.maximum.accumulate(np.where(met, positions, 0), axis=0)
    return values, np.ascontiguousarray(np.moveaxis(indices, 0, axis))


# ---------------------------------------------------------------- truth


def truth(ufunc: Any, array: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """``any`` or ``all``; no dims at all reduce nothing, and bytes stay bytes."""
    axis = dim if array.ndim else None
    found = packed(ufunc.reduce(array != 0, axis=axis, keepdims=keepdims))
    return found.astype(array.dtype) if array.dtype == np.uint8 else found


def count_nonzero(array: Any, dim: tuple[int, ...] | None) -> Any:
    found = np.count_nonzero(array != 0, axis=axes_of(array, dim))
    return packed(np.asarray(found, INT64))
