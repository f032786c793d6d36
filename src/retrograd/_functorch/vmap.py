"""vmap."""

from __future__ import annotations

from ..func import vmap

__all__ = ["vmap"]
