"""Linear algebra: triangles and diagonals, factorisations, functions of matrices."""

from __future__ import annotations

from . import einsum, product

__all__ = ["einsum", "product"]
