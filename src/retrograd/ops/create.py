"""Making tensors: from data, filled with one value, shaped as others, and ranges."""

from __future__ import annotations

import math
from typing import Any

from ..backend import create as make
from ..backend import xp
from ..base import dtypes, layouts
from ..base.errors import type_name
from ..base.warning import warn
from ..core.general import TRACED_TYPES, wrap_any
from ..core.op import publish
from ..core.tensor import NATIVE, Tensor, wrap
from .convert import fits
from .from_data import data_of, full_name

# ---------------------------------------------------------------- options of factories


def leaf(data: Any, requires_grad: Any = False, function: str = "tensor") -> Tensor:
    """A new tensor on ``data``."""
    out = wrap_any(data) if type(data) in TRACED_TYPES else wrap(data)
    if requires_grad is not False:
        if requires_grad is not True:
            raise TypeError(f"{function}(): argument 'requires_grad' must be bool, not "
                            f"{type(requires_grad).__name__}")
        require_grad(out)
    return out


def require_grad(tensor: Tensor) -> None:
    kind = tensor.dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    tensor.requires_grad = True


def dtype_for(function: str, dtype: Any, otherwise: Any = None) -> dtypes.dtype:
    """The dtype a factory was asked for, or else its own choice."""
    if dtype is None:
        return otherwise or dtypes.get_default_dtype()
    if type(dtype) is dtypes.dtype:
        return dtype
    named = dtypes.PYTHON_TYPES.get(dtype) if isinstance(dtype, type) else None
    if named is None:
        raise TypeError(f"{function}(): argument 'dtype' must be torch.dtype, not "
                        f"{type(dtype).__name__}")
    return named


def place(function: str, device: Any, layout: Any) -> None:
    """Raise unless a factory was asked for the one place and layout there is."""
    if device is not None:
        dtypes.as_device(device, function)
    if layout is not None:
        layouts.check_layout(layout, function)


def out_dtype(function: str, dtype: Any, out: Tensor | None, otherwise: Any = None
              ) -> dtypes.dtype:
    """The dtype to compute in, which an ``out=`` tensor decides."""
    if out is None:
        return dtype_for(function, dtype, otherwise)
    if not isinstance(out, Tensor):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {dtype.alias} does not match dtype of out parameter "
                           f"({out.dtype.alias})")
    return out.dtype


def settle(data: Any, out: Tensor | None, requires_grad: Any, function: str) -> Tensor:
    """A new tensor, or ``out`` resized and written to."""
    if out is None:
        return leaf(data, requires_grad, function)
    if out._data.shape == data.shape:
        out._array()[...] = data
    else:
        out._replace_data(data)
    out._bump_version()
    return out


def size_from(function: str, given: tuple[Any, ...]) -> tuple[int, ...]:
    """``zeros(2, 3)`` and ``zeros((2, 3))`` alike, as a tuple of ints."""
    if len(given) == 1:
        if isinstance(given[0], (tuple, list)):
            given = tuple(given[0])
        elif type(given[0]) is not int and not _is_whole(given[0]):
            raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints, "
                            f"not {type(given[0]).__name__}")
    shape = []
    for position, n in enumerate(given):
        if type(n) is not int:
            if not _is_whole(n):
                raise TypeError(
                    f"{function}(): argument 'size' failed to unpack the object at pos "
                    f'{position + 1} with error "type must be tuple of ints,but got '
                    f'{type(n).__name__}"')
            n = int(n.__index__())
        if n < 0:
            raise _negative_size(function, given)
        shape.append(n)
    return tuple(shape)


def _is_whole(n: Any) -> bool:
    if isinstance(n, Tensor):
        return n.ndim == 0 and dtypes.category(n.dtype) == 1
    return hasattr(n, "__index__") and not isinstance(n, bool)


def _negative_size(function: str, shape: Any) -> RuntimeError:
    first = next(n for n in shape if n < 0)
    if function == "zeros":
        return RuntimeError("zeros: Dimension size must be non-negative.")
    return RuntimeError(f"Trying to create tensor with negative dimension {first}: {list(shape)}")


