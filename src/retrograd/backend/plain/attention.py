"""Attention on raw arrays: scores with hidden places, and weights that add up to one."""

from __future__ import annotations

from typing import Any

from .. import xp
from .matrices import product
from .precision import wide


def scores(query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    """How much each query is like each key: -inf where it may not look, else scaled and shifted."""
    found = product(query * scale, key.swapaxes(-1, -2))
    if causal:
        rows, columns = found.shape[-2:]
        mask = xp.arange(columns) <= xp.arange(rows)[:, None]
    if mask is None:
        return found
    if mask.dtype != xp.BOOL:
        return found + mask
    return xp.where(mask, found, xp.full((), -xp.inf, found.dtype))


def weights(scores: Any) -> Any:
    """Softmax along the last dimension; rows of nothing but -inf become zeros."""
    if not scores.size:
        return scores
    x = wide(scores)
    top = xp.max(x, axis=-1, keepdims=True)
    y = xp.exp(x - xp.where(top == -xp.inf, xp.zeros((), x.dtype), top))
    sums = xp.sum(y, axis=-1, keepdims=True)
    return xp.cast(y / xp.where(sums == 0, xp.ones((), x.dtype), sums), scores.dtype)
