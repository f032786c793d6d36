"""Reductions and scans on raw arrays, with PyTorch's dtypes and treatment of NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import xp
from .copies import copy_in_rows
from .index import places_along
from .pointwise import log_add_exp
from .precision import is_half, wide


def axes_of(array: Any, dim: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """``dim`` as an ``axis`` argument: none given means all, and a scalar has none."""
    return dim if dim and array.ndim else None


def count_along(shape: tuple[int, ...], dim: tuple[int, ...] | None) -> int:
    """How many elements are reduced to one."""
    if not dim or not shape:
        return math.prod(shape)
    return math.prod([shape[d] for d in dim])


def accumulated(reduce: Callable[..., Any], array: Any, axis: Any, keepdims: bool,
                dtype: Any) -> Any:
    """``reduce``, a sum or product, in PyTorch's dtype: integers in int64, halves by float32."""
    if dtype is None:
        dtype = xp.INT64 if array.dtype.kind in "biu" else array.dtype  # the reduction converts
    else:
        array = xp.cast(array, dtype)
    if is_half(dtype):
        return xp.in_rows(reduce(wide(array), axis=axis, keepdims=keepdims)).astype(dtype)
    return xp.in_rows(reduce(array, axis=axis, dtype=dtype, keepdims=keepdims))


def sum_all(array: Any) -> Any:
    """The sum of every element; floating point warnings are never raised."""
    with xp.quiet():
        return accumulated(xp.sum, array, None, False, None)


def total(array: Any, dim: tuple[int, ...] | None, keepdims: bool, dtype: Any = None) -> Any:
    """The sum over ``dim``."""
    return accumulated(xp.sum, array, axes_of(array, dim), keepdims, dtype)


def mean(array: Any, dim: tuple[int, ...] | None, keepdims: bool, dtype: Any = None) -> Any:
    """The mean over ``dim``."""
    if dtype is not None:
        array = xp.cast(array, dtype)
    if is_half(array.dtype):
        return mean(wide(array), dim, keepdims).astype(array.dtype)
    # Dividing by NaN gives the mean of nothing without a floating point warning.
    return total(array, dim, keepdims) / (count_along(array.shape, dim) or math.nan)


def spread(array: Any, shape: tuple[int, ...], dtype: Any, dim: tuple[int, ...] | None,
           keepdims: bool) -> Any:
    """The adjoint of a sum: every element gets the value of the sum it was part of."""
    array = xp.cast(array, dtype)
    if array.shape and dim and shape and not keepdims:
        array = array.reshape(tuple([1 if i in dim else n for i, n in enumerate(shape)]))
    return xp.broadcast(array, shape)


