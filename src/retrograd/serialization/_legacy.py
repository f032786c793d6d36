"""Files from before the zip archives: pickles in a row with storages after them, or in a tar."""

from __future__ import annotations

import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any

from ..backend import xp
from ..storage import TypedStorage, UntypedStorage
from ._names import StorageType
from ._rebuild import rebuild_tensor

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_ENDS_EARLY = "unexpected EOF. The file might be corrupted."


class _OldFile:
    """One such file; ``unpickle(position, persistent_load)`` reads a pickle in it."""

    def __init__(self, data: bytes, unpickle: Callable[..., tuple[Any, int]]):
        self.data, self.unpickle = data, unpickle

    def _record(self, position: int, *kinds: type) -> tuple[Any, int]:
        """A tuple of values of these kinds, or the one value, and where its pickle ends."""
        saved, end = self.unpickle(position, None)
        values = saved if len(kinds) > 1 else (saved,)
        _check_kinds(values, kinds)
        return saved, end

    def _check_byte_order(self, position: int) -> int:
        system, position = self._record(position, dict)
        if system.get("little_endian", True) != (sys.byteorder == "little"):
            raise RuntimeError("the file was written on a machine of the other byte order")
        return position

    def _read(self, position: int, format: str) -> tuple[tuple[int, ...], int]:
        """Numbers in the file, and where they end."""
        end = position + struct.calcsize(format)
        if end > len(self.data):
            raise RuntimeError(_ENDS_EARLY)
        return struct.unpack_from(format, self.data, position), end

    def _memory(self, start: int, size: int) -> UntypedStorage:
        """The bytes at one place."""
        if size < 0 or start + size > len(self.data):
            raise RuntimeError(_ENDS_EARLY)
        return UntypedStorage(xp.asarray(memoryview(self.data)[start:start + size]))


def _check_kinds(values: Any, kinds: tuple[type, ...]) -> None:
    if type(values) not in (tuple, list) or len(values) != len(kinds) \
            or not all(map(isinstance, values, kinds)):
        raise pickle.UnpicklingError(f"the file is damaged: {values!r:.80} makes no sense there")


class LegacyFile(_OldFile):
    """Five pickles in a row, and the storages after them."""

    def __init__(self, data: bytes, unpickle: Callable[..., tuple[Any, int]]):
        super().__init__(data, unpickle)
        self.storages: dict[str, tuple[UntypedStorage, int]] = {}
        self.claimed = 0

    def load(self, locate: Callable[[Any, str], Any]) -> Any:
        """The saved object; ``locate`` puts a storage where it belongs."""
        self.locate = locate
        magic, position = self.unpickle(0, None)
        if magic != MAGIC_NUMBER:
            raise RuntimeError("Invalid magic number; corrupt file?")
        version, position = self.unpickle(position, None)
        if version != PROTOCOL_VERSION:
            raise RuntimeError(f"Invalid protocol version: {version}")
        found, position = self.unpickle(self._check_byte_order(position), self._storage)
        keys, position = self._record(position, list)
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
        if key not in self.storages:
            self.claimed += count * itemsize
            if count < 0 or self.claimed > len(self.data):
                raise pickle.UnpicklingError(
                    f"a storage claims {count} elements, more than the file holds")
            self.storages[key] = UntypedStorage(count * itemsize), itemsize
        return kind(self.locate(self.storages[key][0], location))

    def _fill(self, key: Any, position: int) -> int:
        if type(key) is not str or key not in self.storages:
            raise pickle.UnpicklingError(f"the file holds a storage {key!r} that nothing names")
        storage, itemsize = self.storages[key]
        (count,), start = self._read(position, "<q")
        if count * itemsize != storage.nbytes():
            raise RuntimeError(f"the file holds {count} elements where its pickle says "
                               f"{storage.nbytes() // itemsize}")
        storage.copy_(self._memory(start, storage.nbytes()))
        return start + storage.nbytes()


