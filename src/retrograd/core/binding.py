"""One function, several meanings: its code, with other values for the global names it reads.

Rules, kernels and their helpers are written once. As it stands a rule works on tensors; bound to a
:class:`Meaning` the same code works on raw arrays, on the names of a formula, on the data of
transforms, or on the arrays of another library. A meaning says of one global value at a time what
stands in its place, and what it says is all that differs.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import cache, partial
from types import CellType, FunctionType, ModuleType
from typing import Any

from ..backend import xp
from .declaration import reads
from .op import DECLARING, PUBLIC, Op, home_of


class Unfit(Exception):
    """A function reads what has no meaning where it should be bound."""


class Meaning:
    """What global values stand for somewhere."""

    def __init__(self) -> None:
        self.functions: dict[Any, Any] = {}  # those bound to it, complete

    def of(self, value: Any, bind: Callable[[Any], Any]) -> Any:
        """What stands in the place of ``value``; ``bind`` binds a function to this meaning.

        Raises :class:`Unfit` where there is nothing.
        """
        raise NotImplementedError

    def check_attribute(self, owner: Any, name: str) -> None:
        """Raise :class:`Unfit` if ``owner``, a global or None, has no such attribute here."""


def bound(function: Any, meaning: Meaning) -> Any:
    """``function`` as it works where its global names have another meaning.

    Functions may name each other. Those that a binding reaches are published together, when each of
    them has all its names: another thread, or whoever goes on after an interrupt, meets none that
    is half made.
    """
    function = unwatched(function)
    found = meaning.functions.get(function)
    if found is None:
        group: dict[Any, Any] = {}
        found = _bind(function, meaning, group)
        meaning.functions.update(group)
    return found


def unwatched(function: Any) -> Any:
    """A function without the code that was put in front of it."""
    function = getattr(function, "plain", function)  # the look-out for subclasses, see `overrides`
    return getattr(function, "unguarded", function)


def _bind(function: Any, meaning: Meaning, group: dict[Any, Any]) -> Any:
    function = unwatched(function)
    found = meaning.functions.get(function) or group.get(function)
    if found is not None:
        return found

    def bind(other: Any) -> Any:
        return _bind(other, meaning, group)

    if isinstance(function, partial):
        given = [meaning.of(value, bind) for value in function.args]
        return group.setdefault(function, partial(bind(function.func), *given, **function.keywords))
    code, source = function.__code__, function.__globals__
    names: dict[str, Any] = {"__builtins__": builtins, "__name__": home_of(function),
                             "__package__": source.get("__package__")}
    cells = tuple([CellType() for _ in function.__closure__ or ()])
    made = group[function] = FunctionType(code, names, function.__name__, function.__defaults__,
                                          cells)
    made.__kwdefaults__ = function.__kwdefaults__
    for name, attribute, is_global in reads(code):
        value = source.get(name, getattr(builtins, name, None)) if is_global else None
        if attribute:
            meaning.check_attribute(value, attribute)
        elif name in source or hasattr(builtins, name):
            names[name] = meaning.of(value, bind)
    for cell, outer in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = meaning.of(outer.cell_contents, bind)
    return made


# ---------------------------------------------------------------- raw arrays


def universal(function: Any) -> Any:
    """Declare a helper of rules that takes tensors, arrays and the data of transforms as it is."""
    function.is_universal = True
    return function


def raw_body(function: Any) -> Callable[[Any], Any]:
    """Declare what ``function``, a helper of rules that takes tensors, does to raw data instead."""

    def declare(body: Any) -> Any:
        function.raw_body = body
        return body

    return declare


class Arrays(Meaning):
    """Raw arrays: the name of an op means its kernel."""

    def __init__(self, is_complex: bool):
        super().__init__()
        self.is_complex = is_complex

    def of(self, value: Any, bind: Any) -> Any:
        op = getattr(value, "op", None)
        if isinstance(op, Op):
            return same if op.keeps_reals and not self.is_complex else direct(op.kernel)
        if is_namespace(value):
            return Namespace(value, self)
        value = getattr(value, "raw_body", value)
        return bind(value) if is_helper(value) else value


REAL, COMPLEX = Arrays(False), Arrays(True)


_NAMESPACES = {f"retrograd.{name}".removesuffix(".torch") for name in PUBLIC}


def is_namespace(value: Any) -> bool:
    """Whether a value is a public module, by which rules outside the package call ops."""
    return isinstance(value, ModuleType) and value.__name__ in _NAMESPACES


class Namespace:
    """A module whose functions have another meaning; each is bound when it is first asked for."""

    def __init__(self, module: ModuleType, meaning: Meaning):
        self._module, self._meaning = module, meaning

    def __getattr__(self, name: str) -> Any:
        meaning = self._meaning
        value = meaning.of(getattr(self._module, name), lambda function: bound(function, meaning))
        setattr(self, name, value)
        return value


def raw(function: Any, is_complex: bool) -> Any:
    """``function``, a rule or helper written in op functions, bound to work on raw arrays."""
    return bound(function, COMPLEX if is_complex else REAL)


def same(value: Any) -> Any:
    """``value``: what an op that keeps real numbers does to them."""
    return value


def is_helper(value: Any) -> bool:
    """Whether a global value is a function written in ops: one of a module that declares some."""
    return isinstance(value, FunctionType) and (
        home_of(value).startswith("retrograd.ops") or home_of(value) in DECLARING)


# ---------------------------------------------------------------- tensors


class _Tensors(Meaning):
    """Tensors, on which rules work as they stand; a look at the dtype saves real ones a call."""

    def of(self, value: Any, bind: Any) -> Any:
        op = getattr(value, "op", None)
        return _unless_real(value) if isinstance(op, Op) and op.keeps_reals else value


@cache
def _unless_real(function: Any) -> Any:
    float32, float64 = xp.FLOAT32, xp.FLOAT64

    def call(tensor: Any) -> Any:
        dtype = tensor._data.dtype
        return tensor if dtype is float32 or dtype is float64 else function(tensor)

    return call


TENSORS = _Tensors()


# ---------------------------------------------------------------- kernels that pass on


class _Passing(Meaning):
    """A kernel on stand-ins: it may call the backend, and nothing else."""

    def of(self, value: Any, bind: Any) -> Any:
        if value is xp:
            return _Called()
        raise Unfit


class _Called:
    """The backend, whose functions only say what they were given."""

    def __getattr__(self, name: str) -> Any:
        return lambda *given: (name, *given)


@cache
def direct(kernel: Any) -> Any:
    """The backend's own function where a kernel only passes its arguments on to it."""
    code = kernel.__code__
    if kernel.__defaults__ or code.co_kwonlyargcount or code.co_argcount > 2:
        return kernel
    given = [object() for _ in range(code.co_argcount)]
    try:
        name, *passed = bound(kernel, _Passing())(*given)
    except (Unfit, TypeError, AttributeError, ValueError, LookupError):
        return kernel
    return getattr(xp, name) if name.__class__ is str and passed == given else kernel


@cache
def positional(op: Op) -> Callable[..., Any]:
    """The kernel of ``op`` as a function of a value for every parameter, in order."""
    kernel = direct(op.kernel)
    if not any(p.keyword_only for p in op.params):
        return kernel
    names = ", ".join(p.name for p in op.params)
    given = ", ".join(f"{p.name}={p.name}" if p.keyword_only else p.name for p in op.params)
    return eval(f"lambda {names}: _kernel({given})", {"_kernel": kernel})
