"""The arguments of a call: checked, promoted and brought to the form ops are computed in."""

from __future__ import annotations

from typing import Any

from ..backend import index as index_kernels, xp
from ..backend.interface import kind_of, library_of
from ..backend.plain.precision import is_half
from ..base import dtypes
from ..base.errors import (
    REQUIRED,
    canonical_dim,
    canonical_dims,
    does_not_fit,
    is_pytorch_tensor,
    missing_arguments,
    no_kernel,
    no_overload,
    not_a_tensor,
    size_mismatch,
    type_name,
    wrong_type,
)
from ..base.modes import MODE, Mode
from .computing import compute
from .extensions import TRACED_TYPES
from .op import ARRAY, ARRAYS, DIM, DIMS, INTS, OPTIONAL, REGISTRY, Op, Param
from .tensor import Tensor

NUMBERS = (bool, int, float, complex)


def prepare(op: Op, args: tuple[Any, ...], written: bool = False
            ) -> tuple[dict[str, Any], list[Any]]:
    """Check and promote: the tensor arguments by name, and the raw value of every argument.

    Errors call an op that is ``written`` in place a method, which does not count its own tensor.
    """
    tensors: dict[str, Any] = {}
    rank = 0
    title = op.title + "_" if written else op.title
    if op.forms and not isinstance(args[0], Tensor):
        raise no_overload(title, args, *op.forms)
    for position, (param, value) in enumerate(zip(op.params, args, strict=True), not written):
        kind = param.kind
        if value is REQUIRED:
            raise missing_arguments(title, [p.name for p, v in zip(op.params, args, strict=True)
                                            if v is REQUIRED])
        if kind == ARRAY:
            tensors[param.name] = as_operand(op, title, param.name, position, value)
        elif kind == OPTIONAL:
            tensors[param.name] = None if value is None else as_operand(
                op, title, param.name, position, value)
        elif kind == ARRAYS:
            tensors[param.name] = as_operands(title, param.name, position, value)
        elif kind in ("index", "optional index"):
            if value is None and kind == "optional index":
                tensors[param.name] = None
            elif not isinstance(value, Tensor):
                raise not_a_tensor(title, param.name, position, value)
            else:
                tensors[param.name] = value
        else:
            continue
        first = tensors[param.name]
        if not rank and isinstance(first, Tensor):
            rank = first._data.ndim
        elif not rank and isinstance(first, list) and first:
            rank = first[0]._data.ndim
    if dtypes.STORED_ONLY and not op.any_dtype:
        refuse_stored(op, tensors)
    data = promoted(op, tensors)
    if op.kind == "elementwise":
        check_broadcast(op, data)
    if op.guard:
        given = {p.name: v for p, v in zip(op.params, args, strict=True)}
        first = data[op.arrays[0]]
        op.guard({**given, **tensors}, dtypes.from_numpy_dtype(first.dtype))
    if op.is_view:
        for name, value in tensors.items():
            if xp.is_scalar(data[name]) or type(data[name]) in TRACED_TYPES:
                data[name] = value._array()
    values = []
    for param, value in zip(op.params, args, strict=True):
        if param.name in data:
            values.append(data[param.name])
        elif param.kind == DIM:
            values.append(canonical_dim(value, rank))
        elif param.kind == DIMS:
            values.append(canonical_dims(value, rank))
        elif param.kind == INTS:
            values.append(tuple(value) if isinstance(value, (tuple, list)) else (value,))
        else:
            values.append(value)
    for param in op.whole_numbers:
        place = op.params.index(param)
        values[place] = whole_number(title, param, place + (not written), values[place])
    for param in op.factors:
        place = op.params.index(param)
        values[place] = factor(title, param, values[place], data[op.arrays[0]])
    for name in op.within:
        place = op.params.index(op.by_name[name])
        values[place] = fitted(values[place], data[op.arrays[0]].dtype)
    return tensors, values


