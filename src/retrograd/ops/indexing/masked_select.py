"""Selecting and scattering under masks."""

from __future__ import annotations

import math
from typing import Any

from ...backend import index as index_kernels, xp
from ...base.dtypes import int64
from ...base.errors import CannotBatch, size_mismatch
from ...core.inplace import call_inplace
from ...core.op import Array, Index, linear, op, public
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import all_aligned, batched, flat
from ..checks.indexing import check_masked_scatter
from ..elementwise.where import kept, where
from ..memory.casts import _to_copy, clone
from ..reductions.cumulative import cumsum
from ..shapes.dimensions import unsqueeze
from ..shapes.expanding import broadcast_shapes, broadcast_tensors, expand, sum_to_size_of
from ..shapes.reshaping import reshape, with_rank, zeros_of
from .gather_scatter import gather, scatter_add
from .index_tensors import index, index_backward
from .masked_fill import _joint_shape, _masked_fill_value


@linear(any_dtype=True, out=Out(
    "masked_select(): self and result must have the same scalar type", apart=True),
        vjp=lambda g, like, mask:
        sum_to_size_of(masked_place(g, mask, joint_of(mask.shape, like.shape)), like.shape))
def masked_select(input: Array, mask: Index) -> Any:
    """The elements where ``mask`` is true, in one dimension."""
    if mask.dtype != xp.BOOL:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = _joint_shape(mask, input)
    return xp.broadcast_to(input, shape)[xp.broadcast_to(mask, shape)]


def _jointly_shaped(batch: Any, input: Any, mask: Any) -> tuple[Any, Any]:
    """A batched input and a mask without a batch, both in the shape that they broadcast to."""
    joint = tuple(broadcast_shapes(tuple(input.shape[1:]), tuple(mask.shape)))
    return expand(with_rank(input, len(joint)), (batch.size, *joint)), expand(mask, joint)


@masked_select.batch
def _(batch: Any, input: Any, mask: Any) -> Any:
    if batch["mask"]:
        raise CannotBatch("vmap: It looks like you're selecting with a batched mask, whose values "
                          "select different numbers of elements.")
    input, mask = _jointly_shaped(batch, input, mask)
    return index(input, mask, (1,)) if mask.ndim else index(
        unsqueeze(input, 1), unsqueeze(mask, 0), (1,))


def joint_of(a: Any, b: Any) -> tuple[int, ...]:
    return xp.broadcast_shapes(tuple(a), tuple(b))


@linear(function=None, method=False, any_dtype=True, node="MaskedScatterBackward0",
        vjp=lambda g, mask: masked_select(g, mask))
def masked_place(input: Array, mask: Index, shape: Any) -> Any:
    """Elements put in order where ``mask`` is true, in zeros of ``shape``."""
    out = xp.zeros(shape, input.dtype)
    out[xp.broadcast_to(mask, shape)] = input
    return out


@masked_place.batch
def _(batch: Any, input: Any, mask: Any, shape: Any) -> Any:
    if batch["mask"]:
        return NotImplemented
    if not shape:
        found = index_backward(input, unsqueeze(mask, 0), (batch.size, 1), (1,))
        return reshape(found, (batch.size,))
    return index_backward(input, expand(mask, tuple(shape)), (batch.size, *shape), (1,))


@op(any_dtype=True, broadcasts=True, node="MaskedScatterBackward0", replaces="masked_scatter_")
def _masked_scatter(input: Array, mask: Index, source: Array) -> Any:
    check_masked_scatter(input, mask, source)
    out = xp.broadcast_to(input, _joint_shape(mask, input)).copy()
    index_kernels.masked_put(out, mask, source)
    return out


@_masked_scatter.write
def _write_masked_scatter(array: Any, mask: Any, source: Any) -> None:
    check_masked_scatter(array, mask, source)
    if mask.ndim > array.ndim:
        raise RuntimeError(
            f"expand(CPUBoolType{{{list(mask.shape)}}}, size={list(array.shape)}): the number of "
            f"sizes provided ({array.ndim}) must be greater or equal to the number of dimensions "
            f"in the tensor ({mask.ndim})")
    if _joint_shape(mask, array) != array.shape:
        raise size_mismatch([array.shape, mask.shape])
    index_kernels.masked_put(array, mask, source)


_masked_scatter.vjp(input=lambda g, mask: _masked_fill_value(g, mask, 0.0),
                    source=lambda g, like, mask: masked_part(g, mask, like.shape))


def _ranks(mask: Any, count: int) -> Any:
    """Which of the true elements each one of a flat mask is, and some number below ``count``
    elsewhere."""
    nth = cumsum(_to_copy(mask, int64), 1) - 1
    return where(mask, nth, nth * 0) if count else nth


@_masked_scatter.batch
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


@linear(function=None, method=False, any_dtype=True, node="MaskedSelectBackward0",
        vjp=lambda g, like, mask: _masked_scatter(zeros_of(g, like.shape), mask, g))
def masked_part(input: Array, mask: Index, shape: Any) -> Any:
    """The elements where ``mask`` is true, in order, as the first ones of zeros of ``shape``."""
    found = xp.as_array(input)[xp.broadcast_to(mask, input.shape)]
    out = xp.zeros(shape, input.dtype)
    out.reshape(-1)[:found.size] = found
    return out


@masked_part.batch
def _(batch: Any, input: Any, mask: Any, shape: Any) -> Any:
    input, mask = broadcast_tensors(*all_aligned(batch, input=input, mask=mask))
    count = math.prod(shape)
    if not count:
        return input.new_zeros((batch.size, *shape))
    mask, values = flat(mask), flat(input)
    found = scatter_add(input.new_zeros((batch.size, count)), 1, _ranks(mask, count),
                        kept(values, mask))
    return reshape(found, (batch.size, *shape))


@public("masked_scatter")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source`` put in order where ``mask`` is true."""
    return _masked_scatter(input, mask, source)


@public("masked_scatter_", function=None)
def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Put the elements of ``source`` in order where ``mask`` is true, in place."""
    return call_inplace(_masked_scatter.op, (input, mask, source))
