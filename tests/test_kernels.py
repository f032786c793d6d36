"""Kernels: each tuned body against the plain one, and the plain ones against their definition."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import retrograd as torch
from retrograd.backend import interface, numpy as backend_numpy, strict, xp
from retrograd.backend.numpy import (
    attention,
    conv,
    distance,
    index as index_bodies,
    matrices,
    norm,
    pointwise,
    pool,
    smooth,
)
from retrograd.backend.numpy.native import FOR_KERNELS, package
from retrograd.core.libraries import in_library

F = torch.nn.functional
BACKEND = Path(torch.__file__).parent / "backend"
HALVES = (np.float16, ml_dtypes.bfloat16)
FLOATS = (np.float32, np.float64, *HALVES)


def numbers(*shape: int, seed: int = 0, dtype: Any = float) -> Any:
    return np.asarray(np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def integers(*shape: int, below: int = 5, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, below, shape)


def with_gaps(x: Any) -> Any:
    """The same elements, with others between them in memory."""
    return np.stack([x, x], -1)[..., 0]


def layouts(x: Any) -> list[Any]:
    """The same array in several arrangements of memory."""
    return [x, with_gaps(x), x.T.copy().T]


# ---------------------------------------------------------------- tuned bodies and plain ones


def tuned_and_plain() -> Iterator[tuple[str, Any, Any]]:
    """Every function that NumPy's kernels have a body of their own for."""
    for path in sorted((BACKEND / "plain").glob("[a-z]*.py")):
        if not (BACKEND / "numpy" / path.name).exists():
            continue
        plain, library = (import_module(f"retrograd.backend.{kind}.{path.stem}")
                          for kind in ("plain", "numpy"))
        for name, body in vars(plain).items():
            if isinstance(body, FunctionType) and body.__module__ == plain.__name__:
                own = inspect.unwrap(vars(library)[name])  # one that only remembers is no other
                if own.__code__ is not body.__code__:
                    yield f"{path.stem}.{name}", vars(library)[name], body


BODIES = {name: (tuned, plain) for name, tuned, plain in tuned_and_plain()}
CASES: dict[str, Callable[[], Iterator[tuple[Any, ...]]]] = {}
EXACT: set[str] = set()


def cases(*names: str, exact: bool = False) -> Callable[..., Any]:
    """The decorated function gives argument lists for these bodies.

    Results agree to the rounding of their dtype, or bit for bit where nothing is added up.
    """
    def declare(function: Callable[[], Iterator[tuple[Any, ...]]]) -> Any:
        for name in names:
            assert name not in CASES, f"{name} has its cases already"
            CASES[name] = function
            if exact:
                EXACT.add(name)
        return function
    return declare


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call returns and leaves in its arguments, or what it raises."""
    args = tuple(a.copy(order="K") if isinstance(a, np.ndarray) and 0 not in a.strides else a
                 for a in args)
    with np.errstate(all="ignore"):
        try:
            return function(*args), *args
        except (IndexError, RuntimeError, np.linalg.LinAlgError) as error:
            return type(error), str(error)


def assert_agree(found: Any, expected: Any, exact: bool, name: str) -> None:
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_agree(one, other, exact, name)
    elif not isinstance(expected, np.ndarray | np.generic):
        assert found is expected or found == expected, name
    else:
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), name
        kind, size = expected.dtype.kind, expected.dtype.itemsize
        digits = {2: 2e-3 if kind == "f" else 1.6e-2, 4: 1e-5}.get(size, 1e-12)
        if expected.dtype == np.complex64:
            digits = 1e-5
        if kind not in "biu":
            kind = "c" if kind == "c" else "f"
            found, expected = (a.astype(f"{kind}{8 if kind == 'f' else 16}")
                               for a in (found, expected))
        if exact or kind in "biu":
            assert np.array_equal(found, expected, equal_nan=kind not in "biu"), name
            return
        usual = np.isfinite(expected)
        assert np.array_equal(found[~usual], expected[~usual], equal_nan=True), name
        scale = max(1.0, np.abs(expected[usual]).max(initial=0))
        apart = np.abs(found[usual] - expected[usual]).max(initial=0)
        assert apart <= digits * scale, f"{name}: {apart} apart"


@pytest.mark.parametrize("name", BODIES)
def test_a_tuned_body_gives_what_the_plain_one_gives(name: str) -> None:
    tuned, plain = BODIES[name]
    assert inspect.signature(tuned) == inspect.signature(plain)
    assert name in CASES, f"{name} has a tuned body and no cases: give it some"
    for args in CASES[name]():
        found, expected = outcome(tuned, args), outcome(plain, args)
        if name == "matrices.eigh":
            found, expected = up_to_directions(found), up_to_directions(expected)
        assert_agree(found, expected, name in EXACT, name)


def up_to_directions(found: Any) -> Any:
    """What a call finds, its eigenvectors turned to one of their two directions."""
    if not isinstance(found[0], tuple):
        return found
    (values, vectors), *rest = found
    along = (vectors.real * np.linspace(1, 2, vectors.shape[-2])[:, None]).sum(-2, keepdims=True)
    return (values, np.where(along < 0, -vectors, vectors)), *rest


@pytest.mark.parametrize("name", BODIES)
def test_a_plain_body_runs_on_any_library(name: str) -> None:
    plain = BODIES[name][1]
    bound = in_library(plain, strict.xp)

    def strictly(*args: Any) -> Any:
        given = [in_strict(a) for a in args]
        result = in_numpy(bound(*given))
        for array, wrapped in zip(args, given, strict=True):
            if isinstance(array, np.ndarray) and array.flags.writeable:
                array[...] = in_numpy(wrapped)
        return result

    for args in CASES[name]():
        if not any(isinstance(a, FunctionType) for a in args):
            assert_agree(outcome(strictly, args), outcome(plain, args), True, name)


def in_strict(value: Any) -> Any:
    if isinstance(value, np.ufunc):
        return getattr(strict.xp, value.__name__)
    if isinstance(value, list):
        return [in_strict(item) for item in value]
    return strict.xp.asarray(value) if isinstance(value, np.ndarray | np.generic) else value


def in_numpy(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(in_numpy(item) for item in value)
    return np.asarray(value._array) if isinstance(value, strict.Array) else value


def test_every_case_is_for_a_tuned_body() -> None:
    assert not set(CASES) - set(BODIES)


def codes_of(module: ModuleType) -> Iterator[CodeType]:
    """The code of all functions in a module's file, and in functions and classes there."""
    pending: list[Any] = [*vars(module).values()]
    while pending:
        part = pending.pop()
        if inspect.isclass(part) and part.__module__ == module.__name__:
            pending += vars(part).values()
        code = getattr(part, "__code__", part)
        if isinstance(code, CodeType) and code.co_filename == module.__file__:
            yield code
            pending += code.co_consts


