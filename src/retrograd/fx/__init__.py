"""Programs as graphs of symbols, which PyTorch traces: there are none here.

Libraries ask whether something is such a graph, which it never is; to trace one is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..base.missing_names import suggest_names as _suggest_names
from ..nn.modules.module import Module

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "symbolic_trace",
           "wrap"]


def _refuse() -> NoReturn:
    raise NotImplementedError("retrograd does not trace programs to torch.fx's graphs; the graph "
                              "of a result is seen through its grad_fn, and by retrograd.viz")


class _Refused:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse()


class Graph(_Refused):
    """A traced program."""


class Node(_Refused):
    """A step of a traced program."""


class Proxy(_Refused):
    """What stands for a value while a program is traced."""


class Tracer(_Refused):
    """Traces programs."""


class Interpreter(_Refused):
    """Runs a traced program."""


class GraphModule(Module):
    """A module that is a traced program."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse()


def symbolic_trace(root: Any, concrete_args: Any = None) -> GraphModule:
    """Trace a module: refused."""
    _refuse()


def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """Say that a function is one step to whoever traces it: nobody does, so it stays as it is."""
    if not isinstance(fn_or_name, str) and not callable(fn_or_name):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or "
                           "string name")
    return fn_or_name


_suggest_names(__name__)
