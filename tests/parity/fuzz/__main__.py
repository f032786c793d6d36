"""``python -m parity.fuzz COUNT [FIRST]``: compares random programs with PyTorch by the thousand.

Every difference is shrunk and put into a group by its cause, as far as a machine can tell: the kind
of difference and the last statement's template. Seeds make it resumable: the second argument.
Programs run in child processes, a thousand in each, since now and then one brings PyTorch down.
"""

from __future__ import annotations

import argparse
import gc
import math
import multiprocessing
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from . import lockstep
from .drawing import Statement
from .lockstep import Outcome

MOST_TRIES = 300
IN_ONE_PROCESS = 1000
WARM_UP = range(10**9, 10**9 + 100)  # programs that every child profits from
SILENCE = 600  # seconds without a word, after which children are taken to hang


def shrunk(outcome: Outcome, watched: bool) -> Outcome:
    """The shortest program, by dropping statements, that still differs in the same way."""
    wanted, tries, again = kind_of(outcome), 0, True
    while again:
        again = False
        for shorter in shorter_programs(outcome.program):
            tries += 1
            if tries > MOST_TRIES:
                return outcome
            found = lockstep.run(shorter, watched)
            if found.difference and kind_of(found) == wanted:
                outcome, again = found, True
                break
    return outcome


def shorter_programs(program: list[Statement]) -> Iterator[list[Statement]]:
    """The program without one statement, or with a block that is shorter or opened."""
    for i in reversed(range(len(program))):
        yield program[:i] + program[i + 1:]
    for i in reversed(range(len(program))):
        opening, *inner = program[i].text.split("\n    ")
        if inner:
            texts = [opening + "".join(f"\n    {line}" for line in inner if line is not left_out)
                     for left_out in inner] if len(inner) > 1 else []
            for text in (*texts, "\n".join(inner)):
                yield [*program[:i], program[i]._replace(text=text), *program[i + 1:]]


def kind_of(outcome: Outcome) -> tuple[str, ...]:
    """What differs, and who raises what."""
    found = outcome.difference
    assert found is not None
    raised = [getattr(r, "type", "nothing") for r in (found.theirs, found.ours)]
    return (found.what, *(raised if found.what == "raises" else found.name.split()[1:]))


def signature(outcome: Outcome) -> tuple[str, ...]:
    """What programs of one cause have in common."""
    return (*kind_of(outcome), outcome.program[-1].template)


def interval(differing: int, count: int) -> tuple[float, float]:
    """The 95% confidence interval of a rate (Wilson)."""
    z, p = 1.96, differing / count
    middle = p + z * z / (2 * count)
    width = z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    return tuple((middle + side * width) / (1 + z * z / count) for side in (-1, 1))


def show(outcome: Outcome) -> str:
    found = outcome.difference
    lines = [f"    {line}" for s in outcome.program for line in s.text.splitlines()]
    lines += [f"    # {found.what} {found.name}",
              f"    #   torch:     {_short(found.theirs)}",
              f"    #   retrograd: {_short(found.ours)}"]
    return "\n".join(lines)


def _short(value: Any) -> str:
    return " ".join(repr(value).split())[:400]


class Report(NamedTuple):
    """What became of one program."""

    seed: int
    end: str  # "agrees", "differs", "late" (it takes too long), "crashed"
    statements: int = 0
    cause: str = ""
    program: str = ""
    soft: tuple[tuple[str, str], ...] = ()


def report(seed: int) -> Report:
    """Run one program, and shrink it where it differs."""
    try:
        outcome = lockstep.random_program(seed)
        length = len(outcome.program)
        soft = tuple((what, f"{found.theirs} {found.ours}"[:150])
                     for what, found in outcome.soft.items())
        if outcome.difference is None:
            return Report(seed, "agrees", length, soft=soft)
        short = shrunk(outcome, seed % 2 == 0)
        return Report(seed, "differs", length, " | ".join(signature(short)), show(short), soft)
    except TimeoutError:
        return Report(seed, "late")


