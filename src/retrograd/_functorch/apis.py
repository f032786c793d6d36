"""The transforms of functions of one value."""

from __future__ import annotations

from ..func import grad, grad_and_value, vmap

__all__ = ["grad", "grad_and_value", "vmap"]
