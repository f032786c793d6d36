"""Sorting, selecting and counting on raw arrays; NaN is larger than any number."""

from __future__ import annotations

from typing import Any

from .. import xp
from .index import places_along
from .precision import is_half
from .reduce import scanned


def comparable(array: Any) -> Any:
    """An array that can be ordered: bfloat16 as float32."""
    array = xp.as_array(array)
    return array.astype(xp.FLOAT32) if array.dtype.kind == "V" else array


def sorting_indices(array: Any, axis: int, descending: bool) -> Any:
    """Indices that sort along ``axis``; equal elements keep their order."""
    array = comparable(array)
    if not array.ndim:
        return xp.zeros((), xp.INT64)
    if not descending:
        return xp.argsort(array, axis=axis, kind="stable")
    # Sorting the reversed array and reading it backwards keeps the order of equal elements.
    backwards = (*(slice(None),) * axis, slice(None, None, -1))
    order = xp.argsort(array[backwards], axis=axis, kind="stable")[backwards]
    return array.shape[axis] - 1 - order


def loose_order(array: Any, axis: int, descending: bool) -> Any:
    """Indices that sort along ``axis``; equal elements may come in any order."""
    return sorting_indices(array, axis, descending)


def unstable_indices(array: Any, axis: int, descending: bool) -> Any:
    """The same, and PyTorch's order of equal elements where that can be known.

    Wider dtypes it sorts with instructions of the processor, each of which has an order of its own.
    """
    narrow = array.dtype.kind == "b" or is_half(array.dtype)
    return (loose_order if narrow else sorting_indices)(array, axis, descending)


def take_along(array: Any, index: Any, axis: int) -> Any:
    """The elements that ``index`` names along ``axis``."""
    if not array.ndim:
        return xp.as_array(array).reshape(1)[index]
    return xp.in_rows(array[places_along(xp.as_array(index), axis)])


def laid_out_as(like: Any, *results: Any) -> tuple[Any, ...]:
    """Results in the memory order of ``like``, if that has no gaps."""
    if not like.ndim or xp.is_contiguous(like) or not xp.is_dense(like):
        return results
    kept = []
    for result in results:
        kept.append(xp.empty_in_order(like.shape, xp.dense_order(like), result.dtype))
        kept[-1][...] = result
    return tuple(kept)


def in_order(array: Any, axis: int, descending: bool, stable: bool) -> tuple[Any, ...]:
    """The elements in order along ``axis``, and the indices they had."""
    order = (sorting_indices if stable else unstable_indices)(array, axis, descending)
    return laid_out_as(array, take_along(array, order, axis), order)


def put_along(values: Any, index: Any, shape: tuple[int, ...], axis: int, unique: bool) -> Any:
    """``values`` in zeros of ``shape``, at the places ``index`` names along ``axis``, added up."""
    if not shape:
        return xp.as_array(xp.as_array(values).sum()).astype(values.dtype)
    out = xp.zeros(shape, values.dtype)
    places = places_along(xp.as_array(index), axis)
    if unique:
        out[places] = values
    else:
        xp.add_at(out, places, values)
    return out


def largest_indices(array: Any, k: int, axis: int, largest: bool, in_order: bool) -> Any:
    """Indices of the ``k`` largest or smallest elements along ``axis``."""
    if not array.ndim:
        return xp.zeros((), xp.INT64)
    return sorting_indices(array, axis, largest)[(*(slice(None),) * axis, slice(k))]


