"""``retrograd graph``: runs a program and draws the graph of one of its backward passes."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from .. import viz
from ..autograd.watching import Pass
from ..viz._graph import graph_of_pass
from .watch import Seen, run_watched


def graph_program(program: tuple[list[str], bool, str], output: Path, which: int) -> int:
    """Run a program and write the graph of backward pass ``which``, counted from 1."""
    drawn: list[viz.Graph] = []
    passes = 0

    def begin(seen: Pass) -> None:
        nonlocal passes
        passes += 1

    def end(seen: Pass) -> None:
        if passes == which:
            drawn.append(graph_of_pass(seen))
            recording.close()  # the rest of the program runs as fast as ever

    def report(seen: Seen) -> None:
        why = (f"the program ran {passes} backward pass{'es' * (passes != 1)}, "
               f"so there is no pass {which} to draw")
        if not drawn and passes == which and seen.last is not None:  # it failed
            try:
                drawn.append(graph_of_pass(seen.last))
            except RuntimeError as error:  # a loss without a graph
                why = str(error)
        if not drawn:
            print(f"retrograd graph: error: {why}", file=sys.stderr)
            return
        drawn[0].title = f"{Path(program[0][0]).name}, backward pass {which}"
        drawn[0].save(output)
        print(f"retrograd graph: {drawn[0]} in {output}", file=sys.stderr)

    with ExitStack() as recording:
        recording.enter_context(viz.recording())
        status = run_watched(program, report, begin, end)
    return status if drawn else status or 1
