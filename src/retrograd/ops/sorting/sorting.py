"""Sorting, and the largest or smallest few."""

from __future__ import annotations

from functools import partial
from typing import Any

from ... import return_types
from ...backend import sorting as sorting_kernels, xp
from ...backend.interface import kind_of
from ...core.op import Array, Dim, Index, composite, linear, op
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import all_batched
from ..shapes.dimensions import unsqueeze

# ---------------------------------------------------------------- along a dimension by indices


@linear(node="GatherBackward0",
        vjp=lambda g, like, index, dim: _put_along(g, index, like.shape, dim, False))
def _take_along(input: Array, index: Index, dim: int) -> Any:
    """The elements that ``index`` names along ``dim``."""
    return sorting_kernels.take_along(input, index, dim)


@_take_along.batch
def _(batch: Any, input: Any, index: Any, dim: int) -> Any:
    input, index = all_batched(batch, input=input, index=index)
    return input if input.ndim == 1 else _take_along(input, index, dim + 1)


@linear(node="ValueSelectingReductionBackward0",
        vjp=lambda g, index, dim: _take_along(g, index, dim))
def _put_along(input: Array, index: Index, shape: Any, dim: int, unique: bool) -> Any:
    """Zeros of ``shape`` with ``input`` added where ``index`` says; the adjoint of the above."""
    return sorting_kernels.put_along(input, index, shape, dim, unique)


@_put_along.batch
def _(batch: Any, input: Any, index: Any, shape: Any, dim: int, unique: bool) -> Any:
    input, index = all_batched(batch, input=input, index=index)
    if input.ndim == 1:
        return input
    return _put_along(input, index, (batch.size, *shape), dim + 1, unique)


def put_selected(g: Any, indices: Any, like: Any, dim: int, keepdim: bool) -> Any:
    """The gradient of one selected element along ``dim``, at its place in zeros."""
    if not like.shape:
        return g
    if not keepdim:
        g, indices = unsqueeze(g, dim), unsqueeze(indices, dim)
    return _put_along(g, indices, like.shape, dim, True)


# ---------------------------------------------------------------- sorting


def _sorted(input: Any, dim: int, descending: bool, stable: bool = False) -> Any:
    if kind_of(input.dtype) == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    return sorting_kernels.in_order(input, dim, descending, stable)


@op(outputs=("values", "indices"), differentiable=(0,), quiet=True, node="SortBackward0",
    vjp=lambda g, like, indices, dim: _put_along(g[0], indices, like.shape, dim, True))
def _sort(input: Array, dim: Dim, descending: bool) -> Any:
    return _sorted(input, dim, descending)


@op(outputs=("values", "indices"), differentiable=(0,), node="SortBackward1", title="sort",
    vjp=lambda g, like, indices, dim: _put_along(g[0], indices, like.shape, dim, True))
def _stable_sort(input: Array, dim: Dim, descending: bool, stable: bool) -> Any:
    return _sorted(input, dim, descending, stable)


@composite(method=True, out=Out())
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None
         ) -> Any:
    """The elements in order along ``dim``, and the indices they had; equal ones keep theirs.

    Without ``stable``, equal elements of bool and half precision may stand as PyTorch leaves them.
    """
    return _named_sort(_sort(input, dim, descending) if stable is None else
                       _stable_sort(input, dim, descending, stable))


_named_sort = partial(tuple.__new__, return_types.sort)


@op()
def _argsort(input: Array, dim: Dim, descending: bool, stable: bool) -> Any:
    return _sorted(input, dim, descending, stable)[1]


@composite(method=True)
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """The indices that put the elements in order along ``dim``."""
    return _argsort(input, dim, descending, stable)


@composite(method=True, out=Out())
def msort(input: Tensor) -> Any:
    """The elements in ascending order along the first dimension."""
    return _sort(input, 0, False)[0]


@op(outputs=("values", "indices"), differentiable=(0,), node="TopkBackward0",
    vjp=lambda g, like, indices, dim: _put_along(g[0], indices, like.shape, dim, True))
def _topk(input: Array, k: int, dim: Dim, largest: bool, sorted: bool) -> Any:
    length = input.shape[dim] if input.ndim else 1
    if not 0 <= k <= length:
        raise RuntimeError("selected index k out of range")
    kind = kind_of(input.dtype)
    if kind in "cb":
        raise RuntimeError(" topk does not support complex dtypes on CPU" if kind == "c" else
                           "topk does not support bool dtypes on CPU")
    found = sorting_kernels.largest_indices(input, k, dim, largest, sorted)
    found = xp.in_rows(found)
    return xp.in_rows(sorting_kernels.take_along(input, found, dim)), found


@composite(method=True, out=Out())
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The ``k`` largest (or smallest) elements along ``dim``, and their indices."""
    return return_types.topk(_topk(input, k, dim, largest, sorted))
