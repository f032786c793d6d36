"""Reading and writing arrays through indices."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ...base.errors import does_not_fit
from .. import xp

_EVERYTHING = slice(None)


# ---------------------------------------------------------------- index arrays on some dimensions
# One index array stands for dimension dims[0] (or, if it is a mask, for that one and the next
# ones); for several dimensions the index arrays lie stacked along a leading dimension.


def index_key(index: Any, dims: tuple[int, ...]) -> tuple[Any, ...]:
    """The key for index arrays on ``dims``."""
    if len(dims) == 1:
        return (*(_EVERYTHING,) * dims[0], index)
    key: list[Any] = [_EVERYTHING] * (dims[-1] + 1)
    for position, dim in enumerate(dims):
        key[dim] = index[position]
    return tuple(key)


def taken(array: Any, index: Any, dims: tuple[int, ...]) -> Any:
    """The elements of ``array`` that index arrays on ``dims`` reach."""
    shape = taken_shape(array.shape, index, dims)
    if 0 in shape and all([array.shape[dim] for dim in dims]):  # nothing is beyond nothing
        return xp.empty(shape, array.dtype)
    check_bounds(array, index, dims)
    return xp.ascontiguousarray(array[index_key(index, dims)])


def out_of_bounds(array: Any, index: Any, dims: tuple[int, ...], first: int = 0) -> IndexError:
    """The error for the first position that is too large or too small.

    It names the dimensions by counting the index arrays from ``first``.
    """
    found = []
    for position, dim in enumerate(dims):
        own = xp.ravel(index if len(dims) == 1 else index[position])
        length = array.shape[dim]
        if own.size and not length:
            return IndexError("index is out of bounds for dimension with size 0")
        wrong = xp.flatnonzero((own < -length) | (own >= length))
        if wrong.size:
            where = int(wrong[0])
            found.append((where, first + position, int(own[where]), length))
    if not found:
        return IndexError(f"indices do not fit a tensor of shape {list(array.shape)}")
    _, position, value, length = min(found)
    return IndexError(f"index {value} is out of bounds for dimension {position} with size {length}")


def check_reach(array: Any, index: Any, dims: tuple[int, ...]) -> None:
    """Refuse indices into a dimension that has no elements, also where the result has none."""
    if index.size and 0 in [array.shape[dim] for dim in dims]:
        raise out_of_bounds(array, index, dims)


def check_bounds(array: Any, index: Any, dims: tuple[int, ...]) -> None:
    if index.dtype.kind == "b" or not index.size:
        return
    for position, dim in enumerate(dims):
        own = index if len(dims) == 1 else index[position]
        length = array.shape[dim]
        if int(xp.min(own)) < -length or int(xp.max(own)) >= length:
            raise out_of_bounds(array, index, dims)


def taken_shape(shape: tuple[int, ...], index: Any, dims: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what :func:`taken` gives."""
    if index.dtype.kind == "b":
        start = dims[0]
        return (*shape[:start], int(xp.count_nonzero(index)), *shape[start + index.ndim:])
    rest = tuple([n for i, n in enumerate(shape) if i not in dims])
    inner = index.shape if len(dims) == 1 else index.shape[1:]
    lead = dims[0] if _adjacent(dims) else 0
    return (*rest[:lead], *inner, *rest[lead:])


def _adjacent(dims: tuple[int, ...]) -> bool:
    return dims[-1] - dims[0] == len(dims) - 1


def put(array: Any, values: Any, index: Any, dims: tuple[int, ...], accumulate: bool) -> None:
    """Write (or add) ``values`` where index arrays on ``dims`` point, in place."""
    checked_put(array, values, index, dims, accumulate)


def with_put(array: Any, values: Any, index: Any, dims: tuple[int, ...], accumulate: bool) -> Any:
    """A copy of ``array`` to which :func:`put` has written."""
    out = xp.copied(array)
    put(out, values, index, dims, accumulate)
    return out


def checked_put(array: Any, values: Any, index: Any, dims: tuple[int, ...],
                accumulate: bool) -> None:
    """:func:`put` that finds out what is wrong before it writes anything."""
    shape = taken_shape(array.shape, index, dims)
    try:
        values = xp.broadcast_to(values, shape)
    except ValueError:
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be "
                           f"broadcast to indexing result of shape {list(shape)}") from None
    if 0 in [length for dim, length in enumerate(array.shape) if dim not in dims]:
        check_reach(array, index, dims)
        return  # nothing is written, wherever it would be
    check_bounds(array, index, dims)
    if not accumulate:
        array[index_key(index, dims)] = values
    elif index.dtype.kind == "b":
        array[index_key(index, dims)] += values
    elif values.size:
        key = ... if array.size < values.size else index_key(index, dims)
        before = xp.copied(array) if key is ... else array[key]
        try:
            _add(array, values, index, dims)
        except BaseException:  # an interrupt: nothing is changed
            array[key] = before
            raise


