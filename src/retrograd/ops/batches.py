"""How views, joins, subscripts and scatters work on a whole batch at once, under vmap.

A rule gets its tensors with the batch in front, where ``batch[name]`` says that they have one, and
gives back a result that does. Views must stay views, so that writing to them writes to the batch.
"""

from __future__ import annotations

import math
from typing import Any

from ..errors import canonical_dim
from ..tensor import Tensor, wrap
from .convert import clone
from .index import _index_put, index, index_backward
from .join import _cat, _stack
from .linalg import diag_embed, tril, triu
from .rearrange import _flip, _repeat, _roll, _rot90
from .scatter import (
    _index_fill_value,
    _masked_fill_tensor,
    _masked_fill_value,
    _scatter_src,
    _scatter_value,
    gather,
    index_add,
    index_copy,
    index_select,
    scatter_add,
    scatter_reduce,
    take,
)
from .shape import (
    _imag,
    _packed_clone,
    _permute,
    _real,
    _reshape,
    _reshape_copy,
    _select,
    _slice,
    _squeeze,
    _squeeze_dim,
    _unsafe_view,
    _view,
    alias,
    complex_of,
    diagonal_backward,
    expand,
    infer_size,
    movedim,
    reshape,
    select_backward,
    slice_backward,
    sum_to_size_of,
    t,
    transpose,
    unfold_backward,
    unsqueeze,
    view_as_complex,
    view_as_real,
)
from .writing import (
    _copy,
    _fill_number,
    _fill_tensor,
    _select_scatter,
    _slice_scatter,
    _zero,
    diagonal_scatter,
)


def batched(batch: Any, name: str, tensor: Any) -> Any:
    """``tensor`` with the batch in front, repeated if it is the same for every value."""
    if batch[name]:
        return tensor
    return expand(unsqueeze(tensor, 0), (batch.size, *tensor.shape))


def of_rank(tensor: Any, rank: int) -> Any:
    """Values of a batch with length-one dimensions in front, up to ``rank`` of them."""
    missing = rank - (tensor.ndim - 1)
    if missing <= 0:
        return tensor
    return _view_or_copy(tensor, (tensor.shape[0], *(1,) * missing, *tensor.shape[1:]))


def _view_or_copy(tensor: Any, shape: tuple[int, ...]) -> Any:
    return reshape(tensor, shape)


def moved(dims: Any) -> tuple[int, ...]:
    """Dimensions of the values, as dimensions of the batch."""
    return tuple([d + 1 for d in dims])


# ---------------------------------------------------------------- the same on a batch

for _same in (alias, _packed_clone, view_as_real, view_as_complex, _real, _imag, complex_of, _zero):
    _same.batch(lambda batch, input, _same=_same: _same(input))


@clone.batch
def _(batch: Any, input: Any, memory_format: Any) -> Any:
    return clone(input)


@_fill_number.batch
def _(batch: Any, input: Any, value: Any) -> Any:
    return _fill_number(input, value)


# ---------------------------------------------------------------- another shape


def _shape_rule(op: Any) -> None:
    @op.batch
    def _(batch: Any, input: Any, size: Any) -> Any:
        count = math.prod(input.shape[1:])
        return op(input, (batch.size, *infer_size(tuple(size), count)))


for _shaping in (_view, _reshape, _reshape_copy, _unsafe_view):
    _shape_rule(_shaping)


@expand.batch
def _(batch: Any, input: Any, size: Any) -> Any:
    return expand(of_rank(input, len(size)), (batch.size, *size))


@sum_to_size_of.batch
def _(batch: Any, input: Any, size: Any) -> Any:
    lead = input.ndim - 1 - len(size)
    summed = sum_to_size_of(input, (batch.size, *(1,) * lead, *size))
    return _view_or_copy(summed, (batch.size, *size)) if lead else summed


@_permute.batch
def _(batch: Any, input: Any, dims: Any) -> Any:
    return _permute(input, (0, *moved(dims)))


@t.batch
def _(batch: Any, input: Any) -> Any:
    if input.ndim > 3:
        return NotImplemented
    return transpose(input, 1, 2) if input.ndim == 3 else alias(input)


@unsqueeze.batch
def _(batch: Any, input: Any, dim: int) -> Any:
    return unsqueeze(input, canonical_dim(dim, input.ndim) + 1)


@_squeeze.batch
def _(batch: Any, input: Any, dim: Any) -> Any:
    return _squeeze(input, moved(dim))


@_squeeze_dim.batch
def _(batch: Any, input: Any, dim: int) -> Any:
    return _squeeze_dim(input, dim + 1) if input.ndim > 1 else alias(input)


# ---------------------------------------------------------------- parts


@_select.batch
def _(batch: Any, input: Any, dim: int, index: int) -> Any:
    return _select(input, dim + 1, index)


@select_backward.batch
def _(batch: Any, input: Any, input_sizes: Any, dim: int, index: int) -> Any:
    return select_backward(input, (batch.size, *input_sizes), dim + 1, index)


@_slice.batch
def _(batch: Any, input: Any, dim: int, start: int, end: int, step: int) -> Any:
    return _slice(input, dim + 1, start, end, step)


