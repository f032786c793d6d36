"""Attention: values averaged by how well their keys fit a query."""

from __future__ import annotations

import math
from typing import Any

from ...backend import attention as attention_kernels
from ...backend import xp
from ...base import dtypes
from ...base.errors import length_of
from ...core.op import Array, Index, composite, op
from ...core.tensor import PLAIN, Tensor, wrap
from ..batching import all_batched
from ..checks.common import c_name
from ..checks.losses import check_fits
from ..elementwise.where import where
from ..memory.casts import cast
from ..products.matmul import _batched, matmul
from ..shapes.dimensions import transpose
from ..shapes.expanding import expand
from ..shapes.reshaping import reshape
from .dropout import dropout
from .softmax import _softmax, softmax_backward


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None,
           is_causal: bool) -> None:
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{c_name(query)} key.dtype: {c_name(key)} and value.dtype: {c_name(value)} "
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
            f"attn_mask.dtype: {c_name(mask)} and  query.dtype: {c_name(query)} instead.")
    if is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set "
                           "when is_causal=True")


@op(node="BmmBackward0")
def _scores(query: Array, key: Array, mask: Index | None, causal: bool, scale: float) -> Any:
    return attention_kernels.scores(query, key, mask, causal, scale)


_scores.vjp(
    query=lambda g, key, scale: _batched(g, key) * scale,
    key=lambda g, query, scale: _batched(transpose(g, -2, -1), query) * scale)


@_scores.batch
def _(batch: Any, query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    query, key = all_batched(batch, query=query, key=key)
    if mask is not None and batch["mask"]:
        mask = reshape(mask, (batch.size, *(1,) * (query.ndim - mask.ndim), *mask.shape[1:]))
    return _scores(query, key, mask, causal, scale)


@op(node="SoftmaxBackward0", batches="leading",
    vjp=lambda g, y: softmax_backward(g, y, len(y.shape) - 1))
def _masked_softmax(input: Array) -> Any:
    return attention_kernels.weights(input)


def _check_mask(shape: tuple[int, ...], mask: Tensor) -> None:
    given = tuple(mask.shape)
    if given != shape[len(shape) - len(given):]:
        check_fits(shape, (shape, given))


def _is_constant(tensor: Tensor) -> bool:
    return type(tensor) in PLAIN and tensor._edge is None


def _weights(query: Tensor, key: Tensor, mask: Tensor | None, causal: bool,
             scale: float) -> Tensor:
    """How much attention each query pays to each key; none at all if it may look nowhere."""
    left, right = query._data.shape, key._data.shape
    if left[:-2] == right[:-2] and left[-1] == right[-1] and (
            mask is None or mask.dtype is dtypes.bool or _is_constant(mask)):
        if mask is not None:
            _check_mask((*left[:-1], right[-2]), mask)
        scores = _scores(query, key, mask, causal, scale)
        return _softmax(scores, -1) if mask is None else _masked_softmax(scores)
    scaled: Any = query * scale
    scores = matmul(scaled, transpose(key, -2, -1))
    if causal:
        mask = wrap(xp.tri(query.shape[-2], key.shape[-2], dtype=bool))
    if mask is None:
        return _softmax(scores, -1)
    _check_mask(tuple(scores.shape), mask)
    if mask.dtype is dtypes.bool:
        scores = where(mask, scores, scores.new_full((), -math.inf))
    else:
        scores = scores + mask
    return _masked_softmax(scores)


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
    if query.dtype in (dtypes.float16, dtypes.bfloat16):  # computed in float32, rounded at the end
        mask = attn_mask if attn_mask is None or attn_mask.dtype is dtypes.bool else \
            cast(attn_mask, dtypes.float32)
        single = [cast(tensor, dtypes.float32) for tensor in (query, key, value)]
        return cast(scaled_dot_product_attention(*single, mask, dropout_p, is_causal, scale,
                                                 enable_gqa), query.dtype)
    if not query.shape[-2] or not value.numel():
        return _of_nothing(query, key, value)
    if enable_gqa:
        key, value = _heads_alike(query, key), _heads_alike(query, value)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    weights = _weights(query, key, attn_mask, is_causal, scale)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p, True)
    return matmul(weights, value)
