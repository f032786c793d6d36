"""A library for the tests: NumPy's arrays, refusing whatever :mod:`.interface` does not promise.

What runs here runs on every library that offers the interface. Importing this module registers it;
``tensor(values)`` makes a tensor of it by way of :data:`xp`'s ``asarray``.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from . import interface
from .interface import CONSTANTS, FFT, FUNCTIONS, LINALG, METHODS, NAMES, QUESTIONS
from .numpy import xp as numpy_xp
from .plain import layouts

_NUMBERS = (bool, int, float, complex)
_READS = frozenset(("asarray", "array", "as_array", "is_array", "is_scalar"))
"""Where NumPy's own data may enter, said in so many words."""
_UNTOUCHED = frozenset(("error_state", "quieten", "quiet", "QUIET", "narrow",
                        "is_stored_only",
                        "dtype", "iinfo", "promote_types", "kind_of", "broadcast_shapes", "reach"))
"""What has nothing to do with arrays."""


def _attribute(name: str) -> Any:
    return property(lambda self: wrapped(getattr(self._array, name)))


def _conversion(name: str) -> Any:
    return lambda self: getattr(self._array, name)()


class Array:
    """A NumPy array that has the attributes of the interface and no others."""

    __slots__ = ("_array",)
    __array_ufunc__ = None  # NumPy's own arrays and scalars refuse arithmetic with it
    __hash__ = None  # type: ignore[assignment]

    _array: np.ndarray

    shape, dtype, ndim, size, T, real, imag = map(_attribute, (
        "shape", "dtype", "ndim", "size", "T", "real", "imag"))

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise TypeError("an array of another library does not become a NumPy array unasked")

    def __array_function__(self, function: Any, *rest: Any) -> Any:
        raise TypeError(f"NumPy's {function.__name__} is given an array of another library")

    def __getitem__(self, index: Any) -> Any:
        index = index if type(index) is tuple else (index,)
        if all(type(i) is int or isinstance(i, slice) or i is None for i in index):
            index = (*index, ...)  # a view also of one element, as other libraries have it
        return wrapped(self._array[bare(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[bare(index)] = operand(value)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    item, __len__, __bool__, __int__, __float__, __complex__ = map(_conversion, (
        "item", "__len__", "__bool__", "__int__", "__float__", "__complex__"))

    def __repr__(self) -> str:
        return f"strict.{self._array!r}"


def wrapped(value: Any) -> Any:
    """Arrays of this library in the place of NumPy's arrays and scalars."""
    if isinstance(value, (np.ndarray, np.generic)):
        made = object.__new__(Array)
        made._array = np.asarray(value)
        return made
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(wrapped, value))
    if type(value) in (list, tuple):
        return type(value)(map(wrapped, value))
    return value


def bare(value: Any) -> Any:
    """NumPy's arrays in the place of this library's; NumPy's own are refused."""
    if type(value) is Array:
        return value._array
    if isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(f"NumPy's {type(value).__name__} meets an array of another library")
    if type(value) in (list, tuple):
        return type(value)(map(bare, value))
    return value


def operand(value: Any) -> Any:
    """The same for operators, which take Python's numbers besides."""
    if type(value) is not Array and type(value) not in _NUMBERS:
        raise TypeError(f"a {type(value).__name__} meets an array of another library")
    return bare(value)


def _operator(name: str, compute: Callable[..., Any], in_place: bool = False) -> None:
    def apply(self: Array, *others: Any) -> Any:
        if any(type(o) is not Array and type(o) not in _NUMBERS for o in others):
            return NotImplemented
        result = compute(self._array, *map(bare, others))
        return self if in_place else wrapped(result)

    setattr(Array, f"__{name}__", apply)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or",
              "xor", "lshift", "rshift"):
    _compute = getattr(operator, f"__{_name}__")
    _operator(_name, _compute)
    _operator(f"r{_name}", lambda a, b, compute=_compute: compute(b, a))
    _operator(f"i{_name}", getattr(operator, f"__i{_name}__"), in_place=True)
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"):
    _operator(_name, getattr(operator, f"__{_name}__"))


def _promised(name: str, function: Any, keywords: str | None, takes: Any = bare) -> Any:
    """``function`` with this library's arrays, and the keyword arguments that are promised."""
    allowed = None if keywords is None else frozenset(keywords.split())

    def call(*args: Any, **options: Any) -> Any:
        if allowed is not None and not allowed.issuperset(options):
            raise TypeError(f"{name}() is not promised to take {sorted(options.keys() - allowed)}")
        return wrapped(function(*map(takes, args), **{k: takes(v) for k, v in options.items()}))

    return functools.update_wrapper(call, function, ("__name__", "__doc__"), ())


for _name, _keywords in METHODS.items():
    if _name != "item":  # which takes nothing
        setattr(Array, _name, _promised(_name, getattr(np.ndarray, _name), _keywords))


def _float_info(dtype: Any) -> Any:
    found = numpy_xp.float_info(dtype)
    return type("limits", (), {name: float(getattr(found, name))
                               for name in ("eps", "max", "min", "tiny", "smallest_normal")})


def _solve(a: Any, b: Any) -> Any:
    if a.shape[:-2] != b.shape[:-2]:
        raise TypeError(f"solve() is not promised to broadcast {a.shape} and {b.shape}")
    return numpy_xp.linalg.solve(a, b)


def _namespace() -> Any:
    own: dict[str, Any] = {
        "is_array": lambda value: type(value) is Array, "is_scalar": lambda value: False,
        "to_numpy": bare, "float_info": _float_info,
        "special": lambda name: _promised(name, numpy_xp.special(name), None),
        "fft": lambda name: _promised(name, numpy_xp.fft(name), FFT[name]),
        "linalg": interface.part(numpy_xp.linalg, ())}
    for name in LINALG:
        found = getattr(numpy_xp.linalg, name)
        setattr(own["linalg"], name,
                found if isinstance(found, type) else _promised(name, found, LINALG[name]))
    own["linalg"].solve = _promised("solve", _solve, "")
    for name in NAMES - own.keys() - vars(layouts).keys():  # those have plain bodies
        found = getattr(numpy_xp, name)
        plain = name in CONSTANTS or name in _UNTOUCHED
        own[name] = found if plain else _promised(
            name, found, None if name in QUESTIONS else FUNCTIONS[name],
            (lambda value: getattr(value, "_array", value)) if name in _READS else bare)
    return interface.namespace("strict", own, None)


xp = _namespace()
interface.register(xp, Array)