def _add(array: Any, values: Any, index: Any, dims: tuple[int, ...]) -> None:
    """Add up values at repeated positions."""
    xp.add_at(array, index_key(index, dims), values)


def placed(values: Any, shape: tuple[int, ...], index: Any, dims: tuple[int, ...]) -> Any:
    """``values`` added up in zeros of ``shape``: the adjoint of :func:`taken`."""
    whole = xp.zeros(shape, values.dtype)
    if index.dtype.kind == "b":
        whole[index_key(index, dims)] = values
    elif values.size:  # indices out of range are no error where nothing was taken
        check_bounds(whole, index, dims)
        _add(whole, values, index, dims)
    return whole


def stacked(parts: list[Any]) -> Any:
    """Index arrays broadcast together, along a new leading dimension."""
    return xp.cast(xp.stack(xp.broadcast_arrays(*parts)), xp.INT64)


# ---------------------------------------------------------------- one index per element


def check_range(index: Any, length: int, dim: int) -> None:
    """Refuse indices outside [0, ``length``)."""
    outside = (index < 0) | (index >= length)
    if xp.any(outside):
        raise RuntimeError(f"index {int(index[outside][0])} is out of bounds for dimension {dim} "
                           f"with size {length}")


def selected(array: Any, dim: int, index: Any) -> Any:
    """The slices that a vector names along a dimension, none of them from the end."""
    check_range(index, array.shape[dim], dim)
    return xp.take(array, index, axis=dim)


def element_positions(shape: tuple[int, ...], dim: int, index: Any) -> Any:
    """Where the elements lie in a packed array of ``shape``, if ``index`` replaces the
    coordinate along ``dim``."""
    check_range(index, shape[dim], dim)
    return index * math.prod(shape[dim + 1:]) + offsets(shape, dim, index.shape)


def offsets(shape: tuple[int, ...], dim: int, window: tuple[int, ...]) -> Any:
    """How far from the start the elements of ``window`` lie, but for their coordinate ``dim``."""
    total = xp.zeros((1,) * len(shape), xp.INT64)
    for axis, n in enumerate(window):
        if axis != dim:
            total = total + ruler(n, axis, len(shape)) * math.prod(shape[axis + 1:])
    return total


def places_along(index: Any, axis: int) -> tuple[Any, ...]:
    """The elements that ``index`` names along ``axis``, as an index of the array itself."""
    rank = index.ndim
    return tuple([index if d == axis else ruler(index.shape[d], d, rank) for d in range(rank)])


def ruler(length: int, d: int, rank: int) -> Any:
    """The numbers from 0 along dimension ``d``."""
    return xp.arange(length).reshape([length if i == d else 1 for i in range(rank)])


def gathered(array: Any, dim: int, index: Any) -> Any:
    """The elements whose coordinate along ``dim`` is ``index``."""
    if not array.ndim or not index.ndim:
        return gathered(xp.atleast_1d(array), dim, xp.atleast_1d(index)).reshape(index.shape)
    return xp.take(array.reshape(-1), element_positions(array.shape, dim, index))


def packed(array: Any) -> tuple[Any, Any]:
    """The elements in one dimension to write to, and a copy to write back if it had to be one."""
    flat = xp.viewed(array, (-1,)) if xp.is_contiguous(array) else None
    if flat is not None:
        return flat, None
    copy = xp.ascontiguousarray(array).copy()
    return copy.reshape(-1), copy


def scatter_into(array: Any, dim: int, index: Any, source: Any, how: str) -> None:
    """Write ``source`` where ``index`` points along ``dim``, in place, combined as ``how`` says."""
    index = xp.atleast_1d(index)
    where = element_positions(array.shape or (1,), dim, index).reshape(-1)
    source = xp.asarray(source)
    if source.ndim:
        source = source[tuple([slice(n) for n in index.shape])].reshape(-1)
    flat, copy = packed(array)
    combine_at(flat, where, source, how)
    if copy is not None:
        array[...] = copy


