"""The text that is generated for a declaration."""

from __future__ import annotations

import builtins
import difflib
import dis
import linecache
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from retrograd.backend import strict
from retrograd.backend.numpy import LARGE, expressions
from retrograd.codegen import _BUILT, build, node_class, recorder
from retrograd.codegen.node_layout import has_lean_class
from retrograd.codegen.switch import GeneralPath
from retrograd.core.op import DECLARING, GENERATED, PUBLIC, REGISTRY, Op
from retrograd.core.tensor import Tensor
from retrograd.transforms.backward import OpPull, has_data_rules
from retrograd.transforms.calls import written

from .declarations import DECLARATIONS

FOLDER = Path(__file__).parent


METHODS = ("pull", "pass_on", "replay", "release")
LIKE = {"operator_function": "function", "inplace_operator_function": "inplace_function",
        "function that records what is computed later": "function",
        **{f"{method} of the {variant} node": f"{method} of the {usual} node"
           for method in METHODS
           for variant, usual in (("lean", "real"), ("complex", "real"), ("large", "lean"),
                                  ("strict", "real"))}}
"""Of what is much like something else, only what differs is to be read."""


def text_of(name: str) -> str:
    """Everything that is generated for an op, and what differs where there are native kernels."""
    with without_traces(), fast_paths(), kernels(False):
        op = DECLARATIONS[name]().op
        plain = {**functions(op), **nodes(op)}
    with without_traces(), fast_paths(), kernels(True):
        op = DECLARATIONS[name]().op
        native = {**functions(op), **nodes(op)}
    with without_traces(), fast_paths(False):
        general = functions(DECLARATIONS[name]().op)
    return "\n".join(
        [f"# {what}\n" + (_difference(plain[LIKE[what]], text) if what in LIKE else text)
         for what, text in plain.items() if what not in LIKE or text != plain[LIKE[what]]]
        + [f"# with native kernels: {what}\n{_difference(plain[what], text)}"
           for what, text in native.items() if text != plain[what]]
        + [f"# the general path alone: {what}\n{text}" for what, text in general.items()])


def _difference(one: str, other: str) -> str:
    """The lines in which two texts differ."""
    lines = difflib.unified_diff(one.splitlines(), other.splitlines(), lineterm="", n=0)
    return "".join(f"{line}\n" for line in lines if not line.startswith(("---", "+++", "@@")))


@contextmanager
def without_traces() -> Iterator[None]:
    """Whatever is declared meanwhile is forgotten."""
    registries: list[Any] = [REGISTRY, GENERATED, _BUILT, *PUBLIC.values()]
    before = [dict(registry) for registry in registries]
    methods, declaring = dict(vars(Tensor)), set(DECLARING)
    try:
        yield
    finally:
        for registry, known in zip(registries, before, strict=True):
            registry.clear()
            registry.update(known)
        DECLARING.intersection_update(declaring)
        for method in vars(Tensor).keys() - methods:
            delattr(Tensor, method)


def fast_paths(are_there: bool = True) -> Any:
    return patch.object(GeneralPath, "only", not are_there)


@contextmanager
def kernels(are_there: bool) -> Iterator[None]:
    """As if there were native kernels or none; of formulas, one computes those of two products."""
    def expression(formula: str, constants: Any, functions: Any, least: int) -> Any:
        is_computed = are_there and formula.count("*") == 2 and least == 1
        arrays = dict.fromkeys(re.findall(r"\b[a-z]\w*\b(?![.([])", formula))
        return (tuple(arrays), None) if is_computed else None

    with patch.object(expressions, "HAS_KERNEL", are_there), \
            patch.object(expressions, "Fused", lambda function: function), \
            patch.object(expressions, "expression", expression):
        yield


def functions(op: Op) -> dict[str, str]:
    """The text of what calls an op."""
    variants = ("function", "operator_function", "inplace_function", "inplace_operator_function")
    ways: dict[str, Callable[[], Any]] = {
        variant: partial(build, op, variant) for variant in variants
        if getattr(op, variant) is not None}
    if op.inplace_function is not None and op.rules and not GeneralPath.only:
        ways["function that records what is computed later"] = partial(recorder, op)
    ways["inside a transform"] = partial(written, op)
    found = {}
    for what, way in ways.items():
        forget_names_of(op)  # any of these may be the first that a program asks for
        made = way()
        if made is not None:
            found[what] = _source(made, op)
    return found


def forget_names_of(op: Op) -> None:
    """Take what generated code knows by names that begin with that of an op.

    The defaults are kept: they are known from the function through which a program comes.
    """
    for name in [name for name in GENERATED if name.startswith(f"{op.name}_")]:
        if not name.startswith(f"{op.name}_default_"):
            del GENERATED[name]


def nodes(op: Op) -> dict[str, str]:
    """The text of what runs the rules of an op, and what its nodes are."""
    found = {}
    variants = {name: name for name in ("real", "complex", "lean", "large")
                if has_lean_class(op) or name not in ("lean", "large")}
    variants["strict"] = (strict.xp, False)
    for variant, meant in variants.items() if op.rules else ():
        node = node_class(op, meant)
        found[f"the {variant} node"] = "".join(f"{line}\n" for line in _facts(node))
        for method in METHODS:
            function = getattr(node, method)
            if function.__module__ == "retrograd.generated":
                found[f"{method} of the {variant} node"] = _source(function, op)
    if op.rules and has_data_rules(node_class(op)):
        found["pull inside a transform"] = _source(OpPull(node_class(op)).pulled, op)
    return found


def _source(function: Any, op: Op) -> str:
    """The text of a function, and which nodes of its op it makes."""
    lines = linecache.getlines(function.__code__.co_filename)
    made = [f"# {name} is the {variant} node\n" for name in _names(function)
            for variant, node in (op.nodes or {}).items() if node is GENERATED[name]]
    return "".join([*lines, *made]).replace(f"< {LARGE}", "< LARGE")


def _names(function: Any) -> list[str]:
    """The names that a generated function takes from elsewhere, each of which is to be there."""
    names = {step.argval for step in dis.get_instructions(function)
             if step.opname == "LOAD_GLOBAL"} - vars(builtins).keys()
    assert names <= GENERATED.keys(), names - GENERATED.keys()
    return sorted(names)


def _facts(node: Any) -> Iterator[str]:
    yield f"class {node.__name__}({node.__base__.__name__}), with slots {node.__slots__}"
    for name, value in vars(node).items():
        if name in (*node.__slots__, *METHODS, "op", "layout") or name.startswith("__"):
            continue
        yield f"{name} = {getattr(value, '__name__', type(value).__name__)}" \
            if callable(value) or isinstance(value, property) else f"{name} = {value!r}"


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.txt"
