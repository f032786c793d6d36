"""Tensors on the bytes of a file."""

from __future__ import annotations

import mmap
import os
from typing import Any

from ...base import dtypes
from ...core.op import public
from ...core.tensor import Tensor
from .filled import empty
from .from_data import frombuffer


@public("from_file", method=False)
def from_file(filename: str, shared: bool | None = None, size: int | None = 0, *,
              dtype: Any = None, layout: Any = None, device: Any = None,
              pin_memory: bool | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ``size`` elements on the memory of a file.

    If it is shared, what is written to the tensor is written to the file, which is made or
    lengthened as needed; else the file stays as it is.
    """
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    count, needed = size or 0, (size or 0) * kind.itemsize
    if not count:
        return empty(0, dtype=kind, device=device, requires_grad=requires_grad)
    try:
        file = os.open(filename, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY, 0o600)
    except OSError as error:
        way = "read-write" if shared else "read-only"
        raise RuntimeError(f"unable to open file <{filename}> in {way} mode: {error.strerror} "
                           f"({error.errno})") from None
    try:
        there = os.fstat(file).st_size
        if there < needed:
            if not shared:
                raise RuntimeError(f"file <{filename}> size <{there}> is smaller than the required "
                                   f"mapping size <{needed}>")
            os.truncate(file, needed)
        memory = mmap.mmap(file, needed, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
    finally:
        os.close(file)
    return frombuffer(memory, dtype=kind, count=count, requires_grad=requires_grad)
