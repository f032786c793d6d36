"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..backend import numpy as xp
from ..errors import length_of
from ..op import composite
from ..tensor import Tensor, wrap
from .activation import _softmax, dropout
from .loss import check_fits
from .pointwise import logical_not, where
from .product import _SPELLED, matmul
from .shape import expand, reshape, transpose


def _spelled(tensor: Tensor) -> str:
    return _SPELLED.get(tensor._data.dtype.name, "bool")


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None,
           is_causal: bool) -> None:
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{_spelled(query)} key.dtype: {_spelled(key)} and value.dtype: {_spelled(value)} "
            "instead.")
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead.")
    if mask is None:
        return
    if mask.dtype not in (dtypes.bool, dtypes.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {_spelled(mask)} and  query.dtype: {_spelled(query)} instead.")
    if is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set "
                           "when is_causal=True")


def _causal_mask(rows: int, cols: int) -> Tensor:
    """True where a position may look: at itself and before."""
    return wrap(xp.tri(rows, cols, dtype=bool))


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    shape, given = tuple(scores.shape), tuple(mask.shape)
    if given != shape[-len(given):]:
        check_fits(shape, (shape, given))
    if mask.dtype is dtypes.bool:
        return where(mask, scores, scores.new_full((), -math.inf))
    return scores + mask


def _weights(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax of the scores; a row that may look nowhere gets zeros."""
    found = _softmax(scores, -1)
    if mask is None:
        return found
    hidden = (scores == -math.inf).all(-1, keepdim=True)
    return where(logical_not(hidden), found, found.new_zeros(()))


def _repeat_heads(tensor: Tensor, count: int) -> Tensor:
    """Every head (dimension -3) ``count`` times in a row."""
    *lead, heads, length, width = tensor.shape
    spread = expand(reshape(tensor, (*lead, heads, 1, length, width)),
                    (*lead, heads, count, length, width))
    return reshape(spread, (*lead, heads * count, length, width))


def _heads_alike(query: Tensor, other: Tensor) -> Tensor:
    """``other`` with as many heads as ``query``, of which some share one."""
    wanted, heads = (length_of(tuple(t.shape), -3) for t in (query, other))
    if wanted != heads and (not heads or wanted % heads):
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return other if wanted == heads else _repeat_heads(other, wanted // heads)


def _of_nothing(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Zeros, and a part of the graph of all three."""
    zeros = query.new_zeros((*query.shape[:-1], value.shape[-1]))
    return zeros + (query.sum() + key.sum() + value.sum()) * 0


@composite(function="nn.functional")
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor,
                                 attn_mask: Tensor | None = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: float | None = None,
                                 enable_gqa: bool = False) -> Tensor:
    """The values, averaged with weights ``softmax(query @ key.T * scale + mask)``."""
    _check(query, key, value, attn_mask, is_causal)
    if not query.shape[-2] or not value.numel():
        return _of_nothing(query, key, value)
    if enable_gqa:
        key, value = _heads_alike(query, key), _heads_alike(query, value)
    if is_causal:
        attn_mask = _causal_mask(query.shape[-2], key.shape[-2])
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    # Half of the scale on each side keeps the products small, as the reference does.
    half = math.sqrt(scale) if scale >= 0 else None
    left: Any = query * (scale if half is None else half)
    right = transpose(key, -2, -1)
    scores = matmul(left, right if half is None else right * half)
    if attn_mask is not None:
        scores = _masked(scores, attn_mask)
    weights = _weights(scores, attn_mask)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p, True)
    return matmul(weights, value)
