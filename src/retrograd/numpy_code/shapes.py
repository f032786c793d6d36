"""NumPy's functions of shapes, on tensors, where a view or one op does it; and those that join."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from .operands import (
    axes_of,
    axis_of,
    cast,
    common,
    given,
    numpy,
    operand,
    refused,
    strongly,
    torch,
    values,
)

# ---------------------------------------------------------------- questions


def shape(a: Any) -> tuple[int, ...]:
    return tuple(operand(a).shape)


def ndim(a: Any) -> int:
    return operand(a).ndim


def size(a: Any, axis: Any = None) -> int:
    x = operand(a)
    return math.prod([x.shape[i] for i in axes_of(x, axis)])


def iscomplexobj(x: Any) -> bool:
    return bool(operand(x).dtype.is_complex)


def isrealobj(x: Any) -> bool:
    return not iscomplexobj(x)


# ---------------------------------------------------------------- views


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Tensor:
    x = operand(a)
    shape = (shape,) if not isinstance(shape, (tuple, list)) else tuple(shape)
    if copy:
        x = torch.clone(x)
    if order != "F":
        return torch.reshape(x, shape)
    backwards = torch.reshape(transpose(x), shape[::-1])
    return transpose(backwards)


def ravel(a: Any, order: str = "C") -> Tensor:
    return reshape(a, -1, order)


def transpose(a: Any, axes: Any = None) -> Tensor:
    x = operand(a)
    return torch.permute(x, tuple(range(x.ndim))[::-1] if axes is None else tuple(axes))


def matrix_transpose(x: Any, /) -> Tensor:
    return torch.swapaxes(operand(x), -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    x = operand(a)
    return torch.swapaxes(x, axis_of(x, axis1), axis_of(x, axis2))


def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    x = operand(a)
    return torch.movedim(x, axes_of(x, source), axes_of(x, destination))


def expand_dims(a: Any, axis: Any) -> Tensor:
    x = operand(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = numpy.normalize_axis_tuple(axes, x.ndim + len(axes))
    for axis in sorted(axes):
        x = torch.unsqueeze(x, axis)
    return x


def squeeze(a: Any, axis: Any = None) -> Tensor:
    x = operand(a)
    if axis is None:
        return torch.squeeze(x)
    if any(x.shape[i] != 1 for i in axes_of(x, axis)):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return torch.squeeze(x, axes_of(x, axis))


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Tensor:
    return torch.broadcast_to(operand(array), (shape,) if isinstance(shape, int) else tuple(shape))


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Tensor, ...]:
    return tuple(torch.broadcast_tensors(*map(operand, args)))


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    return torch.diagonal(operand(a), offset, axis1, axis2)


def diag(v: Any, k: int = 0) -> Tensor:
    x = operand(v)
    if x.ndim not in (1, 2):
        raise ValueError("Input must be 1- or 2-d.")
    return torch.diag(x, k)


def _matrix(m: Any) -> Tensor:
    x = operand(m)
    return x if x.ndim > 1 else torch.broadcast_to(x, (x.shape[-1], x.shape[-1]))


def tril(m: Any, k: int = 0) -> Tensor:
    return torch.tril(_matrix(m), k)


def triu(m: Any, k: int = 0) -> Tensor:
    return torch.triu(_matrix(m), k)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
          out: Any = None) -> Any:
    x = operand(a) if dtype is None else cast(operand(a), dtype)
    return given(torch.diagonal(x, offset, axis1, axis2).sum(-1), out, "trace")


# ---------------------------------------------------------------- copies


def copy(a: Any, order: str = "K", subok: bool = False) -> Tensor:
    return torch.clone(operand(a))


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    found = cast(operand(x), dtype)
    return torch.clone(found) if copy and found is x else found


def flip(m: Any, axis: Any = None) -> Tensor:
    x = operand(m)
    return torch.flip(x, axes_of(x, axis))


def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    x = operand(a)
    if axis is None:
        return torch.roll(x, shift)
    shifts, axes = numpy.named("broadcast_arrays")(shift, axis)
    return torch.roll(x, shifts.ravel().tolist(), axes.ravel().tolist())


# ---------------------------------------------------------------- joining


def concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None,
                casting: str = "same_kind") -> Any:
    parts = common(*arrays, dtype=dtype)
    if any(not part.ndim for part in parts) and axis is not None:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if len({part.ndim for part in parts}) > 1 and axis is not None:
        raise ValueError("all the input array dimensions except for the concatenation axis must "
                         "match exactly")
    found = torch.cat([part.reshape(-1) for part in parts]) if axis is None \
        else torch.cat(parts, axis)
    return given(found, out, "concatenate")


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None,
          casting: str = "same_kind") -> Any:
    parts = common(*arrays, dtype=dtype)
    if len({part.shape for part in parts}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return given(torch.stack(parts, axis), out, "stack")


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
    return torch.vstack(common(*tup, dtype=dtype))


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
    return torch.hstack(common(*tup, dtype=dtype))


def where(condition: Any, /, *choices: Any) -> Any:
    if not choices:
        return numpy.named("nonzero")(values(condition))
    return torch.where(cast(operand(condition), bool), *common(*choices))


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Tensor:
    x = operand(x)
    conditions = values(condlist)
    if not isinstance(conditions, (list, tuple)) or numpy.named("ndim")(conditions[0]) < x.ndim:
        conditions = [conditions]
    conditions = [numpy.named("broadcast_to")(c, x.shape) for c in conditions]
    if len(funclist) == len(conditions) + 1:
        conditions = [*conditions, ~numpy.named("any")(conditions, axis=0)]
    found = torch.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        place = operand(condition)
        value = function(x[place], *args, **kw) if callable(function) else function
        found = found.masked_scatter(place, torch.broadcast_to(
            cast(operand(value), x._data.dtype), (int(condition.sum()),)).contiguous())
    return found


# ---------------------------------------------------------------- by rows


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Tensor:
    x = operand(arr)
    axis = axis_of(x, axis)
    rows = torch.movedim(x, axis, -1)
    space = rows.shape[:-1]
    made = [operand(func1d(row, *args, **kwargs)) for row in rows.reshape(-1, x.shape[axis])]
    if not made:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = torch.stack(made)
    found = found.reshape(*space, *found.shape[1:])
    inner = range(len(space), found.ndim)
    return torch.movedim(found, tuple(inner), tuple(range(axis, axis + len(inner))))


def apply_over_axes(func: Any, a: Any, axes: Any) -> Tensor:
    found = operand(a)
    for axis in (axes if isinstance(axes, (tuple, list)) else (axes,)):
        result = operand(func(found, axis))
        found = result if result.ndim == found.ndim else torch.unsqueeze(
            result, axis_of(found, axis))
    return found


# ---------------------------------------------------------------- new arrays


def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None,
               *, device: Any = None, value: Any = 0) -> Tensor:
    """A tensor, since what a program writes into it may have a gradient."""
    x = operand(a)
    kind = torch.zeros(0, dtype=x.dtype) if dtype is None else cast(torch.zeros(0), dtype)
    shape = x.shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    filled = cast(operand(value), kind._data.dtype)
    return torch.clone(torch.broadcast_to(filled, shape))


empty_like = zeros_like


def ones_like(a: Any, *args: Any, **options: Any) -> Tensor:
    return zeros_like(a, *args, value=1, **options)


def full_like(a: Any, fill_value: Any, *args: Any, **options: Any) -> Tensor:
    return zeros_like(a, *args, value=fill_value, **options)


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
             dtype: Any = None, axis: int = 0, *, device: Any = None) -> Any:
    first, last = torch.broadcast_tensors(*common(start, stop, dtype=numpy.result_type(
        *[_weakly(v) for v in (start, stop)], 0.0)))
    parts = num - 1 if endpoint else num
    share = numpy.named("arange")(num) / (parts or 1)
    share = cast(operand(share.reshape(-1, *[1] * first.ndim)), first._data.dtype)
    found = torch.movedim(first + share * (last - first), 0, axis)
    if dtype is not None:
        found = cast(found, dtype)
    return (found, (last - first) / (parts or float("nan"))) if retstep else found


def _weakly(value: Any) -> Any:
    return value._data.dtype if isinstance(value, Tensor) else numpy.asarray(value).dtype \
        if hasattr(value, "dtype") or isinstance(value, (list, tuple)) else value


def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
             dtype: Any = None, axis: int = 0) -> Tensor:
    found = torch.pow(operand(base), linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else cast(found, dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None,
              axis: int = 0) -> Tensor:
    start, stop = strongly(start, stop, 0.0)[:2]
    if start.dtype.is_complex:
        raise refused("geomspace", "write complex points as np.exp(np.linspace(...))")
    sign = torch.sign(start)
    found = torch.exp(linspace(torch.log(start * sign), torch.log(stop * sign), num, endpoint,
                               axis=axis))
    found = found * torch.unsqueeze(sign, axis)
    return found if dtype is None else cast(found, dtype)


def array(object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K",
          subok: bool = False, ndmin: int = 0) -> Tensor:
    """``np.array(..., like=tensor)``: a tensor of tensors and numbers."""
    found = operand(object)
    found = found if dtype is None else cast(found, dtype)
    return found.reshape(*[1] * (ndmin - found.ndim), *found.shape)


asarray = asanyarray = ascontiguousarray = asfortranarray = array
