"""Calls in other processes: there are none to call."""

from ..base.missing_names import suggest_names as _suggest_names

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether functions can be called in other processes: no."""
    return False


_suggest_names(__name__)
