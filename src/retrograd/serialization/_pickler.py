"""Writes a pickle in which our tensors, storages, dtypes and modules have PyTorch's names."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from typing import Any

from ..backend import xp
from ..base import dtypes
from ..core.extensions import SPARSE_TENSORS
from ..core.tensor import Tensor
from ..nn import Parameter
from ..storage import TypedStorage, UntypedStorage
from . import _rebuild
from ._names import STORAGE_TYPES, UNTYPED, torch_name


class Memory:
    """A block of memory as one type of elements, on its way into a file."""

    __slots__ = ("storage", "dtype")

    def __init__(self, storage: UntypedStorage, dtype: dtypes.dtype | None):
        self.storage, self.dtype = storage, dtype


class Pickler(pickle._Pickler):  # type: ignore[name-defined,misc]
    """Python's own pickler, the one whose names for things can be chosen."""

    def __init__(self, file: io.BytesIO, protocol: int):
        super().__init__(file, protocol)
        self.storages: dict[str, UntypedStorage] = {}
        self.keys: dict[UntypedStorage, str] = {}
        self.dtypes: dict[str, dtypes.dtype | None] = {}

    def persistent_id(self, obj: Any) -> Any:
        """Storages are not part of the pickle: it names the file that holds each."""
        if isinstance(obj, UntypedStorage):
            obj = Memory(obj, None)
        elif isinstance(obj, TypedStorage):
            obj = Memory(obj.untyped(), obj.dtype)
        elif not isinstance(obj, Memory):
            return None
        storage, dtype = obj.storage, obj.dtype
        key = self.keys.setdefault(storage, str(len(self.keys)))
        if self.dtypes.setdefault(key, dtype) is not dtype:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data "
                               "as different types")
        self.storages[key] = storage
        kind = UNTYPED if dtype is None else STORAGE_TYPES[dtype]
        count = storage.nbytes() // (1 if dtype is None else dtype.itemsize)
        return "storage", kind, key, "cpu", count

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return _reduced(obj)
        if isinstance(obj, dtypes.device):
            return dtypes.device, ((obj.type,) if obj.index is None else (obj.type, obj.index))
        if torch_name(obj) is not None:
            return "a name"  # for save_global
        return NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        known = torch_name(obj)
        if known is None:
            super().save_global(obj, name)  # type: ignore[misc]
            return
        writer: Any = self  # whose inner parts the checker does not know
        writer.write(pickle.GLOBAL + f"{known[0]}\n{known[1]}\n".encode())
        writer.memoize(obj)


def _reduced(tensor: Tensor) -> Any:
    """What rebuilds a tensor: a function, and what to call it with."""
    attributes = _rebuild.own_attributes(tensor)
    if isinstance(tensor, Parameter):
        data = tensor.detach()
        if type(tensor) is not Parameter and not tensor.is_meta:
            data = data.as_subclass(Tensor)
        args: Any = (data, tensor.requires_grad, OrderedDict())
        if attributes:
            return _rebuild.rebuild_parameter_with_state, (*args, attributes)
        return _rebuild.rebuild_parameter, args
    function, args = _plain(tensor)
    kind = Tensor if tensor.is_meta or type(tensor) in SPARSE_TENSORS else type(tensor)
    if kind is Tensor and not attributes:
        return function, args
    return _rebuild.rebuild_from_type_v2, (function, kind, args, attributes)


def _plain(tensor: Tensor) -> Any:
    if tensor.is_meta:
        return _rebuild.rebuild_meta_tensor, (tensor.dtype, tuple(tensor.shape), tensor.stride(),
                                              tensor.requires_grad)
    if type(tensor) in SPARSE_TENSORS:
        return _rebuild.rebuild_sparse_tensor, _rebuild.sparse_parts(tensor)
    array = tensor._array()
    if not xp.is_dense(xp.storage_of(array)):
        array = array.copy()  # on memory of somebody else's, with gaps
    storage = UntypedStorage(xp.storage_of(array))
    offset = (xp.address(array) - storage.data_ptr()) // array.dtype.itemsize if array.size else 0
    where: Any = (offset, tuple(array.shape), xp.element_strides(array), tensor.requires_grad,
                  OrderedDict())
    dtype = tensor.dtype
    if dtype in STORAGE_TYPES:
        return _rebuild.rebuild_tensor_v2, (Memory(storage, dtype), *where)
    return _rebuild.rebuild_tensor_v3, (Memory(storage, None), *where, dtype)
