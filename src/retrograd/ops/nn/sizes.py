"""Sizes of windows: one number, or one for each dimension of space."""

from __future__ import annotations

from typing import Any

Ints = tuple[int, ...]


def spread(value: Any, rank: int) -> Ints:
    """One number for every dimension, from one number or a sequence."""
    if isinstance(value, int):
        return (value,) * rank
    found = tuple([int(v) for v in value])
    return found * rank if len(found) == 1 else found
