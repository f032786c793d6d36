"""What a NumPy function is given, as tensors: constants, NumPy's dtypes, results."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from ..backend.numpy import address, element_strides, generic, ndarray, protocol as numpy
from ..base import dtypes
from ..base.modes import MODE
from ..core.op import PUBLIC
from ..core.tensor import Tensor, wrap

torch: Any = SimpleNamespace(**PUBLIC["torch"])
"""The public functions, by PyTorch's names."""

WEAK = (int, float, complex)
"""Python's numbers, which take the dtype of the array they meet."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def is_recorded(value: Any) -> bool:
    """Whether what happens to a tensor matters: it requires grad, or a transform looks on."""
    return isinstance(value, Tensor) and (
        type(value)._is_traced or (value.requires_grad and MODE.get().grad))


def any_recorded(values: Iterable[Any]) -> bool:
    """Whether a tensor among these values, or in lists of them, is recorded."""
    for value in values:
        if value.__class__ is list or value.__class__ is tuple:
            if any_recorded(value):
                return True
        elif isinstance(value, Tensor) and is_recorded(value):
            return True
    return False


def operand(value: Any) -> Tensor:
    """A tensor for anything that NumPy would make an array of.

    An array is copied: a program may write to it before its gradient is computed.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (list, tuple)) and any_recorded(value):
        return torch.stack(common(*value))
    made = numpy.asarray(value)
    dtypes.from_numpy_dtype(made.dtype)  # refuses what no tensor holds
    return wrap(made.copy("C") if made is value or numpy.is_part(made) else made)


_kept: dict[tuple[Any, ...], weakref.ref[Any]] = {}
"""The copies of arrays that are still in use, by the memory they were made of."""


def constant(array: Any) -> Tensor:
    """A tensor of an array's present values, to compute with but not to be handed out.

    A large array that has not changed since its last copy, while a graph holds that, is not copied
    again: a loop over the same data holds it once.
    """
    if array.nbytes < 4096:
        return wrap(array.copy("C"))
    key = (address(array), array.shape, element_strides(array), array.dtype)
    known = _kept.get(key)
    copy = None if known is None else known()
    if copy is None or not numpy.named("array_equal")(copy, array):
        copy = array.copy("C")
        _kept[key] = weakref.ref(copy, lambda ref: _kept.pop(key) if _kept.get(key) is ref
                                 else None)
    return wrap(copy)


def dtype_of(value: Any) -> Any:
    """What stands for an operand where NumPy decides on a dtype."""
    if isinstance(value, Tensor):
        return value._data.dtype
    if type(value) in WEAK:
        return type(value)(0)
    if isinstance(value, (ndarray, generic)):
        return value.dtype
    if isinstance(value, (list, tuple)) and any_recorded(value):
        return numpy.result_type(*map(dtype_of, value))
    return numpy.asarray(value).dtype


def cast(tensor: Tensor, dtype: Any) -> Tensor:
    """The tensor in one of NumPy's dtypes."""
    dtype = numpy.as_dtype(dtype.np if isinstance(dtype, dtypes.dtype) else dtype)
    if tensor._data.dtype == dtype:
        return tensor
    return tensor.to(dtypes.from_numpy_dtype(dtype))


def common(*values: Any, dtype: Any = None) -> list[Tensor]:
    """The operands as tensors of the dtype that NumPy gives to all of them."""
    if dtype is None:
        dtype = numpy.result_type(*map(dtype_of, values))
    return [cast(constant(value) if value.__class__ is ndarray else operand(value), dtype)
            for value in values]


def strongly(*values: Any) -> list[Tensor]:
    """The same where NumPy makes arrays first, so that a Python number has a dtype too."""
    return common(*[numpy.asarray(v) if type(v) in WEAK else v for v in values])


def inexact(value: Any, dtype: Any = None) -> Tensor:
    """An operand as a floating or complex tensor: integers become float64."""
    return common(value, dtype=dtype or numpy.result_type(dtype_of(value), 0.0))[0]


def values(value: Any) -> Any:
    """The same arguments with tensors as arrays of their values."""
    if isinstance(value, Tensor):
        return value.numpy(force=True)
    if value.__class__ is list or value.__class__ is tuple:
        return value.__class__(map(values, value))
    return value


def axes_of(tensor: Tensor, axis: Any) -> tuple[int, ...]:
    """The dimensions that ``axis`` names, counted from the front; all of them for None."""
    if axis is None:
        return tuple(range(tensor.ndim))
    if axis.__class__ is int and -tensor.ndim <= axis < tensor.ndim:
        return (axis % tensor.ndim,)
    return numpy.normalize_axis_tuple(axis, tensor.ndim)


def axis_of(tensor: Tensor, axis: Any) -> int:
    return numpy.normalize_axis_index(int(axis), tensor.ndim)


def given(result: Any, out: Any, name: str) -> Any:
    """A result, or the tensor that was asked to hold it."""
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, Tensor):
        raise refused(name, "an ndarray given as out= cannot hold a gradient: leave it out, or "
                            "give a tensor")
    out.copy_(result)
    return out


def refused(name: str, why: str) -> RuntimeError:
    """The error of a call that cannot be recorded."""
    return RuntimeError(f"np.{name}() of a tensor that requires grad cannot be recorded: {why}. "
                        "Use tensor.detach().numpy() where no gradient is wanted.")