@pytest.mark.parametrize("subject", sorted({name.split(".")[0] for name in BODIES}))
def test_the_cases_reach_every_line_of_the_tuned_bodies(subject: str) -> None:
    module = import_module(f"retrograd.backend.numpy.{subject}")
    source = Path(str(module.__file__)).read_text().splitlines()
    # Those that only kernels use are reached by tests/test_native.py.
    with_kernels = [inspect.unwrap(helper).__code__ for helper in FOR_KERNELS]
    lines = {line for code in codes_of(module) for _, _, line in code.co_lines()
             if line and line != code.co_firstlineno and code not in with_kernels}
    met: set[int] = set()

    def trace(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != module.__file__:
            return None
        met.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        exec(compile("\n".join(source), str(module.__file__), "exec"),  # what runs at the import
             {"__name__": module.__name__, "__package__": module.__package__})
        for name, function in CASES.items():
            if name.split(".")[0] == subject:
                for args in function():
                    outcome(inspect.unwrap(BODIES[name][0]), args)  # no native kernel instead
    finally:
        sys.settrace(before)
    missed = [f"{line}: {source[line - 1].strip()}" for line in sorted(lines - met)]
    assert not missed, "\n".join(missed)


WAYS_FILE = Path(__file__).parent / "sweeps" / "tuned_ways.json"
"""By which of its ``return`` statements a tuned body leaves each of its cases, as a digit, or as a
letter where it asked the plain body. RETROGRAD_OUTCOMES=write writes what is found, without kernels
(RETROGRAD_KERNELS=0)."""


ASK_FOR_A_KERNEL = {"fourier.real_to_complex", "matrices.eigh", "matrices.qr",
                    "systems.packed_qr"}
"""Bodies that go another way where there are kernels: theirs is known without them."""


def ways_of(name: str, patch: pytest.MonkeyPatch) -> str:
    tuned, plain = BODIES[name]
    body = inspect.unwrap(tuned)  # no native kernel instead
    tree = ast.parse(textwrap.dedent(inspect.getsource(body)))
    returns = [range(node.lineno, (node.end_lineno or 0) + 1) for node in ast.walk(tree)
               if isinstance(node, ast.Return)]
    returns.sort(key=lambda lines: lines[0])
    asked: list[int] = []
    left: list[int] = []

    def profile(frame: Any, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is body.__code__:
            line = frame.f_lineno - body.__code__.co_firstlineno + 1
            left.append(next((nr for nr, lines in enumerate(returns) if line in lines), 9))

    patch.setattr(sys.modules[plain.__module__], name.split(".")[1],
                  lambda *args, **options: (asked.append(0), plain(*args, **options))[1])
    found = ""
    for args in CASES[name]():
        asked.clear()
        left.clear()
        sys.setprofile(profile)
        try:
            outcome(body, args)
        finally:
            sys.setprofile(None)
        found += "abcdefghij"[left[-1]] if asked else str(left[-1])
    return found


def test_every_case_is_taken_the_way_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ways give the same, so that no other test sees a quick one that is not taken."""
    asked = [name for name in BODIES if package is None or name not in ASK_FOR_A_KERNEL]
    found = {name: ways for name in asked if len(set(ways := ways_of(name, monkeypatch))) > 1}
    if os.environ.get("RETROGRAD_OUTCOMES") == "write":
        WAYS_FILE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    known = json.loads(WAYS_FILE.read_text())
    assert found == {name: known[name] for name in asked if name in known}


MANY = backend_numpy.LARGE
WIDE = MANY // 64


@pytest.mark.parametrize(("shape", "axis", "dtype", "asked", "at_once"), [
    ((64, WIDE), 1, "f4", None, True), ((64, WIDE), -1, "f8", "f8", True),
    ((WIDE, 64), 0, "f4", "f4", True), ((WIDE, 64), 0, "f4", "f8", False),
    ((64, WIDE - 1), 0, "f8", None, False), ((63, 2 * WIDE), 1, "f8", None, False),
    ((63, 2 * WIDE), 0, "f8", None, True), ((64, WIDE), None, "f8", None, False),
    ((64, WIDE), 1, "i8", None, False), ((64, WIDE), 1, "c16", None, False),
    ((64, WIDE), 1, "f2", None, False)], ids=str)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_rows_are_scanned_at_once_if_they_are_many(
        name: str, shape: tuple[int, ...], axis: int | None, dtype: str, asked: str | None,
        at_once: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, quick = [], backend_numpy._scanned_at_once
    monkeypatch.setattr(backend_numpy, "_scanned_at_once",
                        lambda *args: taken.append(args) or quick(*args))  # type: ignore
    array = (1 + numbers(*shape) / MANY).astype(dtype)
    found = getattr(xp, name)(array, axis, asked and np.dtype(asked))
    expected = getattr(np, name)(array, axis, asked and np.dtype(asked))
    assert bool(taken) == at_once and found.dtype == (asked or dtype)
    np.testing.assert_allclose(found, expected, 1e-3 if dtype[1] in "24" else 1e-9)


def test_large_arrays_are_given_to_kernels_and_small_ones_to_numpy(
        monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    module = backend_numpy._module
    monkeypatch.setattr(backend_numpy, "_module", lambda name: taken.append(name) or module(name))
    many, few = np.arange(MANY + 2), np.arange(MANY - 1)
    ways = {
        "index": [lambda: xp.take(np.eye(2), np.ones(256, int), 0)],
        "pointwise": [lambda: xp.where(many > 3, many, -many)],
        "create": [lambda: xp.concatenate([many, few]), lambda: xp.roll(many, (-1,), (0,))],
        "": [lambda: xp.take(np.eye(2), np.ones(255, int), 0), lambda: xp.take(many, few),
             lambda: xp.where(few > 3, few, -few), lambda: xp.where(True, many, -many),
             lambda: xp.concatenate([few, many]), lambda: xp.roll(few, (5,), (0,)),
             lambda: xp.roll(many, 5), lambda: xp.roll(many.reshape(2, -1), (1, 2), (0, 1))]}
    for name, calls in ways.items():
        for call in calls:
            taken.clear()
            call()
            assert taken == ([name] if name else [])


@pytest.mark.parametrize("shifts", range(-7, 8))
def test_two_parts_change_places(shifts: int) -> None:
    array = np.arange(30).reshape(2, 3, 5)
    for axis in range(-3, 3):
        assert (xp.roll(array, (shifts,), (axis,)) == np.roll(array, shifts, axis)).all()
        assert xp.roll(array[:, :0], (shifts,), (axis,)).shape == (2, 0, 5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_are_made_once_and_not_too_many_are_kept(dtype: Any) -> None:
    kept = pointwise._Scalars(dtype)
    for number in (0.1, -np.inf, 3):
        assert kept[number] is kept[number] and kept[number].dtype == dtype
        assert kept[number] == dtype(number)
    assert np.isnan(kept[np.nan]) and len(kept) == 3  # which would never be found again
    for number in range(5000):
        assert kept[number] == number
    assert len(kept) == 4096
    assert kept[0.25] == 0.25 and 0.25 not in kept


OWN_BODIES = {"create": {"shared", "from_buffer", "from_dlpack", "filling"}}
"""What needs a body of its own in each library, since it is about that library's memory."""


def test_every_kernel_that_is_called_has_a_plain_body() -> None:
    missing: dict[str, set[str]] = {}
    for path in BACKEND.parent.rglob("*.py"):
        if BACKEND in path.parents:
            continue
        tree = ast.parse(path.read_text())
        imported = {alias.asname or alias.name: alias.name
                    for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                    and node.level and str(node.module).split(".")[-1] == "backend"
                    for alias in node.names if alias.name != "xp"}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) \
                    and node.value.id in imported:
                subject = imported[node.value.id]
                if (BACKEND / f"{subject}.py").exists():
                    continue  # beside the libraries: for whole numbers and sparse data of NumPy's
                plain = import_module(f"retrograd.backend.plain.{subject}")
                if not hasattr(plain, node.attr):
                    missing.setdefault(subject, set()).add(node.attr)
    assert missing == OWN_BODIES


def plain_sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((BACKEND / "plain").glob("[a-z]*.py")):
        yield path.name, ast.parse(path.read_text())


def test_plain_bodies_name_no_library_and_keep_nothing_of_one() -> None:
    for name, tree in plain_sources():
        for node in ast.walk(tree):
            assert not isinstance(node, ast.Import) or "numpy" not in [a.name for a in node.names]
        for statement in tree.body:
            if not isinstance(statement, ast.FunctionDef | ast.ImportFrom | ast.Import):
                kept = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == "xp"]
                assert not kept, f"{name}, line {statement.lineno}: bound to one library"


ATTRIBUTES = {"append", "get", "index", "bit_length", "uniform"}
"""What is called of lists, dicts, numbers and random streams, not of arrays."""


def test_plain_bodies_ask_for_nothing_but_the_interface() -> None:
    for name, tree in plain_sources():
        for node in ast.walk(tree):
            where = f"{name}, line {getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("flags", "strides", "base", "flat", "data"), where
                if ast.unparse(node.value) == "xp":
                    assert node.attr in interface.NAMES, where
                if ast.unparse(node.value) == "xp.linalg":
                    assert node.attr in interface.LINALG, where
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner, called = ast.unparse(node.func.value), node.func.attr
                if owner in ("math", "cmath", "itertools", "xp.linalg") or called in ATTRIBUTES:
                    continue
                known = interface.FUNCTIONS if owner == "xp" else interface.METHODS
                assert called in known or called in interface.QUESTIONS, where
                if called in known:
                    given = {str(keyword.arg) for keyword in node.keywords}
                    assert given <= set(known[called].split()), where


# ---------------------------------------------------------------- cases: rows and exponentials


def matrices_of_all_sizes() -> Iterator[Any]:
    for shape in ((3, 2), (300, 5), (40, 70), (2, 9000), (70_000, 10), (300, 1000)):
        yield numbers(*shape, dtype=np.float32)
    x = numbers(40, 70)
    x[1, 1] = np.nan
    yield from layouts(x)


@cases("rows.row_sums", "rows.column_sums")
def _() -> Any:
    yield from ((x,) for x in matrices_of_all_sizes())


@cases("rows.row_maxima", exact=True)
def _() -> Any:
    yield from ((x,) for x in matrices_of_all_sizes())


@cases("rows.row_products")
def _() -> Any:
    yield from ((x, x[::-1]) for x in matrices_of_all_sizes())


@cases("index.side_by_side", exact=True)
def _() -> Any:
    for x, axis in arrays_with_axes():
        yield [x, x + 1, x], axis


@cases("rows.total")
def _() -> Any:
    for count in (0, 1, 100, 10_000):
        yield (numbers(count),)


def arrays_with_axes() -> Iterator[tuple[Any, int]]:
    for dtype in FLOATS:
        for shape in ((3, 5), (4, 5, 6), (16, 16, 10), (5, 300), (0, 3), (2, 0), ()):
            for axis in range(len(shape)) or (0,):
                yield numbers(*shape, dtype=dtype), axis
    for x in layouts(numbers(20, 60, dtype=np.float32)):
        yield x, 0
        yield x, 1
    yield np.broadcast_to(numbers(1, 6), (4, 6)), 1
    yield np.array([[np.nan, 1], [-np.inf, -np.inf], [np.inf, 1]]), 1
    yield numbers(300, 1000, dtype=np.float32), 1
    yield numbers(5, 70, 1000), 2


@cases("attention.attention_gradient")
def _() -> Any:
    for dtype in FLOATS:
        given = [numbers(2, n, 4, seed=n, dtype=dtype) for n in (3, 5, 5)]
        for mask, causal in ((None, True), (numbers(3, 5) > 0, False)):
            found, sums = attention.attention(*given, mask, causal, 0.5)
            for part in range(3):
                yield np.flip(found), *given, found, sums, mask, causal, 0.5, part, (1, None, 1)


# ---------------------------------------------------------------- cases: smooth units


def points_of_all_sizes() -> Iterator[Any]:
    for count in (0, 5, 3000, 20_000, 1_100_000):
        yield np.linspace(-9, 9, count).astype(np.float32)
    yield from layouts(numbers(30, 40))
    yield np.float32(0.5)
    yield np.array(0.5)
    yield np.array([np.nan, np.inf, -np.inf, 0])
    yield np.full(5000, np.nan, np.float32)


