"""Linear algebra: triangles and diagonals, factorisations, functions of matrices."""

from __future__ import annotations

from . import product

__all__ = ["product"]
