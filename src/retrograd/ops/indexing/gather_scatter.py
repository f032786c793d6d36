"""Gathering and scattering with one index per element."""

from __future__ import annotations

from typing import Any

from ...backend import index as index_kernels, xp
from ...base.warning import warn
from ...core.binding import universal
from ...core.inplace import call_inplace
from ...core.op import Array, Dim, Index, Number, elementwise, linear, op, public
from ...core.out_rules import Out
from ...core.tensor import Tensor, wrap
from ..batching import all_batched, with_one_dim
from ..checks.common import no_derivative, unsupported
from ..checks.indexing import check_combine, check_gather, check_scatter
from ..elementwise.comparison import eq
from ..elementwise.conjugate import conj
from ..elementwise.where import where
from ..memory.filling import NUMBERS, on_copy, written_op
from ..shapes.reshaping import no_overload, reshape, zeros_of
from ..shapes.slicing import slice_backward
from .masked_fill import _masked_fill_value


@linear(any_dtype=True, quiet=True, out=Out(apart=True),
        vjp=lambda g, like, dim, index: scatter_add(zeros_of(g, like.shape), dim, index, g))
def gather(input: Array, dim: Dim, index: Index, *, sparse_grad: bool = False) -> Any:
    """The elements of ``input`` whose coordinate along ``dim`` is given by ``index``."""
    check_gather(input, dim, index)
    if not index.size:
        return xp.empty(index.shape, input.dtype)
    return index_kernels.gathered(input, dim, index)


@gather.batch
def _(batch: Any, input: Any, dim: int, at: Any, sparse_grad: bool) -> Any:
    input, at = all_batched(batch, input=input, index=at)
    return reshape(gather(with_one_dim(input), dim + 1, with_one_dim(at)), at.shape)


def _scatter(array: Any, dim: int, index: Any, src: Any, how: str = "") -> None:
    check_scatter(array, dim, index, src)
    if index.size:
        index_kernels.scatter_into(array, dim, index, src, how)


def _scatter_number(array: Any, dim: int, index: Any, value: Any, how: str = "") -> None:
    check_scatter(array, dim, index, None)
    if index.size:
        index_kernels.scatter_into(array, dim, index,
                                   index_kernels.number_as(value, array.dtype), how)


def scattered_part(g: Any, dim: int, index: Any, like: Any) -> Any:
    """What of ``g`` came from a source that ``index`` may cover only in part."""
    return padded(gather(g, dim, index), like.shape)


@written_op(inplace=True, apart=True)
def scatter_add(input: Array, dim: Dim, index: Index, src: Array) -> None:
    """``input`` with ``src`` added where ``index`` points along ``dim``."""
    _scatter(input, dim, index, src, "add")


scatter_add.vjp(input=lambda g: g,
                src=lambda g, like, dim, index: scattered_part(g, dim, index, like))


@written_op(node="ScatterBackward0", apart=True, replaces="scatter_")
def _scatter_src(input: Array, dim: Dim, index: Index, src: Array) -> None:
    _scatter(input, dim, index, src)


_scatter_src.vjp(input=lambda g, dim, index: _scatter_value(g, dim, index, 0.0),
                 src=lambda g, like, dim, index: scattered_part(g, dim, index, like))


@written_op(node="ScatterBackward1", vjp=lambda g, dim, index: _scatter_value(g, dim, index, 0.0))
def _scatter_value(input: Array, dim: Dim, index: Index, value: Number) -> None:
    _scatter_number(input, dim, index, value)


@written_op(node="NotImplemented", vjp=lambda g: no_derivative("aten::scatter"), apart=True)
def _scatter_combine_src(input: Array, dim: Dim, index: Index, src: Array, reduce: str) -> None:
    check_combine(reduce)
    _scatter(input, dim, index, src, reduce)


@written_op(node="NotImplemented", vjp=lambda g: no_derivative("aten::scatter"))
def _scatter_combine_value(input: Array, dim: Dim, index: Index, value: Number,
                           reduce: str) -> None:
    check_combine(reduce)
    _scatter_number(input, dim, index, value, reduce)


