"""Turns a declaration into the source of its fast path and of its node class.

Generated code handles the ordinary call: plain tensors of one floating dtype, grad mode on or off,
nothing else switched on. Whatever does not fit (Python types, promotion, subclasses, other modes,
errors to word) goes to :func:`retrograd.core.general.call`, which is general and slower.
"""

from __future__ import annotations

from typing import Any

from ..core.op import Op
from .calls import forward_source, traced_source, write_source
from .compiling import compile_function
from .nodes import node_class
from .plan import Plan


def build(op: Op) -> None:
    """Compile ``op`` and swap the code into its function."""
    source = forward_source(op)
    made = compile_function(op.name, op.name, source, op)
    _swap(op.function, made)


def build_operator(op: Op) -> None:
    """Compile the function behind an operator, which leaves unknown types to the other side."""
    source = forward_source(op, "call_operator", with_out=False)
    made = compile_function(f"{op.name} operator", op.name, source, op)
    _swap(op.operator_function, made)


def build_inplace(op: Op) -> None:
    """Compile the in-place variant."""
    name = op.name + "_"
    made = compile_function(name, name, write_source(op), op)
    _swap(op.inplace_function, made)


def _swap(function: Any, made: Any) -> None:
    """Give a function object other code; the code comes last, another thread may be calling it."""
    function.__defaults__ = made.__defaults__
    function.__kwdefaults__ = made.__kwdefaults__
    function.__code__ = made.__code__


__all__ = ["Plan", "build", "build_inplace", "build_operator", "compile_function", "node_class",
           "traced_source"]
