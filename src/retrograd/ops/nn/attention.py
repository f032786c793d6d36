"""Attention: values averaged by how well their keys fit a query."""

from __future__ import annotations

import math
from typing import Any

from ...backend import attention as attention_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import length_of
from ...core.op import Array, Index, composite, op
from ...core.tensor import PLAIN, Tensor, edge_of, wrap
from ..batching import all_batched
from ..checks.common import c_name, unsupported
from ..checks.losses import check_fits
from ..elementwise.where import where
from ..memory.casts import cast
from ..products.matmul import _batched, matmul
from ..shapes.dimensions import transpose
from ..shapes.expanding import expand, joint_shape
from ..shapes.reshaping import reshape
from .dropout import dropout
from .softmax import _along, _softmax, softmax_backward


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None,
           is_causal: bool) -> None:
    left, right, held = query._data, key._data, value._data
    if not left.dtype == right.dtype == held.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{c_name(query)} key.dtype: {c_name(key)} and value.dtype: {c_name(value)} "
            "instead.")
    if left.ndim < 2 or right.ndim < 2 or held.ndim < 2:
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


def _batched_mask(batch: Any, mask: Any, rank: int) -> Any:
    """A mask that fits batched operands of ``rank``."""
    if mask is None or not batch["mask"]:
        return mask
    return reshape(mask, (batch.size, *(1,) * (rank - mask.ndim), *mask.shape[1:]))