@slice_backward.batch
def _(batch: Any, input: Any, input_sizes: Any, dim: int, start: int, end: int, step: int) -> Any:
    return slice_backward(input, (batch.size, *input_sizes), dim + 1, start, end, step)


@diagonal_backward.batch
def _(batch: Any, input: Any, input_sizes: Any, offset: int, dim1: int, dim2: int) -> Any:
    return diagonal_backward(input, (batch.size, *input_sizes), offset, dim1 + 1, dim2 + 1)


@unfold_backward.batch
def _(batch: Any, input: Any, input_sizes: Any, dim: int, size: int, step: int) -> Any:
    if not input_sizes:
        return NotImplemented
    return unfold_backward(input, (batch.size, *input_sizes), dim + 1, size, step)


for _triangle in (tril, triu):
    _triangle.batch(lambda batch, input, diagonal, _triangle=_triangle:
                    _triangle(input, diagonal) if input.ndim > 2 else NotImplemented)


@diag_embed.batch
def _(batch: Any, input: Any, offset: int, dim1: int, dim2: int) -> Any:
    return diag_embed(input, offset, canonical_dim(dim1, input.ndim) + 1,
                      canonical_dim(dim2, input.ndim) + 1)


# ---------------------------------------------------------------- another order


@_flip.batch
def _(batch: Any, input: Any, dims: Any) -> Any:
    return _flip(input, moved(dims)) if input.ndim > 1 else input


@_roll.batch
def _(batch: Any, input: Any, shifts: Any, dims: Any) -> Any:
    if dims:
        return _roll(input, shifts, moved(dims))
    flat = _view_or_copy(input, (batch.size, math.prod(input.shape[1:])))
    return _view_or_copy(_roll(flat, shifts, (1,)), tuple(input.shape))


@_rot90.batch
def _(batch: Any, input: Any, k: int, dims: Any) -> Any:
    return _rot90(input, k, moved(dims))


@_repeat.batch
def _(batch: Any, input: Any, repeats: Any) -> Any:
    return _repeat(of_rank(input, len(repeats)), (1, *repeats))


# ---------------------------------------------------------------- joining


def _joined(op: Any, batch: Any, tensors: Any, dim: int) -> Any:
    flags = batch["tensors"]
    parts = [x if flag else expand(unsqueeze(x, 0), (batch.size, *x.shape))
             for x, flag in zip(tensors, flags, strict=True)]
    return op(parts, dim + 1 if dim >= 0 else dim)


@_cat.batch
def _(batch: Any, tensors: Any, dim: int) -> Any:
    shapes = [tuple(x.shape[1:] if flag else x.shape)
              for x, flag in zip(tensors, batch["tensors"], strict=True)]
    # A batch of empty vectors is no empty vector, which joins with anything.
    return NotImplemented if (0,) in shapes else _joined(_cat, batch, tensors, dim)


@_stack.batch
def _(batch: Any, tensors: Any, dim: int) -> Any:
    return _joined(_stack, batch, tensors, dim)


# ---------------------------------------------------------------- subscripts


def _adjacent(dims: tuple[int, ...]) -> bool:
    return dims[-1] - dims[0] == len(dims) - 1


@index.batch
def _(batch: Any, input: Any, index_: Any, dims: tuple[int, ...]) -> Any:
    if not batch["index"]:
        return index(input, index_, moved(dims)) if _adjacent(dims) else NotImplemented
    if index_.dtype.name == "bool":
        return NotImplemented
    where = index_ if len(dims) == 1 else transpose(index_, 0, 1)
    if not batch["input"]:
        found = index(input, where, dims)
        return movedim(found, dims[0], 0) if _adjacent(dims) and dims[0] else found
    return _index_in_each(batch, input, where, dims)


def _index_in_each(batch: Any, input: Any, where: Any, dims: tuple[int, ...]) -> Any:
    """Each value of a batch subscripted by an index of its own."""
    rank = where.ndim - (1 if len(dims) == 1 else 2)
    own = wrap(_positions(batch.size, rank))
    parts = [where] if len(dims) == 1 else [where[i] for i in range(len(dims))]
    place = _stack([expand(own, tuple(parts[0].shape)), *parts], 0)
    front = moved(dims)
    rest = [d for d in range(1, input.ndim) if d not in front]
    found = index(_permute(input, (0, *front, *rest)), place, tuple(range(len(dims) + 1)))
    if not _adjacent(dims) or not dims[0]:
        return found
    return movedim(found, tuple(range(1, rank + 1)), tuple(range(dims[0] + 1, dims[0] + rank + 1)))


def _positions(size: int, rank: int) -> Any:
    from ..backend import numpy as xp

    return xp.arange(size).reshape((size,) + (1,) * rank)


@index_backward.batch
def _(batch: Any, input: Any, index_: Any, shape: Any, dims: tuple[int, ...]) -> Any:
    if batch["index"] or not _adjacent(dims):
        return NotImplemented
    return index_backward(input, index_, (batch.size, *shape), moved(dims))


