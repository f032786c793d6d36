"""Reductions."""

from __future__ import annotations

from typing import Any

from ..backend import numpy as xp
from ..op import Array, Dims, linear
from .shape import expand, restore_dims


@linear(quiet=True)
def sum(input: Array, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum over ``dim``; over every dimension by default."""
    return xp.add.reduce(input, axis=dim, keepdims=keepdim,
                         dtype=None if dtype is None else dtype.np)


sum.vjp(input=lambda g, like, dim, keepdim: expand(restore_dims(g, like, dim, keepdim), like.shape))
