"""Which tests could notice a change of which part of the source.

A change inside the declaration of an op, or of what it calls, is looked for with the sample calls
of the ops that come to it: who uses whom is read from the source by name.
"""

from __future__ import annotations

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MOST_OPS = 6  # a helper that everything uses is looked for with the nearest ones


@dataclass(frozen=True)
class Selection:
    """Files of tests, torch-free or beside PyTorch; ``by_op`` those of the ops concerned.

    ``native`` ones are run with the native kernels.
    """

    free: str
    parity: str = ""
    by_op: bool = False
    native: bool = False

    @staticmethod
    def paths(names: str, folder: str) -> list[str]:
        return [f"{folder}/test_{name}.py" for name in names.split()]


_SAMPLES = Selection("every_op every_op_batched strict fast_and_general",
                     "every_op op_db degenerate odd_arguments", by_op=True)
_ENGINE = "tensor inplace views hooks function grad_mode engine corners anomaly"
_RANDOM = Selection("", "random_programs random_graphs random_batches")
"""Programs that nobody thought of, for what everything comes by."""

AREAS: dict[str, tuple[Selection, ...]] = {
    "ops": (_SAMPLES, Selection("corners creation stubs", "rare_calls behaviours_ops defaults"),
            _RANDOM),
    "backend": (_SAMPLES, Selection("kernels", "rare_calls"),
                Selection("native", "half_precision attention", native=True), _RANDOM),
    "core": (Selection(f"{_ENGINE} generated_code declarations binding printing forms "
                       "counted_calls",
                   "behaviours_inplace behaviours_graph behaviours_function behaviours_modes "
                   "behaviours_engine hook_combinations written_views"), _RANDOM),
    "transforms": (Selection("vmap transforms func forward_ad functional late counted_calls",
                         "vmap func forward_ad random_transforms"), _RANDOM),
    "autograd": (Selection(f"{_ENGINE} functional func forward_ad gradcheck checkpoint "
                           "counted_calls",
                       "behaviours_function behaviours_hooks behaviours_graph functional"),
                 _RANDOM),
    "nn": (Selection("nn modules facades", "nn_optim module_db module_options other_modules "
                                       "defaults behaviours_modules behaviours_nn_utils "
                                       "rare_modules"),),
    "optim": (Selection("optim optim_packs", "optim_options averages optim_db nn_optim defaults "
                                          "rare_optimizers"),),
    "codegen": (Selection("generated_text generated_code declarations forms grad_mode inplace "
                          "views transforms counted_calls",
                          "behaviours_inplace behaviours_graph behaviours_modes"), _RANDOM),
    "func": (Selection("func functional vmap transforms counted_calls",
                       "func vmap random_transforms"), _RANDOM),
    "utils": (Selection("utils checkpoint facades",
                        "benchmark checkpoint pytree defaults rare_utils"),),
}
"""By folder of the source, in the order in which they are asked; the quick ones come first."""

# Sample calls know little of these.
FILES: dict[str, tuple[Selection, ...]] = {
    "ops/sparse": (Selection("sparse sparse_derivatives", "sparse"),),
    "ops/creation": (Selection("creation seeds stubs",
                               "creation_calls rare_calls behaviours_creation random_stream"),),
    "ops/indexing": (_SAMPLES,
                     Selection("corners", "rare_calls behaviours_indexing behaviours_inplace"),
                     _RANDOM),
    "ops/fourier": (Selection("fourier", "rare_calls"), _SAMPLES),
    "ops/indexing/subscripts.py": (
        Selection("tensor views corners", "rare_calls behaviours_indexing"), _SAMPLES),
    "ops/memory": (_SAMPLES, Selection("tensor inplace views",
                                       "behaviours_memory behaviours_inplace"), _RANDOM),
    "ops/batching.py": (Selection("vmap transforms", "vmap"),),
    "backend/coordinates.py": (Selection("sparse sparse_derivatives", "sparse"),),
    "backend/plain/implicit.py": (Selection("distributions"), _SAMPLES),
    **dict.fromkeys(("backend/numpy/expressions.py", "backend/numpy/native.py",
                     "backend/numpy/together.py"), (Selection("native", native=True), _SAMPLES)),
    "backend/numpy/routines.py": (Selection("linalg"), _SAMPLES, Selection("native", native=True)),
    # Whether an expression is computed in one pass is a question where there are kernels for it.
    **dict.fromkeys(("codegen/calls.py", "codegen/rules.py", "codegen/compiling.py"),
                    (*AREAS["codegen"], Selection("native", native=True))),
    "backend/numpy/protocol.py": (Selection("numpy_code", "numpy_code"),),
    "backend/numpy/fused.py": (Selection("optim optim_packs", "optim_db"),
                               Selection("native optim", native=True)),
    "backend/numpy/updates.py": (Selection("optim_packs optim"),
                                 Selection("native optim_packs", native=True)),
    "backend/numpy/streams.py": (Selection("seeds", "random_stream"),),
    "backend/numpy/rejection.py": (Selection("seeds", "random_stream"),),
    "backend/numpy/recurrent.py": (Selection("recurrent"), Selection("native", native=True)),
    "backend/numpy/spectra.py": (Selection("native fourier", native=True),),
    "backend/index_sets.py": (Selection("sparse_derivatives"),),
    "transforms/dependencies.py": (Selection("sparse_derivatives"),),
    "core/libraries.py": (Selection("strict boundary"),),
    "core/safe_zeros.py": (Selection("safe_where"),),
    "core/holders.py": (Selection("ledger memory explain growth"),),
    "backend/shared_memory.py": (Selection("multiprocessing"),),
    "core/arguments.py": (Selection("arguments errors", "loose_arguments foreign_tensors"),),
    "core/former_calls.py": (Selection("errors", "former_calls"),),
    "core/out_argument.py": (Selection("errors", "out"),),
    "core/out_rules.py": (Selection("errors", "out"),),
    "core/printing.py": (Selection("printing", "printing behaviours_printing sparse"),),
    "core/signatures.py": (Selection("signatures errors"),),
    **dict.fromkeys(("autograd/profiler_util.py", "autograd/recorder.py",
                     "autograd/measured_functions.py"), (Selection("profiler", "profiler"),)),
    "autograd/growth.py": (Selection("growth"),),
    "autograd/explaining.py": (Selection("explain"),),
    "autograd/saved_bytes.py": (Selection("ledger"),),
    "autograd/gradcheck.py": (Selection("gradcheck", "gradcheck"),),
    "nn/modules/transformer.py": (Selection("attention nn", "transformers rare_modules"),),
    "nn/modules/container.py": (Selection("nn modules",
                                          "containers behaviours_modules rare_modules"),),
    **dict.fromkeys(("nn/utils/rnn.py", "nn/modules/rnn.py", "nn/modules/recurrence.py"),
                    (Selection("recurrent nn", "sequences module_db nn_optim rare_modules"),)),
    "nn/init.py": (Selection("nn", "initial_values nn_optim behaviours_modules"),),
    "nn/attention": (Selection("attention", "flex_attention attention"),),
    "nn/parallel": (Selection("distributed utils", "behaviours_parallel"),),
    "nn/modules/lazy.py": (Selection("nn modules", "behaviours_lazy module_options"),),
    "optim/lr_scheduler.py": (Selection("optim", "schedules optim_db"),),
    "nn/utils": (Selection("nn modules", "behaviours_nn_utils nn_optim rare_modules"),),
    "func/sparse.py": (Selection("sparse_derivatives"),),
    "utils/data": (Selection("data", "data"),),
    "utils/flop_counter.py": (Selection("", "flop_counter"),),
    "utils/tensorboard": (Selection("summary_writer", "summary_writer"),),
}
"""Other tests for some parts of an area."""

