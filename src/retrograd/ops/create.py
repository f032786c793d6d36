"""Making tensors, copying them and changing their dtype."""

from __future__ import annotations

import math
import warnings
from itertools import chain
from typing import Any

from .. import dtypes, layouts
from ..backend import create as make
from ..backend import numpy as xp
from ..op import PUBLIC, Array, linear, op, publish
from ..tensor import Size, Tensor, fill, wrap

# ---------------------------------------------------------------- data of every kind

_NUMBERS = {float, int, bool, complex}
_SEQUENCES = (list, tuple, range, Size, bytearray)


def data_of(value: Any, dtype: dtypes.dtype | None) -> Any:
    """A new array holding ``value``, which is anything that ``tensor()`` accepts."""
    if isinstance(value, (list, tuple)):
        found = _from_plain_lists(value, dtype)
        return _from_any_sequence(value, dtype) if found is None else found
    if type(value) in _NUMBERS:
        kind = dtype or dtypes.of_scalar(value)
        return _numbers_as([value], kind).reshape(())
    if isinstance(value, Tensor):
        data = value._data
        return xp.array(data, dtype=dtype.np if dtype else None)
    if isinstance(value, xp.ndarray):
        return _from_ndarray(value, dtype)
    if isinstance(value, xp.generic):
        kind = dtype or dtypes.from_numpy_dtype(value.dtype)
        return _numbers_as([value], kind).reshape(())
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if isinstance(value, _SEQUENCES):
        return _from_any_sequence(value, dtype)
    if hasattr(value, "__array__") and not isinstance(value, type):
        return _from_ndarray(xp.asarray(value), dtype)
    if _is_sequence(value):
        return _from_any_sequence(value, dtype)
    if dtype is not None and value is None:
        raise TypeError("must be real number, not NoneType")
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") \
        and not hasattr(value, "keys") and not isinstance(value, (str, bytes, type))


def _from_ndarray(array: Any, dtype: dtypes.dtype | None) -> Any:
    kind = dtypes.from_numpy_dtype(array.dtype.newbyteorder("="))
    array = make.shared(array)
    token = xp.hush()
    try:
        return array.astype((dtype or kind).np, order="C")
    finally:
        xp.unhush(token)


def _from_plain_lists(value: Any, dtype: dtypes.dtype | None) -> Any:
    """Rectangular lists of Python numbers, level by level; None for anything else."""
    level, shape = value, [len(value)]
    while True:
        kinds = set(map(type, level))
        if kinds <= _NUMBERS:
            break
        if not kinds <= {list, tuple}:
            return None
        lengths = set(map(len, level))
        if len(lengths) != 1:
            return None
        shape.append(lengths.pop())
        level = list(chain.from_iterable(level))
    if dtype is None:
        dtype = (dtypes.get_default_dtype() if not kinds else
                 dtypes.get_default_dtype().to_complex() if complex in kinds else
                 dtypes.get_default_dtype() if float in kinds else
                 dtypes.int64 if int in kinds else dtypes.bool)
    return _numbers_as(level, dtype).reshape(shape)


def _numbers_as(numbers: Any, kind: dtypes.dtype) -> Any:
    """A flat array of Python numbers, converted with PyTorch's checks."""
    try:
        if kind.is_floating_point:
            return _floats_as(numbers, kind)
        if kind is dtypes.bool:
            return xp.array([bool(n) for n in numbers], dtype=xp.BOOL)
        if kind.is_complex:
            return xp.array(numbers, dtype=kind.np)
        return _integers_as(numbers, kind)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None


def _floats_as(numbers: Any, kind: dtypes.dtype) -> Any:
    token = xp.hush()
    try:
        return xp.array(numbers, dtype=kind.np)
    except (TypeError, ValueError, OverflowError):
        for n in numbers:
            float(n)  # words the error: "must be real number, not complex"
        raise
    finally:
        xp.unhush(token)


def _integers_as(numbers: Any, kind: dtypes.dtype) -> Any:
    whole = [n if type(n) is int else _as_integer(n, kind) for n in numbers]
    if kind is dtypes.int64:
        return xp.array(whole, dtype=xp.INT64)
    if kind is dtypes.uint64:
        if any(n < 0 for n in whole):
            raise TypeError("can't convert negative int to unsigned")
        return xp.array(whole, dtype=kind.np)
    limits = dtypes.iinfo(kind)
    # A negative number wraps around in an unsigned type, as far as its own size goes.
    lowest = limits.min if kind.is_signed else -limits.max
    if whole and not (lowest <= min(whole) and max(whole) <= limits.max):
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")
    return make.integers_from(whole, kind.np)


