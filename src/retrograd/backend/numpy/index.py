"""Reading and writing NumPy arrays through indices: NumPy's own checks, and flat memory."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, index as plain
from ..plain.index import (
    check_bounds,
    check_reach,
    checked_put,
    index_key,
    out_of_bounds,
    taken_shape,
)
from . import INT64, add_at, copied, in_rows, viewed
from .native import native

_COMBINE = {"multiply": np.multiply, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
_MANY = 1024
_FEW = 4096  # up to so many numbers, rulers and offsets are kept: making takes as long as using
_FEW_INDICES = 16  # that Python looks at sooner than NumPy
FEW_NUMBERS = 1 << 14  # for which SciPy is not loaded


@native("slices(array, index, empty((*array.shape[:axis], *index.shape, "
        "*array.shape[axis + 1:]), array.dtype), axis, True)",
        when="index.size > 255 and axis >= 0 and indexed(array, index)")
def slices_at(array: Any, index: Any, axis: int) -> Any:
    """The slices that indices name along a dimension."""
    return array.take(index, axis)


@native("slices(array, index, empty((*array.shape[:dim], *index.shape, *array.shape[dim + 1:]), "
        "array.dtype), dim, False)", when="indexed(array, index)")
def selected(array: Any, dim: int, index: Any) -> Any:
    check_range(index, array.shape[dim], dim)
    return slices_at(array, index, dim)


def taken(array: Any, index: Any, dims: tuple[int, ...]) -> Any:
    try:  # NumPy looks for indices out of range while it reads
        if len(dims) == 1 and index.dtype.kind != "b":
            found = slices_at(array, index, dims[0])
        else:
            found = np.asarray(array[index_key(index, dims)], order="C")
        if not found.size:
            check_reach(array, index, dims)
        return found
    except IndexError:
        shape = taken_shape(array.shape, index, dims)
        if 0 in shape and all([array.shape[dim] for dim in dims]):  # nothing is beyond nothing
            return np.empty(shape, array.dtype)
        raise out_of_bounds(array, index, dims) from None


def put(array: Any, values: Any, index: Any, dims: tuple[int, ...], accumulate: bool) -> None:
    if not accumulate and values.ndim <= 1 and array.size:
        # NumPy checks every index and the shape before it writes anything.
        try:
            array[index_key(index, dims)] = values
            return
        except (IndexError, ValueError):
            pass
    if accumulate and array.size <= 4 * values.size and _are_rows(array, values, index, dims):
        sums = array.copy()
        _add_rows(sums, values, index)
        array[...] = sums  # at once: no interrupt finds a part of it
    else:
        checked_put(array, values, index, dims, accumulate)


def with_put(array: Any, values: Any, index: Any, dims: tuple[int, ...], accumulate: bool) -> Any:
    out = copied(array)
    if accumulate and _are_rows(out, values, index, dims):
        _add_rows(out, values, index)  # nobody finds a part of it
    else:
        put(out, values, index, dims, accumulate)
    return out


def placed(values: Any, shape: tuple[int, ...], index: Any, dims: tuple[int, ...]) -> Any:
    whole = np.zeros(shape, values.dtype)
    if _are_rows(whole, values, index, dims):
        _add_rows(whole, values, index)
    elif index.dtype.kind == "b":
        whole[index_key(index, dims)] = values
    elif values.size:  # indices out of range are no error where nothing was taken
        check_bounds(whole, index, dims)
        _add(whole, values, index, dims)
    return whole


def _are_rows(array: Any, values: Any, index: Any, dims: tuple[int, ...]) -> bool:
    """Whether a vector names rows, which lie one after the other, for as many and few values."""
    return dims == (0,) and index.ndim == 1 and index.dtype is INT64 and index.size > 0 \
        and values.dtype is array.dtype and array.flags.c_contiguous \
        and values.shape == (*index.shape, *array.shape[1:]) and 0 < values.size < _MANY


@native("add_at(array, index, values, 0)",
        when="array.dtype.itemsize > 2 and indexed(array, index) and ready(values)")
def _add_rows(array: Any, values: Any, index: Any) -> None:
    inner = values.size // index.size
    # In flat memory; the numbers of a row below zero are below zero, and NumPy checks them all.
    places = index if inner == 1 else (index[:, None] * inner + ruler(inner, 0, 1)).reshape(-1)
    try:
        add_at(array.reshape(-1), places, values.reshape(-1))
    except IndexError:
        raise out_of_bounds(array, index, (0,)) from None


@native("add_at(array, index, values, dims[0])",
        when="len(dims) == 1 and indexed(array, index) and ready(array, values) "
             "and array.dtype.itemsize > 2")
def _add(array: Any, values: Any, index: Any, dims: tuple[int, ...]) -> None:
    # Many numbers: NumPy adds up quickly in one dimension, if memory can be seen as such.
    count = len(dims)
    moved = np.moveaxis(array, dims, range(count)) if dims != tuple(range(count)) else array
    lead, inner = moved.shape[:count], math.prod(moved.shape[count:])
    flat = viewed(moved, (-1,)) if values.size >= _MANY and array.ndim > 1 else None
    if flat is None or not flat.flags.c_contiguous:
        plain._add(array, values, index, dims)
        return
    rank = index.ndim if count == 1 else index.ndim - 1
    if plain._adjacent(dims) and dims[0]:
        values = np.moveaxis(values, range(dims[0], dims[0] + rank), range(rank))
    values = values.copy() if np.may_share_memory(flat, values) else values
    add_rows_at(flat.reshape(-1, inner), _rows(index, lead), values.reshape(-1, inner))


def add_rows_at(whole: Any, indices: Any, rows: Any) -> None:
    """Add ``rows`` up in those of ``whole`` that indices name, which must lie in it."""
    (length, width), count = whole.shape, indices.size
    is_for_scipy = width > 1 and rows.size > FEW_NUMBERS and rows.dtype is whole.dtype \
        and rows.dtype.char in "fd"
    add = _scipys_product() if is_for_scipy else None
    if add is None:
        places = indices if width == 1 else ((indices * width)[:, None] + np.arange(width)).ravel()
        add_at(whole.reshape(-1), places, rows.reshape(-1))
        return
    # A sparse matrix, with a one in each column, times the rows; it looks at no index.
    add(length, count, width, np.arange(count + 1, dtype=INT64), indices.astype(INT64),
        np.ones(count, rows.dtype), rows.reshape(-1), whole.reshape(-1))


@cache
def _scipys_product() -> Any:
    """SciPy's product of a sparse matrix, by columns, and a dense one, which is added to its last
    argument; or None.
    """
    try:
        return import_module("scipy.sparse._sparsetools").csc_matvecs
    except (ModuleNotFoundError, AttributeError):
        return None


def _rows(index: Any, lead: tuple[int, ...]) -> Any:
    """Each position over the leading dimensions as one number."""
    if len(lead) == 1:
        parts = (index,)
    else:
        parts = index
    rows: Any = 0
    for own, length in zip(parts, lead, strict=True):
        own = np.asarray(own, np.int64)
        rows = rows * length + np.where(own < 0, own + length, own)
    return rows.reshape(-1)


def check_range(index: Any, length: int, dim: int) -> None:
    if index.size <= _FEW_INDICES:
        if not all([0 <= i < length for i in index.ravel().tolist()]):
            plain.check_range(index, length, dim)
        return
    # Negative numbers are huge when read as unsigned: one pass finds both kinds.
    unsigned = index.view(np.uint64 if index.dtype.itemsize == 8 else np.uint32)
    if np.maximum.reduce(unsigned, axis=None) >= length:
        plain.check_range(index, length, dim)


def offsets(shape: tuple[int, ...], dim: int, window: tuple[int, ...]) -> Any:
    return (_kept_offsets if math.prod(window) <= _FEW else plain.offsets)(shape, dim, window)


def ruler(length: int, d: int, rank: int) -> Any:
    return (_kept_ruler if length <= _FEW else plain.ruler)(length, d, rank)


_kept_offsets = lru_cache(maxsize=256)(plain.offsets)
_kept_ruler = lru_cache(maxsize=256)(plain.ruler)


def combine_at(flat: Any, where: Any, values: Any, how: str) -> None:
    # What has a ufunc, but for sums, which have one anyway.
    if how in _COMBINE:
        _COMBINE[how].at(flat, where, values)
    else:
        plain.combine_at(flat, where, values, how)


@native("stacked(arrays, empty((len(arrays),) + (first := arrays[0]).shape, first.dtype))",
        when="not axis and arrays[0].ndim")
def side_by_side(arrays: Any, axis: int) -> Any:
    # Along a new first axis they lie end to end.
    shape = arrays[0].shape
    if axis or not shape or any([array.shape != shape for array in arrays]):
        return plain.side_by_side(arrays, axis)
    return in_rows(np.concatenate(arrays)).reshape((len(arrays), *shape))


fill_with_plain_bodies(
    globals(), plain,
    gathered=native("gather(array, index, empty(index.shape, array.dtype), dim)",
                    when="indexed(array, index)"),
    scatter_into=native(
        "scatter_add(array, index, source, dim)",
        when="how in ('add', 'sum', 'mean') and indexed(array, index) and index.size "
             "and array.dtype.itemsize > 2 and getattr(source, 'shape', ()) == index.shape "
             "and ready(array, source)"))
