"""Recording a graph so that all there is to know of it can be drawn afterwards."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from types import CodeType
from typing import Any

from ..autograd.graph import GradientEdge
from ..autograd.profiler_util import RecordScope
from ..autograd.recorder import Recorder
from ..autograd.watching import Pass, watching
from ..base.modes import MODE, switched
from ..core.engine import Schedule
from ..core.tensor import edge_of
from ._modules import noting_calls
from ._nodes import norm_of, saved_by

_MOST_CALLS = 200_000
_ENGINE = "autograd::engine::"


class Called:
    """The call that recorded a node: its line, and how long it and its backward took."""

    __slots__ = ("code", "line", "forward", "backward")

    def __init__(self) -> None:
        self.code: CodeType | None = None
        self.line = 0
        self.forward: float | None = None
        self.backward: float | None = None

    def take(self, scope: int, name: str, seconds: float) -> None:
        """Note a time; of calls within one another, that of the innermost, which ends first."""
        if scope == RecordScope.BACKWARD_FUNCTION:
            self.backward = seconds
        elif self.forward is None and not name.startswith(_ENGINE):
            self.forward = seconds


class Measured:
    """What a backward pass showed of a node: its gradient, and what it held before it was freed."""

    __slots__ = ("shape", "dtype", "norm", "saved")

    def __init__(self, node: Any) -> None:
        self.shape: tuple[int, ...] | None = None
        self.dtype = ""
        self.norm: float | None = None
        self.saved = saved_by(node)

    def note(self, gradients: tuple[Any, ...]) -> None:
        found = [gradient for gradient in gradients if gradient is not None]
        if found:
            self.shape = tuple(found[0].shape)
            self.dtype = str(found[0].dtype).removeprefix("torch.")
            norms = [norm for norm in map(norm_of, found) if norm is not None]
            self.norm = math.hypot(*norms) if norms else None


CALLED: dict[int, Called] = {}
"""Calls that were recorded, by the age of their nodes; the oldest are forgotten."""
MEASURED: weakref.WeakKeyDictionary[Any, Measured] = weakref.WeakKeyDictionary()
"""The nodes whose backward was watched."""


class _Calls(Recorder):
    """A profiler that keeps only what belongs to nodes."""

    def __init__(self, outer: Recorder | None) -> None:
        super().__init__(outer, shapes=False, memory=False, stack=True, modules=False, flops=False)

    def note(self, name: str, start: int, end: int, scope: RecordScope, **details: Any) -> None:
        if details.get("sequence_nr", -1) >= 0:
            called = CALLED.setdefault(details["sequence_nr"], Called())
            called.take(scope, name, (end - start) * 1e-9)
            if details.get("stack") and called.code is None:
                called.code, called.line = details["stack"][0]
            if len(CALLED) > _MOST_CALLS:
                for age in list(islice(CALLED, _MOST_CALLS // 2)):
                    del CALLED[age]
        if self.outer is not None:
            self.outer.note(name, start, end, scope, **details)


@contextmanager
def recording() -> Iterator[None]:
    """Learn all that :func:`graph` can show of what this block records and runs backward.

    Calls of modules and lines are noted, and backward passes measured: the shape and norm of each
    gradient, what each node held, and the time it took.
    """
    calls = _Calls(MODE.get().profile)
    try:
        with noting_calls(), watching(_measure), switched(profile=calls):
            yield
    finally:
        calls.is_on = False


def _measure(seen: Pass) -> None:
    """Have the nodes of a pass that begins tell what comes by them."""
    edges = [output.as_edge() if isinstance(output, GradientEdge) else edge_of(output)
             for output in seen.outputs]
    for node in Schedule([edge for edge in edges if edge is not None], None).order:
        if node not in MEASURED:
            MEASURED[node] = Measured(node)
            node.register_prehook(partial(Measured.note, MEASURED[node]))


def times_in(profile: Any) -> dict[int, Called]:
    """The times that a profiler took, by the age of nodes."""
    found: dict[int, Called] = {}
    events = profile.events() if hasattr(profile, "events") else profile.function_events
    for event in events:
        if event.sequence_nr >= 0:
            found.setdefault(event.sequence_nr, Called()).take(
                event.scope, event.name, event.cpu_time_total * 1e-6)
    return found
