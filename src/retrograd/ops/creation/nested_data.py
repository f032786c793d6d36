"""What ``tensor()`` accepts as an array: numbers, nested sequences, arrays and tensors."""

from __future__ import annotations

from itertools import chain
from typing import Any

from ...backend import create as create_kernels, xp
from ...backend.interface import is_data, library_of
from ...base import dtypes
from ...base.warning import warn
from ...core.tensor import Size, Tensor, warn_of_lost_gradient

_NUMBERS = {float, int, bool, complex}
_SEQUENCES = (list, tuple, range, Size, bytearray)


def data_of(value: Any, dtype: dtypes.dtype | None) -> Any:
    """A new array holding ``value``, which is anything that ``tensor()`` accepts."""
    if dtype in dtypes.STORAGE or (isinstance(value, Tensor) and value.dtype in dtypes.STORAGE):
        return _stored(value, dtype or value.dtype)
    if isinstance(value, (list, tuple)):
        found = _from_plain_lists(value, dtype)
        return _from_any_sequence(value, dtype) if found is None else found
    if type(value) in _NUMBERS:
        kind = dtype or dtypes.of_scalar(value)
        return _numbers_as([value], kind).reshape(())
    if isinstance(value, Tensor):
        data = value._data
        return library_of(data).array(data, dtype=dtype.np if dtype else None)
    if xp.is_array(value):
        return _from_ndarray(value, dtype)
    if xp.is_scalar(value):
        return _objects_as([value], dtype or dtypes.from_numpy_dtype(value.dtype)).reshape(())
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if isinstance(value, _SEQUENCES):
        return _from_any_sequence(value, dtype)
    if hasattr(value, "__array__") and not isinstance(value, type):
        return _from_ndarray(xp.asarray(value), dtype)
    if _is_sequence(value):
        return _from_any_sequence(value, dtype)
    if dtype is None:
        raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")
    return _objects_as([value], dtype).reshape(())


def _stored(value: Any, dtype: dtypes.dtype) -> Any:
    """Numbers to or from a dtype that is only stored, by way of single precision."""
    wide = dtypes.complex64 if dtype.is_complex else dtypes.float32
    data = value._data if isinstance(value, Tensor) else data_of(value, wide)
    return xp.cast(data, dtype.np) if data.dtype != dtype.np else xp.copied(data)


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") \
        and not hasattr(value, "keys") and not isinstance(value, (str, bytes, type))


def _from_ndarray(array: Any, dtype: dtypes.dtype | None) -> Any:
    kind = dtypes.from_numpy_dtype(array.dtype.newbyteorder("="))
    array = create_kernels.shared(array)
    with xp.quiet():
        return array.astype((dtype or kind).np, order="C")


def _from_plain_lists(value: Any, dtype: dtypes.dtype | None) -> Any:
    """Rectangular lists of Python numbers, level by level; None for anything else."""
    _check_depth(value)
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


def _check_depth(value: Any) -> None:
    """Refuse lists that nest too deeply, or hold themselves."""
    depth = 0
    while type(value) in (list, tuple) and value:
        value, depth = value[0], depth + 1
        if depth > 128:
            raise ValueError(f"too many dimensions '{type(value).__name__}'")


def _numbers_as(numbers: Any, kind: dtypes.dtype) -> Any:
    """A flat array of Python numbers, converted with PyTorch's checks."""
    if kind is dtypes.bool:
        return xp.array([bool(n) for n in numbers], dtype=xp.BOOL)
    if kind is dtypes.uint64:
        return xp.array([_as_unsigned(n) for n in numbers], dtype=kind.np)
    return (_integers_as if dtypes.category(kind) == 1 else _floats_as)(numbers, kind)


def _objects_as(values: Any, kind: dtypes.dtype) -> Any:
    """A flat array of whatever may be no numbers, which the array library would take for some."""
    if kind is dtypes.bool:
        for value in values:
            if getattr(value, "dtype", None) != xp.BOOL and not isinstance(value, (float, complex)):
                _index_of(value)
    elif kind.is_floating_point or kind.is_complex:
        _check_real(values, kind)
    return _numbers_as(values, kind)


def _check_real(values: Any, kind: dtypes.dtype) -> None:
    for value in values:
        if not hasattr(value, "__float__") and not (kind.is_complex and isinstance(value, complex)):
            raise TypeError(f"must be real number, not {type(value).__name__}")


def _floats_as(numbers: Any, kind: dtypes.dtype) -> Any:
    errors = xp.error_state()
    try:
        xp.quieten(xp.QUIET)
        return xp.array(numbers, dtype=kind.np)
    except (TypeError, OverflowError):
        _check_real(numbers, kind)
        return xp.array([float(n) for n in numbers], dtype=kind.np)  # of integers beyond 64 bits
    finally:
        xp.quieten(errors)


def _integers_as(numbers: Any, kind: dtypes.dtype) -> Any:
    whole = [n if type(n) is int else _as_integer(n, kind) for n in numbers]
    try:
        found = xp.array(whole, dtype=xp.INT64)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    if kind is dtypes.int64:
        return found
    for n in whole:
        _check_range(n, kind)
    return found.astype(kind.np)


def _check_range(number: float, kind: dtypes.dtype) -> None:
    limits = dtypes.iinfo(kind)
    # A negative integer wraps around in an unsigned type, as far as its own size goes.
    lowest = limits.min if kind.is_signed else -limits.max * isinstance(number, int)
    if not lowest <= number <= limits.max:
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")


def _as_unsigned(number: Any) -> int:
    if not isinstance(number, int):
        raise TypeError("an integer is required")
    if number < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if number >> 64:
        raise OverflowError("int too big to convert")
    return number


def _as_integer(number: Any, kind: dtypes.dtype) -> int:
    if isinstance(number, float) and not xp.is_scalar(number):
        _check_range(number, kind)
        return int(number)
    return _index_of(number)


def _index_of(number: Any) -> int:
    try:
        return number.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"'{full_name(number)}' object cannot be interpreted as an integer"
                        ) from None


def full_name(value: Any) -> str:
    """A value's type with the module it comes from."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _from_any_sequence(value: Any, dtype: dtypes.dtype | None) -> Any:
    """Sequences that hold tensors, arrays or NumPy scalars, and the wording of their errors."""
    shape = _shape_of(value)
    kind = dtype or _inferred(value)
    numbers: list[Any] = []
    if 0 not in shape:
        _collect(value, shape, 0, numbers)
    return _objects_as(numbers, kind).reshape(shape)


def _shape_of(value: Any) -> tuple[int, ...]:
    """The shape of nested sequences, by their first elements."""
    shape: list[int] = []
    while _is_sequence(value) and not (isinstance(value, Tensor) and not value.ndim) \
            and not xp.is_scalar(value):
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
    if is_data(value):
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
            if value.requires_grad:
                warn_of_lost_gradient(value)
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
    if xp.is_array(value):
        warn("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
             "converting the list to a single numpy.ndarray with numpy.array() before converting "
             "to a tensor.", once=True)
    for item in value:
        _collect(item, shape, dim + 1, into)