def _as_integer(number: Any, kind: dtypes.dtype) -> int:
    if isinstance(number, float) and not isinstance(number, xp.generic):
        if not math.isfinite(number):
            raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")
        return int(number)
    try:
        return number.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"'{_full_name(number)}' object cannot be interpreted as an integer"
                        ) from None


def _full_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _from_any_sequence(value: Any, dtype: dtypes.dtype | None) -> Any:
    """Sequences that hold tensors, arrays or NumPy scalars, and the wording of their errors."""
    if any(type(item) is xp.ndarray for item in value) and len(value) > 1:
        warnings.warn("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please "
                      "consider converting the list to a single numpy.ndarray with numpy.array() "
                      "before converting to a tensor.", UserWarning, stacklevel=4)
    shape = _shape_of(value)
    kind = dtype or _inferred(value)
    numbers: list[Any] = []
    _collect(value, shape, 0, numbers)
    return _numbers_as(numbers, kind).reshape(shape)


def _shape_of(value: Any) -> tuple[int, ...]:
    """The shape of nested sequences, by their first elements."""
    shape: list[int] = []
    while _is_sequence(value) and not (isinstance(value, Tensor) and not value.ndim) \
            and not isinstance(value, xp.generic):
        if isinstance(value, Tensor) and value.numel() == 1:
            break
        if not getattr(value, "shape", (1,)):
            break
        length = len(value)
        shape.append(length)
        if not length:
            break
        value = value[0]
        if isinstance(value, str):
            raise ValueError(f"too many dimensions '{type(value).__name__}'")
    return tuple(shape)


def _inferred(value: Any) -> dtypes.dtype:
    """The dtype of nested sequences: that of the widest number in them."""
    if isinstance(value, Tensor):
        return value.dtype
    if isinstance(value, (xp.ndarray, xp.generic)):
        return dtypes.from_numpy_dtype(value.dtype)
    if isinstance(value, (bool, int, float, complex)):
        return dtypes.of_scalar(value)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if not _is_sequence(value):
        raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")
    found: dtypes.dtype | None = None
    for item in value:
        kind = _inferred(item)
        found = kind if found is None else dtypes.promote_types(found, kind)
    return found or dtypes.get_default_dtype()


def _collect(value: Any, shape: tuple[int, ...], dim: int, into: list[Any]) -> None:
    if dim == len(shape):
        if isinstance(value, Tensor):
            if value.numel() != 1:
                raise ValueError("only one element tensors can be converted to Python scalars")
            value = value.item()
        into.append(value)
        return
    if isinstance(value, Tensor) and value.ndim:
        raise ValueError("only one element tensors can be converted to Python scalars")
    if not _is_sequence(value):
        raise TypeError("not a sequence")
    if len(value) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got "
                         f"{len(value)})")
    for item in value:
        _collect(item, shape, dim + 1, into)


# ---------------------------------------------------------------- finishing touches


def leaf(data: Any, requires_grad: bool = False) -> Tensor:
    """A new tensor on ``data``."""
    out = wrap(data)
    if requires_grad:
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


def size_from(function: str, given: tuple[Any, ...]) -> tuple[int, ...]:
    """``zeros(2, 3)`` and ``zeros((2, 3))`` alike, as a tuple of ints."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    shape = []
    for position, n in enumerate(given):
        if type(n) is not int:
            n = _whole_size(function, n, position)
        shape.append(n)
    for n in shape:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {shape}")
    return tuple(shape)


def _whole_size(function: str, n: Any, position: int) -> int:
    try:
        if isinstance(n, (float, str)):
            raise TypeError
        return int(n.__index__())
    except (AttributeError, TypeError):
        raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints, but "
                        f"found element of type {type(n).__name__} at pos {position}") from None


def settle(data: Any, out: Tensor | None, requires_grad: bool, function: str) -> Tensor:
    """A new tensor, or ``out`` written to."""
    if out is None:
        return leaf(data, requires_grad)
    from ..interpret import store_out

    return store_out(function, data, out)


# ---------------------------------------------------------------- from data


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of ``data``."""
    if device is not None:
        dtypes.as_device(device)
    if isinstance(data, Tensor):
        warnings.warn("To copy construct from a tensor, it is recommended to use "
                      "sourceTensor.detach().clone() or sourceTensor.detach().clone()."
                      "requires_grad_(True), rather than torch.tensor(sourceTensor).",
                      UserWarning, stacklevel=2)
    out = wrap(data_of(data, None if dtype is None else dtype_for("tensor", dtype)))
    if requires_grad:
        require_grad(out)
    return out


