"""Bags of embeddings on raw arrays: rows of a table, summed, averaged or compared in groups."""

from __future__ import annotations

from typing import Any

from .. import xp
from .precision import wide

SUM, MEAN, MAX = 0, 1, 2


def bag_of_each(offsets: Any, count: int) -> Any:
    """The bag that each of ``count`` indices lies in; ``offsets`` says where each bag begins."""
    begins = xp.bincount(offsets, minlength=count + 1)[:count]
    return xp.cumsum(begins, axis=0) - 1


def embedding_bag(weight: Any, scale: Any, indices: Any, bags: Any, count: int, mode: int,
                  padding: int) -> tuple[Any, Any, Any]:
    """The bags, how many rows each has, and the row that each element of a maximum is from."""
    wrong = (indices < 0) | (indices >= weight.shape[0])
    if xp.any(wrong):
        raise RuntimeError("embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx "
                           f"to be {int(indices[wrong][0])}")
    if scale is not None:
        scale = scale[indices != padding]
    bags, indices = bags[indices != padding], indices[indices != padding]
    sizes = xp.bincount(bags, minlength=count)
    if mode == MAX:
        found, largest = _largest(weight, indices, bags, sizes)
        return found, sizes, largest
    rows = wide(xp.take(weight, indices, axis=0))
    whole = xp.zeros((count, weight.shape[1]), rows.dtype)
    xp.add_at(whole, bags, rows if scale is None else rows * wide(scale)[:, None])
    if mode == MEAN:
        whole = whole / xp.maximum(sizes, 1)[:, None].astype(whole.dtype)
    return xp.cast(whole, weight.dtype), sizes, xp.zeros((count,), xp.INT64)


def _largest(weight: Any, indices: Any, bags: Any, sizes: Any) -> tuple[Any, Any]:
    """The largest element of each column of each bag, of equal ones the first, and its row."""
    best = xp.zeros((len(sizes), weight.shape[1]), weight.dtype)
    rows = xp.zeros(best.shape, xp.INT64)
    order = xp.argsort(bags, axis=0, kind="stable")
    begins = xp.cumsum(sizes, axis=0) - sizes
    for i in range(int(xp.max(sizes)) if sizes.size else 0):
        # The i-th row of every bag that has as many.
        these = xp.flatnonzero(sizes > i)
        row = indices[order[begins[these] + i]]
        other = xp.take(weight, row, axis=0)
        better = (other > best[these]) if i else xp.ones(other.shape, xp.BOOL)
        best[these] = xp.where(better, other, best[these])
        rows[these] = xp.where(better, row[:, None], rows[these])
    return best, rows
