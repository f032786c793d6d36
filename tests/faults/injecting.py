"""Runs a program again and again, each time with an interrupt at another place of the package.

A signal's handler runs where the interpreter looks for signals: where a function begins, where a
loop turns, and after a call returned from C. These are the places here, in every frame of the
package and of its generated code; there are more of them than lines. No handler runs between the
end of a ``try`` and the first call of its ``finally``, nor before a ``with`` gives its lock back: a
tracer could raise there, and does not. Left out are the beginnings of a context manager's
``__enter__`` and ``__exit__``, which are Python here as they are in PyTorch: between a block and
them an interrupt may come in either.
"""

from __future__ import annotations

import dis
import functools
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import retrograd

_PACKAGE = os.path.dirname(retrograd.__file__) + os.sep
_LOOK = {"CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD"}
"""The instructions at which the interpreter looks for signals."""
_OF_BLOCKS = {"__enter__", "__exit__"}

Place = tuple[str, str, int]
"""A file, a function and the offset of an instruction."""


class Interrupt(BaseException):
    """What a signal's handler raises."""


@functools.cache
def _next_places(code: Any) -> frozenset[int]:
    """The offsets before which an interrupt may come: after a call, where a loop turns."""
    found, before = set(), None
    regions = dis._parse_exception_table(code)  # type: ignore[attr-defined]

    def handler(offset: int) -> Any:
        return next((r.target for r in regions if r.start <= offset < r.end), None)

    for step in dis.get_instructions(code):
        if before is not None and before.opname in _LOOK and \
                handler(before.offset) == handler(step.offset):
            found.add(step.offset)
        if before is None or step.opname != "CACHE":
            before = step
    return frozenset(found)


class Tracer:
    """Notes the places that a program comes by, and raises at one of them."""

    def __init__(self, at: int | None = None):
        self.at = at
        self.passed: list[Place] = []
        self.where = ""
        self.callers: set[Any] = set()  # the frames whose last call was one of Python code

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        self.callers.add(frame.f_back)
        name = frame.f_code.co_filename
        if not name.startswith((_PACKAGE, "<retrograd ")):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        places, begins = _next_places(frame.f_code), frame.f_code.co_name not in _OF_BLOCKS

        def trace(frame: Any, event: str, arg: Any) -> Any:
            nonlocal begins
            if event == "opcode":
                if begins or (frame.f_lasti in places and frame not in self.callers):
                    self.pass_by(frame)
                begins = False
                self.callers.discard(frame)
            return trace

        return trace

    def pass_by(self, frame: Any) -> None:
        self.passed.append((frame.f_code.co_filename, frame.f_code.co_qualname, frame.f_lasti))
        if len(self.passed) == self.at:
            sys.settrace(None)
            self.where = f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}"
            raise Interrupt("interrupted at " + self.where)


def places(program: Callable[[], Any]) -> list[Place]:
    """The places that a program comes by, in the order of its course."""
    tracer = Tracer()
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        program()
    finally:
        sys.settrace(before)
    return tracer.passed


def visits(passed: list[Place], most: int) -> list[int]:
    """The first, the last and others evenly between them, of the times at which each is passed."""
    times: dict[Place, list[int]] = defaultdict(list)
    for time, place in enumerate(passed, 1):
        times[place].append(time)
    return sorted({of_one[i * (len(of_one) - 1) // max(most - 1, 1)]
                   for of_one in times.values() for i in range(most)})


def interrupted(program: Callable[[], Any], at: int) -> str:
    """Run a program with an interrupt at its ``at``-th place, and say where that is.

    Empty if the program ended before, or went on as if nothing had happened.
    """
    tracer = Tracer(at)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        program()
    except Interrupt:
        return tracer.where
    finally:
        sys.settrace(before)
    return ""
