"""A warning, once, when graphs pile up from iteration to iteration.

``backward`` looks at one pass in eight. Two things are noticed. Graphs that a pass has freed
and that are in memory still, one after the other: their losses are kept somewhere, or added up.
And passes with ``retain_graph=True`` that run over what earlier ones ran over, and over more each
time: a state is carried on without being detached.

What is not noticed is ordinary: graphs made before an earlier pass ran (a list of losses, each run
in turn), passes that are recorded (inner loops whose steps are differentiated), and ``grad``.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import Any
from weakref import ref

from ..base import warning
from ..base.call_sites import Site, user_frame
from ..base.errors import wrong_type
from ..core.cuts import where_made
from ..core.engine import Schedule
from ..core.graph import AGES, Node
from ..core.holders import nodes_behind
from ..core.tensor import Tensor
from .backward import Passes
from .watching import variables_of

ENOUGH = 32


class GrowingGraphWarning(UserWarning):
    """Graphs of earlier iterations are kept, and more so with each."""


class _Seen(threading.local):
    """What the passes of this thread that were looked at have left behind."""

    def __init__(self) -> None:
        self.freed: deque[tuple[ref[Any], int]] = deque(maxlen=ENOUGH)
        self.site: Site | None = None  # of the last retained pass, with its size and its age
        self.size = self.newest = self.grown = 0


_seen = _Seen()


def warn_of_growth(mode: bool) -> None:
    """Switch the warning of graphs that keep growing on or off; it is on by default."""
    if not isinstance(mode, bool):
        raise wrong_type("warn_of_growth", "mode", None, "bool", mode)
    Passes.are_watched = mode


def look(output: Any, retained: bool) -> None:
    """Look at a pass from ``output`` that has just been run."""
    node = output.grad_fn if isinstance(output, Tensor) else None
    if node is None:
        return
    if retained:
        _look_at_retained(node, _site_of(user_frame(sys._getframe(1))))
        return
    freed = _seen.freed
    if freed:
        last, age = freed[-1]
        if node.seq < age:
            return  # made before that pass ran, and so with others in advance
        if last() is None:
            freed.clear()
    freed.append((ref(node), _age()))
    if len(freed) == ENOUGH and all(known() is not None for known, _ in freed):
        frame = user_frame(sys._getframe(1))
        nodes = {known() for known, _ in freed} - {node}
        keeper = _keeper(nodes, frame)
        _warn(f"The graphs of earlier backward passes are still in memory, although the passes "
              f"have freed them and will not run again{keeper}. If losses are kept or added up, "
              "keep `loss.item()` or `loss.detach()`.\nThe backward passes were asked for here:\n"
              f"  {_site_of(frame)}" + where_made(node, "The last loss"))
        freed.clear()


Passes.look = look


def _site_of(frame: Any) -> Site:
    return Site(frame.f_code, frame.f_lasti)


def _look_at_retained(node: Any, site: Site) -> None:
    order = Schedule([node], None).order
    old = [known for known in order if known.seq <= _seen.newest]
    if site == _seen.site and old and len(order) > _seen.size:
        _seen.grown += 1
    else:
        _seen.grown = 0
    joint = old[0] if old else None
    _seen.site, _seen.size, _seen.newest = site, len(order), order[0].seq
    if _seen.grown >= ENOUGH // Passes.EVERY and isinstance(joint, Node):
        made = where_made(joint, "What is carried on")
        _warn(f"Each backward pass runs over the graph of the passes before it: the last one over "
              f"{len(order)} operations. If a state is carried from iteration to iteration, "
              f"detach it: `state = state.detach()`.\nThe backward pass was asked for here:\n"
              f"  {site}{made}")
        _seen.grown = 0


def _age() -> int:
    """The age that the next node will have."""
    return int(repr(AGES).removeprefix("count(").removesuffix(")"))


def _keeper(nodes: set[Any], frame: Any) -> str:
    """Names the variable that keeps graphs alive, if there is one."""
    for name, value in variables_of(frame):
        parts = value.values() if isinstance(value, dict) else value \
            if isinstance(value, (list, tuple, deque)) else (value,)
        latest = list(parts)[-2 * ENOUGH * Passes.EVERY:]
        tensors = [part for part in latest if isinstance(part, Tensor)]
        edges = [tensor.grad_fn for tensor in tensors]
        if len(nodes.intersection(edges)) > ENOUGH // 2:
            return f", kept by the {type(value).__name__} `{name}`"
        if len(tensors) == 1 and tensors[0] is value and edges[0] is not None \
                and len(nodes.intersection(nodes_behind(edges))) > ENOUGH // 2:
            return f", kept by the tensor `{name}` that they were added up in"
    return ""


def _warn(message: str) -> None:
    Passes.are_watched = False  # once
    warning.warn(message, GrowingGraphWarning)
