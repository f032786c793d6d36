"""Graphs over several processes: calls do not leave this one."""

from __future__ import annotations

from ..base.missing_names import suggest_names as _suggest_names

__all__ = ["context", "is_available"]


def is_available() -> bool:
    """Whether gradients pass from one process to another through calls: no."""
    return False


class context:
    """The gradients of one pass over several processes: refused."""

    def __init__(self) -> None:
        raise RuntimeError("retrograd has no distributed autograd: calls in other processes are "
                           "not there, and loss.backward() does the same in this one")


_suggest_names(__name__)
