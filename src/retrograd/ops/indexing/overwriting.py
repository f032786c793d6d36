"""Copies with a part overwritten: select_scatter, slice_scatter and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import xp
from ...base.errors import canonical_dim
from ...core.op import Array, Dim, Ints, op, public
from ...core.out_rules import Out
from ...core.tensor import Tensor, method
from ..batching import all_batched
from ..memory.filling import fill_
from ..memory.strides import (
    _laid_side_by_side,
    as_strided,
    check_in_storage,
    geometry,
    strided_from,
)
from ..shapes.reshaping import sizes, zeros_of
from ..shapes.slicing import _select, _slice, diagonal


def _check_source(src: Any, part: Any) -> None:
    if src.shape != part.shape:
        raise RuntimeError("expected src to have a size equal to the slice of self. src size = "
                           f"{list(src.shape)}, slice size = {list(part.shape)}")


def _overwritten(input: Any, src: Any, part_of: Any) -> Any:
    out = xp.copied(xp.as_array(input))
    part = part_of(out)
    _check_source(src, part)
    part[...] = src
    return out


@op(any_dtype=True, node="SelectScatterBackward0", batches="dims")
def _select_scatter(input: Array, src: Array, dim: Dim, index: int) -> Any:
    return _overwritten(input, src, lambda out: out[(slice(None),) * dim + (index, ...)])


_select_scatter.vjp(
    input=lambda g, like, dim, index: _select_scatter(
        g, zeros_of(g, without_dim(like.shape, dim)), dim, index),
    src=lambda g, dim, index: _select(g, dim, index))


def without_dim(shape: Any, dim: int) -> tuple[int, ...]:
    return tuple([n for i, n in enumerate(shape) if i != dim])


@public("select_scatter")
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """``input`` with ``src`` in place of one position along ``dim``."""
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = canonical_dim(dim, input.ndim)
    n = input.shape[d]
    if not -n <= index < n:
        raise IndexError(f"select(): index {index} out of range for tensor of size "
                         f"{list(input.shape)} at dimension {d}")
    return _select_scatter(input, src, d, index % n)


@op(any_dtype=True, node="SliceScatterBackward0", batches="dims")
def _slice_scatter(input: Array, src: Array, dim: Dim, start: int, end: int, step: int) -> Any:
    return _overwritten(input, src, lambda out: out[(slice(None),) * dim
                                                    + (slice(start, end, step),)])


_slice_scatter.vjp(
    input=lambda g, dim, start, end, step: _slice_scatter(
        g, zeros_of(g, sliced_shape(g.shape, dim, start, end, step)), dim, start, end, step),
    src=lambda g, dim, start, end, step: _slice(g, dim, start, end, step))


def sliced_shape(shape: Any, dim: int, start: int, end: int, step: int) -> tuple[int, ...]:
    return tuple([len(range(start, end, step)) if i == dim else n for i, n in enumerate(shape)])


@public("slice_scatter", out=Out(copies=True))
def slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None,
                  end: int | None = None, step: int = 1) -> Tensor:
    """``input`` with ``src`` in place of a slice along ``dim``."""
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    if not input.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    d = canonical_dim(dim, input.ndim)
    first, last, by = slice(start, end, step).indices(input.shape[d])
    return _slice_scatter(input, src, d, first, max(first, last), by)


@op(any_dtype=True, batches="dims")
def diagonal_scatter(input: Array, src: Array, offset: int = 0, dim1: Dim = 0,
                     dim2: Dim = 1) -> Any:
    """``input`` with ``src`` in place of a diagonal."""
    return _overwritten(input, src,
                        lambda out: xp.writable_diagonal(out, offset, dim1, dim2))


diagonal_scatter.vjp(
    input=lambda g, offset, dim1, dim2: without_diagonal(g, offset, dim1, dim2),
    src=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2))


def without_diagonal(g: Any, offset: int, dim1: int, dim2: int) -> Any:
    part = diagonal(g, offset, dim1, dim2)
    return diagonal_scatter(g, zeros_of(g, part.shape), offset, dim1, dim2)


@op(any_dtype=True, node="AsStridedScatterBackward0")
def _as_strided_scatter(input: Array, src: Array, size: Ints, stride: Ints, offset: int,
                        source: Any) -> Any:
    shape, strides, own = source
    reach = max(own + xp.reach(shape, strides), offset + xp.reach(size, stride)) + 1
    memory = xp.zeros(reach, input.dtype)
    whole = xp.as_strided(memory, shape, strides, own)
    whole[...] = input
    part = xp.as_strided(memory, size, stride, offset)
    _check_source(src, part)
    part[...] = src
    return whole.copy()


_as_strided_scatter.vjp(
    input=lambda g, size, stride, offset, source: _as_strided_scatter(
        g, zeros_of(g, size), size, stride, offset, source),
    src=lambda g, size, stride, offset, source: strided_from(g, source, size, stride, offset))


@_as_strided_scatter.batch
def _(batch: Any, input: Any, src: Any, size: Any, stride: Any, offset: int, source: Any) -> Any:
    input, src = all_batched(batch, input=input, src=src)
    whole, size, stride = _laid_side_by_side(batch, source, size, stride, offset)
    return _as_strided_scatter(input, src, size, stride, offset, whole)


@public("as_strided_scatter")
def as_strided_scatter(input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int],
                       storage_offset: int | None = None) -> Tensor:
    """``input`` with ``src`` in place of a strided view of its memory."""
    size, stride = sizes((size,)), sizes((stride,))
    where = geometry(input)
    offset = where[2] if storage_offset is None else storage_offset
    check_in_storage(input, size, stride, offset)
    return _as_strided_scatter(input, src, size, stride, offset, where)


@method("fill_diagonal_")
def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the main diagonal to ``fill_value``, in place; ``wrap`` goes on below a tall matrix."""
    if input.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    shape = tuple(input.shape)
    if input.ndim > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step = sum(input.stride())
    count = min(shape)
    offset = input.storage_offset()
    parts = [as_strided(input, (count,), (step,), offset)]
    if wrap and input.ndim == 2 and shape[0] > shape[1] + 1:
        for row in range(shape[1] + 1, shape[0], shape[1] + 1):
            parts.append(as_strided(input, (min(shape[0] - row, count),), (step,),
                                    offset + row * input.stride(0)))
    for part in parts:
        fill_(part, fill_value)
    return input
