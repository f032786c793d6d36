"""Making tensors, copying them and changing their dtype."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..backend import numpy as xp
from ..graph import LEAF
from ..op import PUBLIC, Array, linear, publish
from ..tensor import Size, Tensor, fill, set_requires_grad, wrap


def _data_of(value: Any, dtype: Any) -> Any:
    """A new array holding ``value``, which is anything that ``tensor()`` accepts."""
    if isinstance(value, Tensor):
        data = value._data
        return xp.array(data, dtype=dtype.np if dtype else None)
    if isinstance(value, (xp.ndarray, xp.generic)):
        kind = dtype or dtypes.from_numpy_dtype(value.dtype)
        return xp.array(value, dtype=kind.np)
    if isinstance(value, (bool, int, float, complex)):
        kind = dtype or dtypes.of_scalar(value)
        return xp.array(value).astype(kind.np) if kind is dtypes.bool else xp.array(
            value, dtype=kind.np)
    if hasattr(value, "__array__") and not isinstance(value, (list, tuple)):
        return _data_of(value.__array__(), dtype)
    if isinstance(value, (list, tuple, range)):
        return _from_sequence(value, dtype)
    if value is None:
        raise RuntimeError("Could not infer dtype of NoneType")
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def _shape_of(value: Any) -> tuple[int, ...]:
    """The shape of nested sequences, by their first elements."""
    shape: list[int] = []
    while isinstance(value, (list, tuple, range)):
        shape.append(len(value))
        if not len(value):
            return tuple(shape)
        value = value[0]
    if isinstance(value, (Tensor, xp.ndarray)):
        shape += list(value.shape)
    return tuple(shape)


def _check_nesting(value: Any, shape: tuple[int, ...], dim: int = 0) -> None:
    if dim == len(shape):
        if isinstance(value, (list, tuple)):
            raise ValueError(f"only one element tensors can be converted to Python scalars, got a "
                             f"sequence of {len(value)} at depth {dim}")
        return
    if not isinstance(value, (list, tuple, range)):
        if isinstance(value, (Tensor, xp.ndarray)):
            return
        raise TypeError(f"new(): expected a sequence of length {shape[dim]} at dim {dim}, got "
                        f"{type(value).__name__}")
    if len(value) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got "
                         f"{len(value)})")
    for item in value:
        _check_nesting(item, shape, dim + 1)


def _scalars(value: Any) -> Any:
    if isinstance(value, (list, tuple, range)):
        for item in value:
            yield from _scalars(item)
    elif isinstance(value, (Tensor, xp.ndarray)):
        yield from _scalars(value.tolist() if value.ndim else [value.item()])
    else:
        yield value


def _inferred(value: Any) -> dtypes.dtype:
    """The dtype of nested sequences: that of the widest number in them."""
    found: dtypes.dtype | None = None
    for item in _typed(value):
        kind = item
        found = kind if found is None else dtypes.promote_types(found, kind)
    return found or dtypes.get_default_dtype()


def _typed(value: Any) -> Any:
    if isinstance(value, (list, tuple, range)):
        for item in value:
            yield from _typed(item)
    elif isinstance(value, Tensor):
        yield value.dtype
    elif isinstance(value, (xp.ndarray, xp.generic)):
        yield dtypes.from_numpy_dtype(value.dtype)
    elif isinstance(value, (bool, int, float, complex)):
        yield dtypes.of_scalar(value)
    elif isinstance(value, str):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    else:
        raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def _from_sequence(value: Any, dtype: Any) -> Any:
    shape = _shape_of(value)
    _check_nesting(value, shape)
    kind = dtype or _inferred(value)
    numbers = [item.item() if isinstance(item, Tensor) else item for item in _scalars(value)]
    if any(isinstance(n, str) for n in numbers):
        raise TypeError("new(): invalid data type 'str'")
    token = xp.hush()
    try:
        if kind is dtypes.bool:
            flat = xp.array([bool(n) for n in numbers], dtype=xp.BOOL)
        elif dtypes.category(kind) == 1:
            if any(isinstance(n, float) and n != n for n in numbers):
                raise ValueError("cannot convert float NaN to integer")
            flat = xp.array([int(n) for n in numbers], dtype=xp.INT64).astype(kind.np)
        else:
            flat = xp.array(numbers, dtype=kind.np)
    finally:
        xp.unhush(token)
    return flat.reshape(shape)


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of ``data``."""
    dtypes.as_device(device)
    if isinstance(data, Tensor):
        import warnings

        warnings.warn("To copy construct from a tensor, it is recommended to use "
                      "sourceTensor.detach().clone() or sourceTensor.detach().clone()."
                      "requires_grad_(True), rather than torch.tensor(sourceTensor).",
                      UserWarning, stacklevel=2)
    out = wrap(_data_of(data, None if dtype is None else dtypes.as_dtype(dtype)))
    if requires_grad:
        set_requires_grad(out, True)
    return out


PUBLIC["torch"]["tensor"] = tensor


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


__all__ = ["LEAF", "Size", "fill", "publish"]
