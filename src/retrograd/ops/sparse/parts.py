"""Sparse tensors made of their parts and taken apart; whatever they can do is made of these ops.

The places of the elements are no numbers to differentiate: gradients go by way of the values, and
the gradient of a sparse tensor is sparse, with values in the same places.
"""

from __future__ import annotations

from typing import Any

from ... import transforms  # noqa: F401 - which knows of data that is no array
from ...backend import coordinates
from ...backend.coordinates import Coordinates
from ...core.extensions import TRACED_TYPES
from ...core.op import Array, Index, Op, op
from ..elementwise.conjugate import conj
from ..indexing.index_select import index_select
from ..reductions.sums import _sum_dims
from ..shapes.flipping import _flip
from ..shapes.slicing import _select


@op(function=None, method=False, is_plain=False)
def sparse_of(values: Array, indices: Index, size: Any, layout: str, is_coalesced: bool) -> Any:
    """A sparse tensor with given values in given places."""
    return Coordinates(indices, values, size, is_coalesced, layout)


@op(function=None, method=False, any_dtype=True)
def values_of(input: Array) -> Any:
    """The values of a sparse tensor."""
    return input.values


@op(function=None, method=False)
def indices_of(input: Index) -> Any:
    """The places of a sparse tensor's values."""
    return input.indices


@op(function=None, method=False, any_dtype=True)
def values_at(input: Array, indices: Index) -> Any:
    """The values of a tensor in given places."""
    return coordinates.values_at(input, indices)


@op(function=None, method=False, any_dtype=True)
def dense_of(values: Array, indices: Index, size: Any) -> Any:
    """A strided tensor with given values, added up where a place occurs again, zero elsewhere."""
    return coordinates.dense(Coordinates(indices, values, size, False))


@op(function=None, method=False, is_plain=False)
def gradient_of(values: Array, indices: Index, size: Any) -> Any:
    """The gradient of a sparse tensor from that of its values.

    The values of a place add up, so all of them have the gradient of their sum.
    """
    return coordinates.firsts(Coordinates(indices, values, size, False))


@op(function=None, method=False)
def firsts_at(input: Array, indices: Index) -> Any:
    """The values of a tensor in given places, zero where a place occurs again."""
    return coordinates.firsts_at(input, indices)


@op(function=None, method=False, any_dtype=True)
def sums_of(values: Array, owners: Index, count: int) -> Any:
    """The sums of the values of each owner."""
    return coordinates.sums_of(values, owners, count)


@op(function=None, method=False)
def sparse_product(values: Array, other: Array, indices: Index, size: Any) -> Any:
    """A sparse matrix, of its values and their places, times a strided one."""
    return coordinates.product(values, other, indices, size)


sparse_of.vjp(values=lambda g, indices: values_at(g, indices))
values_of.vjp(input=lambda g, input, like: gradient_of(g, indices_of(input), like.shape))
gradient_of.vjp(values=lambda g, indices: firsts_at(g, indices))
firsts_at.vjp(input=lambda g, indices, like: gradient_of(g, indices, like.shape))
values_at.vjp(input=lambda g, indices, like: dense_of(g, indices, like.shape))
sums_of.vjp(values=lambda g, owners: index_select(g, 0, owners))
dense_of.vjp(values=lambda g, indices: values_at(g, indices))
sparse_product.vjp(
    values=lambda g, other, indices: _sum_dims(
        index_select(g, 0, _select(indices, 0, 0))
        * conj(index_select(other, 0, _select(indices, 0, 1))), (1,)),
    other=lambda g, values, indices, size: sparse_product(
        conj(values), g, _flip(indices, (0,)), (size[1], size[0])))


SPARSE_OPS = {f.op for f in (sparse_of, values_of, indices_of, values_at, dense_of, gradient_of,
                             firsts_at, sparse_product)}
"""The ops whose kernels know sparse data."""


def _compute(kernel_op: Op, values: list[Any], top: Coordinates) -> Any:
    """One of these ops on sparse data; any other asks the tensor's class first."""
    if kernel_op not in SPARSE_OPS:
        raise NotImplementedError(f"{kernel_op.title}() is not defined for sparse tensors; "
                                  "to_dense() makes a strided one")
    return kernel_op.kernel(*values)


TRACED_TYPES[Coordinates] = _compute
