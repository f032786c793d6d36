"""``retrograd show``: how a function is declared, and the code that is generated for it."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from ..codegen import build, node_class
from ..codegen.names import functions_called, near, ops_of
from ..codegen.node_layout import has_lean_class
from ..core.op import Op
from ..ops import late
from ..transforms.backward import OpPull, has_data_rules
from ..transforms.calls import written


def show(name: str) -> int:
    """Print what ``name`` stands for and return the command's exit status."""
    late.load_all()
    found = functions_called(name)
    if not found:
        hint = f"; near it: {', '.join(near(name))}" if near(name) else ""
        print(f"retrograd show: error: there is no function called {name!r}{hint}",
              file=sys.stderr)
        return 1
    print("\n\n".join(described(found)))
    return 0


def described(functions: dict[str, Any]) -> Iterator[str]:
    """The parts of a text about functions, and about the ops that they are or are made of."""
    titles: dict[Op, str] = {}
    for full, function in functions.items():
        ops = ops_of(function, through_composites=False)
        if hasattr(function, "op"):
            titles[function.op] = full
            continue
        for op in ops:
            titles.setdefault(op, op.name)
        made_of = f" made of {', '.join(op.name for op in ops)}" if ops else ""
        yield _title(f"{full}: a function{made_of}")
        yield from statements([inspect.unwrap(function)])
    for op, title in titles.items():
        yield _title(f"{title}: an op ({op.kind})")
        yield from statements([op.kernel, *op.rules.values(), op.joint_rule,
                               *op.forward_rules.values(), op.batch_rule, op.writer])
        for what, made in generated(op):
            yield f"# ---- generated: {what}\n{inspect.getsource(made).rstrip()}"


def generated(op: Op) -> Iterator[tuple[str, Any]]:
    """The functions that are generated for an op, each with what it is."""
    yield "the call", build(op, "function")
    if op.operator_function is not None:
        yield "the call by an operator", build(op, "operator_function")
    if op.inplace_function is not None:
        yield "the call that writes in place", build(op, "inplace_function")
    if op.rules:
        yield from _backward(op)
    call = written(op)
    if call is not None:
        yield "the call inside a transform", call
    if op.rules and has_data_rules(node_class(op)):
        yield "backward inside a transform", OpPull(node_class(op)).pulled


def _backward(op: Op) -> Iterator[tuple[str, Any]]:
    full = node_class(op)
    lean = node_class(op, "lean") if has_lean_class(op) else full
    yield "backward, which adds gradients up and frees what was saved", lean.pass_on
    yield "backward, which returns gradients", lean.pull
    if lean is not full:
        yield "backward where operands were broadcast, which adds up", full.pass_on
        yield "backward where operands were broadcast, which returns", full.pull
    yield "backward that is recorded: the rules on tensors", full.replay


def statements(functions: list[Any]) -> Iterator[str]:
    """The statements of the program in which functions were written, each with its place."""
    seen = set()
    for function in functions:
        while isinstance(function, partial):
            function = function.func
        if function is None:
            continue
        filename, line = function.__code__.co_filename, function.__code__.co_firstlineno
        start, end = _statement_at(filename, line)
        if (filename, start) not in seen:
            seen.add((filename, start))
            text = "".join(linecache.getlines(filename)[start - 1:end]).rstrip()
            yield f"# {filename}, line {start}\n{text or '# its source is not at hand'}"


def _statement_at(filename: str, line: int) -> tuple[int, int]:
    """The first and the last line of the statement of a module that holds ``line``."""
    for statement in ast.parse("".join(linecache.getlines(filename))).body:
        decorators: Any = getattr(statement, "decorator_list", [])
        start = min([statement.lineno, *(d.lineno for d in decorators)])
        end = statement.end_lineno or start
        if start <= line <= end:
            return start, end
    return line, line


def _title(text: str) -> str:
    return f"# {'=' * 96}\n# {text}"
