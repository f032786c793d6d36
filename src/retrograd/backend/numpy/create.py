"""NumPy arrays on memory that others own."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from ..plain import create as plain, fill_with_plain_bodies
from .copies import as_bits, is_turned, lies_open, overwrite
from .native import IN_ORDER, kernels, native


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
        array = np.asarray(_Writable(array))
    return array


class _Writable:
    """Exposes an array's memory as writable; keeps it alive."""

    def __init__(self, owner: np.ndarray):
        interface = dict(owner.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self.owner = owner


# ---------------------------------------------------------------- copies

def filling(target: Any, source: Any) -> Any:
    """The call of a kernel that writes one array to another; None where there is none.

    It enters no code of Python's, where an interrupt might come before the write.
    """
    if "copied_into" not in kernels or not target.__class__ is source.__class__ is np.ndarray \
            or not lies_open(target, source):
        return None
    kernel = kernels["copied_in_rows" if is_turned(target, source) else "copied_into"]
    return partial(kernel, as_bits(source), as_bits(target))


def joined(arrays: Any, axis: int) -> Any:
    """Arrays one after another along ``axis``; large ones are copied by all threads."""
    first = arrays[0]
    shapes = {(a.dtype, a.ndim, *a.shape[:axis], -1, *a.shape[axis + 1:]) for a in arrays} \
        if 0 <= axis < first.ndim else set()
    if len(shapes) != 1:
        return np.concatenate(arrays, axis=axis)
    before, ends = first.shape[:axis], list(accumulate([a.shape[axis] for a in arrays]))
    whole = np.empty((*before, ends[-1], *first.shape[axis + 1:]), first.dtype)
    lead = (slice(None),) * axis
    for array, end in zip(arrays, ends, strict=True):
        overwrite(whole[(*lead, slice(end - array.shape[axis], end))], array)
    return whole


_CONVERTED = {(source, target) for source, targets in {
    "f": "eEd", "e": "f", "E": "f", "d": "f", "?": "fd", "q": "fd", "l": "fd"}.items()
    for target in targets}


def is_converted(array: Any, dtype: Any) -> bool:
    """Whether a kernel makes arrays of another dtype of such ones."""
    return (array.dtype.char, dtype.char) in _CONVERTED and array.dtype.isnative \
        and array.flags.num & IN_ORDER == IN_ORDER


@native("converted(array, empty(array.shape, dtype))", is_converted,
        when="is_converted(array, dtype)")
def converted(array: Any, dtype: Any) -> Any:
    """An array as another dtype."""
    return array.astype(dtype)


fill_with_plain_bodies(globals(), plain)
