"""Rules on raw data: arrays and traced data alike.

Rules are written in op functions, so that they work on tensors. One that is nothing but ops,
arithmetic and shapes works on raw data as well: its code is bound to a namespace in which the names
of ops stand for their computation on arrays or traced data, with no tensors made on the way. Traced
data does its own arithmetic (see the end of this module). All this is for real numbers: there
``conj`` means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from ..backend import reduce, xp
from ..backend.interface import is_data, kind_of
from ..backend.numpy import ndarray
from ..base.errors import canonical_dim, canonical_dims
from ..base.modes import NO_GRAD, Mode
from ..core import operands
from ..core.binding import (
    Meaning,
    Namespace,
    Unfit,
    bound,
    is_helper,
    is_namespace,
    positional,
    same,
    unwatched,
)
from ..core.computing import compute
from ..core.declaration import SHARED
from ..core.extensions import TRACED_TYPES
from ..core.graph import Like
from ..core.interned import ARRAYS_4, ARRAYS_8
from ..core.op import DIM, DIMS, INTS, REGISTRY, Op
from ..core.tensor import Tensor
from ..ops.batching import run
from ..ops.creation.ranges import arange
from .traced_data import TracedData

F4, F8 = xp.FLOAT32, xp.FLOAT64
ARRAYS = frozenset((ndarray, F4.type, F8.type))
"""The classes of ordinary raw data: arrays, and the scalars that zero-dim tensors may hold."""


class Data(Meaning):
    """Raw data of real numbers: the name of an op means its computation on such data."""

    def of(self, value: Any, bind: Any) -> Any:
        op = getattr(value, "op", None)
        if isinstance(op, Op):
            return same if op.keeps_reals else on_traced_data(op)
        if is_namespace(value):
            return Namespace(value, self)
        if is_helper(value):
            if value in _INSTEAD:
                return _INSTEAD[value]
            return unwatched(value) if hasattr(value, "is_universal") else bind(
                getattr(value, "raw_body", value))
        if isinstance(value, FunctionType) and value.__module__ == "retrograd.base.errors":
            return value
        if isinstance(value, (int, float, str, tuple, dict, frozenset)) \
                or any(value is v for v in _FIT) \
                or (isinstance(value, type) and issubclass(value, Exception)):
            return value
        raise Unfit

    def check_attribute(self, owner: Any, name: str) -> None:
        if owner is None and hasattr(Tensor, name) and name not in _SHARED:
            raise Unfit
        if is_namespace(owner):
            getattr(Namespace(owner, self), name)


_SHARED = (*SHARED, "size", "name", "values", "indices")
"""What raw data has as tensors have it, and what batches, parameters, dicts and ops have."""
_FIT = (math, reduce, REGISTRY, Like, NotImplemented, len, range, tuple, list, set, dict, sum, max,
        min, bool, int, float, complex, zip, map, enumerate, reversed, sorted, abs, any, all, next,
        slice, isinstance, kind_of)
_DATA = Data()
_UNBOUND: set[Any] = set()


def on_data(rule: Any) -> Any:
    """``rule`` bound to work on raw data of real numbers, or None if it asks for more than that."""
    if rule in _UNBOUND:
        return None
    try:
        return bound(rule, _DATA)
    except Unfit:
        _UNBOUND.add(rule)
        return None


def expand_data(data: Any, shape: Any) -> Any:
    """``expand`` of raw data."""
    return on_traced_data(REGISTRY["expand"])(data, shape)


def cast_data(data: Any, dtype: Any) -> Any:
    """Raw data as another dtype of the backend's."""
    return data if data.dtype == dtype else operands.cast_data(data, dtype)


def run_on_data(name: str, *values: Any) -> Any:
    return on_traced_data(REGISTRY[name])(*values)


def fit_data(gradient: Any, like: Like | None) -> Any:
    """:func:`retrograd.core.graph.fit` on raw data."""
    if like is None or gradient is None:
        return gradient
    if gradient.shape != like.shape:
        gradient = run_on_data("sum_to_size_of", gradient, like.shape)
    return cast_data(gradient, like.dtype)


_INSTEAD: dict[Any, Callable[..., Any]] = {run: run_on_data, arange: xp.arange}
"""What some functions of tensors mean on raw data."""


def are_real(values: list[Any], operands: list[int]) -> bool:
    """Whether the data at these positions is real numbers of one ordinary dtype."""
    dtype = None
    for i in operands:
        value = values[i]
        for item in value if value.__class__ is list else (value,):
            if item is not None and item.dtype is not dtype:
                if dtype is not None or not (item.dtype is F4 or item.dtype is F8):
                    return False
                dtype = item.dtype
    return dtype is not None


def unrecorded(mode: Mode) -> Mode:
    """The mode in which rules are run on tensors."""
    if mode.inference or not mode.forward_grad or mode.intercept or mode.hooks_disabled:
        return mode.but(grad=False, saved_hooks=(), override=True, journal=None)
    return NO_GRAD


# ---------------------------------------------------------------- ops on raw data


