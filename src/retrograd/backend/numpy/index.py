"""Reading and writing arrays through indices: what NumPy's own indexing does not give directly."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

_EVERYTHING = slice(None)


# ---------------------------------------------------------------- index arrays on some dimensions
# One index array stands for dimension dims[0] (or, if it is a mask, for that one and the next
# ones); for several dimensions the index arrays lie stacked along a leading dimension.


def index_key(index: Any, dims: tuple[int, ...]) -> tuple[Any, ...]:
    """NumPy's key for index arrays on ``dims``."""
    if len(dims) == 1:
        return (*(_EVERYTHING,) * dims[0], index)
    key: list[Any] = [_EVERYTHING] * (dims[-1] + 1)
    for position, dim in enumerate(dims):
        key[dim] = index[position]
    return tuple(key)


def taken(array: Any, index: Any, dims: tuple[int, ...]) -> Any:
    """The elements of ``array`` that index arrays on ``dims`` reach."""
    try:
        if len(dims) == 1 and index.dtype.kind != "b":
            return array.take(index, dims[0])
        return np.asarray(array[index_key(index, dims)], order="C")
    except IndexError:
        raise out_of_bounds(array, index, dims) from None


def out_of_bounds(array: Any, index: Any, dims: tuple[int, ...], first: int = 0) -> IndexError:
    """The error for the first position that is too large or too small.

    It names the dimensions by counting the index arrays from ``first``.
    """
    found = []
    for position, dim in enumerate(dims):
        own = np.ravel(index if len(dims) == 1 else index[position])
        length = array.shape[dim]
        if own.size and not length:
            return IndexError("index is out of bounds for dimension with size 0")
        wrong = np.flatnonzero((own < -length) | (own >= length))
        if wrong.size:
            found.append((wrong[0], first + position, own[wrong[0]], length))
    if not found:
        return IndexError(f"indices do not fit a tensor of shape {list(array.shape)}")
    _, position, value, length = min(found)
    return IndexError(f"index {value} is out of bounds for dimension {position} with size {length}")


def check_bounds(array: Any, index: Any, dims: tuple[int, ...]) -> None:
    if index.dtype.kind == "b" or not index.size:
        return
    for position, dim in enumerate(dims):
        own = index if len(dims) == 1 else index[position]
        length = array.shape[dim]
        if own.min() < -length or own.max() >= length:
            raise out_of_bounds(array, index, dims)


