"""Sparse data: the places of some elements and their values; all others are zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .numpy import optional, xp


class Coordinates:
    """Data in the place of an array: a column of ``indices`` for each value.

    The first dims are sparse, as many as there are rows of indices; values may have further, dense
    dims. ``layout`` says how users see it, by coordinates or in compressed rows or columns. A place
    may occur several times unless the data is coalesced: its values add up.
    """

    __slots__ = ("indices", "values", "shape", "is_coalesced", "layout")
    level = -1  # every transform is further out

    def __init__(self, indices: Any, values: Any, shape: tuple[int, ...], is_coalesced: bool,
                 layout: str = "sparse_coo"):
        self.indices, self.values, self.shape = indices, values, tuple(shape)
        self.is_coalesced, self.layout = is_coalesced, layout

    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    def with_values(self, values: Any) -> Coordinates:
        """Other values in the same places."""
        shape = (*self.shape[:len(self.indices)], *values.shape[1:])
        return Coordinates(self.indices, values, shape, self.is_coalesced, self.layout)

    def copy(self, order: str = "K") -> Coordinates:
        return Coordinates(self.indices.copy(), self.values.copy(), self.shape, self.is_coalesced,
                           self.layout)

    def astype(self, dtype: Any) -> Coordinates:
        return self.with_values(xp.cast(self.values, dtype))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a sparse tensor is no array; to_dense() makes one of it")

    def __add__(self, other: Any) -> Any:
        """The sum with other sparse data, or with an array."""
        if not isinstance(other, Coordinates):
            return other + dense(self)
        return Coordinates(np.concatenate((self.indices, other.indices), 1),
                           np.concatenate((self.values, other.values)), self.shape, False,
                           self.layout)

    __radd__ = __add__
    __array_ufunc__ = None


def flat_places(indices: Any, shape: tuple[int, ...]) -> Any:
    """The number of each place, counted row by row."""
    found = np.zeros(indices.shape[1:], np.int64)
    for row, length in zip(indices, shape, strict=False):
        found = found * length + row
    return found


def coalesced(data: Coordinates) -> Coordinates:
    """Each place once, in order, with the sum of its values."""
    if data.is_coalesced:
        return data
    places = flat_places(data.indices, data.shape)
    order = np.argsort(places, kind="stable")
    places = places[order]
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    values = data.values[order]
    if len(starts) < len(places):
        values = _sums(values, starts)
    return Coordinates(data.indices[:, order[starts]], values, data.shape, True, data.layout)


def sums_of(values: Any, owners: Any, count: int) -> Any:
    """The sums of the values of each of ``count`` owners, all of whom have some."""
    order = np.argsort(owners, kind="stable")
    return _sums(values[order], np.searchsorted(owners[order], np.arange(count))) if count else \
        values[:0]


def firsts(data: Coordinates) -> Coordinates:
    """Each place once, in order, with the first of its values."""
    _, first = np.unique(flat_places(data.indices, data.shape), return_index=True)
    return Coordinates(data.indices[:, first], data.values[first], data.shape, True, data.layout)


def _sums(values: Any, starts: Any) -> Any:
    """The sums of runs of values; half precision adds up in float32."""
    if values.dtype.kind == "b":
        return np.logical_or.reduceat(values, starts)
    wide = values.astype(np.float32) if values.dtype.itemsize == 2 and values.dtype.kind in "fV" \
        else values
    return np.add.reduceat(wide, starts, dtype=wide.dtype).astype(values.dtype)


def owners(data: Coordinates, places: Any) -> Any:
    """For each value, which of the distinct ``places`` it belongs to."""
    return np.searchsorted(flat_places(places, data.shape), flat_places(data.indices, data.shape))


def same_groups(places: Any, shape: tuple[int, ...]) -> tuple[Any, int]:
    """A number for each column of places, equal for equal ones, and how many there are."""
    distinct, numbers = np.unique(flat_places(places, shape), return_inverse=True)
    return numbers.reshape(-1), len(distinct)


def meeting(row: Any, wanted: Any) -> tuple[Any, Any]:
    """Which indices of a row are among the wanted ones: their places in both."""
    here, there = np.nonzero(row[:, None] == wanted[None, :])
    return here, there


def dense(data: Coordinates) -> Any:
    """All elements as an array."""
    data = coalesced(data)
    found = np.zeros(data.shape, data.dtype)
    found[tuple(data.indices)] = data.values
    return found


def values_at(data: Any, indices: Any) -> Any:
    """The values of sparse data or of an array in given places."""
    if not isinstance(data, Coordinates):
        return data[tuple(indices)]
    if data.indices is indices or (data.indices.shape == indices.shape
                                   and np.array_equal(data.indices, indices)
                                   and data.is_coalesced):
        return data.values
    data = coalesced(data)
    known = flat_places(data.indices, data.shape)
    wanted = flat_places(indices, data.shape)
    found = np.zeros((len(wanted), *data.values.shape[1:]), data.dtype)
    if len(known):
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        held = known[at] == wanted
        found[held] = data.values[at[held]]
    return found


def firsts_at(data: Any, indices: Any) -> Any:
    """The same, but zero where a place occurs again."""
    found = values_at(data, indices)
    shape = tuple((indices.max(axis=1) + 1).tolist()) if indices.size else ()
    _, first = np.unique(flat_places(indices, shape), return_index=True)
    kept = np.zeros_like(found)
    kept[first] = found[first]
    return kept


def sparse_places(array: Any, sparse_dims: int) -> Any:
    """Where an array has elements that are not zero, in its first dims."""
    nonzero = array != 0
    if sparse_dims < array.ndim:
        nonzero = nonzero.any(axis=tuple(range(sparse_dims, array.ndim)))
    return np.ascontiguousarray(np.stack(np.nonzero(nonzero))) if sparse_dims else \
        np.zeros((0, int(nonzero.any())), np.int64)


def product(values: Any, other: Any, indices: Any, shape: tuple[int, int]) -> Any:
    """A sparse matrix times an array of columns."""
    wide = values
    if values.dtype.itemsize == 2 and values.dtype.kind in "fV":
        wide, other = values.astype(np.float32), other.astype(np.float32)
    rows, columns = indices
    if values.dtype.kind in "fc":
        matrix = optional("scipy.sparse", "a sparse product").coo_array(
            (wide, (rows, columns)), shape=shape).tocsr()
        found = matrix @ other
    else:
        found = np.zeros((shape[0], other.shape[1]), other.dtype)
        np.add.at(found, rows, wide[:, None] * other[columns])
    return np.asarray(found).astype(values.dtype, copy=False)


def ends_of(rows: Any, count: int) -> Any:
    """Where each of ``count`` rows begins and ends among sorted ones."""
    return np.searchsorted(rows, np.arange(count + 1)).astype(np.int64)


def rows_of(ends: Any) -> Any:
    """The row of each element, from where the rows end."""
    return np.repeat(np.arange(len(ends) - 1), np.diff(ends))


def rows_at(gradient: Any, indices: Any, padding: int) -> Any:
    """The rows of a table at given indices, zero where no gradient goes."""
    table = dense(gradient) if isinstance(gradient, Coordinates) else gradient
    found = table[indices]
    if padding >= 0:
        found[indices == padding] = 0
    return found


def row_gradient(output: Any, indices: Any, shape: tuple[int, ...], padding: int) -> Coordinates:
    """The gradient of a table whose rows were looked up: a row for each look-up."""
    rows = indices.reshape(-1).astype(np.int64)
    values = output.reshape(len(rows), *shape[1:])
    if padding >= 0:
        kept = rows != padding
        rows, values = rows[kept], values[kept]
    return Coordinates(rows[None], values, shape, False)
