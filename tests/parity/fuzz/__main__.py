"""``python -m parity.fuzz COUNT [FIRST]``: compares random programs with PyTorch by the thousand.

Every difference is shrunk and put into a group by its cause, as far as a machine can tell: the kind
of difference and the last statement's template. Seeds make it resumable: the second argument.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from . import lockstep
from .drawing import Statement
from .lockstep import Outcome

MOST_TRIES = 300


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


def main() -> int:
    parser = argparse.ArgumentParser("python -m parity.fuzz", description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("--soft", action="store_true", help="tell of strides, versions, nodes too")
    options = parser.parse_args()
    lockstep.load()
    groups: dict[tuple[str, ...], list[tuple[int, Outcome]]] = defaultdict(list)
    soft: dict[tuple[str, str], list[tuple[int, Any]]] = defaultdict(list)
    start, differing, count, statements = time.time(), 0, 0, 0
    for seed in range(options.first, options.first + options.count):
        watched = seed % 2 == 0
        try:
            outcome = lockstep.random_program(seed)
        except TimeoutError:
            print(f"seed {seed} takes too long", file=sys.stderr)
            continue
        count, statements = count + 1, statements + len(outcome.program)
        for what, found in outcome.soft.items():
            soft[what, f"{found.theirs} {found.ours}"].append((seed, outcome.program))
        if outcome.difference:
            differing += 1
            short = shrunk(outcome, watched)
            groups[signature(short)].append((seed, short))
            print(f"seed {seed}: {' | '.join(signature(short))}", file=sys.stderr, flush=True)
        if count % 250 == 0:
            print(f"{count} programs, {differing} differ, {time.time() - start:.0f} s",
                  file=sys.stderr, flush=True)
    for key, found in sorted(groups.items(), key=lambda item: -len(item[1])):
        seed, shortest = min(found, key=lambda pair: len(pair[1].program))
        print(f"{len(found)} x {' | '.join(key)}  (seed {seed})\n{show(shortest)}\n")
    if options.soft:
        for (what, text), seeds in sorted(soft.items(), key=lambda item: -len(item[1]))[:60]:
            print(f"{len(seeds)} x {what}: {text[:150]} (seed {seeds[0][0]})")
    low, high = interval(differing, count)
    print(f"{differing} of {count} programs ({statements} statements) differ: 1 in "
          f"{count / max(differing, 1):.0f}, {100 * low:.2f}% to {100 * high:.2f}%, in "
          f"{len(groups)} groups")
    return 0


if __name__ == "__main__":
    sys.exit(main())