@_scores.batch
def _(batch: Any, query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    query, key = all_batched(batch, query=query, key=key)
    return _scores(query, key, _batched_mask(batch, mask, query.ndim), causal, scale)


@op(node="SoftmaxBackward0", batches="leading",
    vjp=lambda g, y: softmax_backward(g, y, len(y.shape) - 1))
def _masked_softmax(input: Array) -> Any:
    unsupported("softmax_lastdim_kernel_impl", input.dtype, "c")
    return attention_kernels.weights(input)


def _check_mask(shape: tuple[int, ...], mask: Tensor) -> None:
    given = tuple(mask.shape)
    if given != shape[len(shape) - len(given):]:
        check_fits(shape, joint_shape(shape, given))


def _is_constant(tensor: Tensor) -> bool:
    return type(tensor) in PLAIN and edge_of(tensor) is None


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


# ---------------------------------------------------------------- without the matrix of scores


@op(node="ScaledDotProductFlashAttentionForCpuBackward0", differentiable=(0,),
    outputs=("output", "logsumexp"))
def _attention(query: Array, key: Array, value: Array, mask: Index | None, causal: bool,
               scale: float) -> Any:
    return attention_kernels.attention(query, key, value, mask, causal, scale)


@op(node="ScaledDotProductFlashAttentionForCpuBackwardBackward0")
def _attention_gradient(g_output: Array, query: Array, key: Array, value: Array, output: Index,
                        logsumexp: Index, mask: Index | None, causal: bool, scale: float,
                        which: int, asked: Any) -> Any:
    return attention_kernels.attention_gradient(g_output, query, key, value, output, logsumexp,
                                                mask, causal, scale, which, asked)


def _gradient_of(which: int) -> Any:
    return lambda g, query, key, value, output, logsumexp, mask, causal, scale, wanted: \
        _attention_gradient(g[0], query, key, value, output, logsumexp, mask, causal, scale, which,
                            wanted)


_attention.vjp(query=_gradient_of(0), key=_gradient_of(1), value=_gradient_of(2))
_attention.vjp_jointly(
    lambda g, query, key, value, output, logsumexp, mask, causal, scale:
    attention_kernels.attention_gradients(g[0], query, key, value, output, logsumexp, mask, causal,
                                          scale))


def _turned(matrices: Any) -> Any:
    return transpose(matrices, -2, -1)


def _recomputed(g: Any, query: Any, key: Any, mask: Any, causal: bool, scale: float,
                which: int) -> tuple[Any, Any]:
    """The weights; and, for the gradients of queries and keys, how the scores' slopes change it."""
    weights = _masked_softmax(_scores(query, key, mask, causal, scale))
    if which == 2:
        return weights, None
    return weights, (_batched(g, _turned(key)) if which == 0 else
                     _batched(query, _turned(g))) * scale


def _of_output(g: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float,
               which: int) -> Any:
    weights, along = _recomputed(g, query, key, mask, causal, scale, which)
    return _batched(weights, g) if which == 2 else \
        _batched(softmax_backward(along, weights, along.ndim - 1), value)


def _of_value(g: Any, g_output: Any, query: Any, key: Any, mask: Any, causal: bool, scale: float,
              which: int) -> Any:
    weights, along = _recomputed(g, query, key, mask, causal, scale, which)
    return None if which == 2 else \
        _batched(_turned(softmax_backward(along, weights, along.ndim - 1)), g_output)


def _of_scores(g: Any, g_output: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool,
               scale: float, which: int) -> tuple[Any, Any]:
    """The gradient of the scores, and their slopes, both scaled."""
    weights, along = _recomputed(g, query, key, mask, causal, scale, which)
    last = weights.ndim - 1
    if which == 2:
        return softmax_backward(_batched(g_output, _turned(g)), weights, last) * scale, None
    slopes = _batched(g_output, _turned(value))
    curved = along * (slopes - _along(slopes * weights, last)) - slopes * _along(
        along * weights, last)
    return (softmax_backward(curved, weights, last) * scale,
            softmax_backward(slopes, weights, last) * scale)


def _of_query(g: Any, g_output: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool,
              scale: float, which: int) -> Any:
    scores, slopes = _of_scores(g, g_output, query, key, value, mask, causal, scale, which)
    found = _batched(scores, key)
    return found + _batched(slopes, g) if which == 1 else found


def _of_key(g: Any, g_output: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool,
            scale: float, which: int) -> Any:
    scores, slopes = _of_scores(g, g_output, query, key, value, mask, causal, scale, which)
    found = _batched(_turned(scores), query)
    return found + _batched(_turned(slopes), g) if which == 0 else found


_attention_gradient.vjp(g_output=_of_output, query=_of_query, key=_of_key, value=_of_value)


@_attention.batch
def _(batch: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float) -> Any:
    query, key, value = all_batched(batch, query=query, key=key, value=value)
    return _attention(query, key, value, _batched_mask(batch, mask, query.ndim), causal, scale)


@_attention_gradient.batch
def _(batch: Any, g_output: Any, query: Any, key: Any, value: Any, output: Any, logsumexp: Any,
      mask: Any, causal: bool, scale: float, which: int, asked: Any) -> Any:
    given = all_batched(batch, g_output=g_output, query=query, key=key, value=value, output=output,
                        logsumexp=logsumexp)
    return _attention_gradient(*given, _batched_mask(batch, mask, given[0].ndim), causal, scale,
                               which, asked)


def _forgets_scores(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> bool:
    """Whether the scores are computed once more in the backward pass, and not kept."""
    left, right, held = query._data.shape, key._data.shape, value._data.shape
    kept = attention_kernels.SCORES_OF_HEADS_KEPT if len(left) == 4 and left[-1] == held[-1] \
        else attention_kernels.SCORES_KEPT
    return math.prod(left[:-1]) * right[-2] > kept \
        and kind_of(query._data.dtype) == "f" \
        and type(query) in PLAIN and type(key) in PLAIN and type(value) in PLAIN \
        and (mask is None or _is_constant(mask)) \
        and left[:-2] == right[:-2] == held[:-2] \
        and left[-1] == right[-1] and right[-2] == held[-2]


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
    """Zeros that belong to the graph of all three."""
    zeros = query.new_zeros((*query.shape[:-1], value.shape[-1]))
    return zeros + (query.sum() + key.sum() + value.sum()) * 0


def _scale_of(query: Tensor, scale: float | None) -> float:
    width = query._data.shape[-1]
    return scale if scale is not None else 1 / math.sqrt(width) if width else 1.0


@composite(function="nn.functional")
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor,
                                 attn_mask: Tensor | None = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: float | None = None,
                                 enable_gqa: bool = False) -> Tensor:
    """The values, averaged with weights ``softmax(query @ key.T * scale + mask)``."""
    _check(query, key, value, attn_mask, is_causal)
    if not dropout_p and not enable_gqa and query._data.size and value._data.size \
            and _forgets_scores(query, key, value, attn_mask):
        if attn_mask is not None:
            _check_mask((*query.shape[:-1], key.shape[-2]), attn_mask)
        return _attention(query, key, value, attn_mask, is_causal, _scale_of(query, scale))[0]
    if query.dtype in (dtypes.float16, dtypes.bfloat16):  # computed in float32, rounded at the end
        mask = attn_mask if attn_mask is None or attn_mask.dtype is dtypes.bool else \
            cast(attn_mask, dtypes.float32)
        single = [cast(tensor, dtypes.float32) for tensor in (query, key, value)]
        return cast(scaled_dot_product_attention(*single, mask, dropout_p, is_causal, scale,
                                                 enable_gqa), query.dtype)
    if not query._data.shape[-2] or not value._data.size:
        return _of_nothing(query, key, value)
    if enable_gqa:
        key, value = _heads_alike(query, key), _heads_alike(query, value)
    weights = _weights(query, key, attn_mask, is_causal, _scale_of(query, scale))
    if dropout_p > 0:
        weights = dropout(weights, dropout_p, True)
    return matmul(weights, value)