def _scatter_call(name: str, input: Any, dim: Any, index: Any, src: Any, value: Any,
                  reduce: Any) -> tuple[Any, tuple[Any, ...]]:
    """The op and the arguments that a call of ``scatter`` stands for."""
    given = value if src is None else src
    if not isinstance(given, (Tensor, *NUMBERS)):
        raise no_overload(name, [("int dim", "Tensor index", "Tensor src"),
                                 ("int dim", "Tensor index", "Tensor src", "*", "str reduce"),
                                 ("int dim", "Tensor index", "Number value"),
                                 ("int dim", "Tensor index", "Number value", "*", "str reduce")],
                          dim, index, given)
    from_tensor = isinstance(given, Tensor)
    if reduce is None:
        return (_scatter_src if from_tensor else _scatter_value), (input, dim, index, given)
    if from_tensor:
        warn("The reduce argument of torch.scatter with Tensor src is deprecated and will be "
             "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
             "reduction options.", once=True)
    return (_scatter_combine_src if from_tensor else _scatter_combine_value), (
        input, dim, index, given, reduce)


@public("scatter")
def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | Number | None = None, *,
            value: Any = None, reduce: Any = None, out: Any = None) -> Tensor:
    """``input`` with ``src`` (or a number) written where ``index`` points along ``dim``."""
    function, args = _scatter_call("scatter", input, dim, index, src, value, reduce)
    return function(*args, out=out)


@public("scatter_", function=None)
def scatter_(input: Tensor, dim: int, index: Tensor, src: Tensor | Number | None = None, *,
             value: Any = None, reduce: Any = None) -> Tensor:
    """Write ``src`` (or a number) where ``index`` points along ``dim``, in place."""
    function, args = _scatter_call("scatter_", input, dim, index, src, value, reduce)
    return call_inplace(function.op, args)


@op(inplace=True, apart=True)
def scatter_reduce(input: Array, dim: Dim, index: Index, src: Array, reduce: str, *,
                   include_self: bool = True) -> Any:
    """``input`` with ``src`` reduced into it where ``index`` points along ``dim``."""
    return on_copy(_write_scatter_reduce, input, dim, index, src, reduce, include_self)


@scatter_reduce.write
def _write_scatter_reduce(array: Any, dim: int, index: Any, src: Any, reduce: str,
                          include_self: bool) -> None:
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin, got "
                           f"{reduce}")
    check_scatter(array, dim, index, src)
    if index.size:
        unsupported(f"scatter_gather_tensor_cpu_reduce_{reduce}", array.dtype,
                    {"mean": "b", "amax": "c", "amin": "c"}.get(reduce, ""))
        reduced = array.copy()
        index_kernels.reduce_into(reduced, dim, index, src, reduce, include_self)
        array[...] = reduced


def reduced_to_input(g: Any, input: Any, dim: int, index: Any, src: Any, reduce: str,
                     include_self: bool, y: Any) -> Any:
    if not include_self:
        return _scatter_value(g, dim, index, 0.0)
    if reduce == "sum":
        return g
    if reduce == "mean":
        return g / contributions(g, input, dim, index, src, include_self)
    if reduce == "prod":
        zero = mask_of_zeros(input)
        filled = _masked_fill_value(input, zero, 1.0)
        others = scatter_reduce(filled, dim, index, src, "prod", include_self=include_self)
        return g * conj(others / filled)
    return share_of_extremes(g, input, dim, index, src, y) * marked_equal(g, input, y)


def reduced_to_src(g: Any, like: Any, input: Any, dim: int, index: Any, src: Any, reduce: str,
                   include_self: bool, y: Any) -> Any:
    if reduce == "sum":
        return scattered_part(g, dim, index, like)
    if reduce == "mean":
        shared = g / contributions(g, input, dim, index, src, include_self)
        return scattered_part(shared, dim, index, like)
    covered = covered_part(src, index)
    if reduce == "prod":
        part = product_to_src(g, input, dim, index, covered, include_self, y)
    else:
        at_source = gather(y, dim, index)
        part = gather(share_of_extremes(g, input, dim, index, covered, y, include_self), dim,
                      index) * marked_equal(g, covered, at_source)
    return padded(part, like.shape)


