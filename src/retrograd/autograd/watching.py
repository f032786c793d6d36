"""Being told of every backward pass that a program asks for.

``backward`` and ``grad`` look whether anybody watches; while nobody does, that is all it costs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

from ..base.call_sites import Site, is_internal, user_frame
from ..core.tensor import Tensor
from .backward import WATCHERS


class Pass:
    """One backward pass: where it starts, and who asked for it.

    ``outputs`` are the tensors (or gradient edges) it starts from, ``inputs`` those it was limited
    to, if it was; ``site`` is the line that asked for it. Holding a pass holds its graph.
    """

    def __init__(self, outputs: tuple[Any, ...], inputs: tuple[Any, ...] | None,
                 frame: FrameType) -> None:
        self.outputs, self.inputs = outputs, inputs
        self.site = Site(frame.f_code, frame.f_lasti)
        self.holders = holders_in(frame)

    def leaves(self) -> dict[str, Tensor]:
        """The leaves that the program knows, by name: parameters of modules, and variables."""
        return leaves_of(self.holders)


def holders_in(frame: FrameType | None) -> dict[str, Any]:
    """The modules and leaves in the variables of a frame and its callers, by name.

    A module stands for its parts, and one object has the name that was found first.
    """
    found: dict[str, Any] = {}
    known: set[int] = set()
    for name, value in variables_of(frame):
        if _holds_leaves(value) and id(value) not in known and name not in found:
            known.add(id(value))
            found[name] = value
    return found


def variables_of(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The variables of a frame and its callers, the nearest first."""
    known: set[int] = set()
    while frame is not None:
        if not is_internal(frame.f_code.co_filename):
            if frame.f_locals is not frame.f_globals:
                yield from tuple(frame.f_locals.items())
            if id(frame.f_globals) not in known:
                known.add(id(frame.f_globals))
                yield from tuple(frame.f_globals.items())
        frame = frame.f_back


def _holds_leaves(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.requires_grad and value.is_leaf
    return hasattr(type(value), "named_parameters") and not isinstance(value, type)


def leaves_of(holders: dict[str, Any]) -> dict[str, Tensor]:
    """The leaves of modules (as ``module.part.weight``) and the leaves themselves, each once."""
    found: dict[str, Tensor] = {}
    known: set[int] = set()
    # The larger module first, so that a part of it goes by the name of the whole.
    sizes = {name: len(list(holder.modules())) if hasattr(holder, "modules") else 0
             for name, holder in holders.items()}
    for name in sorted(holders, key=lambda name: -sizes[name]):
        holder = holders[name]
        named = [(name, holder)] if isinstance(holder, Tensor) else [
            (f"{name}.{inner}" if name != "self" else inner, leaf)
            for inner, leaf in holder.named_parameters()]
        for full, leaf in named:
            if id(leaf) not in known:
                known.add(id(leaf))
                found[full] = leaf
    return found


@contextmanager
def watching(begin: Callable[[Pass], Any] | None = None,
             end: Callable[[Pass], Any] | None = None) -> Iterator[None]:
    """Call ``begin(pass)`` before every backward pass and ``end(pass)`` after it, in this block.

    A pass that fails has no end, and passes that are run inside another one are passed over.
    """
    def watcher(outputs: tuple[Any, ...], inputs: tuple[Any, ...] | None) -> Callable[[], Any]:
        seen = Pass(outputs, inputs, user_frame(sys._getframe(1)))
        if begin is not None:
            begin(seen)
        return (lambda: None) if end is None else partial(end, seen)

    WATCHERS.append(watcher)
    try:
        yield
    finally:
        WATCHERS.remove(watcher)
