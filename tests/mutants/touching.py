"""Which tests come by which functions of the package: found once by running them all, and kept."""

from __future__ import annotations

import math
import os
import pickle
import random
import tempfile
import time
from _lsprof import Profiler
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import Any

import retrograd

from .forking import passes, within

PACKAGE = Path(retrograd.__file__).parent
BY_NAME = ("every_op", "strict", "fast_and_general", "op_db", "degenerate", "module_db")
LONG = ("random_batches", "random_graphs", "random_programs", "programs", "interrupts", "threads",
        "mutants")
ELSEWHERE = ("packages", "seeds", "examples", "demo", "stubs", "types", "names", "import",
             "layering", "serialization", "numpy", "distribut", "multiprocessing", "as_torch",
             "summary_writer", "safetensors", "data", "missing", "extending", "completion")
UNTRACED = tuple(f"test_{name}" for name in BY_NAME + LONG + ELSEWHERE)
"""How files of tests begin that are found by the name of an op or a module, take long, or are about
parts of the package in which no faults are drawn."""
SECONDS_PER_FILE = 60  # of the processor; its tests are taken in an order that leaves gaps evenly


@dataclass
class Touched:
    """The tests that come by each function, with how long they take if that is known."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

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


def _traced_file(items: list[Any]) -> list[tuple[str, float, set[tuple[str, str]]]]:
    """Each test of a file, run in a process of its own, in which nothing is compiled yet."""
    with tempfile.NamedTemporaryFile() as results:
        def run() -> None:
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
            Path(results.name).write_bytes(pickle.dumps(found))
            os._exit(0)

        within(run, 3 * SECONDS_PER_FILE)
        written = Path(results.name).read_bytes()
    return pickle.loads(written) if written else []


def _functions(calls: Profiler) -> set[tuple[str, str]]:
    start = str(PACKAGE) + os.sep
    codes = [entry.code for entry in calls.getstats() if isinstance(entry.code, CodeType)]
    return {(code.co_filename.removeprefix(start), code.co_qualname) for code in codes
            if code.co_filename.startswith(start)}
