"""Sizes given as one number for every dimension, or as one number per dimension."""

from collections.abc import Iterable
from typing import Any


def tuple_of(value: Any, count: int) -> tuple[Any, ...]:
    """``value`` as a tuple, repeated for each dimension if it is a single one."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count
