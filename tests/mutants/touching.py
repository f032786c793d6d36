"""Which tests come by which functions of the package: found once by running them all, and kept."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import time
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
UNTRACED = ("test_every_op", "test_strict", "test_fast_and_general", "test_op_db",
            "test_degenerate", "test_interrupts", "test_mutants")
"""Files of tests that are found by the name of an op, or take too long."""
SECONDS_PER_FILE = 150


@dataclass
class Touched:
    """The tests that come by each function, with how long they take."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def by(self, place: str, name: str) -> list[str]:
        """The tests of one function: the quickest of each file, then the next of each."""
        rank: dict[str, int] = defaultdict(int)
        ranked = []
        for test in sorted(self.tests.get((place, name), ()), key=lambda t: (self.seconds[t], t)):
            file = test.split("::")[0]
            ranked.append((rank[file], self.seconds[test], test))
            rank[file] += 1
        return [test for *_, test in sorted(ranked)]


def touched(items: Iterable[Any], cache: Path) -> Touched:
    """What is kept in a file, completed by the tests of files that are not in it yet."""
    found = pickle.loads(cache.read_bytes()) if cache.exists() else Touched()
    known = {test.split("::")[0] for test in found.seconds}
    for file, group in groupby(items, key=lambda item: item.nodeid.split("::")[0]):
        if file in known or Path(file).stem in UNTRACED:
            continue
        for test, seconds, functions in _traced_file(list(group)):
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
            ends = time.monotonic() + SECONDS_PER_FILE
            found = []
            for item, following in zip(items, [*items[1:], None]):
                codes: set[CodeType] = set()
                began = time.monotonic()
                sys.settrace(lambda frame, event, arg, add=codes.add: add(frame.f_code))
                passed = passes(item, following)
                sys.settrace(None)
                if passed:
                    found.append((item.nodeid, time.monotonic() - began, _functions(codes)))
                if time.monotonic() > ends:
                    break
            Path(results.name).write_bytes(pickle.dumps(found))
            os._exit(0)

        within(run, 2 * SECONDS_PER_FILE)
        written = Path(results.name).read_bytes()
    return pickle.loads(written) if written else []


def _functions(codes: set[CodeType]) -> set[tuple[str, str]]:
    start = str(PACKAGE) + os.sep
    return {(code.co_filename.removeprefix(start), code.co_qualname) for code in codes
            if code.co_filename.startswith(start)}
