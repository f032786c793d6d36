"""Tensors without memory: shape, strides and dtype are known, values are not.

Models are built of them to be looked at, or to be given values later. Their data is one element
that stands for all; every op comes to ``__torch_function__``, as with any subclass, so that other
calls cost nothing more for it.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any, Self

from ...base import dtypes
from ...base.modes import switched
from ...base.trees import tree_map
from ...core.inplace import packed_strides
from ...core.tensor import Tensor, fill, is_defined_here, wrap
from .options import blank

_META = dtypes.device("meta")
_NO_DATA = "Cannot copy out of meta tensor; no data!"
_OF_VALUES = {"nonzero", "argwhere", "masked_select", "unique", "_unique2", "unique_consecutive",
              "bincount", "equal", "allclose", "is_nonzero", "histc"}
"""What has a result whose shape, or which itself, depends on values."""


class NoMemory:
    """What is known of an array that does not exist; whatever else is asked of it is refused."""

    __slots__ = ("shape", "dtype", "ndim", "size", "steps")

    def __init__(self, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None) -> None:
        self.shape, self.dtype, self.ndim, self.size = shape, dtype, len(shape), math.prod(shape)
        self.steps = packed_strides(shape) if strides is None else strides

    def _refuse(self, *args: Any, **options: Any) -> Any:
        raise _handed_over(NotImplementedError(_NO_DATA))

    __getattr__ = __array__ = _refuse
    __eq__ = __ne__ = __getitem__ = __setitem__ = __len__ = __bool__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class MetaTensor(Tensor):
    """A tensor on the device ``meta``."""

    is_meta = True
    is_cpu = False
    device = _META  # type: ignore[assignment]

    @classmethod
    def like(cls, data: Any, strides: tuple[int, ...] | None = None) -> Self:
        """A tensor of the shape and dtype of an array, in rows or with these strides."""
        made = fill(object.__new__(cls), NoMemory(tuple(data.shape), data.dtype, strides), None)
        return made  # type: ignore[return-value]

    def _strides(self) -> tuple[int, ...]:
        return self._data.steps  # type: ignore[no-any-return]

    def _lies_in_rows(self) -> bool:
        return bool(self._data.steps == packed_strides(self._data.shape))

    def is_contiguous(self, memory_format: Any = None) -> bool:
        return self._lies_in_rows()

    # ------------------------------------------------------------ there are no values

    def tolist(self) -> Any:
        raise NotImplementedError(_NO_DATA)

    def item(self) -> Any:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError("can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy "
                        "the tensor to host memory first.")

    def data_ptr(self) -> int:
        return 0

    def storage_offset(self) -> int:
        return 0

    def untyped_storage(self) -> Any:
        raise NotImplementedError(_NO_DATA)

    storage = untyped_storage

    def cpu(self, memory_format: Any = None) -> Tensor:
        raise NotImplementedError(_NO_DATA)

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        for value in (*args, kwargs.get("device")):
            place = value.device if isinstance(value, Tensor) else value
            if isinstance(place, (str, dtypes.device)) and not dtypes.is_meta(place):
                raise NotImplementedError(_NO_DATA)
        return Tensor.to(self, *args, **kwargs)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        shown = f"tensor(..., device='meta', size={tuple(self.shape)}"
        if self.dtype is not dtypes.get_default_dtype():
            shown += f", dtype={self.dtype}"
        shown += ", requires_grad=True)" if self.requires_grad else ")"
        return ("Parameter containing:\n" if self._is_param else "") + shown

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) not in memo:
            memo[id(self)] = _rebuilt(*self.__reduce_ex__(None)[1])
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (_rebuilt, (tuple(self.shape), self.dtype, self.stride(), self.requires_grad,
                           self._is_param))

    # ------------------------------------------------------------ ops

    def __getattribute__(self, name: str) -> Any:
        method = getattr(Tensor, name, None)
        if isinstance(method, FunctionType) and not is_defined_here(method) \
                and getattr(MetaTensor, name) is method:
            return lambda *args, **kwargs: _hand_over(method, (self, *args), kwargs)
        return object.__getattribute__(self, name)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = kwargs.get("out")
        if isinstance(out, MetaTensor):
            found = cls.__torch_function__(func, types, args, {**kwargs, "out": None})
            out.data = found.to(out.dtype)
            return out
        name = getattr(func, "__name__", "")
        if is_defined_here(func):  # not about values
            with switched(override=False):
                return func(*args, **kwargs)
        if _writes(name) and isinstance(args[0], Tensor):
            if not args[0].is_meta:
                raise NotImplementedError(_NO_DATA)
            args[0]._bump_version()
            return None if name == "__setitem__" else args[0]
        device = kwargs.get("device")
        if (name.endswith("_like") or name.startswith("new_")) and not _names_meta(device):
            return _called(func, args, kwargs)
        if name in _OF_VALUES:
            raise NotImplementedError(f"{name}() depends on values, which a meta tensor has not")
        return tree_map(_without_memory, _called(func, args, {**kwargs, "device": None}
                                                 if device is not None else kwargs))


def _hand_over(func: Any, args: Any, kwargs: Any) -> Any:
    """A call of what is made of ops, which may look at the data before an op does."""
    return MetaTensor.__torch_function__(func, (), args, kwargs)


def _handed_over(error: Any) -> Exception:
    """The error with which a function made of ops is told to be called as a whole instead."""
    error.call_instead = _hand_over
    return error  # type: ignore[no-any-return]


def _names_meta(device: Any) -> bool:
    return device is None or dtypes.is_meta(device)


def _writes(name: str) -> bool:
    return name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))


def _called(func: Any, args: Any, kwargs: Any) -> Any:
    """The call on tensors of one value each, which has results of the right shapes."""

    def with_values(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if not value.is_meta and value.ndim:
            given, expected = ("cpu", "meta") if getattr(args[0], "is_meta", True) \
                else ("meta", "cpu")
            raise RuntimeError(f"Tensor on device {given} is not on the expected device "
                               f"{expected}!")
        if value.dtype is dtypes.bool and value is not args[0] \
                and getattr(func, "__name__", "") in ("index", "__getitem__"):
            raise NotImplementedError("a mask selects by values, which a meta tensor has not")
        known = value._data
        return wrap(blank(known.shape, known.dtype)) if value.is_meta else value

    args, kwargs = tree_map(with_values, tuple(args)), tree_map(with_values, dict(kwargs))
    try:
        with dtypes.CPU, switched(override=False):
            return func(*args, **kwargs)
    except Exception as error:
        _handed_over(error)
        raise


def _without_memory(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, Tensor):
        raise NotImplementedError("the result depends on values, which a meta tensor has not")
    return MetaTensor.like(value._data)


def _rebuilt(shape: tuple[int, ...], dtype: dtypes.dtype, strides: tuple[int, ...],
             requires_grad: bool, is_param: bool) -> Tensor:
    made: Any = fill(object.__new__(MetaTensor), NoMemory(shape, dtype.np, strides), None)
    if is_param:
        made._is_param = True
    return made.requires_grad_(requires_grad)  # type: ignore[no-any-return]


MetaTensor.__name__ = MetaTensor.__qualname__ = "Tensor"
