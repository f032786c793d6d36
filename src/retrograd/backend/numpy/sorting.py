"""Sorting, selecting and counting on NumPy arrays; NaN is larger than any number."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import FLOAT32, FLOAT64, INT64, as_array, is_dense
from .index import places_along
from .reduce import packed


def comparable(array: Any) -> Any:
    """An array NumPy can order: bfloat16 as float32."""
    array = as_array(array)
    return array.astype(FLOAT32) if array.dtype.kind == "V" else array


def sorting_indices(array: Any, axis: int, descending: bool) -> Any:
    """Indices that sort along ``axis``; equal elements keep their order."""
    array = comparable(array)
    if not array.ndim:
        return np.zeros((), INT64)
    if not descending:
        return np.argsort(array, axis=axis, kind="stable")
    # Sorting the reversed array and reading it backwards keeps the order of equal elements.
    order = np.flip(np.argsort(np.flip(array, axis), axis=axis, kind="stable"), axis)
    return array.shape[axis] - 1 - order


def take_along(array: Any, index: Any, axis: int) -> Any:
    """The elements that ``index`` names along ``axis``."""
    if not array.ndim:
        return as_array(array).reshape(1)[index]
    return packed(array[places_along(as_array(index), axis)])


def laid_out_as(like: Any, *results: Any) -> tuple[Any, ...]:
    """Results in the memory order of ``like``, if that has no gaps."""
    if not like.ndim or like.flags.c_contiguous or not is_dense(like):
        return results
    kept = []
    for result in results:
        kept.append(np.empty_like(like, dtype=result.dtype))
        kept[-1][...] = result
    return tuple(kept)


def put_along(values: Any, index: Any, shape: tuple[int, ...], axis: int, unique: bool) -> Any:
    """``values`` in zeros of ``shape``, at the places ``index`` names along ``axis``, added up."""
    if not shape:
        return as_array(values).sum().reshape(()).astype(values.dtype)
    out = np.zeros(shape, values.dtype)
    index = as_array(index)
    places = places_along(index, axis)
    if unique:
        out[places] = values
    else:
        np.add.at(out, places, values)
    return out


def largest_indices(array: Any, k: int, axis: int, largest: bool, in_order: bool) -> Any:
    """Indices of the ``k`` largest or smallest elements along ``axis``."""
    array = comparable(array)
    if not array.ndim:
        return np.zeros((), INT64)
    lead = (slice(None),) * axis
    length = array.shape[axis]
    if not k or k * 8 > length or array.dtype.kind == "b":
        return sorting_indices(array, axis, largest)[(*lead, slice(k))]
    # Far fewer wanted than there are: partition first, then sort the few.
    place = length - k if largest else k - 1
    found = np.argpartition(array, place, axis=axis)
    found = found[(*lead, slice(-k, None) if largest else slice(k))]
    found = np.sort(found, axis=axis)
    if not in_order:
        return found
    order = sorting_indices(array[places_along(found, axis)], axis, largest)
    return found[places_along(order, axis)]


def middle_index(array: Any, axis: int, skip_nan: bool) -> Any:
    """Where the lower median lies along ``axis``, which is kept with length one."""
    order = sorting_indices(array, axis, False)
    array = comparable(array)
    length = array.shape[axis]
    middle = np.full(tuple([1 if i == axis else n for i, n in enumerate(array.shape)]),
                     (length - 1) // 2)
    if array.dtype.kind == "f":
        missing = np.count_nonzero(np.isnan(array), axis=axis, keepdims=True)
        if skip_nan:
            middle = np.maximum(length - missing - 1, 0) // 2
        else:
            # NaN sorts last, so the first one is where the numbers end.
            middle = np.where(missing > 0, length - missing, middle)
    return order[places_along(middle, axis)]


def most_frequent(array: Any, axis: int) -> Any:
    """Where the commonest value along ``axis`` (the smallest of several) lies last."""
    moved = np.moveaxis(comparable(array), axis, -1)
    lanes = moved.reshape(-1, moved.shape[-1])
    indices = np.empty(len(lanes), INT64)
    for row, lane in enumerate(lanes):
        order = np.argsort(lane, kind="stable")
        ranked = lane[order]
        ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        lengths = np.diff(ends, prepend=-1)
        indices[row] = order[ends[np.argmax(lengths)]]
    indices = indices.reshape(moved.shape[:-1] + (1,))
    return np.moveaxis(indices, -1, axis)


# ---------------------------------------------------------------- sets and counts


def unique(array: Any) -> tuple[Any, Any, Any]:
    """Sorted distinct elements, where each element went, and how often each occurs."""
    own = array.dtype
    array = comparable(array)
    values, inverse, counts = np.unique(array, return_inverse=True, return_counts=True,
                                        equal_nan=False)
    return values.astype(own, copy=False), inverse.reshape(array.shape), counts


def unique_slices(array: Any, axis: int) -> tuple[Any, Any, Any]:
    """The same for whole slices along ``axis``."""
    own = array.dtype
    values, inverse, counts = np.unique(comparable(array), return_inverse=True, return_counts=True,
                                        axis=axis, equal_nan=False)
    return values.astype(own, copy=False), inverse.reshape(-1), counts


def unique_runs(array: Any, axis: int | None) -> tuple[Any, Any, Any]:
    """The first element (or slice along ``axis``) of every run of equal ones."""
    array = as_array(array)
    moved = array.reshape(-1) if axis is None else np.moveaxis(array, axis, 0)
    length = len(moved)
    different = (moved[1:] != moved[:-1]).any(axis=tuple(range(1, moved.ndim)))
    starts = np.flatnonzero(np.append(np.full(min(length, 1), True), different))
    inverse = np.cumsum(np.append(np.zeros(min(length, 1), INT64), different), dtype=INT64)
    counts = np.diff(np.append(starts, length))
    values = moved[starts]
    if axis is None:
        return values, inverse.reshape(array.shape), counts
    return np.ascontiguousarray(np.moveaxis(values, 0, axis)), inverse, counts


def histogram(array: Any, bins: int, low: float, high: float) -> Any:
    """How many elements fall into each of ``bins`` equal intervals from ``low`` to ``high``."""
    flat = as_array(array).reshape(-1)
    flat = flat[(flat >= low) & (flat <= high)]
    width = (high - low) / bins
    places = np.minimum(((flat - low) / width).astype(INT64), bins - 1)
    return np.bincount(places, minlength=bins).astype(array.dtype)


def bincount(array: Any, weights: Any, minlength: int) -> Any:
    """How often each integer occurs, or the sum of its weights."""
    if weights is None:
        return np.bincount(array, minlength=minlength).astype(INT64, copy=False)
    counted = np.bincount(array, weights, minlength)
    return counted.astype(weights.dtype if weights.dtype == FLOAT32 else FLOAT64, copy=False)


def insertion_points(boundaries: Any, values: Any, right: bool, dtype: Any) -> Any:
    """Where each value would be inserted into the sorted last dimension of ``boundaries``."""
    boundaries, values = comparable(boundaries), comparable(values)
    if boundaries.ndim == 1 and not _has_nan(boundaries) and not _has_nan(values):
        found = np.searchsorted(boundaries, values, side="right" if right else "left")
        return np.asarray(found, dtype)
    # All values at once: halve each one's interval until it is empty.
    rows = boundaries if boundaries.ndim > 1 else boundaries.reshape(
        (1,) * max(values.ndim - 1, 0) + (-1,))
    wanted = np.atleast_1d(values)
    low = np.zeros(wanted.shape, INT64)
    high = np.full(wanted.shape, rows.shape[-1], INT64)
    rows = np.broadcast_to(rows, (*wanted.shape[:-1], rows.shape[-1]))
    while (low < high).any():
        middle = (low + high) // 2
        open_ = low < high
        probe = np.take_along_axis(rows, np.minimum(middle, rows.shape[-1] - 1), -1)
        below = ~(probe > wanted) if right else ~(probe >= wanted)
        low = np.where(open_ & below, middle + 1, low)
        high = np.where(open_ & ~below, middle, high)
    return low.reshape(values.shape).astype(dtype)


def _has_nan(array: Any) -> bool:
    return array.dtype.kind == "f" and bool(np.isnan(array).any())
