"""vmap where it was before it was public; programs still take it from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .func import vmap


def _vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0,
          allow_none_pass_through: bool = False) -> Callable[..., Any]:
    """``vmap``; what is not a tensor may be returned only where that is allowed."""
    return vmap(func, in_dims, out_dims)


__all__ = ["vmap"]
