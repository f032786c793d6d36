"""Which tests, and which ops, come by which functions of the package: found once, and kept."""

from __future__ import annotations

import math
import os
import pickle
import random
import tempfile
import time
import warnings
from _lsprof import Profiler
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import Any

import retrograd
from tests.samples import Entry
from tests.sweeps.cases import ENTRIES, cases, tensors

from .forking import passes, within

PACKAGE = Path(retrograd.__file__).parent
BY_NAME = ("every_op", "strict", "fast_and_general", "op_db", "degenerate", "module_db",
           "other_modules")
LONG = ("random_batches", "random_graphs", "random_programs", "random_transforms", "programs",
        "interrupts", "threads", "mutants")
ELSEWHERE = ("packages", "seeds", "examples", "demo", "stubs", "types", "names", "import",
             "layering", "serialization", "numpy", "distribut", "multiprocessing", "as_torch",
             "safetensors", "missing", "extending", "completion")
UNTRACED = tuple(f"test_{name}" for name in BY_NAME + LONG + ELSEWHERE)
"""How files of tests begin that are found by the name of an op or a module, take long, or are about
parts of the package in which no faults are drawn."""
SECONDS_PER_FILE = 60  # of the processor; its tests are taken in an order that leaves gaps evenly


@dataclass
class Touched:
    """The tests that come by each function, with how long they take if that is known."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    ops: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """The sampled ops that come by each function, those that come by few others first."""

    def by(self, place: str, name: str | None) -> list[str]:
        """The tests of one function, or of a file's: the quickest of each file, then the next."""
        tests = self.tests.get((place, name), set()) if name else set().union(
            *(tests for (path, _), tests in self.tests.items() if path == place))
        rank: dict[str, int] = defaultdict(int)
        ranked = []
        for test in sorted(tests, key=lambda t: (self.seconds[t], t)):
            file = test.split("::")[0]
            ranked.append((rank[file], self.seconds[test], test))
            rank[file] += 1
        return [test for *_, test in sorted(ranked)]


def touched(items: Iterable[Any], cache: Path, completed: bool) -> Touched:
    """What is kept in a file, completed or not by the tests that are not in it yet."""
    found = pickle.loads(cache.read_bytes()) if cache.exists() else Touched()
    if not vars(found).setdefault("ops", {}):
        found.ops = _ops_by_function()
        cache.write_bytes(pickle.dumps(found))
    new = [item for item in items if item.nodeid not in found.seconds
           and not item.path.stem.startswith(UNTRACED)] if completed else []
    for file, group in groupby(new, key=lambda item: item.nodeid.split("::")[0]):
        of_file = list(group)
        found.seconds |= dict.fromkeys([item.nodeid for item in of_file], math.inf)
        for test, seconds, functions in _traced_file(of_file):
            found.seconds[test] = seconds
            for function in functions:
                found.tests[function].add(test)
        print(f"{file}: known which functions its tests come by", flush=True)
        cache.write_bytes(pickle.dumps(found))
    return found


def _in_a_copy(function: Callable[[], Any], seconds: float) -> Any:
    """What a function returns in a copy of this process, in which nothing is compiled yet."""
    with tempfile.NamedTemporaryFile() as results:
        def run() -> None:
            Path(results.name).write_bytes(pickle.dumps(function()))
            os._exit(0)

        within(run, seconds)
        written = Path(results.name).read_bytes()
    return pickle.loads(written) if written else None


def _traced_file(items: list[Any]) -> list[tuple[str, float, set[tuple[str, str]]]]:
    """Each test of a file, as many as there is time for."""
    def run() -> Any:
        found = []
        random.Random(0).shuffle(items)
        for item, following in zip(items, [*items[1:], None]):
            calls = Profiler(builtins=False, subcalls=False)  # counted in C, unlike a trace
            began = time.monotonic()
            calls.enable()
            passed = passes(item, following)
            calls.disable()
            if passed:
                found.append((item.nodeid, time.monotonic() - began, _functions(calls)))
            if time.process_time() > SECONDS_PER_FILE:  # of this process, which is a new one
                break
        return found

    return _in_a_copy(run, 3 * SECONDS_PER_FILE) or []


def _ops_by_function() -> dict[tuple[str, str], list[str]]:
    def run() -> Any:
        functions = {}
        for name, entry in ENTRIES.items():
            calls = Profiler(builtins=False, subcalls=False)
            calls.enable()
            _use(entry)
            calls.disable()
            functions[name] = _functions(calls)
        found = defaultdict(list)
        for name in sorted(functions, key=lambda name: len(functions[name])):
            for function in functions[name]:
                found[function].append(name)
        return dict(found)

    return _in_a_copy(run, 10 * SECONDS_PER_FILE) or {}


def _use(entry: Entry) -> None:
    """Call an op in every way, whether or not that works."""
    for dtype in ("float64", "float16", "int64"):
        for case in cases(retrograd, entry, dtype):
            def outputs(*leaves: Any, case: Any = case) -> tuple[Any, ...]:
                return tuple(tensors(retrograd, case.run(list(leaves))))

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    leaves = case.inputs() if dtype == "int64" else case.leaves()
                    live = [y for y in outputs(*leaves) if y.requires_grad]
                    retrograd.autograd.grad(live, leaves, [y.detach() for y in live],
                                            allow_unused=True, create_graph=dtype == "float64")
                    if dtype == "float64":
                        retrograd.func.vmap(outputs, randomness="same")(
                            *[x.detach()[None] for x in leaves])
                except Exception:  # of whatever kind: it came by what it came by
                    continue


def _functions(calls: Profiler) -> set[tuple[str, str]]:
    start = str(PACKAGE) + os.sep
    codes = [entry.code for entry in calls.getstats() if isinstance(entry.code, CodeType)]
    return {(code.co_filename.removeprefix(start), code.co_qualname) for code in codes
            if code.co_filename.startswith(start)}
