"""One index for a whole slice: index_select, index_add, index_copy, index_fill."""

from __future__ import annotations

from typing import Any

from ...backend import index as index_kernels, xp
from ...backend.interface import kind_of
from ...base.errors import canonical_dim
from ...core.inplace import call_inplace, write_by
from ...core.op import Array, Dim, Index, Number, linear, op, public
from ...core.operands import fitted as fitted_number, fitting_number
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import (
    aligned,
    all_batched,
    batched,
    inner_rank,
    rank_of,
    with_one_dim,
    without_one_dim,
)
from ..checks import indexing as checks
from ..memory.filling import _fill_value, fills_shared, on_copy, written_op
from ..products.added_products import scaled
from ..shapes.expanding import expand, fitted, sum_to_size_of
from ..shapes.reshaping import reshape, zeros_of
from .gather_scatter import _scatter_src, _scatter_value, scatter_add
from .index_tensors import index_rule


def _overwrite_slices(array: Any, dim: int, index: Any, values: Any) -> None:
    if checks.slices_are_empty(array, dim):
        return
    array = array if array.ndim else array.reshape(1)
    index = xp.atleast_1d(index)
    try:
        index_kernels.put(array, values, index, (dim,), False)
    except IndexError:
        raise index_kernels.out_of_bounds(array, index, (dim,), dim) from None


@linear(any_dtype=True, quiet=True, out=Out(
    "index_select(): self and result must have the same scalar type", apart=True),
        vjp=lambda g, like, dim, index: index_add(zeros_of(g, like.shape), dim, index, g))
def index_select(input: Array, dim: Dim, index: Index) -> Any:
    """The slices of ``input`` along ``dim`` that ``index`` lists."""
    checks.check_selection(input, index)
    try:
        if input.ndim and index.ndim:
            return index_kernels.selected(input, dim, index)
        checks.check_in_range(input, dim, index)
    except RuntimeError:
        raise checks.outside(input, dim, index) from None
    return xp.take(input, index.reshape(1), axis=dim) if input.ndim else input.copy()


@index_select.batch
def _(batch: Any, input: Any, dim: int, at: Any) -> Any:
    if not rank_of(batch, "input", input):
        return batched(batch, "input", input)
    if not batch["index"]:
        return index_select(input, dim + 1, at)
    return index_rule(batch, input, with_one_dim(at), (dim,))


@op(any_dtype=True, inplace=True, apart=True)
def index_add(input: Array, dim: Dim, index: Index, source: Array, *, alpha: Number = 1) -> Any:
    """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` says."""
    return on_copy(_write_index_add, input, dim, index, source, alpha)


@index_add.write
def _write_index_add(array: Any, dim: int, index: Any, source: Any, alpha: Any) -> None:
    checks.check_index_add(array, dim, index, source)
    if not array.size and array.ndim > 1:
        return
    try:
        checks.check_in_range(array, dim, index)
    except RuntimeError:
        if alpha == 1 and array.ndim > 1 and dim in (0, array.ndim - 1):
            raise
        raise IndexError("index out of range in self") from None
    if alpha != 1:
        alpha = fitted_number(fitting_number(alpha, array), array.dtype)
        if kind_of(array.dtype) in "iu":  # in one without a sign, -1 goes around
            alpha = xp.asarray(int(alpha), dtype=xp.INT64).astype(array.dtype)
        source = xp.cast(source * alpha, array.dtype)
    if not array.ndim:
        array[...] = array + source
        return
    index_kernels.put(array, source, xp.atleast_1d(index), (dim,), True)


index_add.vjp(input=lambda g: g,
              source=lambda g, like, dim, index, alpha: reshape(
                  index_select(g, dim, index) if alpha == 1
                  else index_select(g, dim, index) * alpha, like.shape))


def _slice_index(batch: Any, at: Any, input: Any, dim: int) -> Any:
    """An index for slices along ``dim`` as one for each of their elements."""
    at = with_one_dim(batched(batch, "index", at))
    shape = [1] * input.ndim
    shape[0], shape[dim + 1] = at.shape
    whole = [n if i != dim + 1 else at.shape[1] for i, n in enumerate(input.shape)]
    return expand(reshape(at, tuple(shape)), tuple(whole))