class TarFile(_OldFile):
    """The format before that: storages, tensors and what is made of them are files of a tar."""

    def __init__(self, data: bytes, unpickle: Callable[..., tuple[Any, int]]):
        super().__init__(data, unpickle)
        self.known: dict[int, Any] = {}

    def load(self, locate: Callable[[Any, str], Any]) -> Any:
        """The saved object; ``locate`` puts a storage where it belongs."""
        places = _members(self.data)
        for name in ("storages", "tensors", "pickle"):
            if name not in places:
                raise RuntimeError(f"the archive holds no {name!r}: it is damaged, or was not "
                                   "written by PyTorch")
        if "sys_info" in places:
            self._check_byte_order(places["sys_info"])
        self._read_storages(places["storages"], locate)
        self._read_tensors(places["tensors"])
        return self.unpickle(places["pickle"], self._named)[0]

    def _read_storages(self, position: int, locate: Callable[[Any, str], Any]) -> None:
        count, position = self._record(position, int)
        for _ in range(count):
            (key, location, kind), position = self._record(position, int, str, StorageType)
            (size,), start = self._read(position, "<q")
            position = start + size * (1 if kind.dtype is None else kind.dtype.itemsize)
            memory = self._memory(start, position - start).clone()
            self.known[key] = kind(locate(memory, location))
        views, _ = self._record(position, list)
        for view in views:
            _check_kinds(view, (int,) * 4)
            key, root, offset, size = view
            self.known[key] = _part(self._known(root, TypedStorage), offset, size)

    def _read_tensors(self, position: int) -> None:
        count, position = self._record(position, int)
        for _ in range(count):
            (key, storage, _), position = self._record(position, int, int, type)
            (rank,), position = self._read(position, "<i4x")
            if not 0 <= rank <= _MOST_DIMENSIONS:
                raise pickle.UnpicklingError(f"a tensor cannot have {rank} dimensions")
            numbers, position = self._read(position, f"<{2 * rank + 1}q")
            self.known[key] = rebuild_tensor(self._known(storage, TypedStorage), numbers[-1],
                                             numbers[:rank], numbers[rank:-1])

    def _named(self, saved: Any) -> Any:
        """What the pickle names: a tensor or storage, or a class with its source."""
        if isinstance(saved, tuple) and saved:
            return saved[0]  # the source that follows the class is not looked at
        if not isinstance(saved, (str, int)) or not str(saved).isdecimal():
            raise pickle.UnpicklingError(f"Unknown saved id: {saved!r:.80}")
        return self._known(int(saved), object)

    def _known(self, key: int, kind: type) -> Any:
        if not isinstance(self.known.get(key), kind):
            raise pickle.UnpicklingError(f"the file names {key}, which it does not hold")
        return self.known[key]


_MOST_DIMENSIONS = 64


def _part(storage: TypedStorage, offset: int, count: int) -> TypedStorage:
    """Some elements of a storage, on the same memory."""
    if offset < 0 or count < 0 or offset + count > len(storage):
        raise pickle.UnpicklingError(f"elements {offset} to {offset + count} are not in a storage "
                                     f"of {len(storage)}")
    width = storage.dtype.itemsize
    return TypedStorage(storage.untyped()[offset * width:(offset + count) * width], storage.dtype)


def _members(data: bytes) -> dict[str, int]:
    """Where each file of a tar archive starts: read here, since a file may be hostile."""
    places = {}
    position = 0
    while any(header := data[position:position + 512]):  # zeros end the archive
        try:
            size, checksum = int(header[124:136].strip(b" \0"), 8), \
                int(header[148:156].strip(b" \0"), 8)
        except ValueError:
            size = checksum = -1
        if size < 0 or checksum != sum(header) - sum(header[148:156]) + 8 * ord(" "):
            raise RuntimeError(f"the archive is damaged near byte {position}")
        start = position + 512
        if start + size > len(data):
            raise RuntimeError(_ENDS_EARLY)
        if header[156:157] in b"0\0":  # a file; the others are folders and notes
            places[header[:100].partition(b"\0")[0].decode("latin1")] = start
        position = start + -(-size // 512) * 512
    return places
