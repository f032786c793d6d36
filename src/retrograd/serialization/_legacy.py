"""Files from before the zip archives: five pickles in a row, and the storages after them."""

from __future__ import annotations

import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any

from ..backend import xp
from ..storage import UntypedStorage
from ._names import StorageType

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


class LegacyFile:
    """One such file; ``unpickle(position, persistent_load)`` reads a pickle in it."""

    def __init__(self, data: bytes, unpickle: Callable[..., tuple[Any, int]]):
        self.data = data
        self.unpickle = unpickle
        self.storages: dict[str, tuple[UntypedStorage, int]] = {}

    def load(self, locate: Callable[[Any, str], Any]) -> Any:
        """The saved object; ``locate`` puts a storage where it belongs."""
        self.locate = locate
        magic, position = self.unpickle(0, None)
        if magic != MAGIC_NUMBER:
            raise RuntimeError("Invalid magic number; corrupt file?")
        version, position = self.unpickle(position, None)
        if version != PROTOCOL_VERSION:
            raise RuntimeError(f"Invalid protocol version: {version}")
        system, position = self.unpickle(position, None)
        if system.get("little_endian", True) != (sys.byteorder == "little"):
            raise RuntimeError("the file was written on a machine of the other byte order")
        found, position = self.unpickle(position, self._storage)
        keys, position = self.unpickle(position, None)
        for key in keys:
            position = self._fill(key, position)
        return found

    def _storage(self, saved: Any) -> Any:
        """A storage that the pickle names: bytes that come at the end of the file."""
        if not isinstance(saved, tuple) or not saved or saved[0] not in ("storage", "module"):
            raise RuntimeError(f"Unknown saved id type: {saved[0]!r}")
        if saved[0] == "module":
            return saved[1]  # the class; the source that follows it is not looked at
        kind, key, location, count, view = saved[1:6]
        if not isinstance(kind, StorageType) or type(count) is not int or view is not None:
            raise pickle.UnpicklingError("a storage of this kind cannot be read")
        itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
        if count < 0 or count * itemsize > len(self.data):
            raise pickle.UnpicklingError(
                f"a storage claims {count} elements, more than the file holds")
        if key not in self.storages:
            self.storages[key] = UntypedStorage(count * itemsize), itemsize
        return kind(self.locate(self.storages[key][0], location))

    def _fill(self, key: str, position: int) -> int:
        if key not in self.storages:
            raise pickle.UnpicklingError(f"the file holds a storage {key!r} that nothing names")
        storage, itemsize = self.storages[key]
        if position + 8 + storage.nbytes() > len(self.data):
            raise RuntimeError("unexpected EOF. The file might be corrupted.")
        (count,) = struct.unpack_from("<q", self.data, position)
        if count * itemsize != storage.nbytes():
            raise RuntimeError(f"the file holds {count} elements where its pickle says "
                               f"{storage.nbytes() // itemsize}")
        start = position + 8
        end = start + storage.nbytes()
        storage.copy_(UntypedStorage(xp.asarray(memoryview(self.data)[start:end])))
        return end
