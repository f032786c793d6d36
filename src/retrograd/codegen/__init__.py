"""Turns a declaration into the source of its fast path and of its node class.

Generated code handles the ordinary call: plain tensors of one floating dtype, grad mode on or off,
nothing else switched on. Whatever does not fit (Python types, promotion, subclasses, other modes,
errors to word) goes to :func:`retrograd.core.general.call`, which is general and slower; with
:class:`general_path` switched on, everything does.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..core.extensions import extensions
from ..core.op import GENERATED, Op
from .calls import forward_source, recorded_source, traced_source, write_source
from .compiling import compile_function
from .node_layout import NodeLayout
from .nodes import node_class
from .switch import GeneralPath, general_path, when_switched

_BUILT: dict[tuple[Op, str], dict[bool, Any]] = {}
"""What was compiled for each function of an op: the fast path, or the way to the general one."""


def build(op: Op, variant: str) -> Any:
    """Compile a function of ``op``, its attribute ``variant``, swap the code in and return it."""
    is_general = GeneralPath.only
    made = _BUILT.get((op, variant), {}).get(is_general)
    if made is None:
        label, name, lines = _source(op, variant)
        made = compile_function(label + " general" * is_general, name, lines, op)
        _BUILT.setdefault((op, variant), {})[is_general] = made
    function = getattr(op, variant)
    function.__defaults__ = made.__defaults__
    function.__kwdefaults__ = made.__kwdefaults__
    function.__code__ = made.__code__  # comes last: another thread may be calling it
    return function


extensions.fill(build=build)


@when_switched
def _build_again() -> None:
    for op, variant in list(_BUILT):
        build(op, variant)


def _source(op: Op, variant: str) -> tuple[str, str, list[str]]:
    """The label, the name and the lines of a function of ``op``."""
    if variant == "function":
        return op.name, op.name, forward_source(op)
    if variant == "operator_function":  # leaves unknown types to the other side
        return f"{op.name} operator", op.name, forward_source(op, "call_operator", with_out=False)
    if variant == "inplace_operator_function":
        return f"{op.name}_ operator", op.name + "_", write_source(op, "call_inplace_operator")
    return op.name + "_", op.name + "_", write_source(op)


@cache
def recorder(op: Op) -> Any:
    """A function that records a call whose result is computed later: see ``recorded_source``."""
    return compile_function(f"{op.name} recorded", op.name, recorded_source(op), op)


def fused(op: Op) -> Any:
    """What computes an op of large arrays in one pass; None where nothing does."""
    return None if GeneralPath.only else GENERATED.get(f"{op.name}_fused")


__all__ = ["NodeLayout", "build", "compile_function", "fused", "general_path", "node_class",
           "recorder", "traced_source"]
