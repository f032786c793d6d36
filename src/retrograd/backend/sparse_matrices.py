"""Matrices of ``scipy.sparse``, made of rows laid end to end."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .numpy import optional


def _sparse() -> Any:
    return optional("scipy.sparse", "sparse derivatives")


def matrix(values: Any, columns: Any, ends: Any, shape: tuple[int, int]) -> Any:
    """A matrix whose row i has ``values`` in ``columns``, both between ends i and i + 1."""
    return _sparse().csr_array((values, columns, ends), shape=shape)


def booleans(columns: Any, ends: Any, shape: tuple[int, int]) -> Any:
    """A matrix that is True in given places."""
    return matrix(np.ones(len(columns), bool), columns, ends, shape)


def columns_of(whole: Any, sizes: list[int]) -> list[Any]:
    """A matrix cut into parts of so many columns."""
    ends = np.cumsum([0, *sizes])
    by_column = whole.tocsc()
    return [by_column[:, a:b].tocsr() for a, b in pairwise(ends)]


def pattern_of(given: Any) -> tuple[Any, Any, tuple[int, int]]:
    """The columns of the nonzeros of a matrix row by row, where rows end, and its shape."""
    found = _sparse().csr_array(given)
    if found.ndim != 2:
        raise ValueError(f"a pattern is a matrix, not an array of {found.ndim} dims")
    found.eliminate_zeros()
    found.sort_indices()
    return found.indices.astype(np.int64), found.indptr.astype(np.int64), found.shape
