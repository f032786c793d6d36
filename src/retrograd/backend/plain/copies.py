"""Copies of arrays, in whatever order their elements lie."""

from __future__ import annotations

from typing import Any

from .. import xp


def copy_in_rows(array: Any) -> Any:
    """A copy in memory of its own, row by row."""
    return copy_in_order(array, tuple(range(array.ndim)))


def overwrite(target: Any, source: Any) -> Any:
    """``target``, into which ``source`` was put."""
    target[...] = source
    return target


def copy_in_order(array: Any, order: tuple[int, ...]) -> Any:
    """A copy with its dimensions laid out in ``order``."""
    out = xp.empty_in_order(array.shape, order, array.dtype)
    out[...] = array
    return out
