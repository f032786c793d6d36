"""Copies, and tensors as other dtypes."""

from __future__ import annotations

from typing import Any

from ...backend import copies as copy_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes, layouts
from ...base.errors import type_name, wrong_type
from ...base.warning import warn
from ...core.binding import universal
from ...core.extensions import TRACED_TYPES, extensions
from ...core.op import Array, linear, op
from ...core.operands import cast_data
from ...core.signatures import named
from ...core.tensor import Tensor, attach, method

# ---------------------------------------------------------------- copies


@linear(any_dtype=True, batches=lambda batch, input, memory_format:
        clone(input, memory_format=_known_in_batches(memory_format)), vjp=lambda g: g)
def clone(input: Array, *, memory_format: Any = None) -> Any:
    """A copy with memory of its own; gradients flow through it."""
    if memory_format is None or memory_format is layouts.preserve_format:
        return xp.copied(input)
    return copy_kernels.copy_in_order(input, layouts.axis_order(input.ndim, memory_format))


def _known_in_batches(memory_format: Any) -> Any:
    if memory_format in (None, layouts.preserve_format, layouts.contiguous_format):
        return memory_format
    name = "ChannelsLast" if memory_format is layouts.channels_last else "ChannelsLast3d"
    raise RuntimeError("NYI: Tensor.clone(memory_format) inside vmap is only supported with "
                       "memory_format torch.preserve_format or torch.contiguous_format (got "
                       f"{name})")


@method("contiguous")
def contiguous(input: Tensor, memory_format: Any = layouts.contiguous_format) -> Tensor:
    """``input`` itself if its memory is in order, otherwise a copy that is."""
    if memory_format is layouts.contiguous_format and xp.is_array(input._data) \
            and xp.is_contiguous(input._data):
        return input
    if type(input)._is_traced:  # type: ignore[attr-defined]
        batch = input._data
        if hasattr(batch, "value") and memory_format is not layouts.contiguous_format:
            raise RuntimeError("NYI: querying is_contiguous inside of vmap for memory_format other "
                               "than torch.contiguous_format")
        while hasattr(batch, "value"):
            batch = batch.value
        if xp.is_array(batch) and xp.is_contiguous(batch):
            return input
        return clone(input, memory_format=layouts.contiguous_format)
    if memory_format is layouts.preserve_format:
        if input.is_contiguous():
            return input
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return input if input.is_contiguous(memory_format) else clone(
        input, memory_format=memory_format)


@method("copy")
def copied(input: Tensor, order: str = "C") -> Tensor:
    """A copy, by NumPy's name of it; gradients flow through it."""
    return clone(input)


# ---------------------------------------------------------------- casts


@linear(node="ToCopyBackward0", any_dtype=True, batches="leading",
        vjp=lambda g, like: cast_gradient(g, like.dtype))
def _to_copy(input: Array, dtype: Any, memory_format: Any = None) -> Any:
    wanted = dtype.np
    cast = xp.cast(input, wanted) if input.dtype != wanted else xp.copied(input)
    if memory_format is None or memory_format is layouts.preserve_format:
        return cast
    return copy_kernels.copy_in_order(cast, layouts.axis_order(input.ndim, memory_format))


@op(any_dtype=True, batches="leading")
def _to_exact(input: Array, dtype: Any, memory_format: Any = None) -> Any:
    """A cast to integers or bools, where differentiation ends."""
    cast = xp.cast(input, dtype.np)
    if memory_format is None or memory_format is layouts.preserve_format:
        return cast
    return copy_kernels.copy_in_order(cast, layouts.axis_order(input.ndim, memory_format))


@universal
def cast_gradient(g: Any, dtype: Any) -> Any:
    """A gradient in the (backend's) dtype of what it is the gradient of."""
    if isinstance(g, Tensor):
        return g if g._data.dtype == dtype else _to_copy(g, dtypes.from_numpy_dtype(dtype))
    if g.dtype == dtype:
        return g
    return cast_data(g, dtype) if type(g) in TRACED_TYPES else xp.cast(g, dtype)


@universal
def in_dtype_of(like: Any, value: Any) -> Any:
    """``value`` in the dtype of ``like``, both tensors or both raw."""
    return cast_gradient(value, like._data.dtype if isinstance(like, Tensor) else like.dtype)


def cast(input: Tensor, dtype: dtypes.dtype, copy: bool = False, memory_format: Any = None
         ) -> Tensor:
    """``input`` as ``dtype``: itself if it is that already, unless a copy is asked for."""
    if input._data.dtype == dtype.np and not copy and (
            memory_format in (None, layouts.preserve_format)
            or input.is_contiguous(memory_format)):
        return input
    if kind_of(input._data.dtype) == "c" and not dtype.is_complex and dtype is not dtypes.bool:
        warn("Casting complex values to real discards the imaginary part", once=True)
    if not (dtype.is_floating_point or dtype.is_complex):
        return _to_exact(input, dtype, memory_format)  # type: ignore[no-any-return]
    return _to_copy(input, dtype, memory_format)  # type: ignore[no-any-return]