def whole_number(title: str, param: Param, position: int, value: Any) -> Any:
    """An int or a bool as an op takes it, from what may stand for one; raises for anything else."""
    if param.note == "bool" and isinstance(value, bool):
        return value
    if param.note == "int" and not isinstance(value, bool) and hasattr(value, "__index__"):
        try:
            return value.__index__()
        except TypeError:
            pass  # a tensor of floating point numbers
    where = "" if param.keyword_only else f" (position {position})"
    raise TypeError(f"{title}(): argument '{param.name}'{where} must be {param.note}, not "
                    f"{type_name(value)}")


def factor(title: str, param: Param, value: Any, data: Any) -> Any:
    """A number with which an op multiplies data, from what may stand for one."""
    if isinstance(value, Tensor) and not value.ndim:
        value = value.item()
    if not isinstance(value, NUMBERS) and not xp.is_scalar(value):
        raise TypeError(f"{title}(): argument '{param.name}' must be Number, not "
                        f"{type_name(value)}")
    return fitted(fitting_number(value, data), data.dtype)


def fitted(number: Any, dtype: Any) -> Any:
    """A number for data of a dtype: one that would wrap around, or be infinite in 16 bits, raises.

    Where there is no sign, a negative whole number goes around once.
    """
    if kind_of(dtype) not in "iu" and not is_half(dtype):
        return number
    found = index_kernels.number_as(number, dtype)
    return found.item() if kind_of(dtype) == "u" and number < 0 else number


def fitting_number(value: Any, data: Any) -> Any:
    """A number that data is computed with in its own dtype.

    In real data there is no place for a number with an imaginary part.
    """
    value = value.item() if xp.is_scalar(value) else value
    if isinstance(value, complex) and kind_of(data.dtype) != "c":
        if value.imag:
            raise does_not_fit(data.dtype)
        return value.real
    return value


_READING = ("eq", "ne", "isnan", "where", "real_part", "imag_part", "_cat", "_stack", "kept",
            "zeroed", "zeros_as")
"""The ops that compute nothing new, so that they take dtypes which are only stored."""
_OF_HALVES = ("add", "sub", "rsub", "_rsub_number", "mul", "neg", "conj", "abs", "sgn")
"""The ops that take complex32 too, computed in complex64 as PyTorch's are on a CPU."""


def refuse_stored(op: Op, tensors: dict[str, Any]) -> None:
    """Raise if an op would compute with a dtype that is only stored."""
    for name in op.arrays:
        given = tensors[name]
        for tensor in given if isinstance(given, list) else () if given is None else (given,):
            found = dtypes.STORED_ONLY.get(tensor._data.dtype)
            if found is not None and op.name not in _READING and not (
                    found is dtypes.complex32 and op.name in _OF_HALVES):
                raise no_kernel(op.title, found)


def as_operand(op: Op, title: str, name: str, position: int, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, NUMBERS):
        if name not in op.numbers:
            raise not_a_tensor(title, name, position, value)
        return number_tensor(value)
    if xp.is_scalar(value) and name in op.numbers:
        return number_tensor(value.item())
    raise unknown_operand(title, name, position, value)


def unknown_operand(function: str, argument: str, position: int, value: Any) -> Exception:
    # Made here: a frame that raises an error it holds in a variable is a reference cycle.
    error: Any = not_a_tensor(function, argument, position, value)
    error.unknown_operand = not is_pytorch_tensor(value)
    return error


def as_operands(title: str, name: str, position: int, values: Any) -> list[Tensor]:
    if not isinstance(values, (tuple, list)):
        raise wrong_type(title, name, position, "tuple of Tensors", values)
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument {position - 1}, but got "
                            f"{type_name(value)}")
    return list(values)


def number_tensor(value: Any) -> Tensor:
    """A Python number as a zero-dim tensor that yields to any tensor's dtype."""
    made = object.__new__(Tensor)
    is_int = isinstance(value, int) and not isinstance(value, bool)
    made._data = xp.asarray(value, dtype=xp.INT64 if is_int else None)
    made._form = made._edge = made._view = made._vc = made._cut = None
    made._wrapped_number = True
    return made