def combine_at(flat: Any, where: Any, values: Any, how: str) -> None:
    """Combine ``flat`` with ``values`` at ``where``, in place and in their order."""
    if how == "":
        flat[where] = values
    elif how in ("add", "sum", "mean"):
        xp.add_at(flat, where, values)
    elif where.size:
        combine = {"multiply": xp.multiply, "prod": xp.multiply, "amax": xp.maximum,
                   "amin": xp.minimum}[how]
        values = xp.broadcast_to(values, where.shape)
        # One round for each time that a place comes: within a round all of them are different.
        order, rounds = repetitions(where)
        for nr in range(int(xp.max(rounds)) + 1):
            some = order[rounds == nr]
            places = where[some]
            flat[places] = combine(flat[places], values[some])


def repetitions(where: Any) -> tuple[Any, Any]:
    """An order that brings equal numbers together, and how many of them came before each one."""
    order = xp.argsort(where, kind="stable")
    ordered = where[order]
    places = xp.arange(order.size)
    first = xp.concatenate([xp.ones(1, xp.BOOL), ordered[1:] != ordered[:-1]])
    return order, places - xp.flatnonzero(first)[xp.cumsum(first) - 1]


def reduce_into(array: Any, dim: int, index: Any, source: Any, how: str,
                include_self: bool) -> None:
    """Scatter with a reduction, in place; without ``include_self`` the old values do not count."""
    index = xp.atleast_1d(index)
    if not include_self:
        scatter_into(array, dim, index, xp.asarray(_neutral(how, array.dtype), array.dtype), "")
    scatter_into(array, dim, index, source, how)
    if how == "mean":
        counts = xp.full(array.shape, 1 if include_self else 0, xp.INT64)
        scatter_into(counts, dim, index, xp.ones((), xp.INT64), "add")
        counts[counts == 0] = 1
        if array.dtype.kind in "iu":
            array[...] = array // counts
        else:
            array[...] = array / counts.astype(array.real.dtype)


def _neutral(how: str, dtype: Any) -> Any:
    if how in ("sum", "mean", "prod"):
        return int(how == "prod")
    lowest, highest = _limits(dtype)
    return lowest if how == "amax" else highest


def _limits(dtype: Any) -> tuple[Any, Any]:
    if dtype.kind in "iu":
        info = xp.iinfo(dtype)
        return info.min, info.max
    if dtype.kind == "b":
        return False, True
    return -math.inf, math.inf


# ---------------------------------------------------------------- masks


def masked_put(array: Any, mask: Any, source: Any) -> None:
    """Write ``source``'s elements in order where ``mask`` holds, in place."""
    mask = xp.broadcast_to(mask, array.shape)
    count = int(xp.sum(mask))
    values = xp.asarray(source).reshape(-1)
    if values.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    array[mask] = values[:count]


def nonzero_rows(array: Any) -> Any:
    """The coordinates of the non-zero elements, one row each."""
    array = xp.asarray(array)
    if not array.ndim:
        return xp.zeros((int(array != 0), 0), xp.INT64)
    return xp.cast(xp.stack(xp.nonzero(array), axis=1), xp.INT64)


# ---------------------------------------------------------------- numbers


def number_as(value: Any, dtype: Any, saturate: bool = False) -> Any:
    """A Python number as a zero-dim array, refused where ``dtype`` cannot hold it.

    With ``saturate`` the 16-bit types take too large a number as infinity.
    """
    if dtype.kind == "b":
        return xp.array(bool(value))
    if xp.is_stored_only(dtype):
        return xp.cast(xp.asarray(value), dtype)
    if isinstance(value, complex) and dtype.kind != "c":
        if value.imag:
            raise does_not_fit(dtype)
        value = value.real
    if dtype.kind in "iu":
        return _integer_as(value, dtype)
    with xp.quiet():
        made = xp.asarray(value).astype(dtype)
    if not xp.isfinite(made) and cmath.isfinite(value) \
            and not (saturate and dtype.itemsize == 2):
        raise does_not_fit(dtype)
    return made


def _integer_as(value: Any, dtype: Any) -> Any:
    if value != value or value in (math.inf, -math.inf):
        raise does_not_fit(dtype)
    whole = int(value)
    info = xp.iinfo(dtype)
    # A negative integer may wrap around to an unsigned one.
    lowest = info.min if dtype.kind != "u" else -info.max if isinstance(value, int) else 0
    if not lowest <= value <= info.max:
        raise does_not_fit(dtype)
    return xp.array(whole % (info.max + 1) if dtype.kind == "u" else whole, dtype)


# ---------------------------------------------------------------- side by side


def side_by_side(arrays: Any, axis: int) -> Any:
    """Arrays of one shape, one after another along a new ``axis``."""
    return xp.in_rows(xp.stack(arrays, axis=axis))
