"""The stubs are current, and say of the running modules what is so."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd import return_types
from retrograd.core.tensor import Tensor
from tests.sweeps.cases import ENTRIES, Case

ROOT = Path(__file__).parents[1]
SOURCE = Path(torch.__file__).parent  # which may be a copy
MODULES = {"__init__": "retrograd", "linalg": "retrograd.linalg", "special": "retrograd.special",
           "nn/functional": "retrograd.nn.functional", "return_types": "retrograd.return_types"}
NAMESPACES = {"": "__init__", "linalg": "linalg", "special": "special",
              "nn.functional": "nn/functional"}


def stub(name: str) -> ast.Module:
    return ast.parse((SOURCE / f"{name}.pyi").read_text())


def definitions(body: list[ast.stmt]) -> dict[str, list[ast.FunctionDef]]:
    """The functions of a stub, each with its overloads."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            found.setdefault(statement.name, []).append(statement)
    return found


def methods() -> dict[str, list[ast.FunctionDef]]:
    (body,) = [n.body for n in stub("core/methods").body if isinstance(n, ast.ClassDef)]
    return definitions(body)


def test_the_stubs_are_current() -> None:
    """``make stubs`` would write what is there."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        written = importlib.import_module("make_stubs").pages()
    finally:
        sys.path.remove(str(ROOT / "docs"))
    stale = [str(path.relative_to(SOURCE)) for path, text in written.items()
             if not path.exists() or path.read_text() != text]
    assert not stale, f"run `make stubs`: {stale}"
    assert set(SOURCE.rglob("*.pyi")) == set(written)


# ---------------------------------------------------------------- names


def names_of(tree: ast.Module) -> set[str]:
    """The names that a stub offers to those who import it."""
    names: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names.add(statement.name)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names.add(statement.target.id)
        elif isinstance(statement, ast.ImportFrom):
            names |= {alias.name for alias in statement.names if alias.asname == alias.name}
    return names


@pytest.mark.parametrize("name", MODULES)
def test_a_stub_has_the_names_of_its_module(name: str) -> None:
    module = importlib.import_module(MODULES[name])
    offered = {n for n in names_of(stub(name)) if not n.startswith("_")}
    there = {n for n in dir(module) if not n.startswith("_")}
    assert offered == there
    for found in offered:
        getattr(module, found)


def test_the_tensor_s_stub_has_its_methods() -> None:
    attached = {name for name, value in vars(Tensor).items()
                if isinstance(value, types.FunctionType | property)
                and (not name.startswith("_") or name.startswith("__"))}
    (cls,) = [n for n in ast.parse((SOURCE / "core" / "tensor.py").read_text()).body
              if isinstance(n, ast.ClassDef) and n.name == "Tensor"]
    own = {n.name for n in cls.body if isinstance(n, ast.FunctionDef)} | {
        t.id for n in cls.body if isinstance(n, ast.Assign) for t in n.targets
        if isinstance(t, ast.Name)}
    own.add("__getattr__")  # which words what is missing
    assert {n for n in methods() if n != "_make_subclass"} == attached - own


# ---------------------------------------------------------------- parameters


def signature(definition: ast.FunctionDef) -> inspect.Signature:
    """The signature that a stub writes."""
    scope: dict[str, Any] = {}
    bare = ast.FunctionDef(
        name="f", args=definition.args, body=[ast.Pass()], decorator_list=[], returns=None,
        type_params=[], lineno=1, col_offset=0)
    exec(compile("from __future__ import annotations\n" + ast.unparse(bare), "stub", "exec"), scope)
    return inspect.signature(scope["f"])


def shape(found: inspect.Signature) -> list[Any]:
    return [(p.name, p.kind.name, p.default is not p.empty) for p in found.parameters.values()]


def shape_of_method(found: inspect.Signature) -> list[Any]:
    """What is left of a function's parameters where it is a method."""
    _, *rest = [p for p in shape(found) if p[:2] != ("out", "KEYWORD_ONLY")]
    return [("self", "POSITIONAL_OR_KEYWORD", False), *rest]


def calls(found: inspect.Signature) -> Iterator[tuple[list[int], dict[str, int]]]:
    """The shortest and the longest calls that a signature allows, and each by keyword."""
    positional = [p for p in found.parameters.values()
                  if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    more = [0, 0] if any(p.kind is p.VAR_POSITIONAL for p in found.parameters.values()) else []
    keyword = [p for p in found.parameters.values() if p.kind is p.KEYWORD_ONLY]
    required = [0 for p in positional if p.default is p.empty]
    needed = {p.name: 0 for p in keyword if p.default is p.empty}
    yield required, needed
    yield [0] * len(positional) + more, {p.name: 0 for p in keyword}
    for p in positional[1:]:
        if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is not p.empty and not more:
            yield required, {**needed, p.name: 0}


def public(space: str, name: str) -> Any:
    module = importlib.import_module(f"retrograd.{space}".rstrip("."))
    return getattr(module, name)


FUNCTIONS = {f"{space}.{name}".lstrip("."): (public(space, name), found)
             for space, page in NAMESPACES.items() for name, found in
             definitions(stub(page).body).items()}
METHODS = {f"Tensor.{name}": (vars(Tensor)[name], found) for name, found in methods().items()
           if inspect.isfunction(vars(Tensor)[name])}
WRITTEN = {**FUNCTIONS, **METHODS}
# Python calls operators with one operand; their functions have options for others to give.
OPERATORS = {name for name in METHODS if name.startswith("Tensor.__")}


def test_parameters_are_those_of_the_functions() -> None:
    differing = []
    for name, (function, written) in WRITTEN.items():
        if len(written) == 1 and name not in OPERATORS and not is_open(inspect.signature(function)):
            shown = inspect.signature(function)
            expected = shape_of_method(shown) if name in METHODS else shape(shown)
            if shape(signature(written[0])) != expected:
                differing.append(name)
    assert not differing


def test_functions_take_the_calls_that_their_stubs_allow() -> None:
    refused = []
    for name, (function, written) in WRITTEN.items():
        for found in written:
            for args, kwargs in calls(signature(found)):
                try:
                    inspect.signature(function).bind(*args, **kwargs)
                except TypeError as error:
                    refused.append(f"{name}: {error}")
    assert not refused


def is_open(shown: inspect.Signature) -> bool:
    """Whether a function takes its arguments apart by itself."""
    return any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in shown.parameters.values())


