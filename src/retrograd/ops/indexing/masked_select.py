"""Selecting and scattering under masks."""

from __future__ import annotations

from typing import Any

from ...backend import index as xi
from ...backend import xp
from ...base.errors import size_mismatch
from ...core.inplace import call_inplace
from ...core.op import Array, Index, linear, op, publish
from ...core.tensor import Tensor
from ..checks.indexing import check_masked_scatter
from ..shapes.expanding import sum_to_size_of
from ..shapes.reshaping import zeros_of
from .masked_fill import _joint_shape, _masked_fill_value


@linear(any_dtype=True)
def masked_select(input: Array, mask: Index) -> Any:
    """The elements where ``mask`` is true, in one dimension."""
    if mask.dtype != xp.BOOL:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = _joint_shape(mask, input)
    return xp.broadcast_to(input, shape)[xp.broadcast_to(mask, shape)]


masked_select.vjp(input=lambda g, like, mask: sum_to_size_of(
    masked_place(g, mask, joint_of(mask.shape, like.shape)), like.shape))


def joint_of(a: Any, b: Any) -> tuple[int, ...]:
    return xp.broadcast_shapes(tuple(a), tuple(b))


@linear(function=None, method=False, any_dtype=True, node="MaskedScatterBackward0")
def masked_place(input: Array, mask: Index, shape: Any) -> Any:
    """Elements put in order where ``mask`` is true, in zeros of ``shape``."""
    out = xp.zeros(shape, input.dtype)
    out[xp.broadcast_to(mask, shape)] = input
    return out


masked_place.vjp(input=lambda g, mask: masked_select(g, mask))


@op(function=None, method=False, any_dtype=True, broadcasts=True, node="MaskedScatterBackward0")
def _masked_scatter(input: Array, mask: Index, source: Array) -> Any:
    check_masked_scatter(input, mask, source)
    out = xp.array(xp.broadcast_to(input, _joint_shape(mask, input)), order="C")
    xi.masked_put(out, mask, source)
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
    xi.masked_put(array, mask, source)


_masked_scatter.vjp(input=lambda g, mask: _masked_fill_value(g, mask, 0.0),
                    source=lambda g, like, mask: masked_part(g, mask, like.shape))


@linear(function=None, method=False, any_dtype=True, node="MaskedSelectBackward0")
def masked_part(input: Array, mask: Index, shape: Any) -> Any:
    """The elements where ``mask`` is true, in order, as the first ones of zeros of ``shape``."""
    found = xp.as_array(input)[xp.broadcast_to(mask, input.shape)]
    out = xp.zeros(shape, input.dtype)
    out.reshape(-1)[:found.size] = found
    return out


masked_part.vjp(input=lambda g, like, mask: _masked_scatter(
    zeros_of(g, like.shape), mask, g))


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source`` put in order where ``mask`` is true."""
    return _masked_scatter(input, mask, source)


def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Put the elements of ``source`` in order where ``mask`` is true, in place."""
    return call_inplace(_masked_scatter.op, (input, mask, source))


publish(masked_scatter, "masked_scatter")
publish(masked_scatter_, "masked_scatter_", function=None)