def size_argument(function: str, size: tuple[Any, ...], named: dict[str, Any]) -> tuple[int, ...]:
    """The size, spread out or as ``size=``; refuses other keywords."""
    if named:
        if "size" in named and not size:
            size = (named.pop("size"),)
        named.pop("names", None)
        if named:
            raise TypeError(f"{function}() got an unexpected keyword argument "
                            f"'{next(iter(named))}'")
    elif not size:
        raise TypeError(f'{function}() missing 1 required positional arguments: "size"')
    return size_from(function, size)


# ---------------------------------------------------------------- from data


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of ``data``."""
    if device is not None:
        dtypes.as_device(device, "tensor")
    if isinstance(data, Tensor):
        warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
             ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
             "torch.tensor(sourceTensor).")
    return leaf(data_of(data, None if dtype is None else dtype_for("tensor", dtype)),
                requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, on the same memory where that is possible."""
    if device is not None:
        dtypes.as_device(device, "as_tensor")
    kind = None if dtype is None else dtype_for("as_tensor", dtype)
    if isinstance(data, Tensor):
        return data if kind is None else data.to(kind)
    if isinstance(data, xp.ndarray):
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
    if isinstance(obj, xp.ndarray):
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
    if not isinstance(ndarray, xp.ndarray):
        raise TypeError(f"expected np.ndarray (got {full_name(ndarray)})")
    if not ndarray.flags.writeable:
        warn("The given NumPy array is not writable, and PyTorch does not support non-writable "
             "tensors. This means writing to this tensor will result in undefined behavior. You "
             "may want to copy the array to protect its data or make it writable before "
             "converting it to a tensor. This type of warning will be suppressed for the rest of "
             "this program.", once=True)
    dtypes.from_numpy_dtype(ndarray.dtype.newbyteorder("="))
    return leaf(make.shared(ndarray))


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
    return leaf(make.from_buffer(buffer, kind.np, count, offset), requires_grad, "frombuffer")


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on memory that another library offers through DLPack."""
    dtypes.as_device(device, "from_dlpack")
    if isinstance(ext_tensor, Tensor):
        if ext_tensor.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        array = ext_tensor._array()
    else:
        array = make.from_dlpack(ext_tensor)
    return leaf(array.copy() if copy else array)


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor's memory, to be read once by another library."""
    if not isinstance(tensor, Tensor):
        raise TypeError("_to_dlpack(): argument 'data' (position 1) must be Tensor, not "
                        f"{type(tensor).__name__}")
    return tensor.detach()._array().__dlpack__()


# ---------------------------------------------------------------- filled


def _filled(function: str, fill_with: Any, doc: str) -> Any:
    """A factory ``function(*size)`` of arrays made by ``fill_with(shape, dtype)``."""

    def factory(*size: Any, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
                device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                memory_format: Any = None, **named: Any) -> Tensor:
        place(function, device, layout)
        kind = out_dtype(function, dtype, out)
        data = fill_with(size_argument(function, size, named), kind.np)
        return settle(data, out, requires_grad, function)

    factory.__name__ = factory.__qualname__ = function
    factory.__doc__ = doc
    return factory


zeros = _filled("zeros", xp.zeros, "A tensor of zeros.")
ones = _filled("ones", xp.ones, "A tensor of ones.")
empty = _filled("empty", xp.empty, "A tensor whose values are not set.")


def full(size: Any, fill_value: Any, *, out: Tensor | None = None, dtype: Any = None,
         layout: Any = None, device: Any = None, pin_memory: bool = False,
         requires_grad: bool = False) -> Tensor:
    """A tensor filled with one value, whose type decides the dtype."""
    place("full", device, layout)
    value = _fill_value("full", fill_value)
    kind = out_dtype("full", dtype, out, dtypes.of_scalar(value))
    if not isinstance(size, (tuple, list)):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not "
                        f"{type(size).__name__}")
    return settle(_full_array("full", size, value, kind), out, requires_grad, "full")


