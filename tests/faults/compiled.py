"""The compiled code of ops, and how to be rid of it."""

from __future__ import annotations

import linecache
from typing import Any

from retrograd import codegen
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