@cache
def on_traced_data(op: Op) -> Callable[..., Any]:
    """``op`` as a function of raw data: by its kernel, or by the transform whose data it meets."""
    kernel, check = quickest(op), op.check
    kinds = [p.kind for p in op.params]
    count = len(kinds)
    dims = [(i, kind) for i, kind in enumerate(kinds) if kind in (DIM, DIMS, INTS)]
    operands = operands_of(op)
    data = [i for i, p in enumerate(op.params) if i in operands or p.name in op.indices]

    def run(*given: Any, **keywords: Any) -> Any:
        values = list(given) if len(given) == count else completed(op, given, keywords)
        for i, kind in dims:
            values[i] = canonical(values[i], kind, values[data[0]].ndim)
        top: Any = None
        for i in data:
            value: Any = values[i]
            if type(value) in TRACED_TYPES and (top is None or value.level > top.level):
                top = value
        if top is None:
            if check is not None:
                check(*values)
            return kernel(*values)
        for i in operands:
            if values[i].__class__ is float or values[i].__class__ is int:
                values[i] = number_as_array(values[i], top.dtype)
        return TRACED_TYPES[top.__class__](op, values, top)

    def run_on_lists(*given: Any, **keywords: Any) -> Any:
        return compute(op, completed(op, given, keywords))

    return run_on_lists if op.has_list else run


def operands_of(op: Op) -> list[int]:
    """The positions of the arguments that are data to compute with."""
    return [i for i, p in enumerate(op.params) if p.name in op.arrays]


@cache
def quickest(op: Op) -> Callable[..., Any]:
    """The kernel of ``op``, which gets a value for every parameter in order."""
    kernel = positional(op)
    if not op.fast:
        return kernel
    # A Python operator: on NumPy scalars it is ten times as fast as the ufunc.
    names = ", ".join(p.name for p in op.params)
    usual = "".join(f" and {n} is _defaults[{n!r}]" for n in op.static)
    source = f"lambda {names}: {op.fast.format(*op.arrays)} if True{usual} else _kernel({names})"
    return eval(source,
                {"_kernel": kernel, "_defaults": {p.name: p.default for p in op.params}})


def completed(op: Op, given: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
    """A value for every parameter."""
    rest = op.params[len(given):]
    return [*given, *(keywords.get(p.name, p.default) for p in rest)]


def canonical(value: Any, kind: str, rank: int) -> Any:
    """Dims counted from the left, sizes as a tuple."""
    if kind == DIM:
        return canonical_dim(value, rank)
    if kind == DIMS:
        return canonical_dims(value, rank)
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def number_tensor(number: Any, dtype: Any) -> Tensor:
    """A Python number as a zero-dim tensor of an ordinary dtype."""
    return (ARRAYS_4 if dtype is F4 else ARRAYS_8).numbers[number]


def number_as_array(number: Any, dtype: Any) -> Any:
    """A Python number as a zero-dim array."""
    if dtype is F4 or dtype is F8:
        return number_tensor(number, dtype)._data
    return xp.asarray(number, dtype=dtype if kind_of(dtype) in "fcV" else None)


# ---------------------------------------------------------------- arithmetic of traced data


def _arithmetic(name: str, *options: Any, is_reflected: bool = False) -> Any:
    """The method of an operator, by the op called ``name``."""

    def method(self: Any, other: Any) -> Any:
        cls = other.__class__
        if cls is float or cls is int:
            other = number_as_array(other, self.dtype)
        elif not (cls in TRACED_TYPES or is_data(other)):
            return NotImplemented
        top = other if cls in TRACED_TYPES and other.level > self.level else self
        values = [other, self, *options] if is_reflected else [self, other, *options]
        return TRACED_TYPES[top.__class__](REGISTRY[name], values, top)

    return method


def _power(self: Any, exponent: Any) -> Any:
    return run_on_data("_pow_number" if isinstance(exponent, (int, float)) else "_pow", self,
                       exponent)


def _of_one(name: str) -> Any:
    return lambda self: TRACED_TYPES[self.__class__](REGISTRY[name], [self], self)


for _sign, _name, _options in (("add", "add", (1,)), ("sub", "sub", (1,)), ("mul", "mul", ()),
                               ("truediv", "div", ()), ("and", "bitwise_and", ()),
                               ("or", "bitwise_or", ())):
    setattr(TracedData, f"__{_sign}__", _arithmetic(_name, *_options))
    setattr(TracedData, f"__r{_sign}__", _arithmetic(_name, *_options, is_reflected=True))
for _sign in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(TracedData, f"__{_sign}__", _arithmetic(_sign))
for _sign, _name in (("neg", "neg"), ("invert", "bitwise_not")):
    setattr(TracedData, f"__{_sign}__", _of_one(_name))
TracedData.__pow__ = _power  # type: ignore[attr-defined,operator]
TracedData.reshape = lambda self, shape: compute(
    REGISTRY["_reshape"], [self, tuple(shape)])
TracedData.__hash__ = object.__hash__  # type: ignore[method-assign]
