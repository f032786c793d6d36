"""NumPy arrays on memory that others own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plain import create as plain
from ..plain import fill_with_plain_bodies
from .native import native


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

_BITS = {size: np.dtype(name) for size, name in ((1, "u1"), (2, "i2"), (4, "i4"), (8, "i8"))}


def can_be_moved(array: Any) -> bool:
    """Whether a kernel moves the elements of an array, in whatever order they lie."""
    size = array.dtype.itemsize
    return size in _BITS and array.flags.aligned and not any([s % size for s in array.strides])


def moved(array: Any, order: tuple[int, ...]) -> tuple[Any, Any]:
    """An array with its dimensions in ``order`` as one of integers of the same size, and one like
    it to be written to.
    """
    bits = array.transpose(order).view(_BITS[array.dtype.itemsize])
    return bits, np.empty(bits.shape, bits.dtype)


def back(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order that undoes another one."""
    return tuple([order.index(d) for d in range(len(order))])


fill_with_plain_bodies(globals(), plain, copy_in_order=native(
    "copied_in_rows(*moved(array, order)).view(array.dtype).transpose(back(order))",
    can_be_moved, moved, back, when="array.size >= LARGE and can_be_moved(array)"))
