"""Sets of numbers, held once each in a table, and arrays of their places in it.

An array of dependencies holds, for every element of a tensor, the number of a set; the set holds
the numbers of the inputs that the element depends on. Set 0 is empty. Whatever moves elements
moves their numbers in the same way, so only unions need the sets themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class SetTable:
    """All sets of one computation, by number: laid end to end, each in ascending order."""

    def __init__(self, count: int):
        self.count = count  # the numbers that sets are made of are below it
        self._members = np.arange(count)
        self._ends = np.arange(-1, count) + 1  # of set k: its members end there
        self._used = count + 1

    def singles(self, first: int, count: int) -> Any:
        """The sets of one number each, of ``count`` numbers from ``first`` on."""
        return np.arange(first + 1, first + count + 1)

    def sizes(self, sets: Any) -> Any:
        """How many members each set has."""
        return self._ends[sets] - np.where(sets > 0, self._ends[sets - 1], 0)

    def members(self, sets: Any) -> tuple[Any, Any]:
        """The members of some sets, one set after the other, and the place of the set of each."""
        sizes = self.sizes(sets)
        ends = np.cumsum(sizes)
        whose = np.repeat(np.arange(len(sets)), sizes)
        offsets = self._ends[sets] - ends
        return self._members[np.arange(len(whose)) + offsets[whose]], whose

    def grouped(self, sets: Any, groups: Any, count: int) -> Any:
        """The union of all sets of each group: of ``sets``, of which each is in one of ``groups``.

        A union that is one of its parts is that part, so that repeating a step adds nothing.
        """
        found = np.zeros(count, np.int64)
        some = sets > 0
        pairs = _distinct(groups[some] * self._used + sets[some])
        groups, sets = pairs // self._used, pairs % self._used
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        single = np.diff(starts, append=len(groups)) == 1
        found[groups[starts[single]]] = sets[starts[single]]
        several = np.repeat(~single, np.diff(starts, append=len(groups)))
        groups, sets = groups[several], sets[several]
        if not len(groups):
            return found
        members, whose = self.members(sets)
        both = _distinct(groups[whose] * self.count + members)
        owners, members = both // self.count, both % self.count
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        lengths = np.diff(starts, append=len(owners))
        owners = owners[starts]
        # The largest part of each group: if it is as large as the union, it is the union.
        sizes = self.sizes(sets)
        largest = np.lexsort((sizes, groups))[np.searchsorted(groups, owners, "right") - 1]
        is_new = sizes[largest] < lengths
        found[owners[~is_new]] = sets[largest[~is_new]]
        found[owners[is_new]] = self._added(members[np.repeat(is_new, lengths)], lengths[is_new])
        return found

    def _added(self, members: Any, sizes: Any) -> Any:
        """The numbers of new sets, given one after the other."""
        first, end = self._used, self._ends[self._used - 1]
        self._used += len(sizes)
        self._ends = _grown(self._ends, first, np.cumsum(sizes) + end)
        self._members = _grown(self._members, end, members)
        return np.arange(first, self._used)

    def united(self, arrays: list[Any]) -> Any:
        """Element by element, the union of the sets of arrays of one shape."""
        first, *rest = arrays
        for other in rest:
            if other is first:
                continue
            codes, places = np.unique(first.reshape(-1) * self._used + other.reshape(-1),
                                      return_inverse=True)
            pairs = np.concatenate((codes // self._used, codes % self._used))
            unions = self.grouped(pairs, np.tile(np.arange(len(codes)), 2), len(codes))
            first = unions[places].reshape(first.shape)
        return first

    def along(self, sets: Any, dims: tuple[int, ...]) -> Any:
        """The union along dims, which stay with length one."""
        kept = tuple(1 if d in dims else n for d, n in enumerate(sets.shape))
        count = int(np.prod(kept))
        groups = np.broadcast_to(np.arange(count).reshape(kept), sets.shape)
        return self.grouped(sets.reshape(-1), groups.reshape(-1), count).reshape(kept)

    def up_to(self, sets: Any, dim: int) -> Any:
        """The union of each element with all before it along a dim."""
        found = sets.copy()
        rows = np.moveaxis(found, dim, 0)
        for i in range(1, len(rows)):
            rows[i] = self.united([rows[i - 1], rows[i]])
        return found

    def product(self, sets: Any, factor: Any, is_left: bool) -> Any:
        """The dependencies of a matrix product: where the factor is zero there are none."""
        if not is_left:
            sets, factor = np.swapaxes(sets, -1, -2), np.swapaxes(factor, -1, -2)
        batch = np.broadcast_shapes(sets.shape[:-2], factor.shape[:-2])
        rows, columns = sets.shape[-2], factor.shape[-1]
        nonzero = factor != 0
        if nonzero.all():
            found = np.broadcast_to(self.along(sets, (sets.ndim - 1,)), (*batch, rows, columns))
        else:
            sets = np.broadcast_to(sets, (*batch, *sets.shape[-2:])).reshape(-1, *sets.shape[-2:])
            nonzero = np.broadcast_to(nonzero, (*batch, *nonzero.shape[-2:]))
            where, inner, column = np.nonzero(nonzero.reshape(-1, *nonzero.shape[-2:]))
            row = np.arange(rows)[:, None]
            groups = (where * rows + row) * columns + column
            found = self.grouped(sets[where, row, inner].reshape(-1), groups.reshape(-1),
                                 len(sets) * rows * columns).reshape(*batch, rows, columns)
        return found if is_left else np.swapaxes(found, -1, -2)

    def matrix(self, sets: Any) -> tuple[Any, Any]:
        """The members of all sets of an array and where each row of them ends."""
        members, _ = self.members(sets)
        return members, np.concatenate(([0], np.cumsum(self.sizes(sets))))


def _distinct(numbers: Any) -> Any:
    """The different ones in ascending order; ``unique`` takes ten times as long by hashing."""
    numbers = np.sort(numbers)
    return numbers[np.diff(numbers, prepend=-1) != 0]


def _grown(buffer: Any, used: int, values: Any) -> Any:
    """``buffer`` with values put behind what is used of it; it grows by half at least."""
    needed = used + len(values)
    if needed > len(buffer):
        bigger = np.empty(max(needed, len(buffer) * 3 // 2), buffer.dtype)
        bigger[:used] = buffer[:used]
        buffer = bigger
    buffer[used:needed] = values
    return buffer


# ---------------------------------------------------------------- elements that are told apart

_SHIFT = 20


def labels(count: int, first: int) -> Any:
    """Numbers that tell ``count`` elements apart, also from sums and means of several of them."""
    places = np.arange(first + 1, first + count + 1)
    return ((places << _SHIFT) | _noise(places)).astype(np.float64)


def _noise(places: Any) -> Any:
    """Twenty bits that follow from a place, as if drawn at random."""
    mixed = (places.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(
        0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(44)).astype(np.int64)


def places_of(values: Any, count: int) -> Any:
    """Which element each value is, from one on, 0 where it is zero; None unless all are such."""
    if values.dtype != np.float64 or not np.isfinite(values).all():
        return None
    whole = np.abs(values)
    if whole.size and whole.max() >= 2.0**53:
        return None
    whole = whole.astype(np.int64)
    places = whole >> _SHIFT
    same = (values == whole) & (places <= count) & (
        (whole == 0) | ((whole & ((1 << _SHIFT) - 1)) == _noise(places)))
    return places if same.all() else None


def window_places(shape: tuple[int, ...], outputs: tuple[int, ...], kernel: tuple[int, ...],
                  stride: Any, padding: Any, dilation: Any) -> tuple[Any, Any]:
    """The places in the input and the output of a convolution that meet, pair by pair."""
    inside = np.zeros((), np.int64)
    outside = np.zeros((), np.int64)
    valid = np.ones((), bool)
    for n, m, k, s, p, d in zip(shape, outputs, kernel, stride, padding, dilation, strict=True):
        out, offset = np.meshgrid(np.arange(m), np.arange(k), indexing="ij")
        at = (out * s - p + offset * d).reshape(-1)
        ok = (at >= 0) & (at < n)
        inside = (inside[..., None] * n + at).reshape(-1)
        outside = (outside[..., None] * m + out.reshape(-1)).reshape(-1)
        valid = (valid[..., None] & ok).reshape(-1)
    return inside[valid], outside[valid]


# ---------------------------------------------------------------- compressing a matrix


def empty_sets(shape: Any) -> Any:
    """Sets with nothing in them."""
    return np.zeros(shape, np.int64)


class Passes:
    """Which columns (or rows) go through a program together, and where its entries are then found.

    ``colours`` has the number of the pass of each column, -1 where there is none; entry ``k`` of
    ``entries`` is found in the result of pass ``at[k]`` at place ``other[k]``.
    """

    def __init__(self, colours: Any, entries: Any, at: Any, other: Any):
        self.colours, self.entries, self.at, self.other = colours, entries, at, other
        self.count = int(colours.max(initial=-1)) + 1


def two_way_plan(rows: Any, columns: Any, shape: tuple[int, int]) -> tuple[Passes, Passes]:
    """Passes that push columns and passes that pull rows: together as few as are easily found.

    Where most rows are short, columns are pushed, and the few long rows are pulled; or the other
    way round.
    """
    long_rows, cost = _apart(np.bincount(rows, minlength=shape[0]))
    long_columns, other_cost = _apart(np.bincount(columns, minlength=shape[1]))
    pulled = long_rows[rows] if cost <= other_cost else ~long_columns[columns]
    return (_passes(columns, rows, ~pulled, shape[1], shape[0]),
            _passes(rows, columns, pulled, shape[0], shape[1]))


def rows_plan(rows: Any, columns: Any, shape: tuple[int, int]) -> Passes:
    """Passes that pull all rows."""
    return _passes(rows, columns, np.ones(len(rows), bool), shape[0], shape[1])


def symmetric_plan(rows: Any, columns: Any, shape: tuple[int, int]) -> Passes:
    """Passes that push the columns of a symmetric matrix.

    The column of a long row goes alone. What stands in a long row is read from that column.
    """
    is_long, _ = _apart(np.bincount(rows, minlength=shape[0]))
    short = ~is_long[rows] & ~is_long[columns]
    colours = coloured(columns[short], rows[short], shape[1], shape[0])
    alone = np.flatnonzero(is_long)
    colours[alone] = np.arange(len(alone)) + colours.max(initial=-1) + 1
    mirrored = is_long[rows] & ~is_long[columns]
    at = np.where(mirrored, rows, columns)
    return Passes(colours, np.arange(len(rows)), colours[at], np.where(mirrored, columns, rows))


def _apart(lengths: Any) -> tuple[Any, int]:
    """Which rows are so long that they had better go alone, and how many passes that leaves."""
    order = np.argsort(-lengths, kind="stable")
    costs = np.arange(len(lengths) + 1) + np.append(lengths[order], 0)
    count = int(np.argmin(costs))
    found = np.zeros(len(lengths), bool)
    found[order[:count]] = True
    return found, int(costs[count])


def _passes(columns: Any, rows: Any, which: Any, count: int, row_count: int) -> Passes:
    colours = coloured(columns[which], rows[which], count, row_count)
    return Passes(colours, np.flatnonzero(which), colours[columns[which]], rows[which])


def coloured(columns: Any, rows: Any, count: int, row_count: int) -> Any:
    """A colour for each of ``count`` columns, -1 for empty ones: no row has two of one colour.

    A column takes the lowest colour that is free; what a row has used is one integer, a bit for
    each colour.
    """
    order = np.argsort(columns, kind="stable")
    by_column = rows[order].tolist()
    starts = np.searchsorted(columns[order], np.arange(count + 1)).tolist()
    used = [0] * row_count
    colours = [-1] * count
    for column in range(count):
        own = by_column[starts[column]:starts[column + 1]]
        if not own:
            continue
        taken = 0
        for row in own:
            taken |= used[row]
        bit = ~taken & (taken + 1)
        for row in own:
            used[row] |= bit
        colours[column] = bit.bit_length() - 1
    return np.array(colours, np.int64)


def seeds(passes: Passes, dtype: Any) -> Any:
    """A row for each pass, with ones where its columns are."""
    found = np.zeros((passes.count, len(passes.colours)), dtype)
    some = np.flatnonzero(passes.colours >= 0)
    found[passes.colours[some], some] = 1
    return found


def gathered(results: list[tuple[Passes, Any]], count: int, dtype: Any) -> Any:
    """All entries of a matrix, from the results of the passes."""
    values = np.zeros(count, dtype)
    for passes, found in results:
        values[passes.entries] = found[passes.at, passes.other]
    return values


def side_by_side(parts: list[Any]) -> Any:
    """Rows over several inputs as rows over all of them."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
