"""Tensors from data: tensor, as_tensor, from_numpy, frombuffer, DLPack."""

from __future__ import annotations

from typing import Any

from ...backend import create as create_kernels, xp
from ...base import dtypes
from ...base.errors import wrong_type
from ...base.warning import warn
from ...core.tensor import Tensor
from .nested_data import data_of, full_name
from .options import dtype_for, leaf, place, require_grad


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of ``data``."""
    meta = place("tensor", device, None)
    if isinstance(data, Tensor):
        warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
             ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
             "torch.tensor(sourceTensor).")
    return leaf(data_of(data, None if dtype is None else dtype_for("tensor", dtype)),
                requires_grad, "tensor", meta)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, on the same memory where that is possible."""
    kind = None if dtype is None else dtype_for("as_tensor", dtype)
    if place("as_tensor", device, None):
        return tensor(data, dtype=kind, device="meta") if not isinstance(data, Tensor) \
            else data.to("meta", kind)
    if isinstance(data, Tensor):
        return data if kind is None else data.to(kind)
    if xp.is_array(data):
        shared = from_numpy(data)
        return shared if kind is None else shared.to(kind)
    return leaf(data_of(data, kind))


def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None,
            requires_grad: bool | None = None) -> Tensor:
    """``obj`` as a tensor; ``copy`` says whether it must have, or must not have, new memory."""
    if device is not None:
        dtypes.as_device(device, "asarray")
    kind = None if dtype is None else dtype_for("asarray", dtype)
    if isinstance(obj, Tensor):
        return _tensor_as_array(obj, kind, copy, requires_grad)
    if xp.is_array(obj):
        out = from_numpy(obj)
    elif hasattr(obj, "__dlpack__"):
        out = from_dlpack(obj)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        out = frombuffer(obj, dtype=kind or dtypes.get_default_dtype())
    else:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return leaf(data_of(obj, kind), bool(requires_grad))
    out = _aliased_or_copied(out, kind, copy)
    if requires_grad:
        require_grad(out)
    return out


def _tensor_as_array(given: Tensor, kind: dtypes.dtype | None, copy: bool | None,
                     requires_grad: bool | None) -> Tensor:
    if requires_grad is None and given.requires_grad:
        warn("torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead "
             "of False. Pass requires_grad=False explicitly to get the old behavior and silence "
             "this warning.", once=True)
        requires_grad = True
    out = _aliased_or_copied(given, kind, copy)
    if not requires_grad and out.requires_grad:
        out = out.detach()
    elif requires_grad and not out.requires_grad:
        out = out.detach() if out is not given else out
        require_grad(out)
    return out


def _aliased_or_copied(given: Tensor, kind: dtypes.dtype | None, copy: bool | None) -> Tensor:
    if kind is not None and kind is not given.dtype:
        if copy is False:
            raise ValueError(f"can't alias tensor with dtype '{given.dtype.alias}' into dtype "
                             f"'{kind.alias}'.")
        return given.to(kind)  # type: ignore[no-any-return]
    return given.clone() if copy else given  # type: ignore[no-any-return]


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor on the memory of a NumPy array."""
    if not xp.is_array(ndarray):
        raise TypeError(f"expected np.ndarray (got {full_name(ndarray)})")
    if not xp.is_writable(ndarray):
        warn("The given NumPy array is not writable, and PyTorch does not support non-writable "
             "tensors. This means writing to this tensor will result in undefined behavior. You "
             "may want to copy the array to protect its data or make it writable before "
             "converting it to a tensor. This type of warning will be suppressed for the rest of "
             "this program.", once=True)
    dtypes.from_numpy_dtype(ndarray.dtype.newbyteorder("="))
    return leaf(create_kernels.shared(ndarray))


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0,
               requires_grad: bool = False) -> Tensor:
    """A one-dimensional tensor on the memory of anything with the buffer protocol."""
    kind = dtype_for("frombuffer", dtype)
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    size, length = kind.itemsize, view.nbytes
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer "
                         f"length ({length} bytes) minus 1")
    if count < 0:
        if (length - offset) % size:
            raise ValueError(f"buffer length ({length - offset} bytes) after offset ({offset} "
                             f"bytes) must be a multiple of element size ({size})")
        count = (length - offset) // size
    elif offset + count * size > length:
        raise ValueError(f"requested buffer length ({count} * {size} bytes) after offset ({offset} "
                         f"bytes) must not be greater than actual buffer length ({length} bytes)")
    if view.readonly:
        warn("The given buffer is not writable, and PyTorch does not support non-writable "
             "tensors. This means you can write to the underlying (supposedly non-writable) "
             "buffer using the tensor. You may want to copy the buffer to protect its data or "
             "make it writable before converting it to a tensor. This type of warning will be "
             "suppressed for the rest of this program.", once=True)
    return leaf(create_kernels.from_buffer(buffer, kind.np, count, offset), requires_grad,
                "frombuffer")


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on memory that another library offers through DLPack."""
    dtypes.as_device(device, "from_dlpack")
    if isinstance(ext_tensor, Tensor):
        if ext_tensor.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        array = ext_tensor._array()
    else:
        array = create_kernels.from_dlpack(ext_tensor)
    return leaf(array.copy() if copy else array)


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor's memory, to be read once by another library."""
    if not isinstance(tensor, Tensor):
        raise wrong_type("_to_dlpack", "data", 1, "Tensor", tensor)
    return tensor.detach()._array().__dlpack__()
