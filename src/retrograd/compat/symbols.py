"""PyTorch's arithmetic for sizes that a compiler does not know yet; here every size is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class SymInt:
    """A whole number that is not known yet: none is."""


class SymFloat:
    """A number that is not known yet: none is."""


class SymBool:
    """A truth that is not known yet: none is."""


def sym_int(a: Any) -> int:
    """A number without its fraction."""
    return int(a)


def sym_float(a: Any) -> float:
    """A number as a float."""
    return float(a)


def sym_not(a: bool) -> bool:
    """The opposite of a truth."""
    return not a


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """``t`` where ``b`` is so, otherwise ``f``."""
    return t if b else f


def sym_max(a: Any, b: Any) -> Any:
    """The greater of two numbers, a float if either is one."""
    return _alike(max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The lesser of two numbers, a float if either is one."""
    return _alike(min(a, b), a, b)


def _alike(found: Any, a: Any, b: Any) -> Any:
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers."""
    return sum(args)
