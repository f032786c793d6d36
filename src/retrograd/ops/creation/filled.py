"""Tensors filled with one value, also shaped as or of the dtype of others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any

from ...backend import create as create_kernels, index as index_kernels, xp
from ...backend.interface import library_of
from ...base import dtypes, layouts
from ...base.errors import wrong_type
from ...base.warning import warn
from ...core.extensions import extensions
from ...core.interned import ARRAYS_4
from ...core.libraries import in_library
from ...core.signatures import named
from ...core.tensor import NATIVE, Tensor, method, wrap
from .nested_data import data_of
from .options import (
    allocated,
    blank,
    dtype_for,
    is_plain_size,
    leaf,
    on_meta,
    out_dtype,
    place,
    settle,
    size_argument,
    size_from,
)

# ---------------------------------------------------------------- filled

_FLOAT32 = xp.FLOAT32


def _filled(function: str, fill_with: Any, doc: str) -> Any:
    """A factory ``function(*size)`` of arrays made by ``fill_with(shape, dtype)``."""

    @named(function, doc)
    def factory(*size: Any, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
                device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                memory_format: Any = None, **named: Any) -> Tensor:
        meta = place(function, device, layout)
        kind = out_dtype(function, dtype, out)
        if memory_format is not None and function != "empty":
            named["memory_format"] = memory_format  # which is refused
        shape = size_argument(function, size, named)
        make = fill_with if memory_format is None else _in_format(shape, memory_format)
        data = blank(shape, kind.np) if meta else allocated(make, shape, kind.np)
        return settle(data, out, requires_grad, function, meta)

    @wraps(factory)
    def called(*size: Any, **options: Any) -> Tensor:
        if options or not is_plain_size(size):
            return factory(*size, **options)
        dtype = dtypes.default_numpy
        try:
            out = wrap(fill_with(size, dtype))
        except (MemoryError, ValueError):
            return factory(*size)  # which says why
        if dtype is _FLOAT32:
            out._form = ARRAYS_4[size]
        return out

    return called


def _in_format(shape: tuple[int, ...], format: Any) -> Any:
    """What makes an array whose dimensions lie in memory as a format says."""
    if not isinstance(format, layouts.memory_format):
        raise wrong_type("empty", "memory_format", None, "torch.memory_format", format)
    if format is layouts.preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    order = layouts.axis_order(len(shape), format)
    return lambda shape, dtype: xp.empty_in_order(shape, order, dtype)


zeros = _filled("zeros", xp.zeros, "A tensor of zeros.")
ones = _filled("ones", lambda shape, dtype: xp.ones(shape, dtype) if not xp.is_stored_only(dtype)
               else xp.full(shape, index_kernels.number_as(1, dtype), dtype), "A tensor of ones.")
empty = _filled("empty", xp.empty, "A tensor whose values are not set.")


def full(size: Sequence[int], fill_value: Any, *, out: Tensor | None = None, dtype: Any = None,
         layout: Any = None, device: Any = None, pin_memory: bool = False,
         requires_grad: bool = False) -> Tensor:
    """A tensor filled with one value, whose type decides the dtype."""
    meta = place("full", device, layout)
    value = _fill_value("full", fill_value)
    kind = out_dtype("full", dtype, out, dtypes.of_scalar(value))
    if not isinstance(size, (tuple, list)):
        raise wrong_type("full", "size", 1, "tuple of ints", size)
    data = blank(size_from("full", (size,)), kind.np) if meta \
        else _full_array("full", size, value, kind)
    return settle(data, out, requires_grad, "full", meta)


def _fill_value(function: str, value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex)):
        return value
    if xp.is_scalar(value):
        return value.item()
    if isinstance(value, Tensor) and not value.ndim and not value.requires_grad:
        return value.item()
    raise wrong_type(function, "fill_value", 2, "Number", value)


def _full_array(function: str, size: Any, value: Any, kind: dtypes.dtype) -> Any:
    return allocated(xp.full, size_from(function, (size,)), kind.np,
                     index_kernels.number_as(value, kind.np))


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, layout: Any = None,
                  pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """A zero-dim tensor of the default dtype."""
    meta = place("scalar_tensor", device, layout)
    kind = dtype_for("scalar_tensor", dtype)
    value = _fill_value("scalar_tensor", s)
    data = index_kernels.number_as(value, kind.np)
    return leaf(data, requires_grad, "scalar_tensor", meta)


def empty_strided(size: Sequence[int], stride: Sequence[int], *, dtype: Any = None,
                  layout: Any = None, device: Any = None, requires_grad: bool = False,
                  pin_memory: bool = False) -> Tensor:
    """A tensor with given strides whose values are not set."""
    meta = place("empty_strided", device, layout)
    kind = dtype_for("empty_strided", dtype)
    shape, strides = size_from("empty_strided", (tuple(size),)), tuple(stride)
    if len(shape) != len(strides):
        raise RuntimeError(f"dimensionality of sizes ({len(shape)}) must match dimensionality of "
                           f"strides ({len(strides)})")
    if any(s < 0 for s in strides):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and "
                           f"strides={list(strides)}")
    if meta:
        return on_meta(blank(shape, kind.np), strides, requires_grad)
    memory = create_kernels.memory_for(shape, strides, kind.np)
    return leaf(xp.as_strided(memory, shape, strides, 0), requires_grad)


# ---------------------------------------------------------------- shaped as another tensor


def overridden(function: Any, input: Any, *args: Any, **named: Any) -> Any:
    """What ``input``'s class makes of the call, if it has a say; NotImplemented otherwise."""
    from ...base.modes import MODE
    from ...core.overriding import overriding

    if type(input) in NATIVE or not MODE.get().override:
        return NotImplemented
    found = overriding((input, *args))
    if not found:
        return NotImplemented
    kept = {k: v for k, v in named.items() if v is not None and v is not False}
    return extensions.take_over(function, found, (input, *args), kept)


