"""The compiled code of ops, and how to be rid of it."""

from __future__ import annotations

import contextlib
import dis
import functools
import linecache
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

from retrograd import codegen
from retrograd.codegen import compiling
from retrograd.core import declaration
from retrograd.core.binding import COMPLEX, REAL
from retrograd.core.op import REGISTRY, self_compiling


def forget_compiled() -> None:
    """Make the next call of every op its first one."""
    codegen._BUILT.clear()
    for meaning in (REAL, COMPLEX):
        meaning.functions.clear()
    for op in REGISTRY.values():
        op.nodes = None
        for variant in ("function", "inplace_function", "operator_function",
                        "inplace_operator_function"):
            function = getattr(op, variant)
            if hasattr(function, "op") and function in FIRST_CODES:
                function.__code__ = FIRST_CODES[function]


@contextlib.contextmanager
def quickly() -> Iterator[None]:
    """What Python itself makes of a source and finds in code, it makes and finds once."""
    found = functools.cache(lambda code: list(dis.get_instructions(code)))
    with mock.patch.object(compiling, "compile", functools.cache(compile), create=True), \
            mock.patch.object(declaration, "dis", SimpleNamespace(get_instructions=found)):
        yield


def _first_codes() -> dict[Any, Any]:
    """The code that functions have before their first call."""
    found = {}
    written = dict(linecache.cache)  # the source of what is compiled already
    for op in REGISTRY.values():
        for variant in ("function", "inplace_function", "operator_function",
                        "inplace_operator_function"):
            function = getattr(op, variant)
            if hasattr(function, "op"):
                fresh = self_compiling(op, variant, function.__name__, function.__doc__)
                setattr(op, variant, function)
                found[function] = fresh.__code__
    linecache.cache.update(written)
    return found


FIRST_CODES = _first_codes()
