"""The architecture, as far as imports show it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from retrograd.core.extensions import Extensions, extensions

SOURCE = Path(__file__).parent.parent / "src" / "retrograd"
FILES = sorted(SOURCE.rglob("*.py"))
ARRAY_LIBRARIES = {"numpy", "scipy", "ml_dtypes", "cupy"}

# A module may import, when it is itself imported, only from layers above its own.
LAYERS = [
    {"base.call_sites", "base.loading", "base.locks", "base.modes", "base.errors",
     "base.missing_names", "base.missing_reasons", "base.sources", "base.tables",
     "version",
     "core.extensions", "core.out_rules"},
    {"backend", "base.trees", "base.warning"},
    {"base.dtypes", "base.layouts"},
    {"core.anomaly", "core.graph", "core.cuts", "core.printing", "storage"},
    {"core.tensor"},
    {"core.arguments", "core.declaration", "core.holders", "core.signatures"},
    {"core.op", "core.interned"},
    {"core.binding"},
    {"core.formulas", "core.libraries"},
    {"codegen", "core.saved_values"},
    {"core.computing", "core.safe_zeros"},
    {"core.operands", "core.recording", "core.overriding", "core.former_calls"},
    {"core.inplace"},
    {"core.general", "core.out_argument"},
    {"random", "return_types", "_ops"},
    {"ops", "core.engine", "transforms"},
    {"compat", "overrides", "numpy_code", "fft", "linalg", "signal", "sparse", "special",
     "types"},
    {"autograd"},
    {"func", "amp", "distributed.groups", "distributed.collectives", "distributed.constants",
     "distributed.distributed_c10d", "distributed._functional_collectives", "distributed.rpc",
     "distributed.device_mesh", "distributed.nn", "distributed.algorithms",
     "distributed.checkpoint", "distributed.tensor", "distributed._tensor",
     "distributed.autograd", "distributed.elastic"},
    {"nn"},
    {"optim", "distributions", "masked"},
    {"multiprocessing"},
    {"utils", "testing", "serialization", "datasets", "cuda", "cpu", "mps",
     "xpu", "mtia", "accelerator", "backends", "compiler", "_dynamo", "jit", "onnx", "hub",
     "library", "__config__", "_C", "profiler", "__future__", "_functorch",
     "_vmap_internals", "memory", "futures", "fx", "_higher_order_ops", "_subclasses",
     "_tensor_str", "quasirandom", "distributed.optim", "distributed.fsdp",
     "distributed._composable"},
    {"viz"},
    {"cli", "__main__", "as_torch"},
]
# The imports inside functions that point upwards all the same, each with its reason.
DEFERRED = {
    ("_ops", "autograd"): "the gradients of an op that PyTorch has under a name of their own",
    ("_ops", "sparse"): "a product of sparse matrices by PyTorch's name of the op",
    ("autograd.functional", "func"): "vectorize=True is vmap, which is made of autograd",
    ("autograd.gradcheck", "func"): "checks a function under vmap and jvp, made of autograd",
    ("backend.numpy", "base.dtypes"): "names a dtype in the words of an error",
    ("core.tensor", "viz"): "what a notebook shows of a tensor",
    ("nn.modules", "viz"): "what a notebook shows of a module",
}
SPLIT = {"base", "core", "distributed"}
"""The packages whose modules have layers of their own."""


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def running_imports(tree: ast.Module, in_functions: bool = True) -> list[ast.stmt]:
    """Import statements that run, not only serve types: when the module is imported, or later."""
    found: list[ast.stmt] = []
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        elif in_functions or not isinstance(
                node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
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


def upward(path: Path, in_functions: bool = True) -> list[tuple[int, str]]:
    """The lines of statements that import from a layer above, and what they import from."""
    part = part_of([p.removesuffix(".py") for p in path.relative_to(SOURCE).parts])
    if part.endswith("__init__"):
        return []
    own = layer_of(part)
    assert own is not None, f"{part} has no layer: give it one in LAYERS"
    # What has no layer is a public name of the package itself.
    return [(statement.lineno, other)
            for statement in running_imports(ast.parse(path.read_text()), in_functions)
            for other in own_parts(statement, path) - {part} if (layer_of(other) or 0) > own]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_to_lower_layers(path: Path) -> None:
    assert not upward(path, in_functions=False)


def excuse_of(path: Path, other: str) -> tuple[str, str] | None:
    names = path.relative_to(SOURCE).with_suffix("").parts
    return next((known for known in DEFERRED if known[1] == other
                 and ".".join(names[:known[0].count(".") + 1]) == known[0]), None)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_inside_functions_point_to_lower_layers_too(path: Path) -> None:
    assert not [(line, other) for line, other in upward(path) if excuse_of(path, other) is None]


def test_every_exception_is_needed() -> None:
    used = {excuse_of(path, other) for path in FILES
            for _, other in upward(path)}
    assert used - {None} == DEFERRED.keys()


def test_extensions_are_filled_once_and_called_by_name() -> None:
    assert {name for name in vars(extensions) if name not in Extensions.__annotations__} == set()
    with pytest.raises(TypeError, match="there is no extension called 'typo'"):
        Extensions().fill(typo=len)
    with pytest.raises(TypeError, match="'build' is filled already"):
        extensions.fill(build=len)
    with pytest.raises(RuntimeError, match="'traced_call' is used, but the module that fills it"):
        Extensions().traced_call  # noqa: B018
    with pytest.raises(AttributeError, match="there is no extension called 'typo'"):
        extensions.typo  # noqa: B018


def test_lasting_locks_are_made_in_one_place() -> None:
    """Where a fork waits for them; a lock of one call or object is none that others know."""
    made = {name_of(path) for path in FILES for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for call in ast.walk(node.value) if isinstance(call, ast.Call)
            and ast.unparse(call.func).split(".")[-1] in ("Lock", "RLock", "allocate_lock")}
    assert not made


def test_every_extension_is_filled_by_one_module() -> None:
    fillers: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "extensions.fill":
                for keyword in node.keywords:
                    fillers.setdefault(str(keyword.arg), []).append(name_of(path))
    assert fillers.keys() == Extensions.__annotations__.keys()
    assert all(len(places) == 1 for places in fillers.values())


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
