"""Sorting and selecting on NumPy arrays: partitions, and NumPy's own searches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, sorting as plain
from ..plain.sorting import comparable, sorting_indices
from . import FLOAT32, FLOAT64, INT64, index
from .native import native
from .reduce import scanned  # noqa: F401 - in the plain bodies

_FEW = 64  # elements that are sorted as soon as they are parted
places_along = vars(index)["places_along"]  # a plain body, which no checker sees there


def median(flat: Any, skip_nan: bool) -> Any:
    # Values without their places: a partition, behind which NaN would come last.
    if flat.dtype is FLOAT32 or flat.dtype is FLOAT64:
        last, found = flat.size - 1, flat.copy()
        if last < _FEW:
            found.sort()
        else:
            found.partition((last // 2, last))
        if not math.isnan(found.item(last)):
            return found[last // 2]
    return plain.median(flat, skip_nan)


@native("first_in_order(array, empty((*array.shape[:-1], k), INT64), largest)",
        when="array.size > 1023 and 0 < k <= 64 and k * 8 <= array.shape[-1] "
             "and axis == array.ndim - 1 and array.dtype.char in 'fd' and ready(array)")
def largest_indices(array: Any, k: int, axis: int, largest: bool, in_order: bool) -> Any:
    # Far fewer wanted than there are, and those are many: partition first, then sort the few.
    if array.size < 512 or not k or k * 8 > array.shape[axis] or array.dtype.kind == "b":
        return plain.largest_indices(array, k, axis, largest, in_order)
    array, lead = comparable(array), (slice(None),) * axis
    if array.dtype.char in "fd" and axis == array.ndim - 1 and array.flags.c_contiguous:
        first = _behind_a_bound(array.reshape(-1, array.shape[axis]), k, largest)
        if first is not None:
            return first.reshape(*array.shape[:axis], k)
    found = np.argpartition(array, array.shape[axis] - k if largest else k - 1, axis=axis)
    found = np.sort(found[(*lead, slice(-k, None) if largest else slice(k))], axis=axis)
    order = sorting_indices(array[places_along(found, axis)], axis, largest)
    return found[places_along(order, axis)]


def _behind_a_bound(rows: Any, k: int, largest: bool) -> Any:
    """Where the first ``k`` of each row are, in order; None if many could be among them.

    Of the extremes of several parts of a row, the k-th is a bound that at least ``k`` elements
    reach.
    """
    count, width = rows.shape
    parts, extreme = 4 * k, np.maximum if largest else np.minimum
    last = width - width % parts
    extremes = extreme.reduce(rows[:, :last].reshape(count, -1, parts), axis=1)
    place = parts - k if largest else k - 1
    bound = np.partition(extremes, place, axis=1)[:, place:place + 1]
    places = np.flatnonzero(rows >= bound if largest else rows <= bound)
    line, column = np.divmod(places, width)
    each = np.bincount(line, minlength=count)
    most = each.max()
    if most > 4 * k or np.isnan(rows.max()):
        return None
    slot = np.arange(places.size) - (np.cumsum(each) - each).repeat(each)
    few = np.full((count, most), -np.inf if largest else np.inf, rows.dtype)
    few[line, slot] = rows.reshape(-1)[places]
    columns = np.zeros(few.shape, INT64)
    columns[line, slot] = column
    return columns[places_along(sorting_indices(few, 1, largest)[:, :k], 1)]


@native('sorting_order(rows, empty(rows.shape, "int64"), descending)', when="in_order(rows)")
def _rows_order(rows: Any, descending: bool) -> Any:
    return sorting_indices(rows, rows.ndim - 1, descending)


def loose_order(array: Any, axis: int, descending: bool) -> Any:
    # Few elements are inserted one after another, and those that share their memory stay.
    if not array.ndim or array.shape[axis] <= 16 or array.strides[axis] == 0:
        return sorting_indices(array, axis, descending)
    keys = np.moveaxis(array, axis, -1).astype(INT64 if array.dtype.kind in "iu" else FLOAT64, "C")
    return np.moveaxis(_rows_order(keys, descending), -1, axis)


def insertion_points(boundaries: Any, values: Any, right: bool, dtype: Any) -> Any:
    # NumPy's own search, of one row without NaN.
    boundaries, values = comparable(boundaries), comparable(values)
    if boundaries.ndim != 1 or _has_nan(boundaries) or _has_nan(values):
        return plain.insertion_points(boundaries, values, right, dtype)
    found = np.searchsorted(boundaries, values, side="right" if right else "left")
    return np.asarray(found, dtype)


def _has_nan(array: Any) -> bool:
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


fill_with_plain_bodies(
    globals(), plain,
    in_order=native(
        "short_rows_in_order(array, empty(s := array.shape, array.dtype), empty(s, INT64), "
        "descending)",
        when="axis == array.ndim - 1 and 0 < array.shape[axis] <= 32 "
             "and array.dtype.char in 'fd' and ready(array)"))