def _fill_value(function: str, value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, xp.generic):
        return value.item()
    if isinstance(value, Tensor) and not value.ndim and not value.requires_grad:
        return value.item()
    raise TypeError(f"{function}(): argument 'fill_value' (position 2) must be Number, not "
                    f"{type(value).__name__}")


def _full_array(function: str, size: Any, value: Any, kind: dtypes.dtype) -> Any:
    fits(value, kind)
    return xp.full(size_from(function, (size,)), make.number_as(value, kind.np), kind.np)


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, layout: Any = None,
                  pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """A zero-dim tensor of the default dtype."""
    place("scalar_tensor", device, layout)
    kind = dtype_for("scalar_tensor", dtype)
    return leaf(make.number_as(_fill_value("scalar_tensor", s), kind.np), requires_grad)


def empty_strided(size: Any, stride: Any, *, dtype: Any = None, layout: Any = None,
                  device: Any = None, requires_grad: bool = False, pin_memory: bool = False
                  ) -> Tensor:
    """A tensor with given strides whose values are not set."""
    place("empty_strided", device, layout)
    kind = dtype_for("empty_strided", dtype)
    shape, strides = size_from("empty_strided", (tuple(size),)), tuple(stride)
    if len(shape) != len(strides):
        raise RuntimeError(f"dimensionality of sizes ({len(shape)}) must match dimensionality of "
                           f"strides ({len(strides)})")
    if any(s < 0 for s in strides):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and "
                           f"strides={list(strides)}")
    memory = make.memory_for(shape, strides, kind.np)
    return leaf(xp.as_strided(memory, shape, strides, 0), requires_grad)


# ---------------------------------------------------------------- shaped as another tensor


def overridden(function: Any, input: Any, *args: Any, **named: Any) -> Any:
    """What ``input``'s class makes of the call, if it has a say; NotImplemented otherwise."""
    from ..base.modes import MODE
    from ..core.general import overriding

    if type(input) in NATIVE or not MODE.get().override:
        return NotImplemented
    found = overriding((input, *args))
    if not found:
        return NotImplemented
    from ..overrides import handle

    kept = {k: v for k, v in named.items() if v is not None and v is not False}
    return handle(function, found, (input, *args), kept)


def blank_like(function: str, input: Any, dtype: Any, layout: Any, device: Any,
               memory_format: Any) -> Any:
    """An uninitialised array in the shape and memory order of ``input``."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not "
                        f"{type(input).__name__}")
    place(function, device, layout)
    kind = input.dtype if dtype is None else dtype_for(function, dtype)
    data = input._data
    shape = data.shape
    if memory_format is None or memory_format is layouts.preserve_format:
        return make.laid_out_like(data, shape, kind.np)
    if not isinstance(memory_format, layouts.memory_format):
        raise TypeError(f"{function}(): argument 'memory_format' must be torch.memory_format, not "
                        f"{type(memory_format).__name__}")
    return make.empty_in_order(shape, layouts.axis_order(len(shape), memory_format), kind.np)


def beside(input: Tensor, made: Tensor) -> Tensor:
    """A tensor made after the model of ``input``; in vmap, one for each value of the batch."""
    if type(input)._is_traced:  # type: ignore[attr-defined]
        from ..transforms import batched_like

        return batched_like(input, made)
    return made


def _like(function: str, value: Any, doc: str) -> Any:
    """A factory ``function(input)`` of tensors shaped as ``input`` and filled with ``value``."""

    def factory(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None,
                pin_memory: bool = False, requires_grad: bool = False,
                memory_format: Any = None) -> Tensor:
        if type(input) is not Tensor:
            handled = overridden(factory, input, dtype=dtype, layout=layout, device=device,
                                 requires_grad=requires_grad, memory_format=memory_format)
            if handled is not NotImplemented:
                return handled  # type: ignore[no-any-return]
        data = blank_like(function, input, dtype, layout, device, memory_format)
        if value is not None:
            data.fill(value)
        return beside(input, leaf(data, requires_grad, function))

    factory.__name__ = factory.__qualname__ = function
    factory.__doc__ = doc
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
    fits(value, dtypes.from_numpy_dtype(data.dtype))
    data.fill(make.number_as(value, data.dtype))
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
                *args, dtype=self.dtype if dtype is None else dtype, device=device, layout=layout,
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


def _new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None,
                requires_grad: bool = False, layout: Any = None, pin_memory: bool = False
                ) -> Tensor:
    """A new tensor with a copy of ``data``, of this tensor's dtype by default."""
    place("new_tensor", device, layout)
    if isinstance(data, Tensor):
        warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
             ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
             "tensor.new_tensor(sourceTensor).")
    kind = self.dtype if dtype is None else dtype_for("new_tensor", dtype)
    return leaf(data_of(data, kind), requires_grad, "new_tensor")


