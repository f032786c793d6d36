"""Storage: the memory that tensors look at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from .backend import xp
from .backend.interface import library_of
from .base import dtypes
from .base.warning import warn
from .core.extensions import extensions


class UntypedStorage:
    """The bytes of one block of memory, however many tensors look at it."""

    __slots__ = ("_owner",)

    def __init__(self, owner: Any = 0):
        self._owner = xp.zeros(owner, "uint8") if isinstance(owner, int) else owner

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, mapped into memory; what is written reaches it if ``shared``."""
        import mmap

        with open(filename, "r+b" if shared else "rb") as file:
            held = file.seek(0, os.SEEK_END)
            if nbytes > held and shared:
                file.truncate(nbytes)
            elif nbytes > held:
                raise RuntimeError(f"unable to map {nbytes} bytes of the file {filename!r}, which "
                                   f"holds {held}")
            mapped = mmap.mmap(file.fileno(), nbytes,
                               access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
        return cls(xp.asarray(memoryview(mapped)))

    @property
    def device(self) -> dtypes.device:
        return dtypes.CPU

    def nbytes(self) -> int:
        return int(self._owner.size) * int(self._owner.dtype.itemsize)

    size = nbytes
    __len__ = nbytes

    def data_ptr(self) -> int:
        return library_of(self._owner).address(self._owner)

    def element_size(self) -> int:
        return 1

    def untyped(self) -> UntypedStorage:
        """This storage: it is untyped."""
        return self

    def array_of(self, dtype: dtypes.dtype) -> Any:
        """The whole memory as a flat array of one dtype."""
        count = self.nbytes() // dtype.itemsize
        library = library_of(self._owner)
        flat = library.as_strided(self._owner, (self._owner.size,), (1,), 0)
        if flat.dtype == dtype.np:
            return flat
        return library.retyped(library.retyped(flat, xp.uint8)[:count * dtype.itemsize], dtype.np)

    def _bytes(self) -> Any:
        return self.array_of(dtypes.uint8)

    def __getitem__(self, index: Any) -> Any:
        found = self._bytes()[index]
        return int(found) if not isinstance(index, slice) else UntypedStorage(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._bytes()[index] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        return self._bytes().tolist()  # type: ignore[no-any-return]

    def clone(self) -> UntypedStorage:
        """A copy of the memory."""
        return UntypedStorage(self._owner.copy())

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Write another storage's bytes into this one."""
        self._bytes()[...] = source._bytes()
        return self

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        self._bytes()[...] = value
        return self

    def resize_(self, size: int) -> UntypedStorage:
        raise NotImplementedError("the memory of an array cannot be resized under its tensors")

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes to shared memory, with every tensor that looks at them."""
        extensions.share_memory([self])
        return self

    def is_shared(self) -> bool:
        """Whether other processes may see these bytes."""
        from .backend.shared_memory import block_of

        return block_of(self._owner) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr() \
            and self.nbytes() == other.nbytes()

    def __hash__(self) -> int:
        return hash((self.data_ptr(), self.nbytes()))

    def __repr__(self) -> str:
        lines = "".join(f" {n}\n" for n in self.tolist())
        return f"{lines}[torch.storage.UntypedStorage(device=cpu) of size {self.nbytes()}]"

    def __reduce__(self) -> Any:
        return (UntypedStorage, (self._owner,))


class TypedStorage:
    """A storage seen as elements of one dtype."""

    __slots__ = ("_storage", "dtype")

    def __init__(self, storage: UntypedStorage, dtype: dtypes.dtype):
        self._storage, self.dtype = storage, dtype

    @property
    def device(self) -> dtypes.device:
        return dtypes.CPU

    def untyped(self) -> UntypedStorage:
        return self._storage

    def _array(self) -> Any:
        return self._storage.array_of(self.dtype)

    def size(self) -> int:
        return int(self._array().size)

    __len__ = size

    def nbytes(self) -> int:
        return self._storage.nbytes()

    def data_ptr(self) -> int:
        return self._storage.data_ptr()

    def element_size(self) -> int:
        return self.dtype.itemsize

    def share_memory_(self) -> TypedStorage:
        """Move the elements to shared memory, with every tensor that looks at them."""
        self._storage.share_memory_()
        return self

    def is_shared(self) -> bool:
        """Whether other processes may see these elements."""
        return self._storage.is_shared()

    def __getitem__(self, index: int) -> Any:
        return self._array()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array()[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        return self._array().tolist()  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        lines = "".join(f" {n}\n" for n in self.tolist())
        return (f"{lines}[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size "
                f"{self.size()}]")


def typed_storage_of(tensor: Any) -> TypedStorage:
    """``tensor.storage()``, which PyTorch advises against."""
    warn("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
         "the only storage class. This should only matter to you if you are using storages "
         "directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
         "tensor.storage()", once=True)
    return TypedStorage(tensor.untyped_storage(), tensor.dtype)
