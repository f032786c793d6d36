"""Batching rules of gathering and scattering: along one dim, in the flattened tensor, by masks."""

from __future__ import annotations

import math
from typing import Any

from ...base.dtypes import int64
from ...transforms import CannotBatch
from ..elementwise.where import kept, where
from ..indexing.gather_scatter import _scatter_src, _scatter_value, gather, scatter_add
from ..indexing.index_select import index_add, index_select
from ..indexing.index_tensors import index, index_backward
from ..memory.casts import _to_copy, clone
from ..products.added_products import scaled
from ..reductions.cumulative import cumsum
from ..shapes.dimensions import unsqueeze
from ..shapes.expanding import broadcast_shapes, broadcast_tensors, expand
from ..shapes.reshaping import reshape
from .common import (
    aligned,
    all_aligned,
    all_batched,
    as_dtype_of,
    batched,
    flat,
    inner_rank,
    rank_of,
    rule,
    rule_by_name,
    run,
    with_one_dim,
    with_rank,
    without_one_dim,
)
from .index import index_rule

# ---------------------------------------------------------------- one index per element


@rule("gather")
def _(batch: Any, input: Any, dim: int, at: Any, sparse_grad: bool) -> Any:
    input, at = all_batched(batch, input=input, index=at)
    return reshape(gather(with_one_dim(input), dim + 1, with_one_dim(at)), at.shape)


@rule_by_name("scatter_add", "_scatter_src", "_scatter_value", "_scatter_combine_src",
              "_scatter_combine_value", "scatter_reduce")
def _(name: str, batch: Any, input: Any, dim: int, at: Any, source: Any, *rest: Any) -> Any:
    input, at = all_batched(batch, input=input, index=at)
    if "src" in batch.flags:
        source = with_one_dim(batched(batch, "src", source))
    found = run(name, with_one_dim(input), dim + 1, with_one_dim(at), source, *rest)
    return without_one_dim(found, input)


# ---------------------------------------------------------------- one index for a whole slice


@rule("index_select")
def _(batch: Any, input: Any, dim: int, at: Any) -> Any:
    if not rank_of(batch, "input", input):
        return batched(batch, "input", input)
    if not batch["index"]:
        return index_select(input, dim + 1, at)
    return index_rule(batch, input, with_one_dim(at), (dim,))


def _slice_index(batch: Any, at: Any, input: Any, dim: int) -> Any:
    """An index for slices along ``dim`` as one for each of their elements."""
    at = with_one_dim(batched(batch, "index", at))
    shape = [1] * input.ndim
    shape[0], shape[dim + 1] = at.shape
    whole = [n if i != dim + 1 else at.shape[1] for i, n in enumerate(input.shape)]
    return expand(reshape(at, tuple(shape)), tuple(whole))


def _slices_written(write: Any, batch: Any, input: Any, dim: int, at: Any, source: Any) -> Any:
    """A scatter of whole slices."""
    input, source = all_batched(batch, input=input, source=source)
    whole = with_one_dim(input)
    at = _slice_index(batch, at, whole, dim)
    return without_one_dim(write(whole, dim + 1, at, reshape(source, at.shape)), input)


@rule("index_add")
def _(batch: Any, input: Any, dim: int, at: Any, source: Any, alpha: Any) -> Any:
    rank = rank_of(batch, "input", input)
    if not batch["index"] and rank and rank_of(batch, "source", source) == rank:
        input, source = all_batched(batch, input=input, source=source)
        return index_add(input, dim + 1, at, source, alpha=alpha)
    return _slices_written(scatter_add, batch, input, dim, at, scaled(source, alpha))


@rule("index_copy")
def _(batch: Any, input: Any, dim: int, at: Any, source: Any) -> Any:
    return _slices_written(_scatter_src, batch, input, dim, at, source)


@rule("_index_fill_value")
def _(batch: Any, input: Any, dim: int, at: Any, value: Any) -> Any:
    input = batched(batch, "input", input)
    whole = with_one_dim(input)
    found = _scatter_value(whole, dim + 1, _slice_index(batch, at, whole, dim), value)
    return without_one_dim(found, input)


def _fill_value(function: str, batch: Any, value: Any, input: Any) -> Any:
    """What ``function`` fills with, in the dtype of what it fills."""
    rank = rank_of(batch, "value", value)
    if rank:
        raise RuntimeError(f"{function} only supports a 0-dimensional value tensor, but got tensor "
                           f"with {rank} dimension(s).")
    return as_dtype_of(value, input)