# ---------------------------------------------------------------- filled


def _filled(function: str, fill_with: Any) -> Any:
    def factory(*size: Any, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
                device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                memory_format: Any = None, **named: Any) -> Tensor:
        if named:
            size = (named.pop("size"),) if "size" in named and not size else size
            named.pop("names", None)
            if named:
                raise TypeError(f"{function}() got an unexpected keyword argument "
                                f"'{next(iter(named))}'")
        if device is not None:
            dtypes.as_device(device)
        if layout is not None:
            layouts.check_layout(layout, function)
        kind = dtype_for(function, dtype, None if out is None else out.dtype)
        return settle(fill_with(size_from(function, size), kind.np), out, requires_grad, function)

    factory.__name__ = factory.__qualname__ = function
    return factory


zeros = _filled("zeros", xp.zeros)
zeros.__doc__ = "A tensor of zeros."
ones = _filled("ones", xp.ones)
ones.__doc__ = "A tensor of ones."
empty = _filled("empty", xp.empty)
empty.__doc__ = "A tensor whose values are not set."


def _like(function: str, fill_with: Any) -> Any:
    def factory(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None,
                pin_memory: bool = False, requires_grad: bool = False,
                memory_format: Any = None) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not "
                            f"{type(input).__name__}")
        if device is not None:
            dtypes.as_device(device)
        kind = input.dtype if dtype is None else dtype_for(function, dtype)
        data = blank_like(input, kind, memory_format)
        if fill_with is not None:
            data.fill(fill_with)
        return leaf(data, requires_grad)

    factory.__name__ = factory.__qualname__ = function
    return factory


def blank_like(input: Tensor, kind: dtypes.dtype, memory_format: Any = None) -> Any:
    """An uninitialised array in the shape and memory order of ``input``."""
    data = input._data
    shape = data.shape
    if memory_format is None or memory_format is layouts.preserve_format:
        return make.laid_out_like(data, shape, kind.np)
    return make.empty_in_order(shape, layouts.axis_order(len(shape), memory_format), kind.np)


zeros_like = _like("zeros_like", 0)
zeros_like.__doc__ = "A tensor of zeros shaped as ``input``."
ones_like = _like("ones_like", 1)
ones_like.__doc__ = "A tensor of ones shaped as ``input``."
empty_like = _like("empty_like", None)
empty_like.__doc__ = "A tensor shaped as ``input`` whose values are not set."


def arange(start: Any, end: Any = None, step: Any = 1, *, out: Tensor | None = None,
           dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
           requires_grad: bool = False) -> Tensor:
    """Numbers from ``start`` up to but without ``end``, ``step`` apart."""
    if end is None:
        start, end = 0, start
    if device is not None:
        dtypes.as_device(device)
    start, end, step = _number(start), _number(end), _number(step)
    exact = not any(isinstance(n, float) for n in (start, end, step))
    kind = dtype_for("arange", dtype, out.dtype if out is not None else
                     dtypes.int64 if exact else dtypes.get_default_dtype())
    if dtypes.category(kind) < 2:
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) / step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = -((start - end) // step) if isinstance(step, int) and isinstance(start, int) and \
        isinstance(end, int) else math.ceil((end - start) / step)
    data = make.arange(start, count, step, kind.np)
    return settle(data, out, requires_grad, "arange")


def _number(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.item()
    if isinstance(value, xp.generic):
        return value.item()
    return value


for _function in (tensor, zeros, ones, empty, zeros_like, ones_like, empty_like, arange):
    publish(_function, _function.__name__, method=False)


# ---------------------------------------------------------------- copies and casts


@linear(any_dtype=True)
def clone(input: Array, *, memory_format: Any = None) -> Any:
    """A copy with memory of its own; gradients flow through it."""
    return xp.copied(input)


clone.vjp(input=lambda g: g)


@linear(function=None, method=False, node="ToCopyBackward0", any_dtype=True)
def _to_dtype(input: Array, dtype: Any) -> Any:
    return xp.cast(input, dtype.np) if input.dtype != dtype.np else xp.copied(input)


_to_dtype.vjp(input=lambda g, like: cast_gradient(g, like.dtype))


def cast_gradient(g: Any, dtype: Any) -> Any:
    """A gradient in the (backend's) dtype of what it is the gradient of."""
    if isinstance(g, Tensor):
        return g if g._data.dtype == dtype else _to_dtype(g, dtypes.from_numpy_dtype(dtype))
    return xp.cast(g, dtype)


__all__ = ["PUBLIC", "data_of", "fill", "op"]