@_index_put.batch
def _(batch: Any, input: Any, values: Any, index_: Any, dims: tuple[int, ...],
      accumulate: bool) -> Any:
    if batch["index"] or not _adjacent(dims) or index_.dtype.name == "bool":
        return NotImplemented
    whole = batched(batch, "input", input)
    if batch["values"]:
        inner = index_.ndim if len(dims) == 1 else index_.ndim - 1
        values = of_rank(values, whole.ndim - 1 - len(dims) + inner)
    return _index_put(whole, values, index_, moved(dims), accumulate)


# ---------------------------------------------------------------- gathering and scattering


def _both_have_dims(batch: Any, input: Any, index_: Any) -> bool:
    return input.ndim > (1 if batch["input"] else 0) and index_.ndim > (1 if batch["index"] else 0)


@gather.batch
def _(batch: Any, input: Any, dim: int, index: Any, sparse_grad: bool) -> Any:
    if not _both_have_dims(batch, input, index):
        return NotImplemented
    return gather(batched(batch, "input", input), dim + 1, batched(batch, "index", index))


def _scatter_rule(op: Any) -> None:
    @op.batch
    def _(batch: Any, input: Any, dim: int, index: Any, src: Any, *rest: Any) -> Any:
        if not _both_have_dims(batch, input, index):
            return NotImplemented
        source = batched(batch, "src", src) if isinstance(src, Tensor) else src
        named = {"include_self": rest[1]} if len(rest) > 1 else {}
        return op(batched(batch, "input", input), dim + 1, batched(batch, "index", index), source,
                  *rest[:1], **named)


for _scattering in (scatter_add, _scatter_src, _scatter_value, scatter_reduce):
    _scatter_rule(_scattering)


@index_select.batch
def _(batch: Any, input: Any, dim: int, index: Any) -> Any:
    if batch["index"] or input.ndim == 1:
        return NotImplemented
    return index_select(input, dim + 1, index)


@index_add.batch
def _(batch: Any, input: Any, dim: int, index: Any, source: Any, alpha: Any) -> Any:
    if batch["index"] or source.ndim == 1:
        return NotImplemented
    return index_add(batched(batch, "input", input), dim + 1, index,
                     batched(batch, "source", source), alpha=alpha)


@index_copy.batch
def _(batch: Any, input: Any, dim: int, index: Any, source: Any) -> Any:
    if batch["index"] or source.ndim == 1:
        return NotImplemented
    return index_copy(batched(batch, "input", input), dim + 1, index,
                      batched(batch, "source", source))


@_index_fill_value.batch
def _(batch: Any, input: Any, dim: int, index: Any, value: Any) -> Any:
    if batch["index"] or input.ndim == 1:
        return NotImplemented
    return _index_fill_value(input, dim + 1, index, value)


@take.batch
def _(batch: Any, input: Any, index_: Any) -> Any:
    if batch["index"]:
        return NotImplemented
    flat = _view_or_copy(input, (batch.size, math.prod(input.shape[1:])))
    return index(flat, index_, (1,))


# ---------------------------------------------------------------- masks and overwriting


def _aligned(batch: Any, **tensors: Any) -> list[Any]:
    """Tensors that broadcast together, with the batch in front of those that have one."""
    rank = max(x.ndim - (1 if batch[name] else 0) for name, x in tensors.items())
    return [of_rank(x, rank) if batch[name] else x for name, x in tensors.items()]


@_masked_fill_value.batch
def _(batch: Any, input: Any, mask: Any, value: Any) -> Any:
    return _masked_fill_value(*_aligned(batch, input=input, mask=mask), value)


@_masked_fill_tensor.batch
def _(batch: Any, input: Any, mask: Any, value: Any) -> Any:
    if batch["value"]:
        return NotImplemented
    return _masked_fill_tensor(*_aligned(batch, input=input, mask=mask), value)


@_copy.batch
def _(batch: Any, input: Any, src: Any) -> Any:
    return _copy(*_aligned(batch, input=batched(batch, "input", input), src=src)) \
        if batch["input"] else NotImplemented


@_fill_tensor.batch
def _(batch: Any, input: Any, value: Any) -> Any:
    if not batch["value"]:
        return _fill_tensor(input, value)
    if not batch["input"]:
        return NotImplemented
    return _copy(input, of_rank(value, input.ndim - 1))


@_select_scatter.batch
def _(batch: Any, input: Any, src: Any, dim: int, index: int) -> Any:
    return _select_scatter(batched(batch, "input", input), batched(batch, "src", src), dim + 1,
                           index)


@_slice_scatter.batch
def _(batch: Any, input: Any, src: Any, dim: int, start: int, end: int, step: int) -> Any:
    return _slice_scatter(batched(batch, "input", input), batched(batch, "src", src), dim + 1,
                          start, end, step)


@diagonal_scatter.batch
def _(batch: Any, input: Any, src: Any, offset: int, dim1: int, dim2: int) -> Any:
    return diagonal_scatter(batched(batch, "input", input), batched(batch, "src", src), offset,
                            dim1 + 1, dim2 + 1)
