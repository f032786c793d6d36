"""``save`` and ``load``: PyTorch's files, both ways, without PyTorch.

A file is a zip archive of one pickle and the bytes of each storage. Loading reads the pickle with
an interpreter of its own (:mod:`._unpickler`) that calls nothing but what an allow-list names, so
that a file cannot run code; only ``weights_only=False`` hands it to Python's unpickler. Saving to
a path is atomic: the file at that path is the old one or the whole new one.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO, Any

from ..backend import xp
from ..base import dtypes
from ..storage import TypedStorage, UntypedStorage
from . import _names
from ._archive import ArchiveReader, ArchiveWriter, PyTorchFileReader, write_atomically
from ._legacy import LegacyFile, TarFile
from ._names import StorageType
from ._pickler import Pickler
from ._unpickler import Unpickler
from ._weights import (
    ADVICE,
    Allowed,
    NotAllowed,
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)

__all__ = ["PyTorchFileReader", "add_safe_globals", "clear_safe_globals", "get_safe_globals",
           "get_unsafe_globals_in_checkpoint", "load", "safe_globals", "save"]

DEFAULT_PROTOCOL = 2
FileLike = str | os.PathLike[str] | IO[bytes]
MAP_LOCATION = Callable[[Any, str], Any] | dtypes.device | str | dict[str, str] | None
_NO_CUDA = ("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU.")


# ---------------------------------------------------------------- saving


def save(obj: object, f: FileLike, pickle_module: Any = pickle,
         pickle_protocol: int = DEFAULT_PROTOCOL,
         _use_new_zipfile_serialization: bool = True,
         _disable_byteorder_record: bool = False) -> None:
    """Write ``obj`` to a file that PyTorch reads, and :func:`load`."""
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("the format from before PyTorch 1.6 is read here, not written")
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        stem = os.path.splitext(os.path.basename(path))[0] or "archive"
        write_atomically(path, lambda file: _write(obj, file, stem, pickle_protocol))
    elif hasattr(f, "write"):
        _write(obj, f, "archive", pickle_protocol)
    else:
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a "
                             "'write' attribute")


def _write(obj: object, file: IO[bytes], name: str, protocol: int) -> None:
    text = io.BytesIO()
    pickler = Pickler(text, protocol)
    pickler.dump(obj)
    seekable = file if file.seekable() else io.BytesIO()
    with ArchiveWriter(seekable, name) as archive:
        archive.write("data.pkl", text.getbuffer())
        archive.write(".format_version", b"1")
        archive.write(".storage_alignment", b"64")
        archive.write("byteorder", sys.byteorder.encode())
        for key, storage in pickler.storages.items():
            archive.write(f"data/{key}", memoryview(storage._bytes()))
        archive.write("version", b"3\n")
    if seekable is not file:
        file.write(seekable.getvalue())  # type: ignore[attr-defined]


# ---------------------------------------------------------------- loading


def load(f: FileLike, map_location: Any = None, pickle_module: Any = None, *,
         weights_only: bool | None = None, mmap: bool | None = None,
         **pickle_load_args: Any) -> Any:
    """Read what :func:`save`, or PyTorch, wrote.

    Unless ``weights_only`` is False, a file may hold tensors and plain values alone, and classes
    that :func:`add_safe_globals` allowed. ``mmap`` leaves the bytes on disk until they are used.
    """
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    safe = weights_only is not False and pickle_module is None
    encoding = pickle_load_args.get("encoding", "utf-8")
    with ExitStack() as opened:
        if isinstance(f, (str, os.PathLike)):
            path: str | None = os.fspath(f)
            file: Any = opened.enter_context(open(f, "rb"))
        else:
            path, file = None, _readable(f)
            if mmap:
                raise ValueError("f must be a file path in order to use the mmap argument")
        return _load(file, path, _locator(map_location), safe, bool(mmap), encoding)


def _readable(f: Any) -> Any:
    """A file that can be read and searched, whatever was given."""
    if not hasattr(f, "read") or not hasattr(f, "seek"):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a "
            "file that is seekable. Please pre-load the data into a buffer like io.BytesIO and try "
            "to load from it instead.")
    return f


def _load(file: Any, path: str | None, locate: Callable[[Any, str], Any], safe: bool,
          mapped: bool, encoding: str) -> Any:
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    if magic == b"PK\x03\x04":
        archive = ArchiveReader(file, path)
        read = _storages_of(archive, locate, mapped)
        return _unpickled(archive.read("data.pkl"), read, safe, encoding)[0]
    if mapped:
        raise RuntimeError(
            f"mmap can only be used with files saved with `torch.save({path}, "
            "_use_new_zipfile_serialization=True), please torch.save your checkpoint with this "
            "option in order to use mmap.")
    data = file.read()
    if not data:
        raise EOFError("Ran out of input")

    def unpickle(position: int, persistent_load: Any) -> tuple[Any, int]:
        return _unpickled(data, persistent_load or _no_storages, safe, encoding, position)

    return (TarFile if data[257:262] == b"ustar" else LegacyFile)(data, unpickle).load(locate)


def _no_storages(saved: Any) -> Any:
    raise pickle.UnpicklingError("a storage is named where none can be")


def _unpickled(data: bytes, persistent_load: Callable[[Any], Any], safe: bool, encoding: str,
               position: int = 0) -> tuple[Any, int]:
    """The object that a pickle stands for, and where it ends."""
    if not safe:
        stream = io.BytesIO(data)
        stream.seek(position)
        return _TrustingUnpickler(stream, persistent_load, encoding).load(), stream.tell()
    allowed = Allowed()
    reader = Unpickler(data, allowed.find_class, allowed.call, allowed.build, persistent_load,
                       encoding, position)
    try:
        return reader.load(), reader.position
    except NotAllowed as error:
        raise pickle.UnpicklingError(ADVICE + str(error)) from None
    except pickle.UnpicklingError as error:  # damaged or hostile: no advice to trust it
        raise pickle.UnpicklingError(f"Weights only load failed. {error}") from None


class _TrustingUnpickler(pickle.Unpickler):
    """Python's own unpickler, which runs what a file says, with PyTorch's names served by us."""

    def __init__(self, stream: io.BytesIO, persistent_load: Callable[[Any], Any], encoding: str):
        super().__init__(stream, encoding=encoding)
        self._persistent_load = persistent_load

    def find_class(self, module: str, name: str) -> Any:
        known = _names.NAMED.get(f"{module}.{name}")
        return super().find_class(_names.own_module(module), name) if known is None else known

    def persistent_load(self, saved: Any) -> Any:
        return self._persistent_load(saved)


def _storages_of(archive: ArchiveReader, locate: Callable[[Any, str], Any],
                 mapped: bool) -> Callable[[Any], Any]:
    """Reads the storages of an archive by the ids that its pickle has for them, each once."""
    known: dict[str, UntypedStorage] = {}
    swapped = archive.is_swapped

    def read(saved: Any) -> Any:
        if not isinstance(saved, tuple) or len(saved) != 5 or saved[0] != "storage":
            raise pickle.UnpicklingError(f"Unknown typename for persistent_load: {saved!r:.80}")
        _, kind, key, location, count = saved
        if not isinstance(kind, StorageType) or type(count) is not int or type(key) is not str \
                or type(location) is not str:
            raise pickle.UnpicklingError(f"a storage cannot be {saved!r:.80}")
        if key not in known:
            itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
            size = archive.info(f"data/{key}").file_size
            if size != count * itemsize:
                raise pickle.UnpicklingError(
                    f"storage {key} holds {size} bytes where {count} elements of {itemsize} bytes "
                    "are expected")
            if mapped and not swapped:
                memory = xp.asarray(archive.mapped(f"data/{key}"))
            else:
                memory = xp.asarray(memoryview(bytearray(archive.read(f"data/{key}"))))
            if swapped and kind.dtype is not None:
                memory = _swapped(memory, kind.dtype)
            known[key] = locate(UntypedStorage(memory), location)
        return kind(known[key])

    return read


def _swapped(memory: Any, dtype: dtypes.dtype) -> Any:
    """Bytes written on a machine of the other byte order, as this one reads them."""
    width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
    return memory.reshape(-1, width)[:, ::-1].reshape(-1).copy()


def _locator(map_location: Any) -> Callable[[Any, str], Any]:
    """Puts a storage where it belongs, given where it was; there is but one place here."""
    if map_location is None:
        return _stay
    if isinstance(map_location, dict):
        return lambda storage, location: _stay(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes)):
        target = map_location if isinstance(map_location, str) else map_location.decode()
        return lambda storage, location: _stay(storage, target)
    if isinstance(map_location, dtypes.device):
        return lambda storage, location: _stay(storage, str(map_location))
    if not callable(map_location):
        raise TypeError("map_location should be a device, a string, a dict or a function, not "
                        f"{type(map_location).__name__}")

    def asked(storage: Any, location: str) -> Any:
        moved = map_location(storage, location)
        if moved is None:
            return _stay(storage, location)
        return moved.untyped() if isinstance(moved, TypedStorage) else moved

    return asked


def _stay(storage: Any, location: str) -> Any:
    if location == "cpu":
        return storage
    if location.startswith("cuda"):
        raise RuntimeError(_NO_CUDA)
    raise RuntimeError("don't know how to restore data location of torch.storage.UntypedStorage "
                       f"(tagged with {location})")


def get_unsafe_globals_in_checkpoint(f: FileLike) -> list[str]:
    """The names in a file that a safe load would refuse; nothing of it is run or kept."""
    import pickletools

    with ExitStack() as opened:
        file = opened.enter_context(open(f, "rb")) if isinstance(f, (str, os.PathLike)) \
            else _readable(f)
        start = file.tell()
        magic = file.read(4)
        file.seek(start)
        if magic != b"PK\x03\x04":
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        text = ArchiveReader(file).read("data.pkl")
    allowed = Allowed()
    unsafe = []
    strings: list[Any] = []
    argument: Any
    for opcode, argument, _ in pickletools.genops(text):
        if opcode.name == "STACK_GLOBAL":
            argument = " ".join(map(str, strings[-2:]))
        elif isinstance(argument, str):
            strings.append(argument)
        if opcode.name in ("GLOBAL", "STACK_GLOBAL"):
            module, _, name = argument.partition(" ")
            try:
                allowed.find_class(module, name)
            except pickle.UnpicklingError:
                unsafe.append(f"{module}.{name}")
    return list(dict.fromkeys(unsafe))
