"""The architecture, as far as imports show it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "retrograd"
FILES = sorted(SOURCE.rglob("*.py"))
ARRAY_LIBRARIES = {"numpy", "scipy", "ml_dtypes", "cupy"}

# A module may import, when it is itself imported, only from layers above its own.
LAYERS = [
    {"base.call_sites", "base.modes", "base.errors", "base.missing_names", "base.sources",
     "base.trees", "version"},
    {"backend", "base.warning"},
    {"base.dtypes", "base.layouts"},
    {"core.graph", "core.printing", "storage"},
    {"core.tensor"},
    {"core.arguments", "core.declaration", "core.signatures"},
    {"core.op", "core.interned"},
    {"core.binding"},
    {"core.formulas", "core.libraries"},
    {"codegen", "core.saved_values"},
    {"core.general", "core.inplace"},
    {"random", "return_types"},
    {"ops", "core.engine", "transforms"},
    {"compat", "overrides", "linalg", "special", "types"},
    {"autograd"},
    {"func"},
    {"nn"},
    {"optim"},
    {"utils", "datasets", "cuda", "backends", "_C"},
    {"cli", "__main__"},
]
SPLIT = {"base", "core"}
"""The packages whose modules have layers of their own."""


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def top_level_imports(tree: ast.Module) -> list[ast.stmt]:
    """Import statements that run when the module is imported."""
    found: list[ast.stmt] = []
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            pending += ast.iter_child_nodes(node)
    return found


def all_imports(tree: ast.Module) -> list[ast.stmt]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]


def imported_packages(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Import):
        return {alias.name.split(".")[0] for alias in statement.names}
    assert isinstance(statement, ast.ImportFrom)
    return set() if statement.level else {str(statement.module).split(".")[0]}


def layer_of(part: str) -> int | None:
    return next((i for i, layer in enumerate(LAYERS) if part in layer), None)


def own_parts(statement: ast.stmt, path: Path) -> set[str]:
    """The direct children of the package that a statement imports from."""
    package = ["retrograd", *path.relative_to(SOURCE).parts[:-1]]
    if isinstance(statement, ast.Import):
        dotted = [alias.name.split(".") for alias in statement.names]
    else:
        assert isinstance(statement, ast.ImportFrom)
        start = package[: len(package) - statement.level + 1] if statement.level else []
        base = [*start, *(str(statement.module).split(".") if statement.module else [])]
        dotted = [[*base, alias.name] for alias in statement.names]
    return {part_of(names[1:]) for names in dotted if names[0] == "retrograd" and len(names) > 1}


def part_of(names: list[str]) -> str:
    """What has a layer of its own: a direct child of the package, or a child of a split one."""
    return ".".join(names[:2] if names[0] in SPLIT else names[:1])


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_the_backend_names_an_array_library(path: Path) -> None:
    if path.relative_to(SOURCE).parts[0] == "backend":
        return
    named = [
        f"line {statement.lineno}"
        for statement in all_imports(ast.parse(path.read_text()))
        if imported_packages(statement) & ARRAY_LIBRARIES
    ]
    assert not named


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_imports_pytorch(path: Path) -> None:
    for statement in all_imports(ast.parse(path.read_text())):
        assert "torch" not in imported_packages(statement), f"line {statement.lineno}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_to_lower_layers(path: Path) -> None:
    part = part_of([p.removesuffix(".py") for p in path.relative_to(SOURCE).parts])
    if part.endswith("__init__"):
        return
    own = layer_of(part)
    assert own is not None, f"{part} has no layer: give it one in LAYERS"
    for statement in top_level_imports(ast.parse(path.read_text())):
        for other in own_parts(statement, path) - {part}:
            theirs = layer_of(other)
            if theirs is None:
                continue  # a public name of the package itself
            assert theirs <= own, f"line {statement.lineno}: {part} imports {other}"


def test_every_layer_names_something_that_exists() -> None:
    names = {part_of(list(p.relative_to(SOURCE).with_suffix("").parts)) for p in FILES}
    unknown = set().union(*LAYERS) - names
    assert not unknown


def test_outside_the_package_only_dependencies_are_imported() -> None:
    allowed = set(sys.stdlib_module_names) | ARRAY_LIBRARIES | {"retrograd", "rich"}
    strangers = {
        (name_of(path), package)
        for path in FILES
        for statement in all_imports(ast.parse(path.read_text()))
        for package in imported_packages(statement) - allowed
    }
    assert not strangers
