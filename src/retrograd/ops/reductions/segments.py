"""Reductions of the segments that lengths or offsets cut a dimension into."""

from __future__ import annotations

import math
from typing import Any

from ...base.errors import canonical_dim, no_kernel
from ...core.op import composite
from ...core.tensor import Tensor
from ..elementwise.where import where
from ..shapes.repeating import repeat_interleave

_STARTS = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": float("-inf"), "amin": float("inf")}
"""What each reduction gives for a segment without elements; a mean of none is not a number."""
_ALSO = {"max": "amax", "min": "amin"}


@composite()
def segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor | None = None,
                   indices: Tensor | None = None, offsets: Tensor | None = None, axis: int = 0,
                   unsafe: bool = False, initial: float | None = None) -> Tensor:
    """The sum, mean, product or extreme of each segment along ``axis``."""
    axis = canonical_dim(axis, data.ndim)
    if not data.numel() and lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    how = _ALSO.get(reduce, reduce)
    if how not in _STARTS:
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin, got "
                           f"{reduce}")
    if not data.is_floating_point():
        raise no_kernel("_segment_reduce_cpu", data.dtype)
    counts, rows, count = _segments(data, lengths, offsets, axis, unsafe)
    outer, rest = tuple(data.shape[:axis]), tuple(data.shape[axis + 1:])
    flat = data.reshape(math.prod(data.shape[:axis + 1]), *rest)[rows]
    owner = repeat_interleave(_numbers(counts, counts.numel()), counts)
    found = _reduced(flat, owner, counts.reshape(-1, *(1,) * len(rest)), how, initial)
    return found.reshape(*outer, count, *rest)


def _segments(data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int,
              unsafe: bool) -> tuple[Tensor, Tensor, int]:
    """The length of each segment, the rows that are in one, and how many segments there are.

    What comes before ``axis`` is laid out with it, so that there is one line of rows.
    """
    name, given = ("offsets", offsets) if lengths is None else ("lengths", lengths)
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if given.is_floating_point() or given.is_complex():
        raise no_kernel(f"_segment_reduce_{name}_cpu_kernel1", given.dtype)
    if axis != given.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} "
                           f"but got {axis}.")
    size, before = data.shape[axis], math.prod(data.shape[:axis])
    shape = math.prod(given.shape[:-1]), given.shape[-1]
    table = given.detach().long().reshape(shape).expand(before, -1)
    if name == "offsets":
        firsts, counts = table[:, :-1], table.diff()
    else:
        if not unsafe and bool((table < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if not unsafe and bool((table.sum(-1) != size).any()):
            raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum "
                               "to data.size(lengths.dim()-1) when !unsafe.")
        firsts, counts = table.cumsum(-1) - table, table
    flat = counts.reshape(-1)
    starts = (firsts + _numbers(table, before)[:, None] * size).reshape(-1)
    # Rows are counted through all segments, then from the first row of their own.
    shifts = repeat_interleave(starts - (flat.cumsum(0) - flat), flat)
    return flat, _numbers(flat, int(flat.sum())) + shifts, counts.shape[-1]


def _numbers(like: Tensor, count: int) -> Tensor:
    """The numbers below ``count``, in an array of the same library."""
    return like.new_ones((count,)).cumsum(0) - 1


def _reduced(rows: Tensor, owner: Tensor, counts: Tensor, how: str, initial: Any) -> Tensor:
    """The rows of each owner, of which there are ``counts``, made one."""
    start = _STARTS[how] if initial is None else float(initial)
    base = rows.new_full((counts.shape[0], *rows.shape[1:]), start)
    if how in ("sum", "mean"):
        total = base.index_add(0, owner, rows)
        if how == "sum":
            return total
        alone = rows.new_full((), float("nan") if initial is None else start)
        return where(counts == 0, alone, total / counts.clamp(min=1))
    places = owner.reshape(-1, *(1,) * (rows.ndim - 1)).expand(rows.shape)
    if how == "prod":
        return base.scatter_reduce(0, places, rows, "prod")
    found = base.scatter_reduce(0, places, rows, how, include_self=False)
    # Elements as extreme as the initial number have the whole gradient.
    return where(base > found if how == "amax" else base < found, base, found)
