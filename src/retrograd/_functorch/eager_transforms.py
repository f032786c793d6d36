"""The transforms, and how they pick the arguments to differentiate."""

from __future__ import annotations

from typing import Any

from ..func import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
from ..func.reverse import checked_argnums


def _slice_argnums(args: tuple[Any, ...], argnums: Any, as_tuple: bool = True) -> Any:
    """The arguments at the given positions."""
    found = tuple([args[n] for n in checked_argnums(argnums, args)])
    return found if as_tuple or isinstance(argnums, tuple) else found[0]


__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]