Tensor.new_tensor = _new_tensor  # type: ignore[attr-defined]


# ---------------------------------------------------------------- ranges


def _number(function: str, argument: str, position: int, value: Any) -> Any:
    if isinstance(value, (Tensor, xp.generic)):
        value = value.item()
    if isinstance(value, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    if not isinstance(value, (int, float)):
        raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be "
                        f"Number, not {type(value).__name__}")
    return value


def _refuse_kinds(kernel: str, kind: dtypes.dtype, refused: tuple[dtypes.dtype, ...]) -> None:
    if kind in refused:
        raise NotImplementedError(f'"{kernel}" not implemented for \'{kind.alias}\'')


_ARANGE = (
    "(Number end, *, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, "
    "torch.device device = None, bool pin_memory = False, bool requires_grad = False)",
    "(Number start, Number end, *, torch.dtype dtype = None, torch.layout layout = None, "
    "torch.device device = None, bool pin_memory = False, bool requires_grad = False)",
    "(Number start, Number end, Number step = 1, *, Tensor out = None, torch.dtype dtype = None, "
    "torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool "
    "requires_grad = False)",
)


def arange(*args: Any, start: Any = None, end: Any = None, step: Any = None,
           out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
           pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """``arange(end)``, ``arange(start, end, step=1)``: numbers up to but without ``end``."""
    if len(args) > 3 or (not args and end is None):
        got = ", ".join(type_name(a) for a in args)
        raise TypeError(f"arange() received an invalid combination of arguments - got ({got}), but "
                        "expected one of:\n" + "".join(f" * {s}\n" for s in _ARANGE))
    if len(args) == 1 and end is None:
        end = _number("arange", "end", 1, args[0])
    else:
        given = [*args, None, None, None]
        start = given[0] if args else start
        end = given[1] if len(args) > 1 else end
        step = given[2] if len(args) > 2 else step
        end = _number("arange", "end", 2, end)
    start = 0 if start is None else _number("arange", "start", 1, start)
    step = 1 if step is None else _number("arange", "step", 3, step)
    place("arange", device, layout)
    exact = not any(isinstance(n, float) for n in (start, end, step))
    kind = out_dtype("arange", dtype, out,
                     dtypes.int64 if exact else dtypes.get_default_dtype())
    _refuse_kinds("arange_cpu", kind, (dtypes.bool, dtypes.complex64, dtypes.complex128))
    count = _arange_count(start, end, step, kind)
    data = make.arange(start, count, step, kind.np)
    if out is not None and out.numel() != count and out.numel():
        warn(f"The number of elements in the out tensor of shape {list(out.shape)} is "
             f"{out.numel()} which does not match the computed number of elements {count}. Note "
             "that this may occur as a result of rounding error. The out tensor will be resized "
             f"to a tensor of shape ({count},).")
    return settle(data, out, requires_grad, "arange")


def _arange_count(start: Any, end: Any, step: Any, kind: dtypes.dtype) -> int:
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if dtypes.category(kind) == 1:
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (step > 0) != (end >= start) and end != start:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return -((start - end) // step)
    count = math.ceil((end - start) / step)
    if count >= 1 << 63:
        raise RuntimeError("invalid size, possible overflow?")
    return count


def range(start: Any = 0, end: Any = None, step: Any = 1, *, out: Tensor | None = None,
          dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
          requires_grad: bool = False) -> Tensor:
    """Numbers from ``start`` up to and with ``end``; deprecated in favour of :func:`arange`."""
    warn("torch.range is deprecated and will be removed in a future release because its behavior "
         "is inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
         "values in [start, end).")
    if end is None:
        start, end = 0, start
    place("range", device, layout)
    kind = out_dtype("range", dtype, out)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) / step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = math.floor((end - start) / step) + 1
    return settle(make.arange(start, count, step, kind.np), out, requires_grad, "range")


def _spaced(function: str, start: Any, end: Any, steps: Any, dtype: Any, out: Any
            ) -> tuple[Any, Any, int, dtypes.dtype]:
    """The checked arguments of :func:`linspace` and :func:`logspace`."""
    ends = []
    for name, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor):
            if value.ndim:
                raise RuntimeError(f"{function} only supports 0-dimensional start and end tensors, "
                                   f"but got {name} with {value.ndim} dimension(s).")
            value = value.item()
        ends.append(value.item() if isinstance(value, xp.generic) else value)
    if not _is_whole(steps):
        given = (start, end) if steps is None else (start, end, steps)
        raise TypeError(f"{function}() received an invalid combination of arguments - got "
                        f"({', '.join(type_name(value) for value in given)})")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    natural = dtypes.get_default_dtype()
    if any(isinstance(value, complex) for value in ends):
        natural = natural.to_complex()
        if dtype is not None and not dtype.is_complex:
            c_name = "float" if natural is dtypes.complex64 else "double"
            raise RuntimeError(f"torch.{function}(): inferred dtype c10::complex<{c_name}> can't "
                               f"be safely cast to passed dtype {dtype.alias}")
    kind = out_dtype(function, dtype, out, natural)
    _refuse_kinds(f"{function}_cpu", kind, (dtypes.bool,))
    return ends[0], ends[1], int(steps), kind


