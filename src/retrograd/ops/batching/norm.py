"""Batching rules of normalisation, softmax and embedding."""

from __future__ import annotations

import math
from typing import Any

from ..creation.ranges import arange
from ..elementwise.comparison import eq
from ..elementwise.exponentials import rsqrt
from ..elementwise.where import zeroed
from ..nn.embedding import _embedding_gradient, _weighted_rows
from ..nn.layer_norm import _layer_norm, _standardize
from ..shapes.dimensions import unsqueeze
from ..shapes.reshaping import reshape
from .common import (
    aligned,
    all_batched,
    batched,
    behind_batch,
    folded,
    inner_rank,
    itself,
    rule,
    rule_by_name,
    run,
    unfolded,
    with_one_dim,
    without_one_dim,
)

itself("_one_hot")
behind_batch("_standardize", "_standardize_gradient", "_inverse_deviation")


@rule_by_name("softmax_backward", "log_softmax_backward")
def _(name: str, batch: Any, input: Any, output: Any, dim: int) -> Any:
    input, output = all_batched(batch, input=input, output=output)
    return without_one_dim(run(name, with_one_dim(input), with_one_dim(output), dim + 1), input)


@rule("_layer_norm")
def _(batch: Any, input: Any, weight: Any, bias: Any, rank: int, eps: float) -> Any:
    if batch["input"] and not (batch["weight"] or batch["bias"]):
        return _layer_norm(input, weight, bias, rank, eps)
    y = _layer_norm(batched(batch, "input", input), None, None, rank, eps)
    if weight is not None:
        y = y * aligned(batch, "weight", weight, inner_rank(y))
    return y if bias is None else y + aligned(batch, "bias", bias, inner_rank(y))


def per_channel(batch: Any, name: str, parameter: Any, like: Any) -> Any:
    """A number per channel, shaped to meet ``like`` of (batch, samples, channels, *space)."""
    shape = (batch.size, 1) if batch[name] else (1, 1)
    return reshape(parameter, (*shape, parameter.shape[-1], *(1,) * (like.ndim - 3)))


def _scaled_channels(batch: Any, y: Any, weight: Any, bias: Any) -> Any:
    if weight is not None:
        y = y * per_channel(batch, "weight", weight, y)
    return y if bias is None else y + per_channel(batch, "bias", bias, y)


@rule("_batch_norm")
def _(batch: Any, input: Any, weight: Any, bias: Any, eps: float) -> Any:
    input = batched(batch, "input", input)
    axes = (1, *range(3, input.ndim))
    return _scaled_channels(batch, _standardize(input, axes, eps), weight, bias)


@rule("_batch_norm_fixed")
def _(batch: Any, input: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    input = batched(batch, "input", input)
    y = (input - per_channel(batch, "mean", mean, input)) * rsqrt(
        per_channel(batch, "var", var, input) + eps)
    return _scaled_channels(batch, y, weight, bias)


@rule("_group_norm")
def _(batch: Any, input: Any, weight: Any, bias: Any, groups: int, eps: float) -> Any:
    input = batched(batch, "input", input)
    _, samples, *rest = input.shape
    rows = reshape(input, (batch.size, samples * groups, math.prod(rest) // groups))
    y = reshape(_standardize(rows, (2,), eps), input.shape)
    return _scaled_channels(batch, y, weight, bias)


# ---------------------------------------------------------------- embedding


def _numbered_rows(batch: Any, indices: Any, rows: int) -> Any:
    """Indices of rows in a batch of tables that are laid one below the other."""
    indices = batched(batch, "indices", indices)
    start = reshape(arange(batch.size) * rows, (batch.size, *(1,) * inner_rank(indices)))
    return indices + start


def _without_padding(batch: Any, values: Any, indices: Any, padding_idx: int) -> Any:
    """``values`` of rows, with zeros for the row that takes no gradient."""
    if padding_idx < 0:
        return values
    return zeroed(values, unsqueeze(eq(batched(batch, "indices", indices), padding_idx),
                                    values.ndim - 1))


@rule("_embedding")
def _(batch: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    if not batch["weight"]:
        return run("_embedding", weight, indices, padding_idx, scale_grad_by_freq)
    return run("_embedding", folded(weight), _numbered_rows(batch, indices, weight.shape[1]), -1,
               False)


@rule("_embedding_gradient")
def _(batch: Any, output: Any, indices: Any, rows: int, padding_idx: int,
      scale_grad_by_freq: bool) -> Any:
    output = _without_padding(batch, batched(batch, "output", output), indices, padding_idx)
    found = _embedding_gradient(output, _numbered_rows(batch, indices, rows), batch.size * rows, -1,
                                scale_grad_by_freq)
    return unfolded(batch, found)


@rule("_weighted_rows")
def _(batch: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    weight = batched(batch, "weight", weight)
    found = _weighted_rows(folded(weight), _numbered_rows(batch, indices, weight.shape[1]), -1,
                           scale_grad_by_freq)
    return _without_padding(batch, found, indices, padding_idx)