def blank_like(function: str, input: Any, dtype: Any, layout: Any, device: Any,
               memory_format: Any) -> Any:
    """An uninitialised array in the shape and memory order of ``input``."""
    if not isinstance(input, Tensor):
        raise wrong_type(function, "input", 1, "Tensor", input)
    place(function, dtypes.CPU if device is None else device, layout)
    kind = input.dtype if dtype is None else dtype_for(function, dtype)
    data = input._data
    shape = data.shape
    if memory_format is None or memory_format is layouts.preserve_format:
        return in_library(create_kernels.laid_out_like, library_of(data))(data, shape, kind.np)
    if not isinstance(memory_format, layouts.memory_format):
        raise wrong_type(function, "memory_format", None, "torch.memory_format", memory_format)
    return library_of(data).empty_in_order(shape, layouts.axis_order(len(shape), memory_format),
                                           kind.np)


def beside(input: Tensor, made: Tensor) -> Tensor:
    """A tensor made after the model of ``input``; in vmap, one for each value of the batch."""
    if type(input)._is_traced:  # type: ignore[attr-defined]
        from ...transforms import batched_like

        return batched_like(input, made)
    library = library_of(input._data)
    if library is not xp and not library.is_array(made._data):
        moved = wrap(library.asarray(made._data))
        return moved.requires_grad_(made.requires_grad)
    return made


def _like(function: str, value: Any, doc: str) -> Any:
    """A factory ``function(input)`` of tensors shaped as ``input`` and filled with ``value``."""

    @named(function, doc)
    def factory(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None,
                pin_memory: bool = False, requires_grad: bool = False,
                memory_format: Any = None) -> Tensor:
        if type(input) is not Tensor:
            handled = overridden(factory, input, dtype=dtype, layout=layout, device=device,
                                 requires_grad=requires_grad, memory_format=memory_format)
            if handled is not NotImplemented:
                return handled  # type: ignore[no-any-return]
        data = blank_like(function, input, dtype, layout, device, memory_format)
        if device is not None and place(function, device, layout):
            return on_meta(data, None, requires_grad)
        if value is not None:
            data[...] = index_kernels.number_as(value, data.dtype) \
                if xp.is_stored_only(data.dtype) else value
        return beside(input, leaf(data, requires_grad, function))

    return factory


zeros_like = _like("zeros_like", 0, "A tensor of zeros shaped as ``input``.")
ones_like = _like("ones_like", 1, "A tensor of ones shaped as ``input``.")
empty_like = _like("empty_like", None, "A tensor shaped as ``input`` whose values are not set.")


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None,
              device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
              memory_format: Any = None) -> Tensor:
    """A tensor shaped as ``input`` and filled with one value."""
    if type(input) is not Tensor:
        handled = overridden(full_like, input, fill_value, dtype=dtype, device=device,
                             requires_grad=requires_grad, memory_format=memory_format)
        if handled is not NotImplemented:
            return handled  # type: ignore[no-any-return]
    data = blank_like("full_like", input, dtype, layout, device, memory_format)
    value = _fill_value("full_like", fill_value)
    data[...] = in_library(index_kernels.number_as, library_of(data))(value, data.dtype)
    return beside(input, leaf(data, requires_grad, "full_like"))


# ---------------------------------------------------------------- of another tensor's dtype


def _new(function: str, factory: Any) -> None:
    """Attach ``Tensor.new_zeros`` and its kind."""

    def method(self: Tensor, *args: Any, dtype: Any = None, device: Any = None, layout: Any = None,
               pin_memory: bool = False, requires_grad: bool = False, **named: Any) -> Tensor:
        if type(self) is not Tensor:
            handled = overridden(method, self, *args, dtype=dtype, device=device,
                                 requires_grad=requires_grad, **named)
            if handled is not NotImplemented:
                return handled  # type: ignore[no-any-return]
        if not args and "size" not in named:
            raise TypeError(f'{function}() missing 1 required positional arguments: "size"')
        try:
            return beside(self, factory(
                *args, dtype=self.dtype if dtype is None else dtype,
                device=dtypes.CPU if device is None else device, layout=layout,
                requires_grad=requires_grad, **named))
        except TypeError as error:
            message = str(error)
            if message.startswith(factory.__name__):
                raise TypeError("new_" + message) from None
            raise

    method.__name__ = function
    method.__qualname__ = f"Tensor.{function}"
    method.__doc__ = f"As :func:`{factory.__name__}`, with this tensor's dtype by default."
    setattr(Tensor, function, method)


for _factory in (zeros, ones, empty, full, empty_strided):
    _new(f"new_{_factory.__name__}", _factory)


@method("new_tensor")
def _new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None,
                requires_grad: bool = False, layout: Any = None, pin_memory: bool = False
                ) -> Tensor:
    """A new tensor with a copy of ``data``, of this tensor's dtype by default."""
    meta = place("new_tensor", dtypes.CPU if device is None else device, layout)
    if isinstance(data, Tensor):
        warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
             ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
             "tensor.new_tensor(sourceTensor).")
    kind = self.dtype if dtype is None else dtype_for("new_tensor", dtype)
    return beside(self, leaf(data_of(data, kind), requires_grad, "new_tensor", meta))