def linspace(start: Any, end: Any, steps: Any = None, *, out: Tensor | None = None,
             dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
             requires_grad: bool = False) -> Tensor:
    """``steps`` evenly spaced numbers from ``start`` to ``end``, both included."""
    place("linspace", device, layout)
    start, end, steps, kind = _spaced("linspace", start, end, steps, dtype, out)
    return settle(make.linspace(start, end, steps, kind.np), out, requires_grad, "linspace")


def logspace(start: Any, end: Any, steps: Any = None, base: float = 10.0, *,
             out: Tensor | None = None, dtype: Any = None, layout: Any = None,
             device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """``base`` to the power of ``steps`` evenly spaced exponents."""
    place("logspace", device, layout)
    start, end, steps, kind = _spaced("logspace", start, end, steps, dtype, out)
    with xp.quiet():
        data = make.logspace(start, end, steps, base, kind.np)
    return settle(data, out, requires_grad, "logspace")


def eye(n: int, m: int | None = None, *, out: Tensor | None = None, dtype: Any = None,
        layout: Any = None, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False) -> Tensor:
    """A matrix with ones on its diagonal."""
    place("eye", device, layout)
    columns = n if m is None else m
    for position, (name, value) in enumerate((("n", n), ("m", columns)), 1):
        if not _is_whole(value):
            raise TypeError(f"eye(): argument '{name}' (position {position}) must be int, not "
                            f"{type(value).__name__}")
        if value < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {value}")
    kind = out_dtype("eye", dtype, out)
    return settle(make.eye(n, columns, kind.np), out, requires_grad, "eye")


for _function in (
        tensor, as_tensor, asarray, from_numpy, frombuffer, from_dlpack, to_dlpack, zeros, ones,
        empty, full, scalar_tensor, empty_strided, zeros_like, ones_like, empty_like, full_like,
        arange, range, linspace, logspace, eye):
    publish(_function, _function.__name__, method=False)
