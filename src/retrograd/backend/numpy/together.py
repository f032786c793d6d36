"""Gradients that a kernel finds in one pass, for rules that ask for them one after the other.

A node asks for the gradients of its inputs in their order, and says to each rule which of them are
wanted: those that were found with the first one wait here for the rules that follow at once. An
interrupt may keep these from coming; what waits then is nobody's, as it belongs to that pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from ...base.modes import RUNNING


class _Waiting(threading.local):
    run: Any = None  # the backward pass that they were found in
    given: tuple[Any, ...] = ()  # the arrays that they were found from
    found: dict[int, Any] = {}  # noqa: RUF012 - by the place of the input; replaced, never shared


_waiting = _Waiting()


def are_wanted(asked: Any, first: int = 1) -> bool:
    """Whether gradients from that place on are; ``asked`` has an edge or None for each."""
    return asked is not None and any(a is not None and a is not False for a in asked[first:])


def keep(asked: Any, found: dict[int, Any], *given: Any) -> None:
    """Let gradients wait, by their places, as far as they are asked for."""
    _waiting.found = {place: each for place, each in found.items()
                      if asked[place] is not None and asked[place] is not False}
    _waiting.given, _waiting.run = (given, RUNNING.get()) if _waiting.found else ((), None)


def take(place: int, *given: Any) -> Any:
    """The gradient that waits for that place and was found from these arrays; else None."""
    known = _waiting.given
    if len(known) != len(given) or any(a is not b for a, b in zip(known, given, strict=True)) \
            or _waiting.run is not RUNNING.get():
        return None
    found = _waiting.found.pop(place, None)
    if not _waiting.found:
        _waiting.given, _waiting.run = (), None
    return found


def unless_found(place: int, kernel: Callable[..., Any] = lambda body: body
                 ) -> Callable[[Callable[..., Any]], Any]:
    """Compute the gradient of that place from its first argument, unless it waits already."""

    def over(body: Callable[..., Any]) -> Any:
        body = kernel(body)

        @wraps(body)
        def function(g: Any, *args: Any) -> Any:
            found = take(place, g) if _waiting.given else None
            return body(g, *args) if found is None else found

        return function

    return over
