"""Attention on NumPy arrays: weights of rows, in memory of their own."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..plain import attention as plain
from ..plain import fill_with_plain_bodies
from . import FLOAT32, FLOAT64, along_rows
from .matrices import product
from .rows import row_maxima, row_sums


@lru_cache(maxsize=16)
def _future(rows: int, cols: int) -> Any:
    """True where a place lies behind the one that looks; not to be written to."""
    return ~np.tri(rows, cols, dtype=bool)


def scores(query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    # What is hidden is overwritten in the product's own memory.
    found = product(query * scale, key.swapaxes(-1, -2))
    if causal:
        np.copyto(found, -np.inf, where=_future(*found.shape[-2:]))
    elif mask is not None and mask.dtype == bool:
        np.copyto(found, -np.inf, where=~mask)
    elif mask is not None:
        found += mask
    return found


def weights(scores: Any) -> Any:
    # For the two dtypes that BLAS adds up.
    if not scores.size or scores.dtype not in (FLOAT32, FLOAT64):
        return plain.weights(scores)
    found = np.empty(scores.shape, scores.dtype)
    rows, out = (a.reshape(-1, scores.shape[-1]) for a in (scores, found))
    top = row_maxima(rows)
    top[top == -np.inf] = 0
    with along_rows(rows.shape[1]):
        np.subtract(rows, top, out)
        np.exp(out, out)
        sums = row_sums(out)
        sums[sums == 0] = 1
        out /= sums
    return found


fill_with_plain_bodies(globals(), plain)