UNTRIED = ("backend/strict.py",)  # a tool of the tests


def selections_for(path: str) -> tuple[Selection, ...]:
    """The tests for a file, named from the package on."""
    fitting = [part for part in FILES if path.startswith(part)]
    return FILES[max(fitting, key=len)] if fitting else AREAS[path.split("/")[0]]


def ops_near(package: Path, path: Path, line: int, entries: list[str]) -> list[str]:
    """The sampled ops that come to a line, nearest first."""
    by_last_name = defaultdict(list)
    for entry in entries:
        by_last_name[entry.split(".")[-1]].append(entry)
    names = set().union(*(_named(s) for s in _statements(path) if line in _lines(s)))
    reached = itertools.chain.from_iterable(
        by_last_name.get(name, ()) for name in _reaching(_users(package), names))
    return list(itertools.islice(reached, MOST_OPS))


def _reaching(users: dict[str, set[str]], names: set[str]) -> Iterator[str]:
    """Names from these to what uses them, what uses that, and so on."""
    seen, layer = set(names), sorted(names)
    while layer:
        yield from layer
        layer = sorted(set().union(*(users.get(name, set()) for name in layer)) - seen)
        seen.update(layer)


@cache
def _users(package: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for folder in ("ops", "backend"):
        for path in sorted((package / folder).rglob("*.py")):
            for statement in _statements(path):
                for used in _used(statement):
                    found[used] |= _named(statement) - {used}
    return found


def _used(statement: ast.stmt) -> set[str]:
    """The names that a statement takes from elsewhere, which its own variables are not."""
    nodes = list(ast.walk(statement))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)} | {
        node.id for node in nodes if isinstance(node, ast.Name)
        and not isinstance(node.ctx, ast.Load)}
    return {node.id for node in nodes if isinstance(node, ast.Name)} - own | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)}


@cache
def _statements(path: Path) -> list[ast.stmt]:
    """The statements of a file, without its imports."""
    return [s for s in ast.parse(path.read_bytes()).body
            if not isinstance(s, ast.Import | ast.ImportFrom)]


def _named(statement: ast.stmt) -> set[str]:
    """What a statement is about: the function it makes, or to which it gives a rule."""
    match statement:
        case ast.FunctionDef(name=name, decorator_list=decorators):
            said = [a for d in decorators if isinstance(d, ast.Call) for a in d.args]
            of = {d.value.id for d in decorators if isinstance(d, ast.Attribute)
                  and isinstance(d.value, ast.Name)}
            return ({name} | of | {a.id for a in said if isinstance(a, ast.Name)}
                    | {a.value for a in said if isinstance(a, ast.Constant)
                       and isinstance(a.value, str)}) - {"_"}
        case ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {t.id for t in targets if isinstance(t, ast.Name)}
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return {name}
    return set()


def _lines(statement: ast.stmt) -> range:
    """The lines of a statement and its decorators."""
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    return range(first, (statement.end_lineno or first) + 1)
