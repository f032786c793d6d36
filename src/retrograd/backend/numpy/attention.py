"""Attention on NumPy arrays: native kernels compute what they need of the scores again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plain import attention as plain, fill_with_plain_bodies
from ..plain.attention import attention_gradients
from . import FLOAT32, together
from .matrices import product  # noqa: F401 - in the plain bodies
from .native import kernels, native
from .rows import maxima_along, sums_along  # type: ignore[attr-defined]  # noqa: F401

SCORES_KEPT = 1 << 12 if "attention" in kernels else plain.SCORES_KEPT
SCORES_OF_HEADS_KEPT = 0 if "attention" in kernels else plain.SCORES_OF_HEADS_KEPT


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
