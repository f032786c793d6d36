"""Attention on raw arrays: scores with hidden places, weights that add up to one, or all of it."""

from __future__ import annotations

from typing import Any

from .. import xp
from .matrices import product
from .precision import wide
from .rows import maxima_along, sums_along


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
    top = maxima_along(x, x.ndim - 1)
    y = xp.exp(x - xp.where(top == -xp.inf, xp.zeros((), x.dtype), top))
    sums = sums_along(y, y.ndim - 1)
    return xp.cast(y / xp.where(sums == 0, xp.ones((), x.dtype), sums), scores.dtype)


# ---------------------------------------------------------------- scores that are not kept


SCORES_KEPT = 1 << 62
"""Of more than so many scores it pays to compute them once more for the gradients."""

SCORES_OF_HEADS_KEPT = SCORES_KEPT
"""The same of heads as PyTorch has them, for which it has a node that keeps no scores."""


def attention(query: Any, key: Any, value: Any, mask: Any, causal: bool,
              scale: float) -> tuple[Any, Any]:
    """The values averaged by how well their keys fit, and the logarithm of each row's sum."""
    found = scores(wide(query), wide(key), wide_mask(mask), causal, scale)
    top = xp.max(found, axis=-1, keepdims=True)
    top = xp.where(top == -xp.inf, xp.zeros((), found.dtype), top)
    found = xp.exp(found - top)
    sums = xp.sum(found, axis=-1, keepdims=True)
    output = product(found, wide(value)) / xp.where(sums == 0, xp.ones((), found.dtype), sums)
    return xp.cast(output, query.dtype), (top + xp.log(sums))[..., 0]


def attention_gradients(g: Any, query: Any, key: Any, value: Any, output: Any, logsumexp: Any,
                        mask: Any, causal: bool, scale: float) -> tuple[Any, Any, Any]:
    """The gradients of the queries, keys and values from that of the ``output``."""
    dtype = query.dtype
    g, query, key, value = wide(g), wide(query), wide(key), wide(value)
    shift = xp.where(logsumexp == -xp.inf, xp.zeros((), logsumexp.dtype), logsumexp)
    weights = xp.exp(scores(query, key, wide_mask(mask), causal, scale) - shift[..., None])
    along = xp.sum(g * wide(output), axis=-1, keepdims=True)
    slopes = weights * (product(g, value.swapaxes(-1, -2)) - along) * scale
    return (xp.cast(product(slopes, key), dtype),
            xp.cast(product(slopes.swapaxes(-1, -2), query), dtype),
            xp.cast(product(weights.swapaxes(-1, -2), g), dtype))


def attention_gradient(g: Any, query: Any, key: Any, value: Any, output: Any, logsumexp: Any,
                       mask: Any, causal: bool, scale: float, part: int, wanted: Any) -> Any:
    """One of these gradients, by its place; those that are ``wanted`` are asked for in order."""
    return attention_gradients(g, query, key, value, output, logsumexp, mask, causal, scale)[part]


def wide_mask(mask: Any) -> Any:
    return mask if mask is None or mask.dtype == xp.BOOL else wide(mask)
