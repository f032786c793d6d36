"""Memory that several processes see at once.

A block has no name: it is a file that exists only in memory (or was unlinked at once, where the
system has none), and goes with the last process that maps it or holds a descriptor of it. Whatever
happens to the processes, nothing is left behind. It is mapped by the C library itself, since
Python's ``mmap`` keeps a descriptor for as long as the mapping lives, and a program that gathers
batches would run out of them.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import weakref
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from . import xp

_READ_AND_WRITE, _SHARED, _FIXED = 1 | 2, 1, 0x10  # alike on Linux, macOS and the BSDs
_FAILED = ctypes.c_void_p(-1).value
_AT_ONCE = 512  # how many pieces one writev may take


class Block:
    """A stretch of shared memory in this process; unmapped when no array looks at it any more."""

    __slots__ = ("address", "nbytes", "_descriptor", "__array_interface__", "__weakref__")

    def __init__(self, descriptor: int, nbytes: int, keep: bool = True) -> None:
        """Map what ``descriptor`` stands for, which the block owns from now on."""
        self._descriptor = descriptor
        self.address = 0
        self.nbytes = nbytes
        self.address = _map(descriptor, nbytes)
        self.__array_interface__ = {"data": (self.address, False), "shape": (nbytes,),
                                    "typestr": "|u1", "version": 3}
        if not keep:
            self._close()

    def descriptor(self) -> int:
        """A descriptor by which another process can map this memory too.

        A block that did without one is seen by this process alone: it gets a new file in the same
        place, and all arrays on it stay valid.
        """
        if self._descriptor < 0:
            descriptor = file_of([self.array()])
            _map(descriptor, self.nbytes, self.address)
            self._descriptor = descriptor
        return self._descriptor

    def array(self) -> np.ndarray:
        """All of it as bytes."""
        return np.asarray(self)  # type: ignore[call-overload, no-any-return]

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        if self.address:
            _library().munmap(self.address, max(self.nbytes, 1))
        self._close()


_blocks: weakref.WeakValueDictionary[tuple[int, int], Block] = weakref.WeakValueDictionary()
"""The blocks that were sent or received by descriptor, by device and inode: each is mapped once."""


def allocate(nbytes: int) -> Block:
    """A new block of zeros."""
    descriptor = _new_file()
    os.ftruncate(descriptor, max(nbytes, 1))
    return Block(descriptor, nbytes)


def known_block(descriptor: int) -> Block:
    """The block of a descriptor that came from another process; takes the descriptor."""
    state = os.fstat(descriptor)
    key = state.st_dev, state.st_ino
    block = _blocks.get(key)
    if block is not None:
        os.close(descriptor)
        return block
    block = _blocks[key] = Block(descriptor, state.st_size)
    return block


def lend(block: Block) -> int:
    """A block's descriptor, for another process; should the block come back, it is recognised."""
    descriptor = block.descriptor()
    state = os.fstat(descriptor)
    _blocks[state.st_dev, state.st_ino] = block
    return descriptor


def block_of(array: Any) -> Block | None:
    """The block that an array lies in, or None if its memory is this process's own."""
    owner = xp.storage_of(array).base
    if isinstance(owner, _Stretch):
        owner = owner.owner
    return owner if isinstance(owner, Block) else None


def placed(array: np.ndarray, start: int, memory: np.ndarray) -> np.ndarray:
    """The counterpart of ``array`` in a copy of its memory, which began at address ``start``."""
    return view_of(memory, xp.address(array) - start, array.shape, array.strides, array.dtype)


def view_of(memory: Any, offset: int, shape: Sequence[int], strides: Sequence[int], dtype: Any
            ) -> np.ndarray:
    """An array in a flat memory of bytes; offset and strides are counted in bytes."""
    return np.ndarray(shape, dtype, memory, offset, strides)


def byte_strides(array: np.ndarray) -> tuple[int, ...]:
    """How far apart the elements lie, as :func:`view_of` counts."""
    return array.strides


def span(array: np.ndarray) -> tuple[int, int]:
    """The address of the first byte that an array looks at, and the number of bytes to its last."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high - low) if array.size else 0


def bytes_at(owner: np.ndarray | Block, low: int, nbytes: int, writable: bool = True
             ) -> np.ndarray:
    """Bytes of the memory that ``owner`` looks at, as a storage of their own; it stays alive."""
    return np.asarray(_Stretch(owner, low, nbytes, writable))  # type: ignore[call-overload]


class _Stretch:
    """A stretch of memory, by the array interface."""

    __slots__ = ("owner", "__array_interface__")

    def __init__(self, owner: Any, low: int, nbytes: int, writable: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (low, not writable), "shape": (nbytes,),
                                    "typestr": "|u1", "version": 3}


def file_of(pieces: Sequence[Any]) -> int:
    """A descriptor of a new file with these pieces of memory, one after the other."""
    descriptor = _new_file()
    try:
        views = [memoryview(piece) for piece in pieces]
        while views:
            written = os.writev(descriptor, views[:_AT_ONCE])
            while views and written >= views[0].nbytes:
                written -= views.pop(0).nbytes
            if written:
                views[0] = views[0][written:]
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _new_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("retrograd", os.MFD_CLOEXEC)
    if not hasattr(os, "writev"):
        raise RuntimeError("tensors can be shared between processes on POSIX systems only: this "
                           "one cannot hand over the descriptor of a nameless file")
    descriptor, path = tempfile.mkstemp(prefix="retrograd-")
    os.unlink(path)
    return descriptor


@cache
def _library() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                             ctypes.c_int, ctypes.c_ssize_t]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def _map(descriptor: int, nbytes: int, address: int | None = None) -> int:
    fixed = 0 if address is None else _FIXED
    found: int = _library().mmap(address, max(nbytes, 1), _READ_AND_WRITE, _SHARED | fixed,
                                 descriptor, 0)
    if found == _FAILED:
        error = ctypes.get_errno()
        raise OSError(error, f"{nbytes} bytes of shared memory cannot be mapped: "
                             f"{os.strerror(error)}")
    return found
