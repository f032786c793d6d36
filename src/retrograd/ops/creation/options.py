"""What factories share: dtype, device, layout, size and ``out``."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...backend.interface import library_of
from ...base import dtypes, layouts
from ...base.errors import MOST_DIMS, not_allocated, too_many_dims, wrong_type
from ...core.extensions import TRACED_TYPES
from ...core.interned import form_of
from ...core.out_argument import refuse_derivative, store_out
from ...core.out_rules import Out
from ...core.tensor import Tensor, wrap, wrap_any


def leaf(data: Any, requires_grad: Any = False, function: str = "tensor",
         meta: bool = False) -> Tensor:
    """A new tensor on ``data``, or like it and without memory."""
    if meta:
        return on_meta(data, None, requires_grad)
    out = wrap_any(data) if type(data) in TRACED_TYPES else wrap(data)
    out._form = form_of(data)
    if requires_grad is not False:
        if requires_grad is not True:
            raise wrong_type(function, "requires_grad", None, "bool", requires_grad)
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
        raise wrong_type(function, "dtype", None, "torch.dtype", dtype)
    return named


def place(function: str, device: Any, layout: Any) -> bool:
    """Whether a factory is to make a tensor without memory; raises if there is no such place."""
    if layout is not None:
        layouts.check_layout(layout, function)
    if device is None:
        device = dtypes.DEFAULT_DEVICE.get()
        if device is None:
            return False
    return device is not dtypes.CPU and dtypes.is_meta(device, function)


def blank(shape: tuple[int, ...], np_dtype: Any) -> Any:
    """An array of one element that stands for all those of ``shape``."""
    return xp.broadcast_to(xp.zeros((), np_dtype), shape)


def on_meta(data: Any, strides: tuple[int, ...] | None, requires_grad: Any) -> Tensor:
    """A tensor without memory, shaped as ``data``."""
    from .meta import MetaTensor

    return MetaTensor.like(data, strides).requires_grad_(requires_grad)


def out_dtype(function: str, dtype: Any, out: Tensor | None, otherwise: Any = None
              ) -> dtypes.dtype:
    """The dtype to compute in, which an ``out=`` tensor decides."""
    if out is None:
        return dtype_for(function, dtype, otherwise)
    if not isinstance(out, Tensor):
        raise wrong_type(function, "out", None, "Tensor", out)
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {dtype.alias} does not match dtype of out parameter "
                           f"({out.dtype.alias})")
    return out.dtype


def settle(data: Any, out: Tensor | None, requires_grad: Any, function: str,
           meta: bool = False) -> Tensor:
    """A new tensor, or ``out`` resized and written to."""
    if out is None:
        return leaf(data, requires_grad, function, meta)
    if out.is_meta:
        out._replace_data(blank(data.shape, data.dtype))
        return out
    refuse_derivative(function, [out])
    return store_out(function, library_of(data).cast(data, out._data.dtype), out, _IN_SILENCE)


_IN_SILENCE = Out(silent=True)


def size_from(function: str, given: tuple[Any, ...]) -> tuple[int, ...]:
    """``zeros(2, 3)`` and ``zeros((2, 3))`` alike, as a tuple of ints."""
    if len(given) == 1:
        if isinstance(given[0], (tuple, list)):
            given = tuple(given[0])
        elif type(given[0]) is not int and not _is_whole(given[0]):
            raise wrong_type(function, "size", 1, "tuple of ints", given[0])
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
    if len(shape) > MOST_DIMS:
        raise too_many_dims(function, len(shape))
    return tuple(shape)


def allocated(make: Any, shape: tuple[int, ...], dtype: Any, *value: Any) -> Any:
    """A new array, or the error of memory that is not there."""
    try:
        return make(shape, *value, dtype)
    except (MemoryError, ValueError):
        raise not_allocated(shape, dtype.itemsize) from None


def _is_whole(n: Any) -> bool:
    if isinstance(n, Tensor):
        return n.ndim == 0 and dtypes.category(n.dtype) == 1
    return hasattr(n, "__index__") and not isinstance(n, bool)


def _negative_size(function: str, shape: Any) -> RuntimeError:
    first = next(n for n in shape if n < 0)
    if function == "zeros":
        return RuntimeError("zeros: Dimension size must be non-negative.")
    return RuntimeError(f"Trying to create tensor with negative dimension {first}: {list(shape)}")


def is_plain_size(size: tuple[Any, ...]) -> bool:
    """Whether a size is given in ints, and the default device is as ever."""
    for n in size:
        if n.__class__ is not int or n < 0:
            return False
    return 0 < len(size) < 64 and _default_device() is None


_default_device = dtypes.DEFAULT_DEVICE.get


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