def _slices_written(write: Any, batch: Any, input: Any, dim: int, at: Any, source: Any) -> Any:
    """A scatter of whole slices."""
    input, source = all_batched(batch, input=input, source=source)
    whole = with_one_dim(input)
    at = _slice_index(batch, at, whole, dim)
    return without_one_dim(write(whole, dim + 1, at, reshape(source, at.shape)), input)


@index_add.batch
def _(batch: Any, input: Any, dim: int, at: Any, source: Any, alpha: Any) -> Any:
    rank = rank_of(batch, "input", input)
    if not batch["index"] and rank and rank_of(batch, "source", source) == rank:
        input, source = all_batched(batch, input=input, source=source)
        return index_add(input, dim + 1, at, source, alpha=alpha)
    return _slices_written(scatter_add, batch, input, dim, at, scaled(source, alpha))


@written_op(inplace=True, apart=True, replaces="index_copy_",
            batches=lambda batch, input, dim, at, source:
            _slices_written(_scatter_src, batch, input, dim, at, source))
def index_copy(input: Array, dim: Dim, index: Index, source: Array) -> None:
    """``input`` with the slices of ``source`` written where ``index`` says."""
    checks.check_index_copy(input, dim, index, source)
    _overwrite_slices(input, dim, index, source)


index_copy.vjp(input=lambda g, dim, index: _index_fill_value(g, dim, index, 0.0),
               source=lambda g, like, dim, index:
               reshape(index_select(g, dim, index), like.shape))


@written_op(node="IndexFillBackward0",
            vjp=lambda g, dim, index: _index_fill_value(g, dim, index, 0.0))
def _index_fill_value(input: Array, dim: Dim, index: Index, value: Number) -> None:
    checks.check_index_fill(index)
    checks.check_fill_is_real(input, isinstance(value, complex))
    _overwrite_slices(input, dim, index, index_kernels.number_as(value, input.dtype))


@_index_fill_value.batch
def _(batch: Any, input: Any, dim: int, at: Any, value: Any) -> Any:
    input = batched(batch, "input", input)
    whole = with_one_dim(input)
    found = _scatter_value(whole, dim + 1, _slice_index(batch, at, whole, dim), value)
    return without_one_dim(found, input)


@written_op(node="IndexFillBackward1", apart=None, replaces="index_fill_")
def _index_fill_tensor(input: Array, dim: Dim, index: Index, value: Array) -> None:
    checks.check_index_fill(index)
    checks.check_fill_value("index_fill_", value.ndim)
    checks.check_fill_is_real(input, kind_of(value.dtype) == "c")
    _overwrite_slices(input, dim, index, xp.cast(value, input.dtype))


_index_fill_tensor.vjp(
    input=lambda g, dim, index: _index_fill_value(g, dim, index, 0.0),
    value=lambda g, like, dim, index: fitted(sum_to_size_of(
        g - _index_fill_value(g, dim, index, 0.0), ()), like))


@_index_fill_tensor.batch
def _(batch: Any, input: Any, dim: int, at: Any, value: Any) -> Any:
    value = _fill_value("index_fill_", batch, value, input)
    input = batched(batch, "input", input)
    whole = with_one_dim(input)
    at = _slice_index(batch, at, whole, dim)
    value = aligned(batch, "value", value, inner_rank(whole))
    return without_one_dim(_scatter_src(whole, dim + 1, at, expand(value, at.shape)), input)


@public("index_fill")
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """``input`` with the slices along ``dim`` that ``index`` lists set to ``value``."""
    function = _index_fill_tensor if isinstance(value, Tensor) else _index_fill_value
    return function(input, dim, index, value)


@public("index_fill_", function=None)
def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Set the slices along ``dim`` that ``index`` lists to ``value``, in place."""
    function = _index_fill_tensor if isinstance(value, Tensor) else _index_fill_value
    if fills_shared("index_fill_", input, value, index):
        write_by(function.op.writer, input, canonical_dim(dim, input.ndim), index._data,
                 getattr(value, "_data", value))
        return input
    return call_inplace(function.op, (input, dim, index, value))
