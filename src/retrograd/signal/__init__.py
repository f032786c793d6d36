"""The public namespace ``retrograd.signal``: windows."""

from . import windows

__all__ = ["windows"]
