"""Files as PyTorch wrote them before its zip archives, made by hand."""

from __future__ import annotations

import io
import pickle
import re
import struct
import tarfile
from typing import Any


def pickled(value: Any) -> bytes:
    """A pickle in which a text ``"@torch FloatStorage"`` is that class, and ``"#7"`` object 7."""
    text = pickle.dumps(value, 2)
    text = re.sub(rb"X....@([\w.]+) (\w+?)q", rb"c\1\n\2\nq", text, flags=re.DOTALL)
    return re.sub(rb"X(....)#(\d+)(q.)", lambda found: b"X" + struct.pack("<I", len(found[2]))
                  + found[2] + b"Q" + found[3], text, flags=re.DOTALL)


def storage(key: int, kind: str, data: bytes, width: int, location: str = "cpu") -> bytes:
    """A storage in a tar archive."""
    return pickled((key, location, f"@torch {kind}Storage")) \
        + struct.pack("<q", len(data) // width) + data


def tensor(key: int, memory: int, kind: str, size: tuple[int, ...], stride: tuple[int, ...],
           offset: int = 0) -> bytes:
    """A tensor in a tar archive."""
    return pickled((key, memory, f"@torch {kind}Tensor")) + struct.pack("<i4x", len(size)) \
        + struct.pack(f"<{2 * len(size) + 1}q", *size, *stride, offset)


def tar(members: dict[str, bytes]) -> bytes:
    """An archive of these files, with the notes that PyTorch's have."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:", format=tarfile.PAX_FORMAT) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1.5
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def members() -> dict[str, bytes]:
    """The parts of an archive with a matrix, its second row, a view of its storage and a number."""
    return {
        "sys_info": pickled({"protocol_version": 1000, "little_endian": True}),
        "pickle": pickled({"a": "#10", "row": "#11", "part": "#12", "n": [1, 2.5, "x"],
                           "long": "#13", "scalar": "#14"}),
        "storages": pickled(2) + storage(1, "Float", struct.pack("<6f", *range(6)), 4)
        + storage(2, "Long", struct.pack("<2q", 7, 8), 8) + pickled([(3, 1, 2, 3)]),
        "tensors": pickled(5) + tensor(10, 1, "Float", (2, 3), (3, 1))
        + tensor(11, 1, "Float", (3,), (1,), 3) + tensor(12, 3, "Float", (3,), (1,))
        + tensor(13, 2, "Long", (2,), (1,)) + tensor(14, 2, "Long", (), (), 1)}


def row_of_pickles() -> bytes:
    """The format between the tar and the zip archives: a matrix and its second row."""
    name = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x06NtQ"
    rebuild = b"ctorch._utils\n_rebuild_tensor_v2\n("
    order = b"\x89ccollections\nOrderedDict\n)RtR"
    both = b"\x80\x02}(X\x01\0\0\0a" + rebuild + name + b"K\0K\x02K\x03\x86K\x03K\x01\x86" + order \
        + b"X\x03\0\0\0row" + rebuild + name + b"K\x03K\x03\x85K\x01\x85" + order + b"u."
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    return b"".join(map(pickled, head)) + both + pickled(["0"]) \
        + struct.pack("<q6f", 6, *range(6))