@rule("_index_fill_tensor")
def _(batch: Any, input: Any, dim: int, at: Any, value: Any) -> Any:
    value = _fill_value("index_fill_", batch, value, input)
    input = batched(batch, "input", input)
    whole = with_one_dim(input)
    at = _slice_index(batch, at, whole, dim)
    value = aligned(batch, "value", value, inner_rank(whole))
    return without_one_dim(_scatter_src(whole, dim + 1, at, expand(value, at.shape)), input)


# ---------------------------------------------------------------- positions in the flattened tensor


def _from_front(at: Any, count: int) -> Any:
    """Flat positions counted from the front; those out of range are left for the op to refuse."""
    return where(at < 0, at + count, at)


@rule("take")
def _(batch: Any, input: Any, at: Any) -> Any:
    if not batch["input"]:
        return run("take", input, at)
    at = batched(batch, "index", at)
    values = flat(input)
    return reshape(gather(values, 1, _from_front(flat(at), values.shape[1])), at.shape)


@rule("_put")
def _(batch: Any, input: Any, at: Any, source: Any, accumulate: bool) -> Any:
    input, at, source = all_batched(batch, input=input, index=at, source=source)
    values = flat(input)
    write = scatter_add if accumulate else _scatter_src
    found = write(values, 1, _from_front(flat(at), values.shape[1]), flat(source))
    return reshape(found, input.shape)


# ---------------------------------------------------------------- masks


@rule("_masked_fill_value")
def _(batch: Any, input: Any, mask: Any, value: Any) -> Any:
    return run("_masked_fill_value", *all_aligned(batch, input=input, mask=mask), value)


@rule("_masked_fill_tensor")
def _(batch: Any, input: Any, mask: Any, value: Any) -> Any:
    value = _fill_value("masked_fill_", batch, value, input)
    input, mask, value = all_aligned(batch, input=input, mask=mask, value=value)
    return where(mask, value, input)


def _jointly_shaped(batch: Any, input: Any, mask: Any) -> tuple[Any, Any]:
    """A batched input and a mask without a batch, both in the shape that they broadcast to."""
    joint = tuple(broadcast_shapes(tuple(input.shape[1:]), tuple(mask.shape)))
    return expand(with_rank(input, len(joint)), (batch.size, *joint)), expand(mask, joint)


@rule("masked_select")
def _(batch: Any, input: Any, mask: Any) -> Any:
    if batch["mask"]:
        raise CannotBatch("vmap: It looks like you're selecting with a batched mask, whose values "
                          "select different numbers of elements.")
    input, mask = _jointly_shaped(batch, input, mask)
    return index(input, mask, (1,)) if mask.ndim else index(
        unsqueeze(input, 1), unsqueeze(mask, 0), (1,))


@rule("masked_place")
def _(batch: Any, input: Any, mask: Any, shape: Any) -> Any:
    if batch["mask"]:
        return NotImplemented
    if not shape:
        found = index_backward(input, unsqueeze(mask, 0), (batch.size, 1), (1,))
        return reshape(found, (batch.size,))
    return index_backward(input, expand(mask, tuple(shape)), (batch.size, *shape), (1,))


def _ranks(mask: Any, count: int) -> Any:
    """Which of the true elements each one of a flat mask is, and some number below ``count``
    elsewhere."""
    nth = cumsum(_to_copy(mask, int64), 1) - 1
    return where(mask, nth, nth * 0) if count else nth


@rule("_masked_scatter")
def _(batch: Any, input: Any, mask: Any, source: Any) -> Any:
    input, mask = broadcast_tensors(*all_aligned(batch, input=input, mask=mask))
    source = flat(batched(batch, "source", source))
    if not source.shape[1]:
        return clone(input)
    try:
        taken = gather(source, 1, _ranks(flat(mask), source.shape[1]))
    except RuntimeError:
        raise RuntimeError("Number of elements of source < number of ones in mask") from None
    return where(mask, reshape(taken, input.shape), input)


@rule("masked_part")
def _(batch: Any, input: Any, mask: Any, shape: Any) -> Any:
    input, mask = broadcast_tensors(*all_aligned(batch, input=input, mask=mask))
    count = math.prod(shape)
    if not count:
        return input.new_zeros((batch.size, *shape))
    mask, values = flat(mask), flat(input)
    found = scatter_add(input.new_zeros((batch.size, count)), 1, _ranks(mask, count),
                        kept(values, mask))
    return reshape(found, (batch.size, *shape))
