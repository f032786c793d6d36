"""Attention on raw arrays: scores with hidden places, and weights that add up to one."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from . import FLOAT32, along_rows
from .matrices import is_low_precision, product
from .rows import row_maxima, row_sums


@lru_cache(maxsize=16)
def _future(rows: int, cols: int) -> Any:
    """True where a place lies behind the one that looks; not to be written to."""
    return ~np.tri(rows, cols, dtype=bool)


def scores(query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    """How much each query is like each key: -inf where it may not look, else scaled and shifted."""
    found = product(query * scale, key.swapaxes(-1, -2))
    if causal:
        np.copyto(found, -np.inf, where=_future(*found.shape[-2:]))
    elif mask is not None and mask.dtype == bool:
        np.copyto(found, -np.inf, where=~mask)
    elif mask is not None:
        found += mask
    return found


def weights(scores: Any) -> Any:
    """Softmax along the last dimension; rows of nothing but -inf become zeros."""
    if is_low_precision(scores.dtype):
        return weights(scores.astype(FLOAT32)).astype(scores.dtype)
    found = np.empty(scores.shape, scores.dtype)
    rows, out = (a.reshape(-1, scores.shape[-1]) for a in (scores, found))
    if not scores.size:
        return found
    top = row_maxima(rows)
    top[top == -np.inf] = 0
    with along_rows(rows.shape[1]):
        np.subtract(rows, top, out)
        np.exp(out, out)
        sums = row_sums(out)
        sums[sums == 0] = 1
        out /= sums
    return found
