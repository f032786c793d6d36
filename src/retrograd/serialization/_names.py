"""What PyTorch's pickles call things, and what those things are here."""

from __future__ import annotations

import importlib
import sys
from collections import Counter, OrderedDict
from types import FunctionType
from typing import Any

from .. import cuda
from ..base import dtypes
from ..compat import legacy
from ..core.op import PUBLIC
from ..core.tensor import Size, Tensor
from ..nn import Parameter
from ..storage import TypedStorage, UntypedStorage
from . import _rebuild


class StorageType:
    """A storage class of PyTorch's, such as ``torch.FloatStorage``: the dtype of some memory."""

    def __init__(self, dtype: dtypes.dtype | None):
        self.dtype = dtype  # None: bytes

    def __call__(self, storage: UntypedStorage) -> Any:
        return storage if self.dtype is None else TypedStorage(storage, self.dtype)


_STORED = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16, dtypes.int64,
           dtypes.int32, dtypes.int16, dtypes.int8, dtypes.uint8, dtypes.bool, dtypes.complex64,
           dtypes.complex128)
STORAGE_TYPES = {dtype: StorageType(dtype) for dtype in _STORED}
"""The storage classes of the dtypes that have one."""
UNTYPED = StorageType(None)

_STORAGE_NAMES = {f"torch.{dtype.alias}Storage": kind for dtype, kind in STORAGE_TYPES.items()}
NAMED: dict[str, Any] = {
    **_STORAGE_NAMES, **{n.replace("torch.", "torch.cuda."): k for n, k in _STORAGE_NAMES.items()},
    "torch.UntypedStorage": UNTYPED, "torch.storage.UntypedStorage": UNTYPED,
    **{f"torch.{d.name}": d for d in dtypes.ALL},
    "torch.Size": Size, "torch.device": dtypes.device, "torch.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch._utils._rebuild_tensor": _rebuild.rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": _rebuild.rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": _rebuild.rebuild_tensor_v3,
    "torch._utils._rebuild_meta_tensor_no_storage": _rebuild.rebuild_meta_tensor,
    "torch._utils._rebuild_sparse_tensor": _rebuild.rebuild_sparse_tensor,
    "torch.serialization._get_layout": _rebuild.layout_named,
    "torch._utils._rebuild_parameter": _rebuild.rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild.rebuild_parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": _rebuild.rebuild_from_type_v2,
}
"""What a file may name and gets, whatever else it may not."""

PLAIN: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict, "collections.Counter": Counter,
    "builtins.set": set, "__builtin__.set": set, "builtins.bytearray": bytearray,
    "__builtin__.bytearray": bytearray, "builtins.complex": complex,
    "__builtin__.complex": complex,
}
"""Python's own types that a file may name."""

TENSOR_TYPES: dict[str, Any] = {
    f"{space.__name__.replace('retrograd', 'torch')}.{name}": getattr(space, name)
    for space in (sys.modules["retrograd"], cuda) for name in legacy.TENSOR_TYPES}
"""``torch.FloatTensor`` and its kind, which a file may name but not call: it would say how much
memory to take."""

NAMES_OF = {id(value): name for name, value in NAMED.items() if ".cuda." not in name}
"""PyTorch's name of each of our own."""


def own_module(module: str) -> str:
    """The module that serves for one of PyTorch's; any other serves for itself."""
    if module == "torch._C._nn":  # where PyTorch's own functions of networks really lie
        return "retrograd.nn.functional"
    is_torch = module == "torch" or module.startswith("torch.")
    return "retrograd" + module.removeprefix("torch") if is_torch else module


def torch_name(value: Any) -> tuple[str, str] | None:
    """The module and the name by which PyTorch knows one of our functions or classes."""
    known = NAMES_OF.get(id(value))
    if known is not None:
        module, _, name = known.rpartition(".")
        return module, name
    if not isinstance(value, (type, FunctionType)):
        return None
    name = value.__name__
    for namespace, functions in PUBLIC.items():
        if functions.get(name) is value:
            return "torch" + ("" if namespace == "torch" else f".{namespace}"), name
    module = value.__module__
    if isinstance(module, str) and module.partition(".")[0] == "retrograd":
        name = value.__qualname__
        if getattr(importlib.import_module(module), name, None) is value:
            return "torch" + module.removeprefix("retrograd"), name
    return None
