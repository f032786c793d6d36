"""PyTorch's zip archives: one pickle, and each storage as a file that begins at a round address."""

from __future__ import annotations

import mmap
import os
import struct
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

ALIGNMENT = 64
"""Where storages begin, so that they can be mapped into memory."""
_LOCAL_HEADER = 30
_EPOCH = (1980, 1, 1, 0, 0, 0)


class ArchiveWriter:
    """Writes an archive whose files all lie in a folder called ``name``."""

    def __init__(self, file: IO[bytes], name: str):
        self.zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self.name = name

    def write(self, name: str, data: Any) -> None:
        """Add a file; its contents begin at a multiple of the alignment."""
        info = zipfile.ZipInfo(f"{self.name}/{name}", _EPOCH)
        size = memoryview(data).nbytes
        wide = 20 if size > zipfile.ZIP64_LIMIT else 0  # zipfile adds such a field by itself
        assert self.zip.fp is not None
        start = self.zip.fp.tell() + _LOCAL_HEADER + len(info.filename.encode()) + 4 + wide
        padding = -start % ALIGNMENT
        info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        self.zip.writestr(info, data)

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, kind: Any, *exc: object) -> None:
        if kind is None:
            self.zip.close()
        else:
            self.zip.fp = None  # or it would be finished by the garbage collector


class PyTorchFileReader:
    """An archive by PyTorch's names, for programs that read its files themselves."""

    def __init__(self, name_or_buffer: str | os.PathLike[str] | IO[bytes]) -> None:
        if isinstance(name_or_buffer, (str, os.PathLike)):
            name_or_buffer = open(name_or_buffer, "rb")  # noqa: SIM115 - closed with the reader
            weakref.finalize(self, name_or_buffer.close)
        self._archive = ArchiveReader(name_or_buffer)

    def has_record(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return self._archive.has(name)

    def get_all_records(self) -> list[str]:
        """The names of all files."""
        return self._archive.names()

    def get_record(self, name: str) -> bytes:
        """The contents of a file."""
        return self._archive.read(name)

    def get_record_size(self, name: str) -> int:
        """The number of a file's bytes."""
        return self._archive.info(name).file_size


class ArchiveReader:
    """Reads an archive; a file of it is copied, or mapped into memory, when it is asked for."""

    def __init__(self, file: IO[bytes], path: str | None = None):
        try:
            self.zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, struct.error, ValueError, OSError, NotImplementedError,
                UnicodeDecodeError, EOFError) as error:
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {error}") from None
        self.file, self.path = file, path
        self.map: mmap.mmap | None = None
        self.size = file.seek(0, os.SEEK_END)
        names = [i.filename for i in self.zip.infolist() if i.filename.endswith("/data.pkl")]
        if len(names) != 1:
            raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
        self.name = names[0].removesuffix("/data.pkl")

    def has(self, name: str) -> bool:
        return f"{self.name}/{name}" in self.zip.NameToInfo

    def names(self) -> list[str]:
        return [i.filename.removeprefix(self.name + "/") for i in self.zip.infolist()]

    def info(self, name: str) -> zipfile.ZipInfo:
        """The entry of a file; one that could unpack to more than it takes is refused."""
        try:
            info = self.zip.getinfo(f"{self.name}/{name}")
        except KeyError:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not "
                               "found") from None
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: it is compressed, "
                               "which files of this format never are")
        if info.header_offset + _LOCAL_HEADER + info.file_size > self.size:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: it claims "
                               f"{info.file_size} bytes of an archive of {self.size}")
        return info

    def read(self, name: str) -> bytes:
        """The contents of a file, whose checksum must be right."""
        info = self.info(name)
        try:
            return self.zip.read(info)
        except (zipfile.BadZipFile, struct.error, EOFError, RuntimeError, OSError,
                NotImplementedError, UnicodeDecodeError) as error:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: {error}") from None

    def mapped(self, name: str) -> memoryview:
        """The contents of a file where they lie on disk; its checksum is not looked at."""
        info = self.info(name)
        if self.map is None:
            assert self.path is not None
            with open(self.path, "rb") as file:
                self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        header = self.map[info.header_offset:info.header_offset + _LOCAL_HEADER]
        if len(header) < _LOCAL_HEADER or header[:4] != b"PK\x03\x04":
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: bad header")
        names, extra = struct.unpack("<HH", header[26:30])
        start = info.header_offset + _LOCAL_HEADER + names + extra
        if start + info.file_size > self.size:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: it ends early")
        return memoryview(self.map)[start:start + info.file_size]

    @property
    def is_swapped(self) -> bool:
        """Whether the archive was written on a machine of the other byte order."""
        order = self.read("byteorder").decode("ascii", "replace") if self.has("byteorder") \
            else sys.byteorder
        if order not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {order}")
        return order != sys.byteorder


def write_atomically(path: str, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file beside ``path``, bring it to the disk, and put it in its place.

    Whatever happens on the way, the file at ``path`` is the old one or the whole new one.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {os.path.dirname(path)} does not exist.")
    handle, beside = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, _mode_of(path))
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _mode_of(path: str) -> int:
    """The permissions of the file that is replaced, or those that a new one gets."""
    try:
        return os.stat(path).st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