def taken_shape(shape: tuple[int, ...], index: Any, dims: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what :func:`taken` gives."""
    if index.dtype.kind == "b":
        start = dims[0]
        return (*shape[:start], int(np.count_nonzero(index)), *shape[start + index.ndim:])
    rest = tuple([n for i, n in enumerate(shape) if i not in dims])
    inner = index.shape if len(dims) == 1 else index.shape[1:]
    lead = dims[0] if _adjacent(dims) else 0
    return (*rest[:lead], *inner, *rest[lead:])


def _adjacent(dims: tuple[int, ...]) -> bool:
    return dims[-1] - dims[0] == len(dims) - 1


def put(array: np.ndarray, values: Any, index: Any, dims: tuple[int, ...],
        accumulate: bool) -> None:
    """Write (or add) ``values`` where index arrays on ``dims`` point, in place."""
    if not accumulate and values.ndim <= 1:
        # NumPy checks every index and the shape before it writes anything.
        try:
            array[index_key(index, dims)] = values
            return
        except (IndexError, ValueError):
            pass
    shape = taken_shape(array.shape, index, dims)
    try:
        values = np.broadcast_to(values, shape)
    except ValueError:
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be "
                           f"broadcast to indexing result of shape {list(shape)}") from None
    check_bounds(array, index, dims)
    if not accumulate:
        array[index_key(index, dims)] = values
    elif index.dtype.kind == "b":
        array[index_key(index, dims)] += values
    elif values.size:
        _add(array, values, index, dims)


def _add(array: np.ndarray, values: np.ndarray, index: Any, dims: tuple[int, ...]) -> None:
    """Add up values at repeated positions: ``np.add.at`` is fast on one dimension only."""
    count = len(dims)
    moved = np.moveaxis(array, dims, range(count)) if dims != tuple(range(count)) else array
    lead, inner = moved.shape[:count], math.prod(moved.shape[count:])
    flat = _flat_view(moved)
    if flat is None:
        np.add.at(array, index_key(index, dims), values)
        return
    rank = index.ndim if count == 1 else index.ndim - 1
    if _adjacent(dims) and dims[0]:
        values = np.moveaxis(values, range(dims[0], dims[0] + rank), range(rank))
    rows = _rows(index, lead)
    if inner != 1:
        rows = rows[:, None] * inner + np.arange(inner)
    np.add.at(flat, rows.reshape(-1), values.reshape(-1))


def _rows(index: Any, lead: tuple[int, ...]) -> np.ndarray:
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


def _flat_view(array: np.ndarray) -> np.ndarray | None:
    try:
        return array.reshape(-1, copy=False)
    except ValueError:
        return None


def placed(values: Any, shape: tuple[int, ...], index: Any, dims: tuple[int, ...]) -> np.ndarray:
    """``values`` added up in zeros of ``shape``: the adjoint of :func:`taken`."""
    whole = np.zeros(shape, values.dtype)
    if index.dtype.kind == "b":
        whole[index_key(index, dims)] = values
    elif values.size:  # indices out of range are no error where nothing was taken
        put(whole, values, index, dims, True)
    return whole


def stacked(parts: list[Any]) -> np.ndarray:
    """Index arrays broadcast together, along a new leading dimension."""
    return np.stack(np.broadcast_arrays(*parts)).astype(np.int64, copy=False)


# ---------------------------------------------------------------- one index per element


def check_range(index: Any, length: int, dim: int) -> None:
    """Refuse indices outside [0, ``length``)."""
    if index.size:
        # Negative numbers are huge when read as unsigned: one pass finds both kinds.
        unsigned = index.view(np.uint64 if index.dtype.itemsize == 8 else np.uint32)
        if np.maximum.reduce(unsigned, axis=None) >= length:
            wrong = index[(index < 0) | (index >= length)].flat[0]
            raise RuntimeError(f"index {wrong} is out of bounds for dimension {dim} with size "
                               f"{length}")


def element_positions(shape: tuple[int, ...], dim: int, index: np.ndarray) -> np.ndarray:
    """Where the elements lie in a packed array of ``shape``, if ``index`` replaces the
    coordinate along ``dim``."""
    check_range(index, shape[dim], dim)
    offsets = _small_offsets if index.size <= 4096 else _offsets
    return index * math.prod(shape[dim + 1:]) + offsets(shape, dim, index.shape)


def _offsets(shape: tuple[int, ...], dim: int, window: tuple[int, ...]) -> np.ndarray:
    total = np.zeros((1,) * len(shape), np.int64)
    for axis, n in enumerate(window):
        if axis != dim:
            step = np.arange(n, dtype=np.int64) * math.prod(shape[axis + 1:])
            total = total + step.reshape((n,) + (1,) * (len(shape) - axis - 1))
    return total


_small_offsets = lru_cache(maxsize=256)(_offsets)


def places_along(index: Any, axis: int) -> tuple[Any, ...]:
    """The elements that ``index`` names along ``axis``, as an index of the array itself."""
    shape = index.shape
    rank = len(shape)
    return tuple([index if d == axis else
                  (_short_ruler if shape[d] <= 4096 else _ruler)(shape[d], d, rank)
                  for d in range(rank)])


def _ruler(length: int, d: int, rank: int) -> Any:
    """The numbers from 0 along dimension ``d``."""
    return np.arange(length).reshape([length if i == d else 1 for i in range(rank)])


# Making them takes as long as using them.
_short_ruler = lru_cache(maxsize=256)(_ruler)


def gathered(array: Any, dim: int, index: Any) -> Any:
    """The elements whose coordinate along ``dim`` is ``index``."""
    if not array.ndim or not index.ndim:
        shape = index.shape
        return gathered(np.atleast_1d(array), dim, np.atleast_1d(index)).reshape(shape)
    return array.reshape(-1).take(element_positions(array.shape, dim, index))


def packed(array: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The elements in one dimension to write to, and a copy to write back if it had to be one."""
    flat = _flat_view(array) if array.flags.c_contiguous else None
    if flat is not None:
        return flat, None
    copy = array.copy(order="C")
    return copy.reshape(-1), copy


def scatter_into(array: np.ndarray, dim: int, index: Any, source: Any, how: str) -> None:
    """Write ``source`` where ``index`` points along ``dim``, in place, combined as ``how`` says."""
    index = np.atleast_1d(index)
    shape = array.shape or (1,)
    where = element_positions(shape, dim, index).reshape(-1)
    source = np.asarray(source)
    if source.ndim:
        source = source[tuple([slice(n) for n in index.shape])].reshape(-1)
    flat, copy = packed(array)
    if how == "":
        flat[where] = source
    else:
        COMBINE[how].at(flat, where, source)
    if copy is not None:
        array[...] = copy


COMBINE = {"add": np.add, "multiply": np.multiply, "sum": np.add, "prod": np.multiply,
           "mean": np.add, "amax": np.maximum, "amin": np.minimum}


def reduce_into(array: np.ndarray, dim: int, index: Any, source: Any, how: str,
                include_self: bool) -> None:
    """Scatter with a reduction, in place; without ``include_self`` the old values do not count."""
    index = np.atleast_1d(index)
    if not include_self:
        scatter_into(array, dim, index, _neutral(how, array.dtype), "")
    scatter_into(array, dim, index, source, how)
    if how == "mean":
        counts = np.full(array.shape, 1 if include_self else 0, np.int64)
        scatter_into(counts, dim, index, np.int64(1), "add")
        counts[counts == 0] = 1
        if array.dtype.kind in "iu":
            array[...] = array // counts
        else:
            array[...] = array / counts.astype(array.real.dtype)


def _neutral(how: str, dtype: np.dtype) -> Any:
    if how in ("sum", "mean"):
        return dtype.type(0)
    if how == "prod":
        return dtype.type(1)
    lowest, highest = _limits(dtype)
    return dtype.type(lowest if how == "amax" else highest)


def _limits(dtype: np.dtype) -> tuple[Any, Any]:
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.min, info.max
    if dtype.kind == "b":
        return False, True
    return -math.inf, math.inf


# ---------------------------------------------------------------- masks


def masked_put(array: np.ndarray, mask: Any, source: Any) -> None:
    """Write ``source``'s elements in order where ``mask`` holds, in place."""
    mask = np.broadcast_to(mask, array.shape)
    count = int(np.count_nonzero(mask))
    values = np.asarray(source).reshape(-1)
    if values.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    array[mask] = values[:count]


def masked_positions(mask: Any, shape: tuple[int, ...]) -> np.ndarray:
    """For each element of a mask of ``shape``, which of the true ones it is."""
    flat = np.broadcast_to(mask, shape).reshape(-1)
    return (np.cumsum(flat) - 1).reshape(shape)


def nonzero_rows(array: Any) -> np.ndarray:
    """The coordinates of the non-zero elements, one row each."""
    array = np.asarray(array)
    if not array.ndim:
        return np.zeros((int(array != 0), 0), np.int64)
    return np.stack(np.nonzero(array), axis=1).astype(np.int64, copy=False)


# ---------------------------------------------------------------- numbers


_C_NAMES = {"float32": "float", "float64": "double", "int32": "int", "float16": "c10::Half",
            "bfloat16": "c10::BFloat16", "complex64": "c10::complex<float>",
            "complex128": "c10::complex<double>"}


def number_as(value: Any, dtype: np.dtype, saturate: bool = False) -> np.ndarray:
    """A Python number as a zero-dim array, refused where ``dtype`` cannot hold it.

    With ``saturate`` the 16-bit types take too large a number as infinity.
    """
    if dtype.kind == "b":
        return np.array(bool(value))
    if isinstance(value, complex) and dtype.kind != "c":
        if value.imag:
            raise _overflow(dtype)
        value = value.real
    if dtype.kind in "iu":
        return _integer_as(value, dtype)
    with np.errstate(all="ignore"):
        made = np.array(value).astype(dtype)
    if not np.isfinite(made) and np.isfinite(np.asarray(value, np.complex128)) \
            and not (saturate and dtype.itemsize == 2):
        raise _overflow(dtype)
    return made


def _integer_as(value: Any, dtype: np.dtype) -> np.ndarray:
    if value != value or value in (math.inf, -math.inf):
        raise _overflow(dtype)
    whole = int(value)
    info = np.iinfo(dtype)
    # A negative number may wrap around to an unsigned one.
    lowest = -info.max if dtype.kind == "u" else info.min
    if not lowest <= whole <= info.max:
        raise _overflow(dtype)
    return np.array(whole % (info.max + 1) if dtype.kind == "u" else whole, dtype)


def _overflow(dtype: np.dtype) -> RuntimeError:
    name = _C_NAMES.get(dtype.name, f"{dtype.name}_t")
    return RuntimeError(f"value cannot be converted to type {name} without overflow")
