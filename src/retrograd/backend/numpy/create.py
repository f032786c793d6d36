"""New arrays: ranges, layouts, and reading other libraries' memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dense_order, empty_in_order


def laid_out_like(array: Any, shape: tuple, dtype: Any) -> np.ndarray:
    """An uninitialised array whose dimensions lie in memory in the same order as ``array``'s."""
    if isinstance(array, np.ndarray) and array.shape == tuple(shape) \
            and not array.flags.c_contiguous:
        return empty_in_order(array.shape, dense_order(array), dtype)
    return np.empty(shape, dtype)


def copy_in_order(array: Any, order: tuple[int, ...]) -> np.ndarray:
    """A copy with its dimensions laid out in ``order``."""
    out = empty_in_order(array.shape, order, array.dtype)
    out[...] = array
    return out


def is_in_order(array: np.ndarray, order: tuple[int, ...]) -> bool:
    """Whether the array is dense with its dimensions laid out in ``order``."""
    return bool(array.transpose(order).flags.c_contiguous)


def memory_for(shape: tuple, strides: tuple, dtype: Any) -> np.ndarray:
    """Uninitialised memory just large enough for these strides (in elements), one-dimensional."""
    if 0 in shape:
        return np.empty(0, dtype)
    return np.empty(1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)), dtype)


# ---------------------------------------------------------------- ranges


def arange(start: Any, count: int, step: Any, dtype: np.dtype) -> np.ndarray:
    """``count`` numbers from ``start`` on, ``step`` apart."""
    if dtype.kind in "iu":
        steps = np.arange(count, dtype=np.int64)
        return (int(start) + int(step) * steps).astype(dtype)
    return (float(start) + float(step) * np.arange(count, dtype=np.float64)).astype(dtype)


def _work_dtype(dtype: np.dtype) -> np.dtype:
    if dtype.kind in "iub":
        return np.dtype(np.float64)
    if dtype.kind == "c" or dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        return dtype
    return np.dtype(np.float32)


def _evenly_spaced(start: Any, end: Any, steps: int, work: np.dtype) -> np.ndarray:
    """Counted from both ends, so that rounding is symmetric and both ends are exact."""
    low, high = work.type(start), work.type(end)
    step = (high - low) / work.type(steps - 1)
    index = np.arange(steps).astype(work)
    first = steps // 2
    out = np.empty(steps, work)
    out[:first] = low + step * index[:first]
    out[first:] = high - step * index[: steps - first][::-1]
    return out


def linspace(start: Any, end: Any, steps: int, dtype: np.dtype) -> np.ndarray:
    """``steps`` evenly spaced numbers, both ends included."""
    if steps == 1:
        return np.asarray([start]).astype(dtype)
    if dtype.kind in "iu":
        start, end = int(start), int(end)
    spaced = _evenly_spaced(start, end, steps, _work_dtype(dtype)) if steps else np.empty(0)
    return np.trunc(spaced).astype(dtype) if dtype.kind in "iu" else spaced.astype(dtype)


def logspace(start: Any, end: Any, steps: int, base: float, dtype: np.dtype) -> np.ndarray:
    """``base`` to the power of evenly spaced exponents."""
    if not steps:
        return np.empty(0, dtype)
    if steps == 1:
        return np.asarray([np.power(complex(base) if dtype.kind == "c" else float(base), start)]
                          ).astype(dtype)
    work = _work_dtype(dtype)
    exponents = _evenly_spaced(start, end, steps, work)
    return np.power(work.type(base), exponents).astype(dtype)


def eye(rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    out = np.zeros((rows, columns), dtype)
    diagonal = min(rows, columns)
    index = np.arange(diagonal)
    out[index, index] = 1
    return out


# ---------------------------------------------------------------- other owners of memory


def shared(array: np.ndarray) -> np.ndarray:
    """``array`` as memory a tensor can stand on; raises where it cannot."""
    if not array.dtype.isnative:
        raise ValueError("given numpy array has byte order different from the native byte order. "
                         "Conversion between byte orders is currently not supported.")
    if any(s < 0 for s in array.strides) and array.size:
        raise ValueError("At least one stride in the given numpy array is negative, and tensors "
                         "with negative strides are not currently supported. (You can probably "
                         "work around this by making a copy of your array  with array.copy().) ")
    itemsize = array.dtype.itemsize
    if any(s % itemsize for s in array.strides):
        raise ValueError("given numpy array strides not a multiple of the element byte size. Copy "
                         "the numpy array to reallocate the memory.")
    return array if type(array) is np.ndarray else array.view(np.ndarray)


def from_buffer(buffer: Any, dtype: np.dtype, count: int, offset: int) -> np.ndarray:
    return np.frombuffer(buffer, dtype, count, offset)


class _Capsule:
    """Makes a bare DLPack capsule look like the array it came from."""

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def from_dlpack(source: Any) -> np.ndarray:
    """An array on the memory that a DLPack capsule, or an object that makes one, describes."""
    offered = source if hasattr(source, "__dlpack__") else _Capsule(source)
    try:
        array = np.from_dlpack(offered)
    except (AttributeError, TypeError, ValueError):
        raise RuntimeError("from_dlpack received an invalid capsule. Note that DLTensor capsules "
                           "can be consumed only once, so you might have already constructed a "
                           "tensor from it once.") from None
    if not array.flags.writeable:
        # DLPack says nothing reliable about write access before version 1.0; tensors are writable.
        array = _writable(array)
    return array


class _Writable:
    """Exposes an array's memory as writable; keeps it alive."""

    def __init__(self, owner: np.ndarray):
        interface = dict(owner.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self.owner = owner


def _writable(array: np.ndarray) -> np.ndarray:
    return np.asarray(_Writable(array))


def number_as(value: Any, dtype: np.dtype) -> np.ndarray:
    """A Python number as ``dtype``: truncated, wrapped around below zero, its real part."""
    if isinstance(value, complex) and dtype.kind not in "cb":
        value = value.real
    if dtype.kind in "iu":
        value = int(value)
        if dtype.kind == "u":
            value %= 1 << (8 * dtype.itemsize)
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype) if dtype.kind == "b" else np.asarray(value, dtype)


def integers_from(numbers: list[Any], dtype: np.dtype) -> np.ndarray:
    """Python integers (wrapped around below zero for the unsigned types) as an array."""
    if dtype.kind == "u" and dtype.itemsize < 8:
        return np.array(numbers, np.int64).astype(dtype)
    return np.array(numbers, dtype)
