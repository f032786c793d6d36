"""Attention on NumPy arrays: weights of rows, in memory of their own."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..plain import attention as plain
from ..plain import fill_with_plain_bodies
from ..plain.attention import attention_gradients
from . import FLOAT32, FLOAT64, along_rows, together
from .matrices import product
from .native import kernels, native
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


# ---------------------------------------------------------------- scores that are not kept

SCORES_KEPT = 1 << 12 if "attention" in kernels else plain.SCORES_KEPT


def masks_of(mask: Any, query: Any, key: Any) -> tuple[Any, Any]:
    """What is added to scores, and which are shown, for each pair of a query and a key."""
    if mask is None:
        return None, None
    spread = np.broadcast_to(mask, (*query.shape[:-1], key.shape[-2]))
    return (None, spread) if mask.dtype == bool else (spread, None)


def is_mask(mask: Any, query: Any) -> bool:
    return mask is None or (mask.flags.aligned and mask.dtype in (bool, query.dtype))


def output_like(query: Any, value: Any) -> Any:
    """An empty output, in the order of the queries' memory where that is known to be wanted."""
    if query.ndim == 4 and query.shape[-1] == value.shape[-1]:
        return np.empty_like(query)
    return np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)


def sums_like(query: Any) -> Any:
    return np.empty(query.shape[:-1], FLOAT32 if query.dtype.itemsize == 2 else query.dtype)


def attention_gradient(g: Any, query: Any, key: Any, value: Any, output: Any, logsumexp: Any,
                       mask: Any, causal: bool, scale: float, part: int, wanted: Any) -> Any:
    # The kernel finds all three at once.
    found = together.take(part, g, logsumexp)
    if found is None:
        every = attention_gradients(g, query, key, value, output, logsumexp, mask, causal, scale)
        together.keep(wanted, {i: every[i] for i in range(part + 1, 3)}, g, logsumexp)
        found = every[part]
    return found


fill_with_plain_bodies(
    globals(), plain,
    attention=native(
        "attention(query, key, value, *masks_of(mask, query, key), output_like(query, value), "
        "sums_like(query), causal, scale)", masks_of, is_mask, output_like, sums_like,
        when="strided(query, key, value) and is_mask(mask, query)"),
    attention_gradients=native(
        "attention_gradients(g, query, key, value, output, logsumexp, *masks_of(mask, query, key), "
        "empty_like(query), empty_like(key), empty_like(value), causal, scale)", masks_of, is_mask,
        when="strided(g, query, key, value, output) and is_mask(mask, query) "
             "and in_order(logsumexp)"))