def middle_index(array: Any, axis: int, skip_nan: bool) -> Any:
    """Where the lower median lies along ``axis``, which is kept with length one."""
    order = sorting_indices(array, axis, False)
    array = comparable(array)
    length = array.shape[axis]
    middle = xp.full(tuple([1 if i == axis else n for i, n in enumerate(array.shape)]),
                     (length - 1) // 2)
    if array.dtype.kind == "f":
        missing = xp.sum(xp.isnan(array), axis=axis, keepdims=True)
        if skip_nan:
            middle = xp.maximum(length - missing - 1, 0) // 2
        else:
            # NaN sorts last, so the first one is where the numbers end.
            middle = xp.where(missing > 0, length - missing, middle)
    return order[places_along(middle, axis)]


def median(flat: Any, skip_nan: bool) -> Any:
    """The lower median of a vector."""
    if flat.dtype.kind in "fiu":
        order = sorting_indices(flat, 0, False)
        last = flat[order[-1]]
        if last == last:  # NaN sorts last
            return flat[order[(flat.size - 1) // 2]]
    return flat[middle_index(flat, 0, skip_nan)[0]]


def most_frequent(array: Any, axis: int) -> Any:
    """Where the commonest value along ``axis`` (the smallest of several) lies last."""
    moved = xp.moveaxis(comparable(array), axis, -1)
    order = loose_order(moved, moved.ndim - 1, False)
    ranked = xp.take_along_axis(moved, order, axis=-1)
    places = xp.arange(moved.shape[-1])
    repeated = ranked[..., 1:] == ranked[..., :-1]
    first = xp.concatenate([xp.zeros((*moved.shape[:-1], 1), xp.BOOL), repeated], axis=-1)
    # The longest run is the first to reach its length, at its end.
    lengths = places - scanned(xp.maximum, xp.where(first, 0, places), moved.ndim - 1)
    last = xp.expand_dims(xp.argmax(lengths, axis=-1), -1)
    return xp.moveaxis(xp.take_along_axis(order, last, axis=-1), -1, axis)


# ---------------------------------------------------------------- sets and counts


def unique(array: Any) -> tuple[Any, Any, Any]:
    """Sorted distinct elements, where each element went, and how often each occurs."""
    flat = comparable(array).reshape(-1)
    order = xp.argsort(flat)
    values, inverse, counts = unique_runs(flat[order], None)
    went = xp.empty(flat.shape, xp.INT64)
    went[order] = inverse
    return xp.cast(values, array.dtype), went.reshape(array.shape), counts


def unique_slices(array: Any, axis: int) -> tuple[Any, Any, Any]:
    """The same for whole slices along ``axis``."""
    moved = xp.moveaxis(comparable(array), axis, 0)
    slices = moved.reshape(moved.shape[0], -1) if moved.size else moved
    order = xp.arange(moved.shape[0])
    if moved.size and not _is_ordered(slices):
        order = xp.asarray(_order_with_unordered(slices))
    else:
        for column in reversed(range(slices.shape[1] if moved.size else 0)):
            order = order[xp.argsort(slices[order, column], kind="stable")]
    values, inverse, counts = unique_runs(moved[order], 0)
    went = xp.empty(order.shape, xp.INT64)
    went[order] = inverse
    values = xp.ascontiguousarray(xp.moveaxis(values, 0, axis))
    return xp.cast(values, array.dtype), went, counts


def _is_ordered(array: Any) -> bool:
    """Whether every two elements can be compared: there is no NaN."""
    return bool((array == array).all())


def _order_with_unordered(rows: Any) -> list[int]:
    """The order of rows in which NaN is neither below nor above anything: by insertion."""
    order: list[int] = []
    for i in range(len(rows)):
        place = 0 if order and _is_below(rows[i], rows[order[0]]) else len(order)
        while place > 0 and _is_below(rows[i], rows[order[place - 1]]):
            place -= 1
        order[place:place] = [i]
    return order


def _is_below(row: Any, other: Any) -> bool:
    decided = xp.flatnonzero((row < other) | (row > other))
    return bool(decided.size) and bool(row[decided[0]] < other[decided[0]])


def unique_runs(array: Any, axis: int | None) -> tuple[Any, Any, Any]:
    """The first element (or slice along ``axis``) of every run of equal ones."""
    array = xp.as_array(array)
    moved = array.reshape(-1) if axis is None else xp.moveaxis(array, axis, 0)
    length = len(moved)
    different = moved[1:] != moved[:-1]
    if moved.ndim > 1:
        different = different.any(axis=tuple(range(1, moved.ndim)))
    first = xp.concatenate([xp.ones(min(length, 1), xp.BOOL), different])
    starts = xp.flatnonzero(first)
    inverse = xp.cumsum(first, dtype=xp.INT64) - 1
    counts = xp.concatenate([starts[1:], xp.full(min(length, 1), length)]) - starts
    values = moved[starts]
    if axis is None:
        return values, inverse.reshape(array.shape), counts
    return xp.ascontiguousarray(xp.moveaxis(values, 0, axis)), inverse, counts


def histogram(array: Any, bins: int, low: float, high: float) -> Any:
    """How many elements fall into each of ``bins`` equal intervals from ``low`` to ``high``."""
    flat = xp.as_array(array).reshape(-1)
    # Each step is rounded to the dtype of the elements.
    start, end, count = (xp.asarray(number, dtype=flat.dtype) for number in (low, high, bins))
    flat = flat[(flat >= start) & (flat <= end)]
    places = xp.minimum(((flat - start) * count / (end - start)).astype(xp.INT64), bins - 1)
    return xp.bincount(places, minlength=bins).astype(array.dtype)


def bincount(array: Any, weights: Any, minlength: int) -> Any:
    """How often each integer occurs, or the sum of its weights."""
    if weights is None:
        return xp.cast(xp.bincount(array, minlength=minlength), xp.INT64)
    counted = xp.bincount(array, weights=weights, minlength=minlength)
    return xp.cast(counted, weights.dtype if weights.dtype == xp.FLOAT32 else xp.FLOAT64)


def insertion_points(boundaries: Any, values: Any, right: bool, dtype: Any) -> Any:
    """Where each value would be inserted into the sorted last dimension of ``boundaries``."""
    boundaries, values = comparable(boundaries), comparable(values)
    rows = boundaries if boundaries.ndim > 1 else boundaries.reshape(
        (1,) * max(values.ndim - 1, 0) + (-1,))
    wanted = xp.atleast_1d(values)
    length = rows.shape[-1]
    low = xp.zeros(wanted.shape, xp.INT64)
    high = xp.full(wanted.shape, length, xp.INT64)
    rows = xp.broadcast_to(rows, (*wanted.shape[:-1], length))
    # All values at once: each one's interval is halved until it is empty.
    for _ in range(length.bit_length()):
        middle = (low + high) // 2
        probe = xp.take_along_axis(rows, xp.minimum(middle, length - 1), axis=-1)
        below = ~(probe > wanted) if right else ~(probe >= wanted)
        low, high = (xp.where((low < high) & below, middle + 1, low),
                     xp.where((low < high) & ~below, middle, high))
    return low.reshape(values.shape).astype(dtype)
