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

import contextlib
import dis
import functools
import gc
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import retrograd

_PACKAGE = os.path.dirname(retrograd.__file__) + os.sep
_LOOK = {"CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD"}
"""The instructions at which the interpreter looks for signals."""
_OF_BLOCKS = {"__enter__", "__exit__"}

Place = tuple[str, str, int]
"""A file, a function and the offset of an instruction."""
Visit = tuple[tuple[str, str, int], int]
"""The number of a function's call, and how many places it has come by."""


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
    """Notes the places that a program comes by, or raises at one of them.

    To raise, the instructions of a single call are followed, the one in which the place is.
    """

    def __init__(self, at: Visit | None = None):
        self.at = at
        self.calls: Counter[tuple[str, str]] = Counter()
        self.passed: list[tuple[Place, Visit]] = []
        self.where = ""
        self.callers: set[Any] = set()  # the frames whose last call was one of Python code

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Follow what is done; no garbage is collected meanwhile, which would be other calls."""
        before = sys.gettrace()
        gc.disable()
        sys.settrace(self)
        try:
            yield
        finally:
            sys.settrace(before)
            gc.enable()

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        self.callers.add(frame.f_back)
        code = frame.f_code
        if not code.co_filename.startswith((_PACKAGE, "<retrograd ")):
            return None
        function = code.co_filename, code.co_qualname
        self.calls[function] += 1
        call = *function, self.calls[function]
        if self.at and self.at[0] != call:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        places, begins, passed = _next_places(code), code.co_name not in _OF_BLOCKS, 0

        def trace(frame: Any, event: str, arg: Any) -> Any:
            nonlocal begins, passed
            if event == "opcode":
                if begins or (frame.f_lasti in places and frame not in self.callers):
                    passed += 1
                    self.pass_by(frame, (call, passed))
                begins = False
                self.callers.discard(frame)
            return trace

        return trace

    def pass_by(self, frame: Any, visit: Visit) -> None:
        code = frame.f_code
        if visit == self.at:
            sys.settrace(None)
            self.where = f"{code.co_filename}:{frame.f_lineno} {code.co_name}"
            raise Interrupt("interrupted at " + self.where)
        if self.at is None:
            self.passed.append(((*visit[0][:2], frame.f_lasti), visit))


def places(program: Callable[[], Any]) -> list[tuple[Place, Visit]]:
    """The places that a program comes by, in the order of its course."""
    tracer = Tracer()
    with tracer.installed():
        program()
    return tracer.passed


def visits(passed: list[tuple[Place, Visit]], most: int) -> list[Visit]:
    """The first, the last and others evenly between them, of the times at which each is passed."""
    times: dict[Place, list[Visit]] = defaultdict(list)
    for place, visit in passed:
        times[place].append(visit)
    return sorted({of_one[i * (len(of_one) - 1) // max(most - 1, 1)]
                   for of_one in times.values() for i in range(most)})


def interrupted(program: Callable[[], Any], at: Visit) -> str:
    """Run a program with an interrupt at one of its places, and say where that is.

    Empty if the program ended before, or went on as if nothing had happened.
    """
    tracer = Tracer(at)
    with contextlib.suppress(Interrupt), tracer.installed():
        program()
        return ""
    return tracer.where
