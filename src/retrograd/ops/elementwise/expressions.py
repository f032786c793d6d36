"""Elementwise ops of one expression: kernel and rules in one statement, which reads as a table."""

from __future__ import annotations

from typing import Any

from ...core.op import elementwise


def unary(name: str, doc: str | None, kernel: Any, vjp: Any = None, **options: Any) -> Any:
    """Declare an op of one tensor by an expression of ``input``, and the rule of its gradient.

    The expression is a lambda, even where it only passes ``input`` on: its code is bound to other
    libraries.
    """
    return _declared(name, doc, kernel, options, input=vjp)


def binary(name: str, doc: str | None, kernel: Any, *, input: Any = None, other: Any = None,
           **options: Any) -> Any:
    """Declare an op of two tensors by an expression of ``input`` and ``other``, and their rules."""
    return _declared(name, doc, kernel, options, input=input, other=other)


def _declared(name: str, doc: str | None, kernel: Any, options: Any, **rules: Any) -> Any:
    kernel.__annotations__ = dict.fromkeys(rules, "Array")
    made = elementwise(name=name, doc=doc, **options)(kernel)
    made.vjp(**{argument: rule for argument, rule in rules.items() if rule is not None})
    return made
