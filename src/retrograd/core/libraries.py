"""Ops on arrays of other libraries than NumPy: kernels and rules bound to the library.

A tensor on such an array has a class of its own, so that the fast path, which is NumPy's, leaves it
to the general one at no cost; there the library is found by the type of the arrays.
"""

from __future__ import annotations

import importlib
from functools import cache, lru_cache
from types import FunctionType, ModuleType
from typing import Any

from ..backend import xp
from ..backend.interface import LIBRARIES
from .binding import Meaning, Namespace, bound, same
from .op import Op, home_of


def library_among(values: Any) -> Any:
    """The library of the arrays among ``values``: NumPy's, unless one is of another."""
    if not LIBRARIES:
        return xp
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            if type(item) in LIBRARIES:
                return LIBRARIES[type(item)]
    return xp


def brought(op: Op, values: list[Any], library: Any) -> list[Any]:
    """The arguments of ``op`` in ``library``: numbers, indices and constants are moved there."""
    for name, value in zip(op.by_name, values, strict=True):
        if name in op.arrays and any(
                xp.is_array(v) and v.ndim for v in (value if type(value) is list else (value,))):
            raise RuntimeError("Expected all tensors to be on the same device, but found at least "
                               "two: arrays of NumPy and of another library")
    return [moved(value, library) for value in values]


def moved(value: Any, library: Any) -> Any:
    """``value`` with arrays of ``library`` in the place of NumPy's."""
    if type(value) in (list, tuple):
        return type(value)([moved(item, library) for item in value])
    return library.asarray(value) if xp.is_array(value) or xp.is_scalar(value) else value


# ---------------------------------------------------------------- kernels and rules


_WRITTEN_IN_XP = ("retrograd.ops", "retrograd.backend.plain", "retrograd.core.graph")


class InLibrary(Meaning):
    """Arrays of a library: ``xp`` means it, and the name of an op its kernel bound likewise."""

    def __init__(self, library: Any, is_complex: bool):
        super().__init__()
        self.library, self.is_complex = library, is_complex
        self.modules: dict[ModuleType, Any] = {}

    def of(self, value: Any, bind: Any) -> Any:
        if value is xp:
            return self.library
        if isinstance(value, ModuleType):
            if value.__name__.startswith("retrograd.ops."):
                return Namespace(value, self)
            return self.kernels(value) if value.__name__.startswith("retrograd.backend.") else value
        op = getattr(value, "op", None)
        if isinstance(op, Op):
            return same if op.keeps_reals and not self.is_complex else bind(op.kernel)
        value = getattr(value, "raw_body", value)
        if hasattr(value, "in_library"):
            return value.in_library(self.library)
        if isinstance(value, FunctionType):
            module = home_of(value)
            if module.startswith(_WRITTEN_IN_XP):
                return bind(value)
            if module.startswith("retrograd.backend.numpy."):
                return getattr(self.kernels(importlib.import_module(module)), value.__name__)
        if hasattr(value, "cache_info"):
            return lru_cache(value.cache_parameters()["maxsize"])(bind(value.__wrapped__))
        name = getattr(value, "__name__", "")
        return getattr(self.library, name) if getattr(xp, name, None) is value else value

    def kernels(self, module: ModuleType) -> Any:
        """The plain bodies of a module of kernels, bound to the library."""
        found = self.modules.get(module)
        if found is None:
            plain = importlib.import_module(module.__name__.replace(".numpy.", ".plain."))
            found = self.modules[module] = Namespace(plain, self)
        return found


@cache
def meaning_in(library: Any, is_complex: bool) -> InLibrary:
    return InLibrary(library, is_complex)


def in_library(function: Any, library: Any, is_complex: bool = False) -> Any:
    """``function``, a kernel or a rule, as it works on arrays of ``library``."""
    if library is xp:
        return function
    meaning = meaning_in(library, is_complex)
    if home_of(function).startswith("retrograd.backend."):
        return meaning.of(function, lambda other: bound(other, meaning))
    return bound(function, meaning)


def computed(function: Any, *values: Any) -> Any:
    """``function``, a kernel, of raw data of whichever library."""
    return in_library(function, library_among(values))(*values)


__all__ = ["brought", "computed", "in_library", "library_among", "moved"]
