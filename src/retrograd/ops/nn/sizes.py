"""Sizes of windows: one number, or one for each dimension of space."""

from __future__ import annotations

from typing import Any

from ...base.errors import as_int

Ints = tuple[int, ...]


def is_whole(value: Any) -> bool:
    """Whether a value is one whole number, of Python, NumPy or a tensor without dims."""
    return hasattr(value, "__index__") and value.__class__ is not bool \
        and not getattr(value, "ndim", 0)


def spread(value: Any, rank: int) -> Ints:
    """One number for every dimension, from one number or a sequence."""
    if is_whole(value):
        return (value.__index__(),) * rank
    found = tuple([v if v.__class__ is int else as_int(v, "sizes") for v in value])
    return found * rank if len(found) == 1 else found