scatter_reduce.vjp(input=reduced_to_input, src=reduced_to_src)


def product_to_src(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool,
                   y: Any) -> Any:
    """A product's gradient, where a zero factor leaves only the others' product to it."""
    zero = mask_of_zeros(src)
    zeros_here = scatter_add(zeros_of(g, input.shape), dim, index, ones_where(g, zero))
    single = zero & mask_of_ones(gather(zeros_here, dim, index))
    without_zero = scatter_reduce(input, dim, index, _masked_fill_value(src, single, 1.0), "prod",
                                  include_self=include_self)
    at_zero = gather(g * conj(without_zero), dim, index)
    elsewhere = gather(g * conj(y), dim, index) / conj(_masked_fill_value(src, zero, 1.0))
    return differentiable_once(where(single, at_zero, elsewhere), zero & ~single)


@elementwise(method=False, function=None, numbers=(),
             vjp=lambda g, crowded: without_crowds(g, crowded))
def differentiable_once(input: Array, crowded: Index) -> Any:
    """The same values; where zeros met other zeros, their derivative is not that of the formula."""
    return input


@elementwise(method=False, function=None, numbers=(),
             vjp=lambda g, crowded: without_crowds(g, crowded))
def without_crowds(input: Array, crowded: Index) -> Any:
    """The same values, unless zeros met other zeros."""
    if crowded.any():
        raise RuntimeError("scatter_reduce(): Double backward is unsupported for src when >1 zeros "
                           "in src are scattered to the same position in self")
    return input


def padded(part: Any, shape: Any) -> Any:
    """``part`` in the corner of zeros of ``shape``."""
    for d, n in enumerate(shape):
        if part.shape[d] != n:
            whole = (*part.shape[:d], n, *part.shape[d + 1:])
            part = slice_backward(part, whole, d, 0, part.shape[d], 1)
    return part


def covered_part(src: Any, index: Any) -> Any:
    """The part of ``src`` that ``index`` covers."""
    return src[tuple([slice(n) for n in index.shape])] if src.shape != index.shape else src


def contributions(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool) -> Any:
    """How many values met at each element, at least one."""
    counts = constant_like(g, input.shape, 1.0 if include_self else 0.0)
    counts = scatter_add(counts, dim, index, constant_like(g, index.shape, 1.0))
    return _masked_fill_value(counts, mask_of_zeros(counts), 1.0)


def share_of_extremes(g: Any, input: Any, dim: int, index: Any, src: Any, y: Any,
                      include_self: bool = True) -> Any:
    """``g`` shared out evenly among the values that equal the extreme."""
    winners = marked_equal(g, covered_part(src, index), gather(y, dim, index))
    start = marked_equal(g, input, y) if include_self else _scatter_value(
        marked_equal(g, input, y), dim, index, 0.0)
    count = scatter_add(start, dim, index, winners)
    return g / _masked_fill_value(count, mask_of_zeros(count), 1.0)


@universal
def constant_like(like: Any, shape: Any, value: float) -> Any:
    if isinstance(like, Tensor):
        return wrap(xp.full(shape, value, like._data.dtype))
    return xp.full(shape, value, like.dtype)


def mask_of_zeros(value: Any) -> Any:
    return eq(value, constant_like(value, (), 0.0))


def mask_of_ones(value: Any) -> Any:
    return eq(value, constant_like(value, (), 1.0))


def ones_where(like: Any, mask: Any) -> Any:
    return where(mask, constant_like(like, (), 1.0), constant_like(like, (), 0.0))


def marked_equal(g: Any, a: Any, b: Any) -> Any:
    return ones_where(g, eq(a, b))
