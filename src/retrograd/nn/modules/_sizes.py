"""Sizes given as one number for every dimension, or as one number per dimension."""

from collections.abc import Iterable
from typing import Any


def pair(value: Any) -> tuple:
    """Return ``value`` as a tuple, repeated for both dimensions if it is a single number."""
    return tuple(value) if isinstance(value, Iterable) else (value, value)