def combined_bits(array: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The exclusive or over ``dim`` of the bits of floats in double precision, or of ints."""
    exact = xp.INT64 if array.dtype.kind in "bi" else xp.dtype("uint64") \
        if array.dtype.kind == "u" else xp.FLOAT64
    axes = tuple(range(array.ndim)) if not dim or not array.ndim else dim
    kept = [n for axis, n in enumerate(array.shape) if axis not in axes]
    moved = xp.moveaxis(array.astype(exact), axes, tuple(range(len(axes))))
    bits = xp.retyped(xp.ascontiguousarray(moved), xp.dtype("uint64")).reshape(
        (count_along(array.shape, axes), *kept))
    while len(bits) > 1:
        half = len(bits) // 2
        bits = xp.concatenate([xp.bitwise_xor(bits[:half], bits[half:2 * half]), bits[2 * half:]])
    shape = [1 if axis in axes else n for axis, n in enumerate(array.shape)]
    return bits.reshape(shape if keepdims else kept)


def product(array: Any, axis: int | None, keepdims: bool, dtype: Any) -> Any:
    """The product along ``axis``, or of everything."""
    return accumulated(xp.prod, array, axis if array.ndim else None, keepdims, dtype)


def products_of_others(array: Any, axis: int) -> Any:
    """For each element, the product of all the others along ``axis``."""
    if not array.ndim:
        return xp.ones((), array.dtype)
    x = wide(array)
    if xp.all(x):
        return xp.cast(xp.prod(x, axis=axis, keepdims=True) / x, array.dtype)
    return xp.cast(exclusive_products(x, axis, False) * exclusive_products(x, axis, True),
                   array.dtype)


def exclusive_products(array: Any, axis: int, reverse: bool) -> Any:
    """The product of the elements before each one (after it, if ``reverse``)."""
    moved = _from_front(array, axis, reverse)
    out = xp.ones_like(moved)
    if len(moved) > 1:
        exact = wide(moved[:-1])
        out[1:] = xp.cast(xp.cumprod(exact, axis=0, dtype=exact.dtype), array.dtype)
    return _to_place(out, axis, reverse)


def _from_front(array: Any, axis: int, reverse: bool) -> Any:
    moved = xp.moveaxis(xp.atleast_1d(array), axis, 0)
    return moved[::-1] if reverse else moved


def _to_place(array: Any, axis: int, reverse: bool) -> Any:
    return xp.in_rows(xp.moveaxis(array[::-1] if reverse else array, 0, axis))


def shifted(array: Any, axis: int, reverse: bool) -> Any:
    """Each element's predecessor (successor, if ``reverse``), zero where there is none."""
    moved = _from_front(array, axis, reverse)
    out = xp.zeros_like(moved)
    out[1:] = moved[:-1]
    return _to_place(out, axis, reverse)


def recurrence(factor: Any, term: Any, axis: int, reverse: bool) -> Any:
    """``y[k] = factor[k] * y[k - 1] + term[k]`` along ``axis`` (``y[k + 1]``, if ``reverse``)."""
    a = xp.in_rows(_from_front(factor, axis, reverse))
    y = copy_in_rows(_from_front(term, axis, reverse))
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


def scanned(combine: Callable[[Any, Any], Any], array: Any, axis: int) -> Any:
    """What ``combine``, which is associative, makes of each element and all before it."""
    found = _from_front(array, axis, False)
    step = 1
    while step < len(found):
        found = xp.concatenate([found[:step], combine(found[:-step], found[step:])], axis=0)
        step *= 2
    return _to_place(found, axis, False)


def cumulated(scan: Callable[..., Any], array: Any, axis: int, dtype: Any) -> Any:
    """``scan``, running sums or products, in the dtype PyTorch gives."""
    if dtype is None:
        dtype = xp.INT64 if array.dtype.kind in "biu" else array.dtype
    array = xp.cast(array, dtype)
    if not array.ndim:
        return array[()]
    if is_half(dtype):
        return xp.in_rows(scan(wide(array), axis=axis)).astype(dtype)
    return xp.in_rows(scan(array, axis=axis, dtype=dtype))


def running_sums(array: Any, axis: int, dtype: Any) -> Any:
    """The sum of each element and all before it."""
    return cumulated(xp.cumsum, array, axis, dtype)


def running_products(array: Any, axis: int, dtype: Any) -> Any:
    """The product of each element and all before it."""
    return cumulated(xp.cumprod, array, axis, dtype)


def reversed_sums(array: Any, axis: int) -> Any:
    """The sum of each element and all after it."""
    if not array.ndim:
        return array[()]
    flipped = xp.flip(array, axis)
    return xp.in_rows(xp.flip(cumulated(xp.cumsum, flipped, axis, None), axis))


def log_sums(array: Any, axis: int) -> Any:
    """Logarithms of the running sums of exponentials."""
    if not array.ndim:
        return array[()]
    found = scanned(lambda a, b: log_add_exp(a, b, False), wide(array), axis)
    return xp.cast(found, array.dtype)


def log_sum(array: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    x = wide(array)
    axis = axes_of(x, dim)
    top = xp.zeros((), x.real.dtype)
    if x.size:
        top = xp.max(x.real, axis=axis, keepdims=True)
        top = xp.where(xp.isinf(top), xp.zeros((), top.dtype), top)
    found = xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=keepdims))
    found = found + (top if keepdims or not x.size else xp.squeeze(top, axis))
    return xp.cast(xp.in_rows(found), array.dtype)


def plain_variance(array: Any, correction: float) -> Any:
    """The variance of every element of a float array."""
    distance = array - sum_all(array) / array.size
    return xp.sum(distance * distance) / max(array.size - correction, 0)


def _variance(array: Any, dim: tuple[int, ...] | None, keepdims: bool, correction: float
              ) -> tuple[Any, Any]:
    """The mean square distance from the mean, and the mean, as they were accumulated."""
    count = count_along(array.shape, dim)
    wider = wide(array)
    centre = total(wider, dim, True) / count
    distance = wider - centre
    square = distance.real ** 2 + distance.imag ** 2 if array.dtype.kind == "c" \
        else distance * distance
    found = total(square, dim, keepdims) / max(count - correction, 0)
    if not keepdims:
        centre = xp.squeeze(centre, axes_of(array, dim)) if array.ndim else centre
    return xp.in_rows(found), centre


def _narrowed(array: Any, dtype: Any) -> Any:
    return xp.cast(array, dtype) if is_half(dtype) else array


def variance(array: Any, dim: tuple[int, ...] | None, keepdims: bool, correction: float) -> Any:
    """The mean square distance from the mean, and the mean itself."""
    found, centre = _variance(array, dim, keepdims, correction)
    return _narrowed(found, array.dtype), _narrowed(centre, array.dtype)