def result_type_of(tensors: list[Tensor]) -> dtypes.dtype:
    """PyTorch's promotion: dimensioned tensors over zero-dim ones over Python numbers."""
    classes: list[dtypes.dtype | None] = [None, None, None]
    for tensor in tensors:
        if tensor._wrapped_number:
            kind = tensor.dtype
            kind = (dtypes.get_default_dtype() if kind.is_floating_point else
                    dtypes.get_default_dtype().to_complex() if kind.is_complex else kind)
            rank = 2
        else:
            kind = tensor.dtype
            rank = 0 if tensor._data.ndim else 1
        known = classes[rank]
        classes[rank] = kind if known is None else dtypes.promote_types(known, kind)
    return dtypes.result_dtype(*classes)


def promoted(op: Op, tensors: dict[str, Any]) -> dict[str, Any]:
    """The raw data of every tensor argument, cast as the op's promotion rule says."""
    if op.promote is None:
        return {name: [t._data for t in value] if isinstance(value, list)
                else None if value is None else value._data for name, value in tensors.items()}
    flat: list[Tensor] = []
    for name in op.arrays:
        value = tensors[name]
        flat += value if isinstance(value, list) else [] if value is None else [value]
    dtype = flat[0]._data.dtype if flat else None
    if dtype is None or kind_of(dtype) not in "fc" or any(
            t._data.dtype is not dtype or t._wrapped_number for t in flat):
        common = result_type_of(flat)
        if op.promote == "float" and dtypes.category(common) < 2:
            common = dtypes.get_default_dtype()
        dtype = common.np

    half = op.wide is not None and dtype.itemsize == 2 and kind_of(dtype) in "fV"

    def raw(tensor: Tensor, to: Any = dtype) -> Any:
        data = tensor._data
        return data if data.dtype == to else cast_data(data, to)

    data: dict[str, Any] = {}
    for name, value in tensors.items():
        if value is None:
            data[name] = None
        elif name in op.indices:
            data[name] = value._data
        elif half and name == op.wide and not value._data.ndim:
            data[name] = raw(value, xp.FLOAT32)
        else:
            data[name] = [raw(t) for t in value] if isinstance(value, list) else raw(value)
    return data


def cast_data(data: Any, dtype: Any) -> Any:
    """Raw data as another dtype; a transform casts what it holds."""
    if type(data) in TRACED_TYPES:
        return compute(REGISTRY["_to_copy"], [data, dtypes.from_numpy_dtype(dtype), None])
    errors = xp.error_state()
    try:
        xp.quieten(xp.QUIET)
        return library_of(data).cast(data, dtype)
    finally:
        xp.quieten(errors)


def check_broadcast(op: Op, data: dict[str, Any]) -> None:
    shapes = [value.shape for value in data.values() if value is not None]
    if shapes.count(shapes[0]) == len(shapes):
        return
    try:
        xp.broadcast_shapes(*shapes)
    except ValueError:
        if len(shapes) > 2:
            for i in range(1, len(shapes)):
                try:
                    seen = xp.broadcast_shapes(*shapes[:i])
                    xp.broadcast_shapes(seen, shapes[i])
                except ValueError:
                    raise size_mismatch([tuple(seen), shapes[i]]) from None
        raise size_mismatch(shapes) from None


def run_in(mode: Mode, function: Any, op: Op, args: tuple[Any, ...], out: Any = None) -> Any:
    """A call of one of an op's functions from its beginning, in another mode."""
    named = {p.name: v for p, v in zip(op.params, args, strict=True) if p.keyword_only}
    positional = args[:len(args) - len(named)]
    if out is not None:
        named["out"] = out
    before = MODE.get()
    try:
        MODE.set(mode)
        return function(*positional, **named)
    finally:
        MODE.set(before)
