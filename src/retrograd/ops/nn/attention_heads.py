"""Attention of several heads, given the weights of its projections."""

from __future__ import annotations

import math
from typing import Any

from ...base import dtypes
from ...base.warning import warn
from ...core.op import Flag, composite
from ...core.tensor import Tensor
from ..products.added_products import baddbmm
from ..products.linear_layers import linear
from ..products.matmul import bmm
from ..shapes.joining import cat
from .attention import scaled_dot_product_attention
from .dropout import dropout
from .padding import pad
from .softmax import _softmax


def added_mask(mask: Tensor | None, name: str, other: Tensor | None, other_name: str,
               like: Tensor, check_other: bool = True) -> Tensor | None:
    """A mask as numbers to add to scores: minus infinity where a bool mask is true."""
    if mask is None:
        return None
    is_bool = mask.dtype == dtypes.bool
    if not is_bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if check_other and other is not None and mask.dtype != other.dtype:
        warn(f"Support for mismatched {name} and {other_name} is deprecated. Use same type for "
             "both instead.")
    if is_bool:
        return like.new_zeros(mask.shape).masked_fill_(mask, -math.inf)
    return mask


@composite(function="nn.functional")
def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
        bias_v: Tensor | None, add_zero_attn: Flag, dropout_p: float, out_proj_weight: Tensor,
        out_proj_bias: Tensor | None, training: Flag = True,
        key_padding_mask: Tensor | None = None, need_weights: Flag = True,
        attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False,
        q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
        v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
        static_v: Tensor | None = None, average_attn_weights: Flag = True,
        is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
    """What :class:`MultiheadAttention` computes, given its weights: output, and attention."""
    is_batched = _check_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        shared = {id(t): t.unsqueeze(1) for t in (query, key, value)}
        query, key, value = shared[id(query)], shared[id(key)], shared[id(value)]
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    key_padding_mask = added_mask(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask",
                                   query)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the "
                           "Transformer module method `generate_square_subsequent_mask` to create "
                           "this mask.")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = added_mask(attn_mask, "attn_mask", None, "", query, check_other=False)
        if key_padding_mask is not None:
            is_causal = False
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got "
                             f"{width}")
    head = width // num_heads
    if head * num_heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match "
                                 f"value's {value.shape[:2]}")
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        for name, weight in zip("qkv", weights, strict=True):
            if weight is None:
                raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is "
                                     "None")
        biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        query, key, value = [linear(x, w, b) for x, w, b in
                             zip((query, key, value), weights, biases, strict=True)]
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        query, key, value = _projected(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _checked_mask(attn_mask, length, key.shape[0], batch * num_heads)
    if bias_k is not None and bias_v is not None:
        key = cat([key, bias_k.repeat(1, batch, 1)])
        value = cat([value, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = _one_wider(attn_mask), _one_wider(key_padding_mask)
    query = query.reshape(length, batch * num_heads, head).transpose(0, 1)
    key = key.reshape(key.shape[0], batch * num_heads, head).transpose(0, 1) \
        if static_k is None else static_k
    value = value.reshape(value.shape[0], batch * num_heads, head).transpose(0, 1) \
        if static_v is None else static_v
    if add_zero_attn:
        blank = key.new_zeros((batch * num_heads, 1, head))
        key, value = cat([key, blank], 1), cat([value, blank], 1)
        attn_mask, key_padding_mask = _one_wider(attn_mask), _one_wider(key_padding_mask)
    source = key.size(1)
    if key_padding_mask is not None:
        if tuple(key_padding_mask.shape) != (batch, source):
            raise AssertionError(f"expecting key_padding_mask shape of {(batch, source)}, but got "
                                 f"{key_padding_mask.shape}")
        per_head = key_padding_mask.reshape(batch, 1, 1, source).expand(-1, num_heads, -1, -1) \
            .reshape(batch * num_heads, 1, source)
        attn_mask = per_head if attn_mask is None else attn_mask + per_head
    if not training:
        dropout_p = 0.0
    if not need_weights:
        output = _without_weights(query, key, value, attn_mask, dropout_p, is_causal, batch,
                                  num_heads)
        output = linear(output, out_proj_weight, out_proj_bias)
        output = output.reshape(length, batch, out_proj_weight.size(0))
        return (output if is_batched else output.squeeze(1)), None
    scaled = query * math.sqrt(1.0 / head)
    scores = bmm(scaled, key.transpose(-2, -1)) if attn_mask is None \
        else baddbmm(attn_mask, scaled, key.transpose(-2, -1))
    attention = _softmax(scores, -1)
    if dropout_p > 0.0:
        attention = dropout(attention, dropout_p, True)
    output = bmm(attention, value).transpose(0, 1).contiguous() \
        .reshape(length * batch, width)
    output = linear(output, out_proj_weight, out_proj_bias)
    output = output.reshape(length, batch, out_proj_weight.size(0))
    attention = attention.reshape(batch, num_heads, length, source)
    if average_attn_weights:
        attention = attention.mean(dim=1)
    return (output, attention) if is_batched else (output.squeeze(1), attention.squeeze(0))


def _without_weights(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None,
                     dropout_p: float, is_causal: bool, batch: int, heads: int) -> Tensor:
    length, head = query.shape[-2:]
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.size(0) == 1 and mask.dim() == 3 else \
            mask.reshape(batch, heads, -1, key.size(1))
    parts = [t.reshape(batch, heads, -1, head) for t in (query, key, value)]
    output = scaled_dot_product_attention(*parts, mask, dropout_p, is_causal)
    return output.permute(2, 0, 1, 3).contiguous().reshape(batch * length, heads * head)


def _check_ranks(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None,
                 attn_mask: Tensor | None, heads: int) -> bool:
    """Whether the arguments are batched; raises if they do not go together."""
    if query.dim() not in (2, 3):
        raise AssertionError("query should be unbatched 2D or batched 3D tensor but received "
                             f"{query.dim()}-D query tensor")
    rank = query.dim()
    word = "batched (3-D)" if rank == 3 else "unbatched (2-D)"
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(f"For {word} `query`, expected `key` and `value` to be {rank}-D but "
                             f"found {key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(f"For {word} `query`, expected `key_padding_mask` to be `None` or "
                             f"{rank - 1}-D but found {key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(f"For {word} `query`, expected `attn_mask` to be `None`, 2-D or "
                                 f"3-D but found {attn_mask.dim()}-D tensor instead")
        if rank == 2 and attn_mask.dim() == 3 and \
                tuple(attn_mask.shape) != (heads, query.shape[0], key.shape[0]):
            raise AssertionError(f"Expected `attn_mask` shape to be "
                                 f"{(heads, query.shape[0], key.shape[0])} but got "
                                 f"{tuple(attn_mask.shape)}")
    if rank == 3 and key_padding_mask is not None and key_padding_mask.shape[0] != query.shape[1]:
        raise AssertionError(f"Expected key_padded_mask.shape[0] to be {query.shape[1]}, but got "
                             f"{key_padding_mask.shape[0]}")
    return rank == 3


def _checked_mask(mask: Tensor | None, length: int, source: int, rows: int) -> Tensor | None:
    if mask is None:
        return None
    wanted = (length, source) if mask.dim() == 2 else (rows, length, source)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should "
                           f"be {wanted}.")
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _one_wider(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else pad(mask, (0, 1))


def _projected(query: Tensor, key: Tensor, value: Tensor, weight: Any,
               bias: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values by the three parts of one weight; at once where they are one."""
    width = query.size(-1)
    if key is value and query is key:
        found = linear(query, weight, bias)
        parts = found.unflatten(-1, (3, width)).unsqueeze(0).transpose(0, -2).squeeze(-2) \
            .contiguous()
        return parts[0], parts[1], parts[2]
    if key is value:
        weights = weight.split([width, 2 * width])
        biases = (None, None) if bias is None else bias.split([width, 2 * width])
        found = linear(key, weights[1], biases[1])
        parts = found.unflatten(-1, (2, width)).unsqueeze(0).transpose(0, -2).squeeze(-2) \
            .contiguous()
        return linear(query, weights[0], biases[0]), parts[0], parts[1]
    weights = weight.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    found = [linear(x, w, b) for x, w, b in
             zip((query, key, value), weights, biases, strict=True)]
    return found[0], found[1], found[2]
