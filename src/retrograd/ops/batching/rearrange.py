"""Batching rules of copies: joined, rearranged, triangular, diagonal and partly overwritten."""

from __future__ import annotations

from typing import Any

from ...base.errors import canonical_dim
from ..memory.casts import clone
from ..memory.filling import _copy
from ..shapes.flipping import _roll
from ..shapes.joining import _cat, _stack
from ..shapes.repeating import _repeat
from ..shapes.reshaping import reshape
from ..shapes.slicing import diagonal, diagonal_backward, slice_backward
from .common import (
    aligned,
    batched,
    behind_batch,
    each_batched,
    flat,
    inner_rank,
    itself,
    rank_of,
    rule,
    rule_by_name,
    run,
    shifted,
    with_rank,
)

itself("clone", "_to_copy", "_to_exact", "_frexp", "_fill_number", "_full_of_number", "_zero")
behind_batch("_flip", "_rot90", "_select_scatter", "_slice_scatter", "diagonal_scatter")


@rule("_cat")
def _(batch: Any, tensors: Any, dim: int) -> Any:
    parts = each_batched(batch, tensors)
    for i, part in enumerate(parts):
        if part.ndim == 1:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    # One-dimensional empty values join with anything, by PyTorch's legacy rule.
    used = [p for p in parts if p.ndim != 2 or p.shape[1] != 0] or parts
    return _cat(used, canonical_dim(dim, max(inner_rank(p) for p in used)) + 1)


@rule("_stack")
def _(batch: Any, tensors: Any, dim: int) -> Any:
    parts = each_batched(batch, tensors)
    return _stack(parts, canonical_dim(dim, parts[0].ndim) + 1)


@rule("_block_diag")
def _(batch: Any, tensors: Any) -> Any:
    blocks = [with_rank(block, 2) for block in each_batched(batch, tensors)]
    width = sum(block.shape[2] for block in blocks)
    rows, start = [], 0
    for block in blocks:
        _, height, own = block.shape
        rows.append(slice_backward(block, (batch.size, height, width), 2, start, start + own, 1))
        start += own
    return _cat(rows, 1)


@rule("_roll")
def _(batch: Any, input: Any, shifts: Any, dims: Any) -> Any:
    if dims:
        return _roll(input, shifts, shifted(dims))
    return reshape(_roll(flat(input), shifts, (1,)), input.shape)


@rule("_repeat")
def _(batch: Any, input: Any, repeats: Any) -> Any:
    return _repeat(with_rank(input, len(repeats)), (1, *repeats))


# ---------------------------------------------------------------- triangles and diagonals


@rule_by_name("tril", "triu")
def _(name: str, batch: Any, input: Any, diagonal: int) -> Any:
    if inner_rank(input) < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return run(name, input, diagonal)


@rule("diag_embed")
def _(batch: Any, input: Any, offset: int, dim1: int, dim2: int) -> Any:
    first, second = (canonical_dim(d, input.ndim) + 1 for d in (dim1, dim2))
    shape = list(input.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, input.shape[-1] + abs(offset))
    return diagonal_backward(input, tuple(shape), offset, first, second)


@rule("_diagonal_copy")
def _(batch: Any, input: Any, offset: int) -> Any:
    return clone(diagonal(input, offset, 1, 2))


@rule("_on_diagonal")
def _(batch: Any, input: Any, shape: Any, offset: int) -> Any:
    return diagonal_backward(input, (batch.size, *shape), offset, 1, 2)


# ---------------------------------------------------------------- overwriting


@rule("_copy")
def _(batch: Any, input: Any, src: Any) -> Any:
    input = batched(batch, "input", input)
    return _copy(input, aligned(batch, "src", src, inner_rank(input)))


@rule("_fill_tensor", "_full_of_tensor")
def _(batch: Any, input: Any, value: Any) -> Any:
    rank = rank_of(batch, "value", value)
    if rank:
        raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                           f"{rank} dimensions.")
    input = batched(batch, "input", input)
    return _copy(input, aligned(batch, "value", value, inner_rank(input)))
