"""``make mutants``: what is drawn can be run, and the source itself stays as it is."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd
from mutants.__main__ import Copy, Warm, difference
from mutants.drawing import draw, mutations
from mutants.selecting import AREAS, FILES, ops_near, selections_for
from mutants.swapping import changed_functions, exchange
from mutants.touching import Touched
from retrograd.core.arguments import _guarded
from tests.sweeps.cases import ENTRIES

PACKAGE = Path(retrograd.__file__).parent

SOURCE = """
def rule(g, x, n):
    if n > 0 and x is not None:
        g = -g * conj(x) - (
            n / 2)
        note.done(min(g, 1.5))
    return g if n else x + 1
"""


def test_every_kind_of_change_is_found(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_text(SOURCE)
    found = mutations(path)
    assert {m.kind for m in found} == {
        "comparison", "operator", "term dropped", "operands swapped", "sign or not dropped",
        "and/or", "condition dropped", "negated", "constant", "conj dropped", "opposite",
        "statement deleted"}
    for mutation in found:
        changed = mutation.applied(path.read_bytes()).decode()
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))
        assert changed.count("\n") == SOURCE.count("\n")
        assert difference(mutation)


def test_lengths_that_numpy_takes_for_the_same_are_left_alone(tmp_path: Path) -> None:
    source = "def f(x):\n    return xp.reshape(x[-1], (3, -1)).reshape(-1, 4)\n"
    (tmp_path / "backend").mkdir()
    texts = []
    for path in (tmp_path / "rule.py", tmp_path / "backend" / "kernel.py"):
        path.write_text(source)
        texts.append({m.applied(source.encode()).decode() for m in mutations(path)})
    rule, kernel = texts
    assert rule - kernel == {source.replace("(3, -1)", "(3, -2)"),
                             source.replace("(-1, 4)", "(-2, 4)")}
    assert kernel < rule and source.replace("(3, -1)", "(3, (1))") in kernel
    assert np.zeros((2, 3)).reshape(-2).shape == (6,)


def test_numbers_at_which_another_way_begins_are_left_alone(tmp_path: Path) -> None:
    source = """
_FEW = 1 << 4
_MANY = 7
_LARGE = 2.5

@lru_cache(maxsize=9)
def f(x, n):
    if n <= _FEW or n > _LARGE:
        warn("few" + "words", n == 1)
        return x
    return x if n < 8 else x[:_MANY]
"""
    path = tmp_path / "kernel.py"
    path.write_text(source)
    changed = {m.applied(source.encode()).decode() for m in mutations(path)}
    for one, other in (("1 << 4", "2 << 4"), ("<= _FEW", "< _FEW"), ("size=9", "size=10"),
                       ("n == 1", "n != 1")):
        assert not any(other in text for text in changed) and one in source
    for text in ("pass", "_MANY = 8", "_LARGE = 5.0", "n >= _LARGE", "n <= 8", "n < 9",
                 "(n <= _FEW and n > _LARGE)", "not (n <= _FEW or n > _LARGE)"):
        assert any(text in found for found in changed), text


def test_a_seed_draws_the_same_mutations() -> None:
    files = list((PACKAGE / "optim").glob("*.py"))
    first, second, other = (draw(files, 12, seed) for seed in ("0 optim", "0 optim", "1 optim"))
    assert first == second != other and len(set(first)) == 12


def test_tests_are_known_for_every_file() -> None:
    root = Path(__file__).parents[1]
    for path in [*AREAS, *FILES]:
        assert (PACKAGE / path).exists()
        for tests in selections_for(path):
            named = [*tests.paths(tests.free, "tests"), *tests.paths(tests.parity, "tests/parity")]
            assert named and all((root / name).exists() for name in named)


def test_a_rule_is_looked_for_with_the_ops_that_use_it() -> None:
    path = PACKAGE / "ops" / "linalg" / "factor.py"
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1)
                if text.startswith("def _cholesky_gradient"))
    assert "linalg.cholesky" in ops_near(PACKAGE, path, line, list(ENTRIES))
    # What has no name of its own is known by the rule that it is.
    path = PACKAGE / "ops" / "indexing" / "index_select.py"
    line = path.read_text().splitlines().index("@_index_fill_tensor.batch") + 3
    assert ops_near(PACKAGE, path, line, list(ENTRIES)) == ["index_fill"]


def test_a_fault_is_put_into_a_running_function() -> None:
    """Also if the collector was told to look no more at what there is."""
    path = PACKAGE / "optim" / "sgd.py"
    sound = path.read_bytes()
    changed = [pair for mutation in mutations(path)
               if (pair := changed_functions(path, sound, mutation.applied(sound)))]
    function = retrograd.optim.SGD.__init__
    pair = next(pairs for pairs in changed if pairs[-1][0].co_qualname == "SGD.__init__")
    before = function.__code__
    gc.freeze()
    try:
        assert exchange(pair) and function.__code__ == pair[-1][1] != before
    finally:
        function.__code__ = before
        gc.unfreeze()


def test_a_fault_in_what_other_functions_are_made_of_is_put_into_no_running_function() -> None:
    code = _guarded.__code__
    try:
        assert not exchange([(code, code.replace(co_name="faulty"))])
        assert _guarded.__code__ is code
    finally:
        gc.unfreeze()


@pytest.mark.parametrize(("without", "with_it", "wanted"), [
    (None, None, "SURVIVED"), (None, "x.py::test", "noticed by x.py::test"),
    ("x.py::test", "x.py::test", "UNDECIDED: x.py::test always fails")])
def test_a_fault_is_tried_in_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                    without: str | None, with_it: str | None, wanted: str) -> None:
    copy = Copy(str(tmp_path), 60)
    path = copy.package / "optim" / "sgd.py"
    sound = path.read_bytes()
    (mutation,) = draw([path], 1, "0")
    faulty = mutation.applied(sound)
    monkeypatch.setattr(copy, "failed", lambda arguments, seconds, native=False: {
        sound: without, faulty: with_it}[path.read_bytes()])
    assert copy.tried(mutation) == wanted
    assert path.read_bytes() == sound == (PACKAGE / "optim" / "sgd.py").read_bytes()


@pytest.mark.parametrize(("fails", "wanted"), [
    (lambda tests, faulty: None, "SURVIVED (2 tests)"),
    (lambda tests, faulty: "second" if faulty else None, "noticed by second"),
    (lambda tests, faulty: "first", "SURVIVED (1 tests)"),
    # What the first leaves behind, with the fault only or always.
    (lambda tests, faulty: "second" if faulty and len(tests) > 1 else None, "noticed by second"),
    (lambda tests, faulty: "second" if len(tests) > 1 else None, "SURVIVED (0 tests)")])
def test_a_fault_is_noticed_by_tests_that_pass_without_it(
        monkeypatch: pytest.MonkeyPatch, fails: Callable[[list[str], bool], str | None],
        wanted: str) -> None:
    warm = object.__new__(Warm)
    warm.items, warm.sound, warm.touched = dict.fromkeys(["first", "second"]), {}, Touched()
    monkeypatch.setattr(warm, "of_file", lambda place: ["first", "second"])

    def ended(tests: list[str], functions: list[Any], place: str) -> tuple[int, str]:
        failed = fails(tests, bool(functions))
        return int(failed in tests), failed or ""

    monkeypatch.setattr(warm, "ended", ended)
    place = "optim/sgd.py"
    path = PACKAGE / place
    mutation = next(m for m in mutations(path) if changed_functions(
        path, path.read_bytes(), m.applied(path.read_bytes())))
    assert warm.tried(place, mutation, PACKAGE) == wanted
