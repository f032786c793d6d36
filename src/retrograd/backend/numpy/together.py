"""Gradients that a kernel finds in one pass, for rules that ask for them one after the other.

A node asks for the gradients of its inputs in their order, and says to each rule which of them are
wanted: those that were found with the first one wait here for the rules that follow at once. An
interrupt may keep these from coming; what waits then is nobody's, as it belongs to that pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from operator import is_
from typing import Any

from ...base.modes import RUNNING


class _Waiting(threading.local):
    # The backward pass, the arrays that they were found from, and them by the place of the input.
    held: tuple[Any, tuple[Any, ...], dict[int, Any]] = None, (), {}

    given = property(lambda self: self.held[1])
    found = property(lambda self: self.held[2])


_waiting = _Waiting()
_NOTHING = _Waiting.held


def are_wanted(asked: Any, first: int = 1) -> bool:
    """Whether gradients from that place on are; ``asked`` has an edge or None for each."""
    return asked is not None and any([a is not None and a is not False for a in asked[first:]])


def keep(asked: Any, found: dict[int, Any], *given: Any) -> None:
    """Let gradients wait, by their places, as far as they are asked for."""
    wanted = {place: each for place, each in found.items()
              if asked[place] is not None and asked[place] is not False}
    _waiting.held = (RUNNING.get(), given, wanted) if wanted else _NOTHING


def take(place: int, *given: Any) -> Any:
    """The gradient that waits for that place and was found from these arrays; else None."""
    run, known, found = _waiting.held
    if len(known) != len(given) or not all(map(is_, known, given)) or run is not RUNNING.get():
        return None
    taken = found.pop(place, None)
    if not found:
        _waiting.held = _NOTHING
    return taken


def unless_found(place: int, kernel: Callable[..., Any] = lambda body: body
                 ) -> Callable[[Callable[..., Any]], Any]:
    """Compute the gradient of that place from its first argument, unless it waits already."""

    def over(body: Callable[..., Any]) -> Any:
        body = kernel(body)

        @wraps(body)
        def function(g: Any, *args: Any) -> Any:
            found = take(place, g)
            return body(g, *args) if found is None else found

        return function

    return over


def once(place: int, given: int) -> Callable[[Callable[..., Any]], Any]:
    """Let a rule find what the rule for ``place`` asks for next: the same of the same gradient.

    The gradient is the argument at ``given``; the last argument says what is asked for. The other
    rule gets a copy, since either may keep what it found.
    """

    def over(body: Callable[..., Any]) -> Any:
        count = body.__code__.co_argcount

        @wraps(body)
        def function(*args: Any) -> Any:
            found = take(place, args[given]) if _waiting.given else None
            if found is not None:
                return found
            found = body(*args)
            if len(args) == count and are_wanted(args[-1], place):
                keep(args[-1], {place: found.copy()}, args[given])
            return found

        return function

    return over