@cases("smooth._probability", "smooth.gelu", "smooth.tanh_gelu", "smooth.silu", "smooth.mish")
def _() -> Any:
    yield from ((x,) for x in points_of_all_sizes())


@cases("smooth.gelu_gradient", "smooth.tanh_gelu_gradient", "smooth.silu_gradient",
       "smooth.mish_gradient")
def _() -> Any:
    yield from ((x[::-1] if x.ndim else x, x) for x in points_of_all_sizes())
    yield numbers(3, 1), numbers(3, 4)


# ---------------------------------------------------------------- cases: rows of large arrays


def large_rows() -> Iterator[Any]:
    """Arrays that are shared among threads, of wide rows and of narrow ones, and some others."""
    for shape in ((3, 5), (300, 1000), (40, 70, 100), (20_011, 10), (2, 100_000), (150_000, 1)):
        for dtype in (np.float32, np.float64):
            yield numbers(*shape, dtype=dtype)
    yield numbers(300, 1000, dtype=np.float16)
    yield numbers(1000, 300).T
    yield np.where(numbers(300, 1000) > 2, np.nan, numbers(300, 1000))


@cases("softmax.softmax", "softmax.log_softmax")
def _() -> Any:
    for x in large_rows():
        yield from ((x, axis) for axis in (x.ndim - 1, 0))


@cases("softmax.softmax_gradient", "softmax.log_softmax_gradient")
def _() -> Any:
    for x in large_rows():
        yield from ((np.flip(x).copy(), np.abs(x), axis) for axis in (x.ndim - 1, 0))


@cases("norm.layer_norm", "norm.layer_normed")
def _() -> Any:
    for x in large_rows():
        for rank in range(1, x.ndim):
            weight = numbers(*x.shape[x.ndim - rank:], dtype=x.dtype)
            yield from ((x, rank, 1e-5, *given) for given in (
                (None, None), (weight, None), (weight, -weight)))


@cases("norm.layer_input_gradient", "norm.layer_gradients")
def _() -> Any:
    for x in large_rows():
        for rank in range(1, x.ndim):
            moments = norm.layer_norm(x, rank, 1e-5, None, None)[1:]
            weight = numbers(*x.shape[x.ndim - rank:], dtype=x.dtype)
            for given in ((None, *moments), (weight, *moments), (weight, None, None)):
                yield np.flip(x).copy(), x, *given, rank, 1e-5


# ---------------------------------------------------------------- cases: products