def reports(seeds: range, jobs: int) -> Iterator[Report]:
    """Of all programs, as they come; those after one that ends its process run in another."""
    fork = multiprocessing.get_context("fork")
    waiting = [seeds[i:i + IN_ONE_PROCESS] for i in range(0, len(seeds), IN_ONE_PROCESS)][::-1]
    running: dict[Connection, tuple[Any, range]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            part = waiting.pop()
            receiver, sender = fork.Pipe(False)
            process = fork.Process(target=_report_all, args=(part, sender), daemon=True)
            process.start()
            sender.close()
            running[receiver] = process, part
        heard = wait(list(running), SILENCE)
        for process, _ in () if heard else running.values():
            process.kill()
        for connection in heard:
            process, part = running.pop(connection)
            try:
                found = connection.recv()
            except EOFError:
                process.join()
                if not part:
                    continue
                found = Report(part[0], "crashed")
                waiting.append(part[1:])
            else:
                running[connection] = process, part[1:]
            yield found


def _report_all(seeds: range, connection: Connection) -> None:
    for seed in seeds:
        connection.send(report(seed))


class Tally:
    """What all programs so far came to."""

    def __init__(self) -> None:
        self.start = time.time()
        self.ends: Counter[str] = Counter()
        self.statements = 0
        self.groups: dict[str, list[Report]] = defaultdict(list)
        self.soft: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.unfinished: list[Report] = []

    def add(self, found: Report) -> None:
        self.ends[found.end] += 1
        self.statements += found.statements
        if found.end == "differs":
            self.groups[found.cause].append(found)
        elif found.end != "agrees":
            self.unfinished.append(found)
        for soft in found.soft:
            self.soft[soft].append(found.seed)

    def line(self) -> str:
        """The figures."""
        differing = self.ends["differs"]
        count = self.ends["agrees"] + differing
        low, high = interval(differing, count)
        return (f"{differing} of {count} programs ({self.statements} statements) differ: 1 in "
                f"{count / max(differing, 1):.0f}, {100 * low:.2f}% to {100 * high:.2f}%, in "
                f"{len(self.groups)} groups; {self.ends['late']} took too long, "
                f"{self.ends['crashed']} crashed; {time.time() - self.start:.0f} s")

    def __str__(self) -> str:
        lines = []
        for cause, found in sorted(self.groups.items(), key=lambda item: -len(item[1])):
            shortest = min(found, key=lambda one: len(one.program))
            seeds = ", ".join(str(one.seed) for one in found)
            lines.append(f"{len(found)} x {cause}  (seeds {seeds})\n{shortest.program}\n")
        lines += [f"seed {found.seed}: {found.end}" for found in self.unfinished]
        return "\n".join([*lines, self.line(), ""])


def main() -> int:
    parser = argparse.ArgumentParser("python -m parity.fuzz", description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("--soft", action="store_true", help="tell of strides, versions, nodes too")
    parser.add_argument("--jobs", type=int, default=2, help="how many programs run at a time")
    parser.add_argument("--report", type=Path, help="a file that says how it stands, as it goes on")
    options = parser.parse_args()
    lockstep.looks_for_soft_ones = options.soft
    lockstep.load()
    for seed in WARM_UP:
        report(seed)
    gc.collect()
    gc.freeze()  # what was imported is not looked through again
    tally = Tally()
    seeds = range(options.first, options.first + options.count)
    for count, found in enumerate(reports(seeds, options.jobs), 1):
        tally.add(found)
        if found.end != "agrees":
            print(f"seed {found.seed}: {found.cause or found.end}", file=sys.stderr, flush=True)
        if count % 1000 == 0 or count == len(seeds):
            print(tally.line(), file=sys.stderr, flush=True)
            if options.report:
                options.report.write_text(str(tally))
    print(tally, end="")
    if options.soft:
        for (what, text), where in sorted(tally.soft.items(), key=lambda i: -len(i[1]))[:60]:
            print(f"{len(where)} x {what}: {text} (seed {where[0]})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
