"""The compiler's inside, as far as programs reach into it."""

from __future__ import annotations

from types import SimpleNamespace

from ..base.missing_names import suggest_names as _suggest_names
from ..compiler import (
    OptimizedModule,
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    list_backends,
    reset,
)

config = SimpleNamespace(cache_size_limit=8, recompile_limit=8, suppress_errors=False,
                         verbose=False, capture_scalar_outputs=False,
                         automatic_dynamic_shapes=True)
"""Settings that programs change; they are kept, and nothing is compiled."""


def mark_dynamic(t: object, index: object, **bounds: object) -> None:
    """Say that a size will change, which costs nothing here."""


mark_static = maybe_mark_dynamic = mark_dynamic


def graph_break(msg: str = "") -> None:
    """End a compiled part, of which there is none."""


__all__ = ["OptimizedModule", "allow_in_graph", "assume_constant_result", "config",
           "disable", "graph_break", "is_compiling", "list_backends", "mark_dynamic",
           "mark_static", "maybe_mark_dynamic", "reset"]

_suggest_names(__name__)