@cases("matrices.dot")
def vectors_and_matrices() -> Any:
    for dtype in (*FLOATS, np.int64, np.complex64):
        for left, right in (((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((0, 4), (4, 2)),
                            ((3, 0), (0, 2)), ((3, 1), (1, 2))):
            yield numbers(*left, dtype=dtype), numbers(*right, dtype=dtype, seed=1)
    yield from zip(layouts(numbers(30, 40)), layouts(numbers(40, 20)), strict=True)
    yield numbers(70, 60), numbers(70, 60, seed=1).T
    for left, right in (((2300, 64), (64, 64)), ((64, 64), (64, 2300))):
        yield numbers(*left), numbers(*right, seed=1)


@cases("matrices.product")
def _() -> Any:
    yield from vectors_and_matrices()
    yield numbers(3, 128, 32, dtype=np.float32), numbers(3, 32, 128, dtype=np.float32)
    for lead in ((8,), (1, 2, 4)):
        yield numbers(*lead, 128, 64), numbers(*lead, 128, 64, seed=1).swapaxes(-1, -2)


@pytest.mark.parametrize(("shape", "columns", "parts"), [
    ((8, 128, 64), 128, [(4, 128, 128), (4, 128, 128)]), ((7, 128, 64), 128, []),
    ((1, 5, 2, 128, 64), 128, [(1, 3, 2, 128, 128), (1, 2, 2, 128, 128)]),
    ((4, 256, 64), 255, [(2, 256, 255)] * 2), ((4, 256, 64), 256, [])])
def test_large_stacks_of_products_are_shared(
        shape: tuple[int, ...], columns: int, parts: list[tuple[int, ...]],
        monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = numbers(*shape), numbers(*shape[:-2], shape[-1], columns, seed=1)
    met: list[tuple[int, ...]] = []
    monkeypatch.setattr(matrices, "_matmul", lambda x, y, *out, **given: (
        met.append(out[0].shape) if out else None, np.matmul(x, y, *out, **given))[1])
    assert np.array_equal(inspect.unwrap(matrices.product)(a, b), np.matmul(a, b))
    assert sorted(met) == sorted(parts)


def systems_of(*dtypes: Any) -> Iterator[tuple[Any, Any]]:
    """Matrices that are far from singular, large and small, and right-hand sides."""
    for dtype, n, lead in itertools.product(dtypes, (3, 20), ((), (2,))):
        for columns in (1, 2, 0):
            a = numbers(*lead, n, n, dtype=dtype) + 4 * n ** 0.5 * np.eye(n, dtype=dtype)
            yield a, numbers(n, columns, seed=1, dtype=dtype)


@cases("systems.solve_triangular")
def _() -> Iterator[tuple[Any, ...]]:
    for a, b in systems_of(np.float32, np.float64, np.complex64, complex):
        for upper, unit in itertools.product((False, True), (False, True)):
            yield a, b, upper, unit
            yield a.swapaxes(-1, -2), b, upper, unit
            yield with_gaps(a), b, upper, unit
    large = numbers(150, 150) / 150 + np.eye(150)
    for upper in (False, True):
        yield large, numbers(150, 3), upper, False
        yield large.T, numbers(3, 150).T, upper, True
    singular = np.diag([1.0, 0.0, 2.0])
    yield singular, np.ones((3, 1)), True, False
    yield np.zeros((0, 0)), np.zeros((0, 2)), True, False


@cases("systems.unit_lower")
def _() -> Iterator[tuple[Any, ...]]:
    for dtype in (np.float32, np.float64, np.complex64, complex):
        for shape in ((5, 5), (6, 4), (3, 6, 4), (0, 4, 4), (4, 0), (1, 1)):
            yield (numbers(*shape, dtype=dtype),)
        yield (numbers(4, 6, dtype=dtype)[:, :4],)
        yield (numbers(4, 6, dtype=dtype).T,)


@cases("systems.row_order")
def _() -> Iterator[tuple[Any, ...]]:
    random = np.random.default_rng(0)
    for lead, swaps, rows in itertools.product(((), (3,), (2, 0), (20,)), (0, 1, 6), (6, 9)):
        yield random.integers(np.arange(swaps), rows, (*lead, swaps)).astype(np.int32) + 1, rows


def symmetric_matrices(*dtypes: Any) -> Iterator[Any]:
    """Hermitian matrices, positive-definite ones, large and small."""
    for dtype, n, lead in itertools.product(dtypes, (3, 20), ((), (2,))):
        a = numbers(*lead, n, n, dtype=dtype)
        yield a @ a.conj().swapaxes(-1, -2) / n + np.eye(n, dtype=dtype)
    yield np.zeros((0, 0))


@cases("systems.cholesky")
def _() -> Iterator[tuple[Any, ...]]:
    for a in symmetric_matrices(np.float32, np.float64, np.complex64, complex):
        for upper in (False, True):
            side = np.triu(a) if upper else np.tril(a)  # the other one is not read
            yield side, upper, "cholesky"
            yield with_gaps(side), upper, "cholesky"
    for bad in (np.diag([1.0, -2, 3]), np.diag([1.0, np.nan, 3]), np.diag([1.0, np.inf, 3])):
        yield bad, False, "cholesky"
        yield bad, False, "cholesky", True


@cases("matrices.eigh")
def _() -> Iterator[tuple[Any, ...]]:
    large = numbers(2, 40, 40)
    for a in (*symmetric_matrices(np.float64, np.complex64), large + large.swapaxes(-1, -2),
              np.diag(np.arange(40, dtype=np.float32))):
        for side in "LU":
            yield np.tril(a) if side == "L" else np.triu(a), side
    yield np.full((40, 40), np.nan), "L"


@cases("matrices.eigvalsh")
def _() -> Iterator[tuple[Any, ...]]:
    for a, side in CASES["matrices.eigh"]():
        if np.isfinite(a).all():
            yield a, side


@cases("matrices.eig", "matrices.eigvals")
def _() -> Iterator[tuple[Any, ...]]:
    for shape in ((3, 3), (2, 40, 40), (0, 0)):
        yield numbers(*shape), True
        yield numbers(*shape) + 1j * numbers(*shape, seed=1), True
    for finite in (True, False):
        yield np.array([[1.0, np.nan], [0, 1]]), finite
        yield np.full((40, 40), np.inf), finite


def tall_matrices() -> Iterator[Any]:
    for rows, columns, lead in ((3, 2, ()), (40, 40, ()), (50, 40, (2,)), (40, 50, (2,)),
                                (0, 2, ())):
        yield numbers(*lead, rows, columns)
        yield numbers(*lead, rows, columns) + 1j * numbers(*lead, rows, columns, seed=1)


@cases("systems.packed_qr")
def _() -> Iterator[tuple[Any, ...]]:
    for a in tall_matrices():
        yield (a,)


@cases("matrices.qr")
def _() -> Iterator[tuple[Any, ...]]:
    for a in (*tall_matrices(), numbers(4, 3, dtype=np.float32), numbers(3, 4, dtype=np.complex64)):
        for mode in ("reduced", "complete", "r"):
            yield a, mode


@cases("systems.inverse_of_least_squares")
def _() -> Iterator[tuple[Any, ...]]:
    for a in (numbers(150, 140), numbers(140, 150), numbers(2, 140, 131), numbers(5, 4)):
        yield a, None, None
        yield a, 1e-6, None
    dependent = numbers(140, 140)
    dependent[:, 1] = dependent[:, 0]
    yield dependent, None, None


@cases("systems.least_squares")
def _() -> Iterator[tuple[Any, ...]]:
    for a in tall_matrices():
        yield a, numbers(a.shape[-2], 3, seed=2, dtype=a.dtype), None
        yield a, numbers(*a.shape[:-1], 2, seed=2, dtype=a.dtype), 1e-3
    yield np.diag([2.0, 0, 0]), np.ones((3, 1)), None
    for size in (3, 40, 140):
        dependent = numbers(size, size)
        dependent[:, 1] = dependent[:, 0]
        yield dependent, numbers(size, 2, seed=1), None
        yield numbers(size + 9, size), numbers(size + 9, 2, seed=1), None
        yield numbers(2, size + 9, size), numbers(2, size + 9, 1, seed=1), None
    yield numbers(2, 5, 4), numbers(3, 1, 5, 1, seed=1), None
    yield numbers(2, 9, 4, dtype=np.float32), numbers(2, 9, 1, seed=1, dtype=np.float32), None


@cases("systems.reflected")
def _() -> Iterator[tuple[Any, ...]]:
    from retrograd.backend.plain.systems import packed_qr

    for a in (*tall_matrices(), numbers(2, 40, 36, dtype=np.float32)):
        packed, tau = packed_qr(a)
        steps = tau.shape[-1]
        vectors = np.tril(packed[..., :steps], -1) + np.eye(a.shape[-2], steps, dtype=a.dtype)
        for adjoint in (False, True):
            yield vectors, tau, numbers(*a.shape[:-1], 5, dtype=a.dtype), adjoint
            yield vectors, tau, numbers(*a.shape[:-1], 0, dtype=a.dtype), adjoint
            yield vectors, tau, numbers(3, *[1] * (a.ndim - 2), a.shape[-2], 2, seed=1,
                                        dtype=a.dtype), adjoint


@cases("systems.svd")
def _() -> Iterator[tuple[Any, ...]]:
    for a in tall_matrices():
        yield a, True
        yield a, False
    for size in (3, 40):
        yield np.full((2, size, size), np.nan), True


@cases("systems.svdvals")
def _() -> Iterator[tuple[Any, ...]]:
    for a, full in CASES["systems.svd"]():
        if full:
            yield (a,)


@cases("systems.ldl_factor")
def _() -> Iterator[tuple[Any, ...]]:
    for shape in ((3, 3), (2, 20, 20), (0, 0)):
        for a in (numbers(*shape), numbers(*shape) + 1j * numbers(*shape, seed=1)):
            yield a, False
            yield a, True
    yield np.zeros((2, 2)), False


@cases("systems.ldl_solve")
def _() -> Iterator[tuple[Any, ...]]:
    from retrograd.backend.plain.systems import ldl_factor

    for a, hermitian in CASES["systems.ldl_factor"]():
        if a.size and a.any():
            packed, pivots, _ = ldl_factor(a, hermitian)
            yield packed, pivots, numbers(a.shape[-1], 2, dtype=a.dtype), hermitian
    yield np.zeros((0, 0)), np.zeros(0, np.int32), np.zeros((0, 2)), False


@cases("systems.lu_factor")
def _() -> Iterator[tuple[Any, ...]]:
    for a, _ in systems_of(np.float32, np.float64, complex):
        yield (a,)
        yield (a[..., :2],)
        yield (a[..., :2, :],)
    for shape in ((2, 50, 60), (60, 50)):
        yield (numbers(*shape),)
    singular = numbers(50, 50)
    singular[:, 40] = 0
    yield (singular,)
    yield (np.zeros((3, 0)),)
    yield (np.array([[0.0, 1, 2], [0, 3, 4], [0, 5, 6]]),)


@cases("systems.permuted_rows")
def _() -> Iterator[tuple[Any, ...]]:
    random = np.random.default_rng(0)
    leads = ((), (3,))
    for lead, own, swaps, back in itertools.product(leads, leads, (0, 6), (False, True)):
        pivots = random.integers(np.arange(swaps), 9, (*lead, swaps)).astype(np.int32) + 1
        yield numbers(*own, 9, 2), pivots, back


@cases("systems.permutation_matrix")
def _() -> Iterator[tuple[Any, ...]]:
    for pivots, rows in CASES["systems.row_order"]():
        yield pivots, rows, np.dtype(np.float32)


@cases("systems.is_factored")
def _() -> Iterator[tuple[Any, ...]]:
    for size in (0, 3, 32, 33):
        yield (numbers(size, size, dtype=np.float32),)
        yield (numbers(2, size, size, dtype=complex),)  # kernels factor all real ones of a batch


@cases("pointwise.log_add_exp")
def _() -> Iterator[tuple[Any, ...]]:
    special = np.array([np.inf, -np.inf, np.nan, 0, 800, -800])
    for dtype, base_two in itertools.product((np.float32, np.float64), (False, True)):
        for count in (3, 2000):
            x, y = (np.concatenate([numbers(count, seed=seed) * 20, part]).astype(dtype)
                    for seed, part in ((0, special), (1, special[::-1])))
            yield x, y, base_two
            yield x, x, base_two
            yield x[:, None][:40], y[:40], base_two
    yield numbers(3, dtype=complex), numbers(3, dtype=complex, seed=1), False


@cases("matrices.sum_rows")
def _() -> Any:
    for dtype in (*FLOATS, np.int32, np.complex64):
        for shape in ((3, 4), (0, 4), (3, 0), (500, 7)):
            yield (numbers(*shape, dtype=dtype),)
    yield from ((x,) for x in layouts(numbers(30, 40)))


@cases("matrices.affine")
def _() -> Any:
    for dtype in (*FLOATS, np.int64):
        yield tuple(numbers(*shape, dtype=dtype) for shape in ((3, 4), (5, 4), (5,)))
        yield tuple(numbers(*shape, dtype=dtype) for shape in ((4,), (5, 4), (5,)))
    yield numbers(70, 60), numbers(70, 60, seed=1), numbers(70)


# ---------------------------------------------------------------- cases: normalisation


def rows_to_normalise() -> Iterator[tuple[Any, int, Any, Any]]:
    """Arrays, how many dimensions are a row, weights and biases."""
    for dtype in FLOATS:
        yield numbers(3, 4, 5, dtype=dtype), 2, numbers(4, 5, dtype=dtype), None
    for width in (100, 600):
        x, weight = numbers(300, width, dtype=np.float32), numbers(width, dtype=np.float32)
        yield x, 1, weight, weight[::-1]
        yield x, 1, None, weight
    for x in layouts(numbers(30, 40)):
        yield x, 1, numbers(40), None
    yield numbers(0, 4), 1, numbers(4), numbers(4)


def moments(x: Any, rank: int) -> list[tuple[Any, Any]]:
    _, mean, scale = norm.layer_norm(x, rank, 1e-5, None, None)
    return [(None, None), (mean, scale)]


@cases("norm.layer_gradient")
def _() -> Any:
    for x, rank, weight, _ in rows_to_normalise():
        for asked in (None, (1, None, False), (1, 1, 1)):
            yield np.flip(x), x, weight, *norm.layer_norm(x, rank, 1e-5, None, None)[1:], rank, \
                1e-5, asked


def images_to_normalise() -> Iterator[tuple[Any, Any, Any, int | None]]:
    for dtype in FLOATS:
        weight = numbers(6, dtype=dtype)
        for groups in (None, 3):
            for shape in ((4, 6, 3), (4, 6, 300), (4, 6), (0, 6, 3)):
                yield numbers(*shape, dtype=dtype), weight, weight[::-1], groups
    for x in layouts(numbers(20, 6, 30, 40)):
        yield x, None, None, None


@cases("norm.channel_gradient")
def _() -> Any:
    for x, weight, _, groups in images_to_normalise():
        _, mean, scale, _ = norm.channel_norm(x, None, None, groups, 1e-5)
        for asked in (None, (1, None, False), (1, 1, 1)):
            yield np.flip(x), x, weight, mean, scale, groups, 1e-5, asked


@cases("norm.channel_gradients")
def _() -> Any:
    for x, weight, _, groups in images_to_normalise():
        _, mean, scale, _ = norm.channel_norm(x, None, None, groups, 1e-5)
        for known in ((mean, scale), (None, None)):
            yield np.flip(x), x, weight, *known, groups, 1e-5


@cases("norm.look_up", exact=True)
def _() -> Any:
    for weight in layouts(numbers(7, 3)):
        for indices in (integers(4, 2), integers(0), np.array([6, 7]), np.array([-1, 2])):
            yield weight, indices
    yield numbers(7, 0), integers(3)
    yield numbers(7, 0), np.array([9])
    yield numbers(0, 3), integers(2)


@cases("norm._add_rows_at")
def _() -> Any:
    for count, indices in ((50, 20), (10, 40), (5000, 3000), (20, 3000), (70_000, 3000)):
        where = integers(indices, below=count)
        yield np.zeros((count, 16)), where, numbers(indices, 16), np.bincount(where)
    yield np.zeros((9, 2)), np.array([3, 1]), numbers(2, 2), np.array([0, 1, 0, 1])
    where = np.arange(3000) % 50
    yield np.zeros((49, 16)), where, numbers(3000, 16), np.bincount(where)


@cases("distance._norm")
def _() -> Any:
    for x in (*layouts(numbers(3, 4)), numbers(3, 4, dtype=np.float32), numbers(),
              numbers(3, 4, dtype=np.complex64)):
        for dim in (None, *(((0,), (x.ndim - 1,), tuple(range(x.ndim))) if x.ndim else ())):
            yield x, 2.0, dim, False
            yield x, 3.0, dim, True


@cases("distance.pairwise")
def _() -> Any:
    for ord in (0, 1, 2, 3, np.inf):
        for dtype in (np.float32, np.float64):
            yield numbers(2, 5, 3, dtype=dtype), numbers(1, 4, 3, dtype=dtype), ord
        yield numbers(5, 0), numbers(4, 0), ord
    for ord in (1, 2, 3):
        yield numbers(600, 6, dtype=np.float16), numbers(1200, 6, dtype=np.float16), ord
    yield numbers(2, 600, 6), numbers(1, 600, 6), np.inf


@cases("distance.pairwise_gradient")
def _() -> Any:
    for shape in ((5, 3), (900, 6), (2, 600, 6)):
        for dtype in (np.float32, np.float64):
            x, y = numbers(*shape, dtype=dtype), numbers(*shape, seed=1, dtype=dtype)
            y[..., 1, :] = x[..., 2, :]
            apart = distance.pairwise(x, y, 2)
            yield numbers(*apart.shape, seed=2, dtype=dtype), x, y, apart


# ---------------------------------------------------------------- cases: Fourier transforms


def signals(*complex: bool) -> Iterator[tuple[Any, tuple[int, ...], int]]:
    """Arrays, dims and ways of scaling, of few numbers and of many."""
    for shape, dims in (((4, 5), (1,)), ((4, 5), (0, 1)), ((40, 60), (1,)), ((40, 60), (1, 0)),
                        ((3, 40, 60), (0, 2))):
        for is_complex in complex:
            for dtype in ("complex64", "complex128") if is_complex else ("float32", "float64"):
                for x in layouts(numbers(*shape, dtype=dtype)):
                    for normalization in (0, 1, 2):
                        yield x, dims, normalization


def of_prime_lengths() -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Many numbers whose transforms have prime lengths, short ones and long ones."""
    for shape, dims in (((220, 11), (1,)), ((13, 200), (0, 1)), ((3, 1009), (1,)),
                        ((1009, 4), (0,)), ((101, 103), (0, 1)), ((3, 1, 1013), (0, 2))):
        yield numbers(*shape), dims


@cases("fourier.complex_to_complex")
def _() -> Any:
    for x, dims in of_prime_lengths():
        for dtype in (np.complex64, complex):
            yield (x + 1j * x[::-1]).astype(dtype), dims, 1, True
            yield (x - 2j * x[::-1]).astype(dtype), dims, 2, False
    yield numbers(4, 5, dtype=complex), (), 0, True
    for given in signals(True):
        for forward in (True, False):
            yield *given, forward


@cases("fourier.real_to_complex")
def _() -> Any:
    for x, dims in of_prime_lengths():
        yield x, dims, 0, True, 1.0
        yield x, dims, 0, True, 2.0
    for x, dims, normalization in signals(False):
        for pairs in (1.0, 2.0, 0.5):
            yield x, dims, normalization, True, pairs
        yield x, dims[-1:], normalization, False, 1.0


@cases("fourier.complex_to_real")
def _() -> Any:
    for shape, dims, length in (((3, 700), (1,), 1399), ((60, 40, 2), (0, 1), 79),
                                ((1, 1500), (1,), 2999), ((5, 505), (1,), 1009),
                                ((128, 19), (1,), 37)):
        yield numbers(*shape) + 1j * numbers(*shape, seed=1), dims, 1, length, 2.0
    for x, dims, normalization in signals(True):
        size = 2 * (x.shape[dims[-1]] - 1)
        for length in (size, size + 1):
            for pairs in (1.0, 0.5):
                yield x, dims, normalization, length, pairs


# ---------------------------------------------------------------- cases: reductions


def arrays_to_reduce() -> Iterator[Any]:
    for dtype in (*FLOATS, np.int32, np.uint8, np.bool_, np.complex64):
        for shape in ((3, 4, 5), (2, 0, 3), (), (70,)):
            yield (numbers(*shape) * 3).astype(dtype)
    yield from layouts(numbers(30, 40, dtype=np.float32))
    yield np.broadcast_to(numbers(1, 6), (4, 6))
    yield np.array([1.0, np.nan, np.inf])


@cases("reduce.sum_all")
def _() -> Any:
    yield from ((x,) for x in arrays_to_reduce())
    for dtype in (np.float32, np.float64, np.float16):
        for shape in ((1 << 15,), (300, 1001), (70, 3, 211)):
            yield from ((x,) for x in layouts(numbers(*shape, dtype=dtype)))
    yield (np.full(40_000, np.inf),)
    yield (np.where(numbers(40_000) > 3, np.inf, -np.inf),)


@cases("reduce.total")
def _() -> Any:
    for x in arrays_to_reduce():
        for dim in (None, *([(0,), (0, -1)] if x.ndim > 1 else [])):
            for keepdims in (False, True):
                yield x, dim, keepdims, None
                yield x, dim, keepdims, np.dtype(np.float32)
    for x in layouts(numbers(5000, 3, dtype=np.float32)):
        yield x, (0,), False
        yield x, (0,), True
        yield x, None, False


@cases("reduce.spread", exact=True)
def _() -> Any:
    for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        for shape in ((3, 4), (90, 90), (), (0, 3)):
            yield np.float32(2), shape, dtype, None, False
        yield numbers(4), (3, 4), dtype, (0,), False
        yield numbers(1, 4), (3, 4), dtype, (0,), True


@cases("reduce.log_sums")
def _() -> Any:
    for dtype in (*FLOATS, np.complex128):
        for shape in ((), (5,), (4, 9), (0, 3)):
            yield numbers(*shape, dtype=dtype), 0
    yield np.array([-np.inf, -np.inf, 1, np.inf, 2, np.nan]), 0
    yield from ((x, 1) for x in layouts(numbers(4, 9)))


@cases("reduce.shifted", exact=True)
def _() -> Any:
    for x in (*layouts(numbers(4, 9)), numbers(3, 1, 2), numbers(0, 3), np.float32(2)):
        for axis in range(max(np.ndim(x), 1)):
            yield x, axis, False
            yield x, axis, True


@cases("reduce.products_of_others")
def _() -> Any:
    for dtype in (np.float32, np.float64, np.float16):
        large = (1 + numbers(130, 140) / 100).astype(dtype)
        for odd in (1, 0, np.nan, np.inf):
            large[3, 5] = odd
            yield from ((large.copy(), axis) for axis in (0, 1))
    yield np.full((200, 100), 1e-3, np.float32), 1  # whose product is too small for a number
    yield from ((x, 0) for x in (numbers(4, 9), np.float32(2)))


@cases("reduce.scanned", exact=True)
def _() -> Any:
    for x in arrays_to_reduce():
        if x.ndim and x.dtype.kind != "c":
            for combine in (np.maximum, np.minimum, lambda a, b: np.maximum(a, b)):
                yield combine, x, 0
                yield combine, x, x.ndim - 1


@cases("reduce.plain_variance")
def _() -> Any:
    for x in (*layouts(numbers(30, 40)), numbers(7, dtype=np.float32)):
        yield x, 1
        yield x, 0


# ---------------------------------------------------------------- cases: elementwise


@cases("pointwise.bounded", exact=True)
def _() -> Any:
    for x in arrays_to_reduce():
        if x.dtype.kind in "fV":
            for low, high in ((-0.5, 0.5), (None, 0.5), (-0.5, None), (1.0, -1.0), (None, None),
                              (-0.5, np.nan), (np.random.default_rng().random(), 2.0)):
                yield x, low, high


@cases("pointwise.rectified", exact=True)
def _() -> Any:
    for x in arrays_to_reduce():
        if x.dtype.kind in "fV":
            yield (x,)
    yield (numbers(200, 100),)


@cases("pointwise.zeroed", "pointwise.kept", exact=True)
def _() -> Any:
    for x in (*arrays_to_reduce(), *layouts(numbers(90, 90)), numbers(90, 90, dtype=np.float16)):
        yield x, np.asarray(x.real > 0)
    yield numbers(3, 4), numbers(4) > 0
    yield numbers(90, 90), numbers(90, 1) > 0


@cases("pointwise.chosen", exact=True)
def _() -> Any:
    for x in (*arrays_to_reduce(), *layouts(numbers(90, 90)), numbers(90, 90, dtype=np.float16)):
        yield np.asarray(x.real > 0), x, np.negative(x) if x.dtype != bool else ~x
    yield numbers(3, 4) > 0, numbers(3, 4), numbers(4)
    yield numbers(90, 1) > 0, numbers(90, 90), numbers()
    mask, odd = numbers(90, 90) > 0, np.full((90, 90), np.nan)
    for left, right in ((odd, -0.0), (1, odd), (odd[0, 0], np.float64(3)), (odd, np.float32(2))):
        yield mask, left, right


@cases("pointwise.remainder", exact=True)
def _() -> Any:
    x = np.concatenate([numbers(2000), [0, -0.0, 0.7, -0.7, 1e-30, -1e-30, 3e7]]).astype(np.float32)
    others = [np.asarray(v, np.float32) for v in (0.7, -0.7, 3, np.inf, 0, 1e-9, np.nan)]
    for other in (*others, x[::-1].copy(), np.where(x == 0, 1, x) * np.float32(0.3)):
        yield x, other
        yield x[:5], other[:5] if other.ndim else other
    third = np.arange(3000, dtype=np.float32) * np.float32(1 / 3)  # quotients next to whole numbers
    yield third, np.asarray(1 / 3, np.float32)
    yield x.astype(np.float64), others[0].astype(np.float64)


@cases("pointwise.trigamma")
def _() -> Any:
    for x in (numbers(3000), numbers(3000) ** 2 + 0.01, numbers(20) ** 2):
        for dtype in FLOATS:
            yield (x.astype(dtype),)


@cases("copies.overwrite", exact=True)
def _() -> Any:
    for x in (*layouts(numbers(130, 131)), numbers(131, 130, dtype=np.float32).T, numbers(131),
              numbers(20, 30, 40, dtype=np.float16).transpose(2, 0, 1), numbers(3, 2).T):
        yield np.zeros((130, 131) if x.ndim == 1 else x.shape, x.dtype), x


@cases("copies.copy_in_order", exact=True)
def _() -> Any:
    for x in (*layouts(numbers(130, 131)), numbers(3, 2).T, numbers(131, 130, dtype=complex).T):
        yield x, (0, 1)
        yield x, (1, 0)
    yield numbers(20, 30, 40, dtype=np.float16), (2, 0, 1)


@cases("pointwise.made_complex", exact=True)
def _() -> Any:
    for dtype in (np.float32, np.float64):
        yield numbers(3, 4, dtype=dtype), numbers(4, dtype=dtype)
        yield numbers(dtype=dtype), np.array(np.inf, dtype)


# ---------------------------------------------------------------- cases: indices


def indexed() -> Iterator[tuple[Any, Any, tuple[int, ...]]]:
    """Arrays, index arrays and the dimensions they stand for."""
    for x in layouts(numbers(5, 6, 7)):
        for dims in ((0,), (1,), (2,)):
            yield x, integers(3, 2), dims
            yield x, integers(0), dims
            yield x, np.array([4, -5, 4]), dims
            yield x, np.array([1, 9]), dims
        yield x, integers(2, 3), (0, 1)
        yield x, integers(2, 3), (0, 2)
        yield x, integers(2, 4, 3), (1, 2)
        yield x, numbers(5) > 0, (0,)
        yield x, numbers(6, 7) > 0, (1, 2)
    yield numbers(5, 6, dtype=np.complex64), integers(4), (0,)
    yield numbers(5, 0), integers(4), (1,)


@cases("index.taken", exact=True)
def _() -> Any:
    yield from ((x, index, dims[:1] if index.dtype == bool else dims)
                for x, index, dims in indexed())
    yield numbers(3, 0), np.array([0, 5]), (0,)  # nothing is beyond, where nothing is


@cases("index.selected", exact=True)
def _() -> Any:
    for array in layouts(numbers(7, 3)):
        for dim, index in ((0, integers(4)), (1, integers(20, below=3)), (0, integers(0)),
                           (0, np.array([6, 7])), (1, np.array([-1, 2]))):
            yield array, dim, index
    yield np.arange(5), 0, np.array([4, 0], np.int32)


@cases("index.put", "index.with_put")
def _() -> Any:
    for x, index, dims in indexed():
        dims = dims[:1] if index.dtype == bool else dims
        for accumulate in (False, True):
            yield x, np.asarray(2.0), index, dims, accumulate
            yield x, numbers(3, 9), index, dims, accumulate
            if index.dtype == bool:
                shape = index.nonzero()[0].shape
                yield x, numbers(*shape, *x.shape[dims[0] + index.ndim:]), index, dims, accumulate
        if index.dtype != bool and len(dims) == 1 and index.max(initial=0) < 5:
            shape = (*x.shape[:dims[0]], *index.shape, *x.shape[dims[0] + 1:])
            yield x, numbers(*shape), index, dims, True
    yield numbers(5, 6), numbers(2, 6), np.array([1, 9]), (0,), True
    yield numbers(5, 6), numbers(2, 6), np.array([1, -6]), (0,), True
    yield numbers(5), numbers(3), np.array([4, -5, 4]), (0,), True


@cases("index.placed")
def _() -> Any:
    for index in (np.array([4, -5, 4]), np.array([1, 9]), np.array([-6]), integers(0)):
        yield numbers(index.size), (5,), index, (0,)
        yield numbers(index.size, 6, 7), (5, 6, 7), index, (0,)
        yield numbers(6, index.size), (6, 5), index, (1,)
    yield numbers(3, 2, 6), (5, 6), integers(3, 2), (0,)
    yield numbers(3, 7), (5, 6, 7), integers(2, 3), (0, 1)
    yield with_gaps(numbers(90, 6)), (5, 6), integers(90), (0,)
    yield numbers(3, 6), (5, 6), np.array([True, False, True, True, False]), (0,)
    yield numbers(4, 0), (5, 0), integers(4), (0,)


@cases("index._add")
def _() -> Any:
    for x in (*layouts(numbers(5, 6, 7)), numbers(6, 5, 7).transpose(1, 0, 2)):
        yield x, numbers(3, 2, 6, 7), integers(3, 2), (0,)
        yield x, numbers(5, 4, 7), integers(4), (1,)
        yield x, numbers(3, 7), integers(2, 3), (0, 1)
        yield x, numbers(5, 3), integers(2, 3), (1, 2)
        yield x, numbers(3, 6), integers(2, 3), (0, 2)
        yield x, numbers(90, 6, 7), integers(90), (0,)
        yield x, numbers(5, 90, 7), integers(90), (1,)
        yield x, numbers(900, 7), integers(2, 900), (0, 1)
    yield numbers(9), numbers(2000), integers(2000), (0,)
    for dtype in (*FLOATS, np.int64, np.complex64):  # few indices that come often, and many
        for rows in (5, 600):
            yield numbers(rows, 8, dtype=dtype), numbers(4096, 8, seed=1, dtype=dtype), \
                integers(4096, below=rows), (0,)
    yield numbers(600, 3), numbers(9000, 3), integers(9000, below=600), (0,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_added_up_one_after_the_other(dtype: Any) -> None:
    # As PyTorch adds them, whichever way is the quicker one, and also to what they are read from.
    x, where = numbers(3000, 8, dtype=dtype), integers(3000, below=3000)
    expected = x.copy()
    np.add.at(expected, where, x)
    inspect.unwrap(index_bodies._add)(x, x, where, (0,))
    assert np.array_equal(x, expected)


@pytest.mark.parametrize("absent", [False, True])
def test_rows_are_added_up_with_scipy_and_without(absent: bool, monkeypatch: Any) -> None:
    product = index_bodies._scipys_product()
    met: list[int] = []
    monkeypatch.setattr(index_bodies, "_scipys_product", lambda: None if absent else (
        lambda *given: met.append(given[1]) or product(*given)))
    for count in (index_bodies.FEW_NUMBERS // 8, index_bodies.FEW_NUMBERS // 8 + 1):
        rows, where = numbers(count, 8), integers(count, below=30)
        found, expected = np.zeros((2, 30, 8))
        np.add.at(expected, where, rows)
        index_bodies.add_rows_at(found, where, rows)
        assert np.array_equal(found, expected)
    assert met == [] if absent else [count]


@cases("index.check_range", exact=True)
def _() -> Any:
    for dtype in (np.int64, np.int32):
        for index in ([], [0, 4], [-1, 2], [5], [[2, 7], [9, -3]]):
            yield np.array(index, dtype), 5, 1
            yield np.array(index * 20, dtype), 5, 1
    yield with_gaps(integers(3, 4)), 3, 0


@cases("index.offsets", exact=True)
def _() -> Any:
    yield (3, 4, 5), 1, (2, 4, 5)
    yield (90, 90), 0, (80, 90)
    yield (3,), 0, (0,)


@cases("index.ruler", exact=True)
def _() -> Any:
    yield 5, 1, 3
    yield 5000, 0, 1


@cases("index.combine_at")
def _() -> Any:
    where = integers(40, below=9)
    for how in ("", "add", "sum", "mean", "prod", "multiply", "amax", "amin"):
        for dtype in (np.float32, np.int64, ml_dtypes.bfloat16):
            values = (numbers(40) * 2).astype(dtype)
            if how == "":
                yield (numbers(9) * 2).astype(dtype), np.arange(9), values[:9], how
            elif dtype is not ml_dtypes.bfloat16 or how.startswith("a"):
                yield (numbers(9) * 2).astype(dtype), where, values, how
                yield (numbers(9) * 2).astype(dtype), where, np.asarray(2).astype(dtype), how
                yield (numbers(9) * 2).astype(dtype), where[:0], values[:0], how


# ---------------------------------------------------------------- cases: losses


@cases("loss._checked", exact=True)
def _() -> Any:
    for target in (integers(6), integers(0), integers(2, 3), np.array([1, -100, 2]),
                   np.array([1, 7]), np.array([-3]), integers(4).astype(np.uint8)):
        for ignore in (-100, 1):
            yield target, 5, ignore


@cases("loss._picked", exact=True)
def _() -> Any:
    for x in (*layouts(numbers(4, 5)), numbers(4, 5, dtype=np.float16), numbers(0, 5)):
        yield x, integers(len(x))
    yield numbers(4, 5, 2), integers(4, 2)


@cases("loss._placed", exact=True)
def _() -> Any:
    yield numbers(4), (4, 5), integers(4), np.float64
    yield np.float32(2), (4, 5), integers(4), np.float32
    yield numbers(4, 2), (4, 5, 2), integers(4, 2), np.float64
    yield numbers(0), (0, 5), integers(0), np.float64


# ---------------------------------------------------------------- cases: order


@cases("sorting.largest_indices", exact=True)
def _() -> Any:
    # Which of equal elements is found, nobody says: there are none.
    x = np.random.default_rng(0).permuted(np.tile(np.arange(200.0), (8, 1)), axis=1)
    for rows in (*layouts(np.where(x < 1, np.nan, x)), x.astype(ml_dtypes.bfloat16),
                 x.astype(int), np.where(x < 1, np.inf, x)[0], x[:, :1] > 0):
        for k in (0, 1, 3, 40):
            for largest in (False, True):
                if k <= rows.shape[-1]:
                    yield rows, k, rows.ndim - 1, largest, True
                    yield rows.T, k, 0, largest, True
    yield np.array(2.0), 1, 0, True, True
    for largest in (False, True):
        yield x, 3, 1, largest, True
        yield np.where(x % 20 == 0, -np.inf, x).reshape(2, 4, 200)[:, 1:], 3, 2, largest, True
        yield np.where(x % 20 == 3, np.inf, x)[:, ::-1].copy(), 24, 1, largest, True


@cases("sorting.loose_order", exact=True)
def _() -> Any:
    # Nor of these: where equal elements stand is left to the library.
    x = np.random.default_rng(1).permuted(np.tile(np.arange(40.0), (5, 1)), axis=1)
    for rows in (*layouts(np.where(x < 1, np.nan, x)), x.astype(ml_dtypes.bfloat16),
                 x.astype(np.float16), x.astype(int), x[:, :16], x[:, :0], x[0]):
        for descending in (False, True):
            yield rows, rows.ndim - 1, descending
            yield rows.T, 0, descending
    yield np.broadcast_to(x[:, :1], x.shape), 1, False
    yield np.array(2.0), 0, True


@cases("sorting.median", exact=True)
def _() -> Any:
    for x in arrays_to_reduce():
        if x.dtype.kind in "fiuV" and x.size:
            yield x.reshape(-1), False
            yield x.reshape(-1), True
    for size in (1, 2, 7, 64, 65, 200):
        yield numbers(size), False


@cases("sorting.insertion_points", exact=True)
def _() -> Any:
    for dtype in (np.dtype(np.int32), np.dtype(np.int64)):
        for right in (False, True):
            edges = np.array([0.0, 1, 1, 2, 3])
            values = np.array([[-1, 0, 1], [1.5, 3, 9]])
            yield edges, values, right, dtype
            yield edges, np.array(1.0), right, dtype
            yield edges, np.array([np.nan, 1]), right, dtype
            yield np.array([0, 1, np.nan]), values, right, dtype
            yield np.stack([edges, edges + 1]), values, right, dtype
            yield edges.astype(np.float16), values.astype(np.float16), right, dtype
            yield np.arange(100), integers(3, 4, below=120), right, dtype


# ---------------------------------------------------------------- cases: windows


def poolings(*shapes: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """Images, and the settings of a pooling."""
    for shape in shapes:
        for kernel, stride, padding in ((2, 2, 0), (3, 2, 1), (3, 1, 0), (1, 1, 0)):
            settings = [(n, n) for n in (kernel, stride, padding)]
            for dilation in (1, 2) if shape[-1] > 6 else (1,):
                steps = (dilation, dilation)
                for ceil_mode in (False, True):
                    out = pool.pool_space(shape[-2:], *settings, steps, ceil_mode)
                    yield shape, *settings, steps, out


def planes(shape: tuple[int, ...]) -> list[Any]:
    x = np.random.default_rng(0).integers(-1, 2, shape)
    wild = x.astype(float)
    wild[0, 2:4, 2:6] = np.nan
    wild[-1, :3, :3] = -np.inf
    return [x, x.astype(np.float16), wild, np.asfortranarray(wild)]


@cases("pool.max_pool_with_places", exact=True)
def _() -> Any:
    for shape, *settings in poolings((2, 8, 9), (20, 8, 9), (2, 9, 20)):
        for x in planes(shape):
            yield x, *settings
    yield numbers(3, 300, dtype=np.float32), (2,), (2,), (1,), (1,), (151,)
    yield numbers(1, 3, 40_000), (3, 1), (1, 1), (0, 0), (1, 1), (1, 40_000)
    yield numbers(1, 3, 200), (3, 1), (1, 1), (0, 0), (1, 1), (1, 200)


SETTINGS = [(1, 0, 1, 1), (1, 1, 1, 1), (1, 2, 2, 1), (2, 1, 1, 1), (1, 1, 1, 2), (2, 0, 2, 2)]


@cases("conv.convolve_weight_gradient")
def _() -> Any:
    for dtype in FLOATS:
        for stride, padding, dilation, groups in SETTINGS:
            steps = [(n, n) for n in (stride, padding, dilation)]
            x, shape = numbers(3, 4, 9, 8, dtype=dtype), (6, 4 // groups, 3, 2)
            out = conv.output_space(x.shape[2:], shape[2:], *steps)
            yield numbers(3, 6, *out, seed=1, dtype=dtype), x, shape, *steps, groups
    yield numbers(0, 6, 7), numbers(0, 4, 9), (6, 4, 3), (1,), (0,), (1,), 1
    yield numbers(1, 64, 4096), numbers(1, 16, 4096), (64, 16, 1), (1,), (0,), (1,), 1


@cases("conv.convolve")
def _() -> Any:
    for dtype in FLOATS:
        for stride, padding, dilation, groups in SETTINGS:
            x, weight = numbers(3, 4, 9, 8, dtype=dtype), numbers(6, 4 // groups, 3, 2, dtype=dtype)
            yield x, weight, numbers(6, dtype=dtype), *[
                (n, n) for n in (stride, padding, dilation)], groups
    yield numbers(0, 4, 9), numbers(6, 4, 3), None, (1,), (0,), (1,), 1
    for channels in (16, 2):
        yield numbers(1, channels, 4096), numbers(64, channels, 1), None, (1,), (0,), (1,), 1


@pytest.mark.parametrize("shape", [(3, 300), (5, 70, 1000)])
def test_large_softmax_is_that_of_its_rows(shape: tuple[int, ...]) -> None:
    x = torch.tensor(numbers(*shape), requires_grad=True)
    for function in (torch.softmax, torch.log_softmax):
        whole = function(x, -1)
        for part, row in zip(whole.reshape(-1, shape[-1])[:3], x.reshape(-1, shape[-1]),
                             strict=False):
            assert torch.allclose(part, function(row, 0))


# ---------------------------------------------------------------- normalisation


def gradients(function: Any, *tensors: Any) -> list[Any]:
    given = [t.detach().requires_grad_() for t in tensors]
    y = function(*given)
    return [y, *torch.autograd.grad(y.pow(3).sum(), given)]


@pytest.mark.parametrize("width", [100, 600])
def test_large_layer_norm_is_that_of_its_parts(width: int) -> None:
    x, weight, bias = (torch.tensor(numbers(*s, seed=len(s))) for s in (
        (300, 4, width), (width,), (width,)))
    function = lambda x, w, b: F.layer_norm(x, (width,), w, b)
    whole = gradients(function, x, weight, bias)
    parts = [gradients(function, x[i:i + 30], weight, bias) for i in range(0, 300, 30)]
    for nr, join in enumerate((torch.cat, torch.cat, sum, sum)):
        assert torch.allclose(whole[nr], join([part[nr] for part in parts]))


@pytest.mark.parametrize("shape", [(4, 6, 3), (4, 6, 300), (20, 6, 30, 40)])
def test_moments_that_are_kept_are_those_that_are_computed(shape: tuple[int, ...]) -> None:
    x, g, weight = numbers(*shape), numbers(*shape, seed=1), numbers(6, seed=2)
    for groups in (None, 3):
        y, mean, scale, _ = norm.channel_norm(x, weight, None, groups, 1e-5)
        axes = (0, *range(2, len(shape)))
        if groups is None:
            apart = x - x.mean(axes, keepdims=True)
            plain = apart / np.sqrt((apart ** 2).mean(axes, keepdims=True) + 1e-5)
            assert np.allclose(y, plain * weight.reshape(-1, *(1,) * (len(shape) - 2)))
        for function, given in ((norm.channel_input_gradient, (g, x, weight)),
                                (norm.channel_weight_gradient, (g, x))):
            assert np.allclose(function(*given, mean, scale, groups, 1e-5),
                               function(*given, None, None, groups, 1e-5))


@pytest.mark.parametrize(("count", "indices"), [(50, 20), (10, 40), (5000, 3000), (20, 3000)])
def test_rows_are_added_up_by_index(count: int, indices: int) -> None:
    g = numbers(indices, 16)
    where = np.random.default_rng(1).integers(0, count, indices)
    expected = np.zeros((count, 16))
    np.add.at(expected, where, g)
    assert np.allclose(norm.add_rows(g, where, count, -1, False), expected)
    expected /= np.maximum(np.bincount(where, minlength=count), 1)[:, None]
    assert np.allclose(norm.add_rows(g, where, count, -1, True), expected)


# ---------------------------------------------------------------- convolution and pooling

@pytest.mark.parametrize(("stride", "padding", "dilation", "groups"), SETTINGS)
@pytest.mark.parametrize("space", [(7,), (6, 5), (20, 17), (5, 5, 6), (70, 60)])
@pytest.mark.parametrize("kernels", [6, 2])
def test_convolution(space: tuple[int, ...], kernels: int, stride: int, padding: int, dilation: int,
                     groups: int) -> None:
    rank = len(space)
    x = numbers(3, 4, *space)
    weight = numbers(kernels, 4 // groups, *(3, 2, 2)[:rank], seed=1)
    steps = [(n,) * rank for n in (stride, padding, dilation)]
    y = conv.convolve(x, weight, None, *steps, groups)
    wide = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * rank])
    expected = np.zeros_like(y)
    for place in itertools.product(*map(range, weight.shape[2:])):
        part = wide[(..., *[slice(i * dilation, i * dilation + (n - 1) * stride + 1, stride)
                            for i, n in zip(place, y.shape[2:], strict=True)])]
        kernel = weight[(..., *place)].reshape(groups, kernels // groups, -1)
        split = part.reshape(3, groups, 4 // groups, *part.shape[2:])
        expected += np.einsum("goc,ngc...->ngo...", kernel, split).reshape(y.shape)
    assert np.allclose(y, expected)
    # What is linear is known by its inner products.
    g = numbers(*y.shape, seed=2)
    total = (g * y).sum()
    assert np.isclose((conv.convolve_input_gradient(g, weight, x.shape, *steps, groups) * x).sum(),
                      total)
    assert np.isclose((conv.convolve_weight_gradient(g, x, weight.shape, *steps, groups)
                       * weight).sum(), total)


def places_of_maxima(x: Any, kernel: int, stride: int, padding: int, out: Any) -> Any:
    """The first maximum, or last NaN, of every window, found one by one."""
    height, width = x.shape[-2:]
    found = np.zeros((*x.shape[:-2], *out), np.int64)
    for index in np.ndindex(*found.shape):
        plane, best = x[index[:-2]], None
        starts = [i * stride - padding for i in index[-2:]]
        for i, j in itertools.product(range(kernel), repeat=2):
            r, c = starts[0] + i, starts[1] + j
            if 0 <= r < height and 0 <= c < width and (
                    best is None or plane[r, c] > plane[best] or np.isnan(plane[r, c])):
                best = (r, c)
        assert best is not None
        found[index] = best[0] * width + best[1]
    return found


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (3, 1, 0)])
@pytest.mark.parametrize("shape", [(2, 8, 9), (20, 8, 9), (2, 9, 20)])
def test_max_pooling(shape: tuple[int, ...], kernel: int, stride: int, padding: int) -> None:
    x = np.random.default_rng(0).integers(-1, 2, shape).astype(float)
    x[0, 2:4, 2:6] = np.nan
    x[1, :3, :3] = -np.inf
    pairs = [(n, n) for n in (kernel, stride, padding)]
    out = pool.pool_space(shape[1:], *pairs, (1, 1), False)
    given = (*pairs, (1, 1), out)
    expected = places_of_maxima(x, kernel, stride, padding, out)
    values, places = pool.max_pool_with_places(x, *given)
    indices = pool.indices_of_places(places, shape[1:], *given)
    assert np.array_equal(indices, expected)
    taken = pool.gather_planes(x, expected, 2)
    assert np.array_equal(values, taken, equal_nan=True)
    assert np.array_equal(pool.max_pool(x, *given), taken, equal_nan=True)
    g = numbers(*taken.shape)
    apart = stride >= kernel
    assert np.allclose(pool.scatter_places(g, places, shape[1:], *given, apart),
                       pool.scatter_planes(g, expected, shape[1:], apart))


@pytest.mark.parametrize("value", [np.inf, np.nan, 3e38])
def test_what_no_weight_meets_changes_none(value: float) -> None:
    x = torch.tensor(numbers(2, 3, 40, 40, dtype=np.float32))
    weight = torch.zeros(4, 3, 3, 3, requires_grad=True)
    x[:, :, 5:7, 0] = value  # met by the first of three columns of weights
    with np.errstate(all="raise"):
        F.conv2d(x, weight).sum().backward()
    slope = weight.grad.numpy()
    assert np.isfinite(slope[..., 1:]).all() and not np.isfinite(slope[..., 0]).any()


# ---------------------------------------------------------------- smooth units


@pytest.mark.parametrize("count", [100, 5000, 300_000])
def test_smooth_units_of_any_size(count: int) -> None:
    x = np.linspace(-9, 9, count).astype(np.float32)
    exact = x.astype(np.float64)
    assert np.abs(smooth.gelu(x) - smooth.gelu(exact)).max() < 1e-6
    assert np.abs(smooth.gelu_gradient(x, x) - smooth.gelu_gradient(exact, exact)).max() < 1e-5
    assert np.allclose(smooth.silu(x), exact / (1 + np.exp(-exact)), atol=1e-6)
    for function in (smooth.gelu, smooth.tanh_gelu, smooth.silu):
        found = function(np.full(count, np.nan, np.float32))
        assert np.isnan(found).all()


def test_large_rows_and_smooth_units_raise_nothing() -> None:
    x = torch.tensor(numbers(400, 1000, dtype=np.float32) * 100).requires_grad_()
    with np.errstate(all="raise"):
        for function in (F.gelu, lambda x: F.softmax(x, -1), lambda x: F.log_softmax(x, -1),
                         lambda x: F.layer_norm(x, (1000,)), F.silu):
            y = function(x)
            y.sum().backward()
            assert torch.isfinite(y).all() and torch.isfinite(x.grad).all()
            x.grad = None


def test_powers_of_two_and_of_e_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    source, x = Path(str(smooth.__file__)).read_text(), np.linspace(-9, 9, 5000, dtype=np.float32)
    for current in ("baseline(SSE2)", "AVX512_SKX"):
        monkeypatch.setattr(np.lib.introspect, "opt_func_info", lambda current=current, **asked: {
            "exp2": {"ff": {"current": current}}})
        names: dict[str, Any] = {"__name__": smooth.__name__, "__package__": smooth.__package__}
        exec(compile(source, str(smooth.__file__), "exec"), names)
        assert names["_POWER"] is (np.exp2 if current == "AVX512_SKX" else np.exp)
        for name in ("gelu", "gelu_gradient"):
            given = (x,) if name == "gelu" else (x, x)
            exact = getattr(smooth, name)(*[array.astype(np.float64) for array in given])
            found = inspect.unwrap(names[name])(*given)
            assert found.dtype == np.float32 and np.abs(found - exact).max() < 3e-6


@pytest.mark.parametrize("function", [
    lambda x: (smooth.gelu(x), smooth.gelu_gradient(1.0 + 0 * x, x)),
    lambda x: (smooth.tanh_gelu(x), smooth.tanh_gelu_gradient(1.0 + 0 * x, x)),
    lambda x: (smooth.silu(x), smooth.silu_gradient(1.0 + 0 * x, x))])
def test_slopes_are_those_of_the_curves(function: Any) -> None:
    x, step = numbers(200) * 3, 1e-6
    slope = (function(x + step)[0] - function(x - step)[0]) / (2 * step)
    assert np.allclose(function(x)[1], slope, atol=1e-7)


def _in_memory() -> list[Any]:
    """Arrays of one shape that lie in memory in every way, and some of other shapes."""
    x = np.arange(24.0).reshape(4, 6)
    wide = np.zeros((8, 12))
    return [x, x.T.copy().T, x[::-1], x[:, ::-1], wide[::2, ::2], wide[:4, :6],
            np.broadcast_to(x[0], (4, 6)), np.broadcast_to(x[:, :1], (4, 6)), x[:1], x[:, :1],
            x[:0], x.reshape(-1), np.array(2.0), np.arange(24).reshape(4, 6),
            np.lib.stride_tricks.as_strided(x, (4, 6), (8, 8))]


def _bodies(name: str) -> tuple[Any, Any]:
    """NumPy's own body of a question about layouts, and the plain one on NumPy's arrays."""
    tuned, plain = (import_module(f"retrograd.backend.{kind}") for kind in ("numpy",
                                                                            "plain.layouts"))
    bodies = {key: FunctionType(body.__code__, {}, key, body.__defaults__)
              for key, body in vars(plain).items() if isinstance(body, FunctionType)}
    for body in bodies.values():
        body.__globals__.update(vars(plain), xp=xp, **bodies)
    return getattr(tuned, name), bodies[name]


QUESTIONS = {"same_layout": 2, "can_stand_for": 2, "is_dense": 1, "has_overlap": 1, "are_apart": 2}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_about_memory_have_plain_answers(name: str) -> None:
    tuned, plain = _bodies(name)
    answers, own = ([bool(body(*arrays)) for arrays in
                     itertools.product(_in_memory(), repeat=QUESTIONS[name])]
                    for body in (plain, tuned))
    assert answers == own and len(set(own)) == 2


def test_arrays_are_changed_as_the_plain_bodies_do() -> None:
    for x in (*_in_memory(), _in_memory()[0] * 1j, _in_memory()[2] * (1 - 2j)):
        for name, arguments in (
                ("in_rows", ()), ("copied", ()), *[("cast", (np.dtype(kind),)) for kind in (
                    "float32", "int64", "complex64", "complex128", "bool")],
                ("unbroadcast", (x.shape[1:],)), ("unbroadcast", ((1,) * x.ndim,)),
                ("expanded", ((3, *x.shape),)), ("broadcast", ((3, *x.shape),)),
                ("level", (np.zeros((2, *x.shape)),)), ("level", (np.zeros(x.shape[-1:]),))):
            found, wanted = (body(x, *arguments) for body in _bodies(name))
            for a, b in zip(found, wanted) if name == "level" else [(found, wanted)]:
                assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b), name