# ---------------------------------------------------------------- types

SIMPLE: dict[str, Callable[[Any], bool]] = {
    "Any": lambda v: True, "Tensor": lambda v: isinstance(v, Tensor),
    "Self": lambda v: isinstance(v, Tensor),
    "int": lambda v: isinstance(v, int), "float": lambda v: isinstance(v, int | float),
    "bool": lambda v: isinstance(v, bool), "str": lambda v: isinstance(v, str),
    "complex": lambda v: isinstance(v, int | float | complex),
    "Number": lambda v: isinstance(v, int | float | complex), "None": lambda v: v is None,
    "Size": lambda v: isinstance(v, torch.Size), "dtype": lambda v: isinstance(v, torch.dtype),
    "Device": lambda v: v is None or isinstance(v, str | int | torch.device),
    "layout": lambda v: isinstance(v, torch.layout), "type": lambda v: isinstance(v, type),
    "memory_format": lambda v: isinstance(v, torch.memory_format), "Callable": callable,
    "Generator": lambda v: isinstance(v, torch.Generator), "Index": lambda v: True,
    "EllipsisType": lambda v: v is ..., "SupportsArray": lambda v: hasattr(v, "__array__"),
}


def fits(value: Any, annotation: ast.expr) -> bool:
    """Whether a value is of the type that an annotation writes."""
    if isinstance(annotation, ast.BinOp):
        return fits(value, annotation.left) or fits(value, annotation.right)
    if isinstance(annotation, ast.Constant):
        return value is annotation.value
    if isinstance(annotation, ast.Name):
        return SIMPLE[annotation.id.lstrip("_")](value)
    if isinstance(annotation, ast.Attribute):
        return isinstance(value, getattr(return_types, annotation.attr))
    assert isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name)
    items = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [
        annotation.slice]
    match annotation.value.id:
        case "Literal":
            return value is ast.literal_eval(items[0])
        case "Callable":
            return callable(value)
        case "Sequence":
            return isinstance(value, list | tuple) and all(fits(v, items[0]) for v in value)
        case "tuple" if isinstance(items[-1], ast.Constant) and items[-1].value is ...:
            return isinstance(value, tuple) and all(fits(v, items[0]) for v in value)
        case "tuple":
            return isinstance(value, tuple) and len(value) == len(items) and all(map(fits, value,
                                                                                     items))
    raise AssertionError(ast.unparse(annotation))


def accepts(definition: ast.FunctionDef, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a checker would let a call pass by this overload."""
    try:
        given = signature(definition).bind(*args, **kwargs)
    except TypeError:
        return False
    written = {a.arg: a for a in (*definition.args.posonlyargs, *definition.args.args,
                                  *definition.args.kwonlyargs)}
    variadic = definition.args.vararg
    for name, value in given.arguments.items():
        if variadic is not None and name == variadic.arg:
            fine = all(fits(v, variadic.annotation) for v in value)  # type: ignore[arg-type]
        else:
            annotation = written[name].annotation
            fine = annotation is None or fits(value, annotation)
        if not fine:
            return False
    return True


def mistyped(case: Case) -> str:
    """What a checker would say wrongly of a call."""
    args, kwargs = case.arguments(case.inputs())
    passing = [d for d in WRITTEN[case.entry.name][1] if accepts(d, args, kwargs)]
    if not passing:
        return f"no overload for {case.name}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = case.run(case.inputs())
    assert passing[0].returns is not None
    if not fits(result, passing[0].returns):
        return f"{case.name} returned {type(result).__name__}"
    return ""


def test_sample_calls_and_their_results_are_of_the_types_written() -> None:
    cases = [Case(torch, entry, call) for name, entry in ENTRIES.items() if name in WRITTEN
             for call in entry.calls]
    assert len(cases) > 1500
    assert not list(filter(None, map(mistyped, cases)))


# ---------------------------------------------------------------- shipping


def test_the_stubs_are_shipped() -> None:
    import tomllib

    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    shipped = setup["package-data"]
    for path in (*SOURCE.rglob("*.pyi"), SOURCE / "py.typed"):
        package = ".".join(("retrograd", *path.parent.relative_to(SOURCE).parts))
        assert any(path.match(pattern) for pattern in shipped[package])


def test_a_broken_stub_would_be_found() -> None:
    """The comparison of signatures sees a parameter that is not there."""
    (wrong,) = ast.parse("def sin(input: Tensor, axis: int = 0) -> Tensor: ...").body
    assert isinstance(wrong, ast.FunctionDef)
    assert shape(signature(wrong)) != shape(inspect.signature(torch.sin))
    assert not accepts(wrong, [1.0], {})
