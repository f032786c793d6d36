"""``python -m mutants COUNT [SEED]``: which of so many random faults in the source go unnoticed.

All tests are collected once. A fault inside a function is put into it in a copy of that process
(`swapping`), and the tests that come by the function (`touching`, kept in .mutants) are run until
one fails. Any other fault, and one that they do not notice, since the function may have run before,
is put into a copy of the source, never into the source itself, and the tests for that part of it
are run on that. What survives is printed as a diff: either it makes no difference to any program,
or a test is wanted. A test that fails without any fault would seem to notice all: the ones that
noticed are named, and each is run once more without it, and after the tests that ran before it if
alone it does not notice.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import pytest

import retrograd
from tests.sweeps.cases import ENTRIES

from .drawing import Mutation, draw
from .forking import PATIENCE, passes, within
from .selecting import AREAS, MOST_OPS, UNTRIED, Selection, ops_near, selections_for
from .swapping import changed_functions, exchange
from .touching import PACKAGE, touched

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".mutants"
MISUSED, NOTHING_SELECTED = 4, 5  # pytest's exit statuses
HAS_PYTORCH = importlib.util.find_spec("torch") is not None
NOTICED, SURVIVED, UNDECIDED = "noticed", "SURVIVED", "NOT NOTICED IN TIME"
FAILS, CANNOT = 1, 2  # exit statuses of copies of this process
SLOW = ("tests/parity/test_op_db", "tests/test_strict", "tests/test_fast", "tests/parity")
TEXTS = "tests/test_generated_text.py"  # of all tests of generated code they take least
MOST_NAMES = 12  # of classes that share a method
MOST_FIRST = 60  # tests of a file in which a fault is that no process can be given
HANGS = 120  # seconds after which a test that takes few will not end


def files_of(package: Path, area: str) -> list[Path]:
    """The files of a folder, or the one that is named."""
    place = package / area
    return [path for path in ([place] if place.is_file() else place.rglob("*.py"))
            if not str(path.relative_to(package)).startswith(UNTRIED)]


def chosen(package: Path, count: int, seed: int, areas: list[str]) -> list[tuple[str, Mutation]]:
    """So many mutations, as many from each area."""
    each = -(-count // len(areas))
    per_area = [(area, draw(files_of(package, area), each, f"{seed} {area}")) for area in areas]
    return [(area, found[i]) for i in range(each)
            for area, found in per_area if i < len(found)][:count]


class Copy:
    """A copy of the source in which one fault is tried after another."""

    def __init__(self, folder: str, seconds: float):
        self.source, self.seconds = Path(folder) / "src", PATIENCE * seconds
        self.package = self.source / "retrograd"
        self.sound: dict[str, bool] = {}
        shutil.copytree(ROOT / "src", self.source, ignore=shutil.ignore_patterns("__pycache__"))

    def tried(self, mutation: Mutation, first: Sequence[str] = (), natively: bool = False) -> str:
        """Whether a test fails with it; some may be tried first, or only those with kernels."""
        sound = mutation.path.read_bytes()
        try:
            self.write(mutation.path, mutation.applied(sound))
            outcome = self.outcome(mutation, first, natively)
        finally:
            self.write(mutation.path, sound)
        test = outcome.removeprefix(f"{NOTICED} by ")
        if "::" in test and test not in self.sound:
            self.sound[test] = self.failed([test], self.seconds, natively) is None
        return outcome if self.sound.get(test, True) else f"UNDECIDED: {test} always fails"

    @staticmethod
    def write(path: Path, source: bytes) -> None:
        """Write a file and forget its bytecode, which may be of the same second and length."""
        path.write_bytes(source)
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)

    def outcome(self, mutation: Mutation, first: Sequence[str], natively: bool) -> str:
        ends = time.monotonic() + self.seconds
        place = str(mutation.path.relative_to(self.package))
        commands = [(list(first), False), *((self.arguments(mutation, tests, files), tests.native)
                                            for tests, files in asked(place)
                                            if tests.native or not natively)]
        for arguments, native in commands:
            if not arguments:
                continue
            try:
                failed = self.failed(arguments, max(ends - time.monotonic(), 1.0), native)
            except subprocess.TimeoutExpired:
                return UNDECIDED
            if failed:
                return f"{NOTICED} by {failed}"
        return SURVIVED

    def arguments(self, mutation: Mutation, tests: Selection, files: list[str]) -> list[str]:
        if not tests.by_op:
            return files
        ops = ops_near(self.package, mutation.path, mutation.line, list(ENTRIES))
        wanted = " or ".join(f"[{op}- or [{op}]" for op in ops)
        return [*files, "-k", wanted] if ops else []

    def failed(self, arguments: list[str], seconds: float, native: bool = False) -> str | None:
        """The first test that fails, or the file that cannot be imported."""
        environment = {**os.environ, "PYTHONPATH": str(self.source)}
        if native:
            environment.pop("RETROGRAD_KERNELS", None)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no", "-p",
                   "no:cacheprovider", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, timeout=seconds, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == -signal.SIGKILL:  # for want of memory, which says nothing
            raise subprocess.TimeoutExpired(command, seconds)
        if done.returncode == MISUSED and "::" not in arguments[0]:
            raise RuntimeError(f"pytest refuses {arguments}")
        if done.returncode in (0, MISUSED, NOTHING_SELECTED):  # the fault may have removed a test
            return None
        named = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
        return named[1] if named else f"the end of the process ({done.returncode})"


def asked(place: str) -> list[tuple[Selection, list[str]]]:
    """The tests for a file: all that need no PyTorch, then those beside it."""
    found = selections_for(place)
    free = [(tests, tests.paths(tests.free, "tests")) for tests in found]
    return free + [(tests, tests.paths(tests.parity, "tests/parity"))
                   for tests in found if tests.parity and HAS_PYTORCH]


def difference(mutation: Mutation) -> str:
    before = mutation.path.read_bytes()
    lines = [text.decode().splitlines() for text in (before, mutation.applied(before))]
    return "\n".join(line for line in difflib.unified_diff(*lines, lineterm="", n=1)
                     if not line.startswith(("---", "+++")))


class Warm:
    """The tests in this process, copies of which are faulty."""

    def __init__(self, items: Sequence[Any], seconds: float, completed: bool):
        self.items = {item.nodeid: item for item in items}
        self.seconds = seconds
        self.touched = touched(items, CACHE, completed)
        self.sound: dict[str, bool] = {}

    def tried(self, place: str, mutation: Mutation, copied: Path) -> str | None:
        """Whether a test notices a fault, or None if that cannot be tried in a running process."""
        sound = mutation.path.read_bytes()
        functions = changed_functions(PACKAGE / place, sound, mutation.applied(sound))
        if not functions:
            return None
        near = [test for before, _ in reversed(functions)
                for test in self.touched.by(place, before.co_qualname)]
        named = self.of_ops(place, mutation, copied, functions[-1][0].co_qualname) \
            + self.of_classes(functions)
        in_turns = chain.from_iterable(zip_longest(near, named))
        of_file = self.of_file(place)
        texts = [test for test in of_file if test.startswith(TEXTS)]
        known = [test for test in dict.fromkeys(chain(texts, in_turns, of_file))
                 if test in self.items and self.sound.get(test, True)]
        if not known:
            return None
        while True:
            status, test = self.ended(known, functions, place)
            if status == CANNOT:
                return None
            if status in (0, None):
                return f"{SURVIVED if status == 0 else UNDECIDED} ({len(known)} tests)"
            until = known[:known.index(test) + 1]
            if self.is_owing_to(functions, until, place):
                return f"{NOTICED} by {test}"
            print(f"{test} fails without a fault", flush=True)
            known = known[len(until):]

    def is_owing_to(self, functions: list[Any], tests: list[str], place: str) -> bool:
        """Whether it is by a fault that the last of these tests fails after the others.

        Alone it may always fail, and others may leave something behind at which it does.
        """
        test = tests[-1]
        if test not in self.sound:
            self.sound[test] = self.ended([test], [], place)[0] == 0
        return self.sound[test] and (self.ended([test], functions, place)[0] != 0
                                     or self.ended(tests, [], place)[0] == 0)

    def of_ops(self, place: str, mutation: Mutation, copied: Path, function: str) -> list[str]:
        """The tests of the ops that come to a fault, by what is written and by what was seen."""
        if not any(tests.by_op for tests in selections_for(place)):
            return []
        written = ops_near(copied, mutation.path, mutation.line, list(ENTRIES))
        seen = self.touched.ops.get((place, function), [])
        return self.named(list(dict.fromkeys(written + seen[:MOST_OPS])))

    def of_file(self, place: str) -> list[str]:
        """The tests of the files that are named for a part of the source."""
        files = [file for tests in selections_for(place) if not tests.by_op
                 for file in (*tests.paths(tests.free, "tests"),
                              *tests.paths(tests.parity, "tests/parity"))]
        return [test for test in self.items if test.split("::")[0] in files]

    def of_classes(self, functions: list[Any]) -> list[str]:
        """The tests of the modules and optimizers that have a method in which a fault is."""
        owners = {before.co_qualname.split(".")[0] for before, _ in functions}
        return self.named(sorted(name for space in (retrograd.nn, retrograd.optim)
                                 for name, found in vars(space).items() if isinstance(found, type)
                                 and owners & {base.__name__ for base in found.__mro__}))

    def named(self, names: list[str]) -> list[str]:
        """The tests of these ops or classes, some of which may be many; the quick ones first."""
        found = [test for name in names[:MOST_NAMES] for test in self.items
                 if f"[{name}-" in test or f"[{name}]" in test]
        return sorted(found, key=lambda test: [test.startswith(file) for file in SLOW])

    def ended(self, tests: list[str], functions: list[Any],
              place: str) -> tuple[int | None, str]:
        """How a copy of this process ended, and in which test."""
        items = [self.items[test] for test in tests]
        with tempfile.NamedTemporaryFile("r") as at:
            def run() -> None:
                # It may be loaded when something of it is first asked for.
                import_module(".".join(["retrograd", *Path(place).with_suffix("").parts])
                              .removesuffix(".__init__"))
                if functions and not exchange(functions):
                    os._exit(CANNOT)
                for item, following in zip(items, [*items[1:], None]):
                    Path(at.name).write_text(item.nodeid)
                    signal.alarm(HANGS)  # ends this process
                    if not passes(item, following):
                        os._exit(FAILS)
                os._exit(0)

            return within(run, self.seconds), at.read()


class Trial:
    """A plugin of pytest: in the place of running the tests, try faults on them."""

    def __init__(self, given: argparse.Namespace):
        self.given = given

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        given, totals, noticed = self.given, Counter[str](), Counter[str]()
        warm = Warm(session.items, given.seconds, not given.as_known)
        with tempfile.TemporaryDirectory() as folder:
            copy = Copy(folder, given.seconds)
            for area, mutation in chosen(copy.package, given.count, given.seed,
                                         given.areas.split(",")):
                began = time.monotonic()
                place = str(mutation.path.relative_to(copy.package))
                if given.only and f"{place}:{mutation.line}" not in given.only:
                    continue
                first = [test for test in warm.touched.by(place, None) if test in warm.items]
                outcome = warm.tried(place, mutation, copy.package)
                if outcome is None or not outcome.startswith(NOTICED):
                    # A running process has no kernels, where their tests are asked as well.
                    natively = given.quick and outcome is not None
                    again = copy.tried(mutation, () if natively else first[:MOST_FIRST], natively)
                    outcome = again if outcome is None or again != SURVIVED else outcome
                totals[area] += 1
                noticed[area] += outcome.startswith(NOTICED)
                print(f"{place}:{mutation.line}: {mutation.kind}: {outcome} "
                      f"({time.monotonic() - began:.0f} s)", flush=True)
                if not outcome.startswith(NOTICED):
                    print(difference(mutation), flush=True)
        for area, total in totals.items():
            print(f"{area}: {noticed[area]} of {total} noticed")
        print(f"in all: {noticed.total()} of {totals.total()} noticed")
        return True


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--areas", default=",".join(AREAS), help="folders or files of the source")
    parser.add_argument("--seconds", type=float, default=300, help="for the tests of one fault")
    parser.add_argument("--only", nargs="*", help="of those drawn, the ones in these FILE:LINE")
    parser.add_argument("--as-known", action="store_true",
                        help="do not look by which functions new tests come")
    parser.add_argument("--quick", action="store_true",
                        help="take the word of a running process for what survives in it, and of "
                             "tests with native kernels")
    os.chdir(ROOT)
    folders = ["tests"] if HAS_PYTORCH else ["tests", "--ignore=tests/parity"]
    return pytest.main([*folders, "-q", "-s", "-p", "no:cacheprovider"],
                       plugins=[Trial(parser.parse_args())])


if __name__ == "__main__":
    sys.exit(main())