@method("astype")
def astype(self: Tensor, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
           copy: bool = True) -> Tensor:
    """A copy as ``dtype``, which may be NumPy's, by NumPy's name of it; gradients flow through."""
    return cast(self, dtypes.as_dtype(dtype), copy)


@method("to")
def _to(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """This tensor with another dtype or device; itself if nothing changes."""
    given = to_arguments(args, named)
    dtype, copy = given.get("dtype"), given.get("copy", False)
    other = given.get("tensor")
    if other is not None:
        dtype = other.dtype
    wanted = self.dtype if dtype is None else dtypes.as_dtype(dtype)
    device = given.get("device") if other is None or not other.is_meta else other.device
    if device is not None and dtypes.is_meta(device):
        return self.new_empty(self.shape, dtype=wanted, device="meta",
                              requires_grad=self.requires_grad)
    return cast(self, wanted, bool(copy), given.get("memory_format"))


def to_arguments(args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """What was given to ``to``, by name."""
    names = _to_names(args, named)
    if names is None or len(args) > len(names) or any(
            name in names[:len(args)] or name not in (*names, "memory_format") for name in named):
        raise to_refusal(args, named)
    return {**named, **dict(zip(names, args, strict=False))}


def _to_names(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, ...] | None:
    """Which of the three ways to call ``to`` these arguments fit."""
    first = args[0] if args else named.get("tensor", named.get("dtype"))
    if isinstance(first, Tensor):
        return ("tensor", "non_blocking", "copy")
    if args and (isinstance(first, dtypes.dtype)
                 or (isinstance(first, type) and first in dtypes.PYTHON_TYPES)):
        return ("dtype", "non_blocking", "copy")
    if args and not isinstance(first, (str, dtypes.device, int, type(None))):
        return None
    return ("device", "dtype", "non_blocking", "copy")


def to_refusal(args: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
    got = ", ".join(type_name(a) for a in args)
    if named:
        pairs = ", ".join(f"{k}={type_name(v)}" for k, v in named.items())
        got = f"{got}, {pairs}" if got else f"{pairs}, "
    tail = "bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = " \
        "None)"
    return TypeError(
        f"to() received an invalid combination of arguments - got ({got}), but expected one "
        "of:\n * (torch.device device = None, torch.dtype dtype = None, " + tail
        + "\n * (torch.dtype dtype, " + tail + "\n * (Tensor tensor, " + tail + "\n")


def _cast_method(name: str, dtype: dtypes.dtype) -> None:
    @named(name, f"This tensor as {dtype.name}.")
    def method(self: Tensor, memory_format: Any = None) -> Tensor:
        return cast(self, dtype, False, memory_format)

    setattr(Tensor, name, method)


for _name, _dtype in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16, "int": dtypes.int32, "long": dtypes.int64,
    "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool,
    "chalf": dtypes.complex32, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}.items():
    _cast_method(_name, _dtype)


@method("type")
def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of this tensor's type, or this tensor as another type."""
    if dtype is None:
        return f"torch.{self.dtype.alias}Tensor"
    if isinstance(dtype, dtypes.dtype):
        return cast(self, dtype)
    if isinstance(dtype, type):
        if dtype is Tensor:
            return cast(self, dtypes.get_default_dtype())
        found = getattr(dtype, "dtype", None)
        if isinstance(found, dtypes.dtype):
            return cast(self, found)
        raise ValueError(f"invalid type: '{dtype.__name__}'")
    if not isinstance(dtype, str):
        raise TypeError("dtype must be a type, str, or dtype object")
    if dtype == "torch.Tensor":
        return cast(self, dtypes.get_default_dtype())
    for known in dtypes.ALL:
        if dtype == f"torch.{known.alias}Tensor":
            return cast(self, known)
    raise ValueError(f"invalid type: '{dtype}'")


@method("type_as")
def _type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in ``other``'s dtype."""
    if not isinstance(other, Tensor):
        raise wrong_type("type_as", "other", 1, "Tensor", other)
    return cast(self, other.dtype)


@method("cpu")
def _cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """This tensor on the CPU, where it is already."""
    return cast(self, self.dtype, False, memory_format)


@method("cuda")
def _cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None
          ) -> Tensor:
    if device is not None:
        dtypes.as_device(device)
    raise AssertionError("Torch not compiled with CUDA enabled")


@method("pin_memory")
def _pin_memory(self: Tensor, device: Any = None) -> Tensor:
    raise RuntimeError("Cannot access accelerator device when none is available.")


@method("share_memory_")
def _share_memory_(self: Tensor) -> Tensor:
    """Move this tensor's memory to where other processes can see it too."""
    _share([self])
    return self


@method("is_shared")
def _is_shared(self: Tensor) -> bool:
    """Whether this tensor lies in memory that other processes may see."""
    from . import sharing

    return sharing.is_shared(self)


def _share(lookers: Any) -> None:
    from .sharing import share

    share(lookers)


extensions.fill(share_memory=_share)
attach(is_pinned=lambda self, device=None: False)


@method("is_set_to")
def _is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both look at the same memory in the same way."""
    return self.data_ptr() == tensor.data_ptr() and self.shape == tensor.shape \
        and bool(self.stride() == tensor.stride())
