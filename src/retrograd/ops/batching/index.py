"""Batching rules of indexing with tensors.

Index tensors on several dims lie stacked, and what they reach stands where the first of them stood
if the dims are adjacent, and in front otherwise.
"""

from __future__ import annotations

import math
from typing import Any

from ...transforms import CannotBatch
from ..creation.ranges import arange
from ..elementwise.where import kept, where
from ..indexing.index_tensors import _index_put, index, index_backward
from ..shapes.dimensions import movedim, unsqueeze
from ..shapes.expanding import expand
from ..shapes.joining import _cat
from ..shapes.reshaping import reshape
from .common import as_dtype_of, batched, inner_rank, rule, shifted, with_rank


def _is_mask(index: Any) -> bool:
    return index._data.dtype.kind == "b"


def _adjacent(dims: Any) -> bool:
    return dims[-1] - dims[0] == len(dims) - 1


def _stays_in_place(index: Any, dims: Any) -> bool:
    """Whether what an index without a batch reaches stands behind the batch of the input."""
    return _is_mask(index) or _adjacent(dims)


def _span(start: int, length: int) -> tuple[int, ...]:
    """``length`` dims from ``start`` on."""
    return tuple(range(start, start + length))


def _with_batch_index(batch: Any, index: Any, count: int) -> Any:
    """Index tensors for ``count`` dims, (count, batch, *inner), behind one that walks the batch."""
    inner = index if count > 1 else unsqueeze(index, 1)
    inner = movedim(inner, 0, 1)
    shape = inner.shape[1:]
    walk = reshape(arange(batch.size), (1, batch.size, *(1,) * (len(shape) - 1)))
    return _cat([expand(walk, (1, *shape)), inner], 0)


def _dims_to_front(input: Any, dims: Any, lead: int) -> Any:
    """``input`` with ``dims`` moved right behind the first ``lead`` dims."""
    return movedim(input, tuple([d + lead for d in dims]), _span(lead, len(dims)))


def _dims_back(output: Any, dims: Any) -> Any:
    return movedim(output, _span(1, len(dims)), shifted(dims))


def _inner_dims(index: Any, dims: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dims of what a batch of indices reaches: right behind the batch, and in the result."""
    rank = _index_rank(index, len(dims))
    return _span(1, rank), _span(1 + (dims[0] if _adjacent(dims) else 0), rank)


def _index_rank(index: Any, count: int) -> int:
    """The rank of what each value of a batch of indices reaches."""
    return inner_rank(index) - (count > 1)


@rule("index")
def index_rule(batch: Any, input: Any, at: Any, dims: Any) -> Any:
    if not batch["index"]:
        found = index(input, at, shifted(dims))
        return found if _stays_in_place(at, dims) else movedim(found, at.ndim - 1, 0)
    if _is_mask(at):
        raise CannotBatch("vmap: It looks like you're indexing with a batched mask, whose values "
                          "select different numbers of elements.")
    count, lead = len(dims), int(bool(batch["input"]))
    moved = _dims_to_front(input, dims, lead)
    if lead:
        at_front = _with_batch_index(batch, at, count)
    else:
        at_front = movedim(at, 0, 1) if count > 1 else at
    found = index(moved, at_front, _span(0, count + lead))
    front, place = _inner_dims(at, dims)
    return found if front == place else movedim(found, front, place)


@rule("index_backward")
def _(batch: Any, input: Any, at: Any, shape: Any, dims: Any) -> Any:
    if not batch["index"]:
        input = input if _stays_in_place(at, dims) else movedim(input, 0, at.ndim - 1)
        return index_backward(input, at, (batch.size, *shape), shifted(dims))
    if _is_mask(at):
        return NotImplemented
    input = _inner_to_front(batched(batch, "input", input), at, dims)
    rest = [n for d, n in enumerate(shape) if d not in dims]
    whole = (batch.size, *(shape[d] for d in dims), *rest)
    found = index_backward(input, _with_batch_index(batch, at, len(dims)), whole,
                           _span(0, len(dims) + 1))
    return _dims_back(found, dims)


def _inner_to_front(values: Any, index: Any, dims: Any) -> Any:
    """Batched values of an indexing result with what the index reached right behind the batch."""
    front, place = _inner_dims(index, dims)
    return values if front == place else movedim(values, place, front)


@rule("_index_put")
def _(batch: Any, input: Any, values: Any, at: Any, dims: Any, accumulate: bool) -> Any:
    if batch["index"]:
        put = _put_under_masks if _is_mask(at) else _put_at_batched
        return put(batch, input, values, at, dims, accumulate)
    input = batched(batch, "input", input)
    if batch["values"]:
        reached = 1 - at.ndim if _is_mask(at) else at.ndim - (len(dims) > 1) - len(dims)
        values = with_rank(values, inner_rank(input) + reached)
        values = values if _stays_in_place(at, dims) else movedim(values, 0, at.ndim - 1)
    return _index_put(input, values, at, shifted(dims), accumulate)


def _put_at_batched(batch: Any, input: Any, values: Any, at: Any, dims: Any,
                    accumulate: bool) -> Any:
    input = _dims_to_front(batched(batch, "input", input), dims, 1)
    rank = inner_rank(input) - len(dims) + _index_rank(at, len(dims))
    values = _inner_to_front(with_rank(batched(batch, "values", values), rank), at, dims)
    found = _index_put(input, values, _with_batch_index(batch, at, len(dims)),
                       _span(0, len(dims) + 1), accumulate)
    return _dims_back(found, dims)


def _put_under_masks(batch: Any, input: Any, values: Any, mask: Any, dims: Any,
                     accumulate: bool) -> Any:
    """One value for all elements under a mask; several would differ in number."""
    if math.prod(values.shape[bool(batch["values"]):]) != 1:
        raise CannotBatch("vmap: It looks like you're writing several values under a batched mask, "
                          "whose values select different numbers of elements.")
    input = batched(batch, "input", input)
    rank = inner_rank(input)
    after = rank - dims[0] - inner_rank(mask)
    mask = reshape(mask, (mask.shape[0], *(1,) * dims[0], *mask.shape[1:], *(1,) * after))
    values = reshape(values, (batch.size, *(1,) * rank) if batch["values"] else ())
    values = as_dtype_of(values, input)
    return input + kept(values, mask) if accumulate else where(mask, values, input)
