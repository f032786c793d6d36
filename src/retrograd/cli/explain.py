"""``retrograd explain``: run a program and explain the gradients of its backward passes."""

from __future__ import annotations

import sys

from ..autograd.explaining import explain as explained
from ..base.tables import show
from ..core.cuts import Memory
from .watch import Seen, run_watched

_EVERYTHING = 1 << 62


def explain(program: tuple[list[str], bool, str], at: str) -> int:
    """Run a program, then explain its first or last backward pass; the program's exit status."""
    before = Memory.depth, Memory.nodes

    def report(seen: Seen) -> None:
        found = seen.first if at == "first" else seen.last
        sys.stdout.flush()
        if found is None:
            print("retrograd explain: the program asked for no backward pass")
            return
        ran = f"{seen.count} backward pass{'es' if seen.count > 1 else ''}"
        print(f"\nretrograd explain: {ran}; the {at} one was asked for here:\n  {found.site}\n")
        show(explained(found.outputs, found.leaves()))

    Memory.depth = Memory.nodes = _EVERYTHING
    try:
        return run_watched(program, report)
    finally:
        Memory.depth, Memory.nodes = before
