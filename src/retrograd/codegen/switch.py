"""The switch that leaves out the fast paths, for whoever steps through the plain engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


class GeneralPath:
    """Whether every call takes the general path, and every rule runs on tensors."""

    only = os.environ.get("RETROGRAD_GENERAL", "0") not in ("", "0")


_DEPENDENTS: list[Callable[[], None]] = []


def when_switched(renew: Callable[[], None]) -> Callable[[], None]:
    """Have ``renew`` called when the switch is turned: ordinary calls never look at it."""
    _DEPENDENTS.append(renew)
    return renew


class general_path:
    """Send every call the general way, in the whole process: a function, and a context manager.

    Ops then run without generated fast paths, and backward runs their rules as they are written,
    on tensors. ``RETROGRAD_GENERAL=1`` in the environment does it from the start.
    """

    def __init__(self, only: bool = True):
        self.before = GeneralPath.only
        _turn(only)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        _turn(self.before)


def _turn(only: bool) -> None:
    if only != GeneralPath.only:
        GeneralPath.only = only
        for renew in _DEPENDENTS:
            renew()
