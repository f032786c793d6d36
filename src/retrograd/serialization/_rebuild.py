"""Tensors from what a file says of them: memory, offset, sizes and strides, none of it trusted."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import Any

from ..backend import xp
from ..backend.coordinates import flat_places
from ..base import dtypes, layouts
from ..core.tensor import Size, Tensor, wrap
from ..nn import Parameter
from ..ops.creation.filled import empty_strided
from ..storage import TypedStorage, UntypedStorage


def rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """A tensor on the memory of ``storage``, which must hold all of its elements."""
    if not isinstance(storage, TypedStorage):
        raise pickle.UnpicklingError(f"a tensor needs a storage, not {type(storage).__name__}")
    return _on(storage.untyped(), storage.dtype, storage_offset, size, stride)


def rebuild_tensor_v2(storage: Any, storage_offset: int, size: Any, stride: Any,
                      requires_grad: bool, backward_hooks: Any, metadata: Any = None) -> Tensor:
    """The same, with the flags of a tensor; hooks are never saved."""
    return _flagged(rebuild_tensor(storage, storage_offset, size, stride), requires_grad, metadata)


def rebuild_tensor_v3(storage: Any, storage_offset: int, size: Any, stride: Any,
                      requires_grad: bool, backward_hooks: Any, dtype: dtypes.dtype,
                      metadata: Any = None) -> Tensor:
    """The same for dtypes that have no storage class of their own."""
    untyped = storage.untyped() if isinstance(storage, TypedStorage) else storage
    if not isinstance(untyped, UntypedStorage) or not isinstance(dtype, dtypes.dtype):
        raise pickle.UnpicklingError("a tensor needs a storage and a dtype")
    return _flagged(_on(untyped, dtype, storage_offset, size, stride), requires_grad, metadata)


def rebuild_meta_tensor(dtype: dtypes.dtype, size: Any, stride: Any,
                        requires_grad: bool) -> Tensor:
    """A tensor without memory; wherever a file is loaded to, it has none."""
    _check_layout(0, size, stride)
    if not isinstance(dtype, dtypes.dtype):
        raise pickle.UnpicklingError(f"a tensor needs a dtype, not {type(dtype).__name__}")
    made = empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta")
    return _flagged(made, requires_grad, None)


class SavedLayout:
    """The layout of a sparse tensor, as a file names it."""

    def __init__(self, layout: layouts.layout):
        self.layout = layout

    def __reduce__(self) -> Any:
        return layout_named, (repr(self.layout),)


def layout_named(name: Any) -> layouts.layout:
    """The layout of this name."""
    for known in (layouts.sparse_coo, layouts.sparse_csr, layouts.sparse_csc, layouts.strided):
        if repr(known) == name:
            return known
    raise pickle.UnpicklingError(f"there is no layout {name!r}")


def sparse_parts(tensor: Any) -> tuple[Any, ...]:
    """What a sparse tensor is rebuilt from: its layout and its parts."""
    layout, size = tensor.layout, Size(tensor.shape)
    if layout is layouts.sparse_coo:
        parts: Any = (tensor._indices(), tensor._values(), size, tensor.is_coalesced())
    elif layout is layouts.sparse_csr:
        parts = (tensor.crow_indices(), tensor.col_indices(), tensor._values(), size)
    else:
        parts = (tensor.ccol_indices(), tensor.row_indices(), tensor._values(), size)
    return SavedLayout(layout), parts


def rebuild_sparse_tensor(layout: Any, parts: Any) -> Tensor:
    """A sparse tensor of its parts; the places are checked."""
    from ..ops.sparse.creation import sparse_compressed_tensor, sparse_coo_tensor

    *tensors, size = parts[:3] if layout is layouts.sparse_coo else parts
    if not all(isinstance(t, Tensor) for t in tensors):
        raise pickle.UnpicklingError("a sparse tensor is made of tensors")
    try:
        if layout is layouts.sparse_coo:
            return sparse_coo_tensor(*tensors, tuple(size), is_coalesced=is_ordered(
                tensors[0], tuple(size)) if len(parts) > 3 and parts[3] else None)
        return sparse_compressed_tensor(*tensors, tuple(size), layout=layout)
    except RuntimeError as error:
        raise pickle.UnpicklingError(f"a sparse tensor that cannot be: {error}") from None


def is_ordered(indices: Tensor, size: tuple[int, ...]) -> bool:
    """Whether places come in order and none twice, as coalesced ones do."""
    places = flat_places(indices._data, size)
    return bool((places[1:] > places[:-1]).all())


def rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Tensor:
    """A parameter on the memory of ``data``."""
    if not isinstance(data, Tensor):
        raise pickle.UnpicklingError(f"a parameter needs a tensor, not {type(data).__name__}")
    return Parameter(data.detach(), bool(requires_grad))


def rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any,
                                 state: Any) -> Tensor:
    """The same, with attributes that a program put on it."""
    return with_attributes(rebuild_parameter(data, requires_grad, backward_hooks), state)


def rebuild_from_type_v2(function: Any, kind: type, args: tuple[Any, ...], state: Any) -> Any:
    """A tensor of a subclass, or one with attributes of its own."""
    made = function(*args)
    if kind is not type(made) and issubclass(kind, Tensor):
        made = made.as_subclass(kind)
    return with_attributes(made, state)


def with_attributes(tensor: Any, state: Any) -> Any:
    """A tensor with the attributes that a program had put on it, and no others."""
    if isinstance(state, tuple) and len(state) == 2:  # those of slots, of which there are none here
        state = {**(state[0] or {}), **(state[1] or {})}
    if type(state) not in (dict, OrderedDict):
        raise pickle.UnpicklingError("the attributes of a tensor must be a dict")
    for name, value in state.items():
        if type(name) is not str or hasattr(Tensor, name):
            raise pickle.UnpicklingError(f"{name!r} is not an attribute that a file may set")
        tensor.__dict__[name] = value
    return tensor


def own_attributes(tensor: Tensor) -> dict[str, Any]:
    """The attributes that a program put on a tensor."""
    return {name: value for name, value in tensor.__dict__.items() if not hasattr(Tensor, name)}


def _on(storage: UntypedStorage, dtype: dtypes.dtype, offset: Any, size: Any,
        stride: Any) -> Tensor:
    _check_layout(offset, size, stride)
    array = storage.array_of(dtype)
    if 0 not in size and offset + xp.reach(size, stride) >= array.size:
        raise pickle.UnpicklingError(
            f"a tensor of size {tuple(size)}, stride {tuple(stride)} and offset {offset} does not "
            f"fit into a storage of {array.size} elements")
    if 0 in size:
        return wrap(xp.zeros(tuple(size), dtype.np))
    return wrap(xp.as_strided(array, tuple(size), tuple(stride), offset))


def _check_layout(offset: Any, size: Any, stride: Any) -> None:
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or any(type(n) is not int or n < 0 for n in numbers):
        raise pickle.UnpicklingError(
            f"a tensor of size {tuple(size)}, stride {tuple(stride)} and offset {offset} cannot be")


def _flagged(tensor: Tensor, requires_grad: Any, metadata: Any) -> Tensor:
    if metadata:
        if metadata.get("conj"):
            tensor = tensor.conj()
        if metadata.get("neg"):
            tensor = -tensor
    return tensor.requires_grad_() if requires_grad else tensor
