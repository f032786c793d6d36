"""What passes between a loader and a worker: messages on a socket, arrays in shared memory.

A message is pickled; the memory of the tensors and arrays in it is left out, written to one
nameless file, and the file's descriptor goes along. The receiver maps it: the arrays are in its
memory from then on, and the file is gone when the last of them dies.
"""

from __future__ import annotations

import array
import io
import itertools
import os
import pickle
import select
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ....backend import xp
from ....backend.shared_memory import (
    Block,
    allocate,
    block_of,
    bytes_at,
    file_of,
    known_block,
    lend,
    span,
)
from ....core.tensor import Tensor
from ....multiprocessing.reductions import description, rebuild_view, refuse_history
from ....nn import Parameter

_HEADER = struct.Struct("<QQ")  # how many bytes follow, and how many of them belong to the pickle
_LENGTH = struct.Struct("<q")
_ALIGNMENT = 64
_MOST_DESCRIPTORS = 250  # Linux lets a message carry three more
_IS_SHARED = -1


class Channel:
    """One end of a connection to another process."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected

    def send(self, message: Any, wait: Callable[[int], None] | None = None) -> None:
        """Send anything that can be pickled.

        Where the other side does not read, ``wait`` is called until it does.
        """
        parcel = _Parcel()
        pickled = parcel.pickled(message)
        body = pickled + b"".join(map(_LENGTH.pack, parcel.layout))
        with parcel.descriptors() as descriptors:
            self._write(_HEADER.pack(len(body), len(pickled)) + body, descriptors, wait)

    def _write(self, data: bytes, descriptors: list[int], wait: Callable[[int], None] | None
               ) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] \
            if descriptors else []
        left = memoryview(data)
        while left:
            try:
                sent = self.socket.sendmsg([left], ancillary, 0 if wait is None else _AT_ONCE)
            except BlockingIOError:
                assert wait is not None
                wait(select.POLLIN | select.POLLOUT)
                continue
            left, ancillary = left[sent:], []

    def receive(self) -> Any:
        """The next message; EOFError when there will be none any more."""
        header, ancillary, _, _ = self.socket.recvmsg(
            _HEADER.size, socket.CMSG_LEN(_MOST_DESCRIPTORS * _DESCRIPTOR))
        descriptors = array.array("i")
        for _, _, data in ancillary:
            descriptors.frombytes(data)
        if not header:
            raise EOFError
        header += self._read(_HEADER.size - len(header))
        size, pickled = _HEADER.unpack(header)
        body = self._read(size)
        layout = [length for length, in _LENGTH.iter_unpack(body[pickled:])]
        return pickle.loads(body[:pickled], buffers=_buffers(layout, list(descriptors)))

    def _read(self, count: int) -> bytearray:
        found = bytearray(count)
        left = memoryview(found)
        while left:
            got = self.socket.recv_into(left)
            if not got:
                raise EOFError
            left = left[got:]
        return found

    def close(self) -> None:
        """End the connection, whoever else holds this end of it."""
        with suppress(OSError):  # the other side has ended it
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
_DESCRIPTOR = array.array("i").itemsize


def channel_pair() -> tuple[Channel, Channel]:
    """Two ends of a new connection."""
    if not hasattr(socket, "SCM_RIGHTS"):
        raise RuntimeError("worker processes hand over their batches in shared memory, for which "
                           "this system cannot pass descriptors; use num_workers=0")
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return Channel(one), Channel(other)


class _Parcel:
    """The memory that goes with a message."""

    def __init__(self) -> None:
        self.layout: list[int] = []
        """The length of each piece, or that it is a block that was shared before."""
        self._pieces: list[Any] = []
        self._blocks: list[Block] = []
        self._whole: dict[int, tuple[Any, list[pickle.PickleBuffer]]] = {}

    def pickled(self, message: Any) -> bytes:
        found = io.BytesIO()
        _Pickler(found, self).dump(message)
        return found.getvalue()

    def add(self, buffer: pickle.PickleBuffer) -> None:
        """Take a piece of memory out of the pickle."""
        memory = buffer.raw()
        block = block_of(memory.obj) if xp.is_array(memory.obj) else None
        if block is not None and block.nbytes == memory.nbytes:
            self.layout.append(_IS_SHARED)
            self._blocks.append(block)
            return
        self.layout.append(memory.nbytes)
        self._pieces.append(memory)
        if padding := -memory.nbytes % _ALIGNMENT:
            self._pieces.append(bytes(padding))

    def memory_of(self, tensor: Tensor) -> tuple[list[pickle.PickleBuffer], Any, int]:
        """The memory to send for a tensor, its array there, and the address it begins at.

        All of it, so that tensors that look at the same memory do so again; but of a large one of
        which only a part is looked at, that part.
        """
        array = tensor._array()
        owner = xp.storage_of(array)
        if id(owner) not in self._whole:
            low, nbytes = span(owner)
            first, reach = span(array)
            if block_of(array) is None and nbytes > 2 * reach + _ALIGNMENT:
                if reach > 2 * array.size * array.dtype.itemsize:
                    array = xp.copied(array)
                    first, reach = span(array)
                return [_buffer(bytes_at(array, first, reach))], array, first
            memory = owner if block_of(array) is not None else bytes_at(owner, low, nbytes)
            self._whole[id(owner)] = owner, [_buffer(memory)]
        return self._whole[id(owner)][1], array, span(owner)[0]

    @contextmanager
    def descriptors(self) -> Iterator[list[int]]:
        """The descriptors to send: of a new file with all pieces, and of the blocks."""
        if len(self._blocks) >= _MOST_DESCRIPTORS:
            raise RuntimeError(f"a batch with {len(self._blocks)} tensors that were in shared "
                               "memory before cannot be sent: clone() them, or make them views of "
                               "fewer tensors")
        own = [file_of(self._pieces)] if any(map(len, self._pieces)) else []
        try:
            yield own + list(map(lend, self._blocks))
        finally:
            for descriptor in own:
                os.close(descriptor)


def _buffer(memory: Any) -> pickle.PickleBuffer:
    return pickle.PickleBuffer(memory)


class _Pickler(ForkingPickler):
    """Leaves the memory of tensors and arrays to a parcel."""

    def __init__(self, file: io.BytesIO, parcel: _Parcel) -> None:
        super().__init__(file, 5, True, parcel.add)
        self._parcel = parcel

    def reducer_override(self, value: Any) -> Any:
        if type(value) is not Tensor and type(value) is not Parameter:
            return NotImplemented
        refuse_history(value)
        memory, array, start = self._parcel.memory_of(value)
        return _rebuild, (memory, *description(value, array, start))


def _rebuild(memory: list[Any], *description: Any) -> Tensor:
    return rebuild_view(memory[0], *description)


def _buffers(layout: list[int], descriptors: list[int]) -> list[Any]:
    """The pieces of memory that came with a message."""
    ends = list(itertools.accumulate(n + -n % _ALIGNMENT for n in layout if n != _IS_SHARED))
    block = Block(descriptors.pop(0), ends[-1], keep=False) if ends and ends[-1] else None
    places = iter([0, *ends])
    found = []
    for length in layout:
        if length == _IS_SHARED:
            found.append(known_block(descriptors.pop(0)).array())
        elif block:
            found.append(bytes_at(block, block.address + next(places), length))
        else:  # they are all empty
            found.append(allocate(0).array())
    return found