def standard_deviation(array: Any, dim: tuple[int, ...] | None, keepdims: bool,
                       correction: float) -> Any:
    """The root of the variance, and the mean."""
    found, centre = _variance(array, dim, keepdims, correction)
    return _narrowed(xp.sqrt(found), array.dtype), _narrowed(centre, array.dtype)


def nan_mask(array: Any) -> Any:
    return xp.isnan(array) if array.dtype.kind in "fcV" else xp.zeros(array.shape, xp.BOOL)


def not_nan(array: Any) -> Any:
    """One where there is a number and zero where there is none, in the array's dtype."""
    return (~nan_mask(array)).astype(array.dtype)


def sum_of_numbers(array: Any, dim: tuple[int, ...] | None, keepdims: bool, dtype: Any) -> Any:
    """The sum of what is not NaN."""
    return total(xp.where(nan_mask(array), xp.zeros((), array.dtype), array), dim, keepdims, dtype)


# ---------------------------------------------------------------- extremes


def extreme(find: Callable[..., Any], array: Any, dim: tuple[int, ...] | None,
            keepdims: bool) -> Any:
    """What ``find`` finds over ``dim``: the largest or smallest value; NaN wins."""
    return xp.in_rows(find(array, axis=axes_of(array, dim), keepdims=keepdims))


def arg_extreme(find: Callable[..., Any], array: Any, axis: int | None, keepdims: bool) -> Any:
    """Where ``find`` finds the first largest or smallest value; NaN wins."""
    if not array.ndim:
        return xp.zeros((), xp.INT64)
    found = find(array.astype(xp.FLOAT32) if array.dtype.kind == "V" else array, axis=axis)
    if not keepdims:
        return found
    return found.reshape([1 if axis in (None, d) else n for d, n in enumerate(array.shape)])


def taken_at(array: Any, index: Any, axis: int, keepdims: bool) -> Any:
    """The one element along ``axis`` that ``index``, kept in its dims, names."""
    found = array[places_along(index, axis)]
    return found if keepdims else found.squeeze(axis)


def winners(array: Any, value: Any) -> Any:
    """Where ``array`` holds the extreme ``value``; where it is NaN, if that won."""
    found = array == value
    return found | (xp.isnan(array) & xp.isnan(value)) if array.dtype.kind in "fV" else found


def shared(array: Any, mask: Any, dim: tuple[int, ...] | None) -> Any:
    """A value for each reduction in equal parts over the places in ``mask``, zero elsewhere.

    Where ``mask`` has no place at all, there is nobody to give it to: NaN.
    """
    dtype = array.dtype
    count = xp.as_array(xp.sum(mask, axis=axes_of(mask, dim), keepdims=True)).astype(dtype)
    part = array.reshape(count.shape) / count
    return xp.where(mask, part, xp.where(count == 0, xp.asarray(xp.nan, dtype),
                                         xp.zeros((), dtype)))


def averaged(array: Any, mask: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The mean over the places in ``mask``: the adjoint of :func:`shared`."""
    count = xp.as_array(xp.sum(mask, axis=axes_of(mask, dim), keepdims=keepdims))
    kept = xp.where(mask, array, xp.zeros((), array.dtype))
    return total(kept, dim, keepdims) / count.astype(array.dtype)


def running_extreme(array: Any, axis: int, largest: bool) -> tuple[Any, Any]:
    """Running maximum or minimum, and where it was last met; NaN wins and stays."""
    if not array.ndim:
        return array.copy(), xp.zeros((), xp.INT64)
    values = scanned(xp.maximum if largest else xp.minimum, array, axis)
    shape = [1] * array.ndim
    shape[axis] = array.shape[axis]
    met = array == values
    if array.dtype.kind in "fV":
        met = met | xp.isnan(array)
    places = xp.where(met, xp.arange(array.shape[axis]).reshape(shape), 0)
    return values, scanned(xp.maximum, places, axis)


# ---------------------------------------------------------------- truth


def truth(test: Callable[..., Any], array: Any, dim: tuple[int, ...] | None,
          keepdims: bool) -> Any:
    """``any`` or ``all``; no dims at all reduce nothing, and bytes stay bytes."""
    found = xp.in_rows(test(array != 0, axis=dim if array.ndim else None, keepdims=keepdims))
    return found.astype(array.dtype) if array.dtype == xp.uint8 else found


def count_nonzero(array: Any, dim: tuple[int, ...] | None) -> Any:
    found = xp.count_nonzero(array != 0, axis=axes_of(array, dim))
    return xp.in_rows(xp.cast(xp.as_array(found), xp.INT64))
