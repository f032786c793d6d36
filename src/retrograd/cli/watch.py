"""Running a program to look at its backward passes: what several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..autograd.watching import Pass, watching
from .run import reporting, run


class Seen:
    """The backward passes of a program: how many there were, the first and the last.

    A pass that failed counts, and is the last. While the program runs, ``begin`` and ``end`` are
    told of each pass too.
    """

    def __init__(self, begin: Callable[[Pass], Any] | None = None,
                 end: Callable[[Pass], Any] | None = None) -> None:
        self.count = 0
        self.first: Pass | None = None
        self.last: Pass | None = None
        self.tell, self.end = begin, end

    def begin(self, found: Pass) -> None:
        self.count += 1
        self.first, self.last = self.first or found, found
        if self.tell is not None:
            self.tell(found)


def run_watched(program: tuple[list[str], bool, str], report: Callable[[Seen], Any],
                begin: Callable[[Pass], Any] | None = None,
                end: Callable[[Pass], Any] | None = None) -> int:
    """Run a program as ``retrograd run`` does, then ``report``, also if it failed or exited.

    ``program`` is what :func:`retrograd.cli._program` gives: the script or module with its
    arguments, which of them it is, and the command's name. Returns the exit status.
    """
    seen = Seen(begin, end)
    with reporting(partial(report, seen)), watching(seen.begin, seen.end):
        return run(*program)
