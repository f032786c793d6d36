"""Elements by rank: kthvalue, mode, median, quantile."""

from __future__ import annotations

from typing import Any

from ... import return_types
from ...backend import sorting as sorting_kernels, xp
from ...backend.interface import library_of
from ...base.errors import canonical_dim, missing_arguments
from ...core.op import Array, Dim, composite, elementwise, linear, op
from ...core.out_argument import run_into
from ...core.out_rules import Out
from ...core.tensor import Tensor, wrap
from ..batching import flat
from ..checks.common import kinds, unsupported
from ..checks.reductions import check_quantile, need_elements
from ..elementwise.arithmetic import lerp
from ..shapes.dimensions import movedim
from ..shapes.reshaping import reshape
from ..sorting.sorting import _sort, _take_along, put_selected
from .arguments import numpy_names
from .extremes import _of_whole_backward, _selected_backward

# ---------------------------------------------------------------- medians


_MEDIAN_OUT = Out((
    "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
    "torch.{out}Tensor does not equal torch.{result}Tensor (while checking arguments for median)",
    "Expected tensor for argument #1 'indices' to have scalar type {result}; but got "
    "torch.{out}Tensor instead (while checking arguments for median)"), apart=True, last_first=True)


def _declare_median(name: str, doc: str, skip_nan: bool) -> Any:
    node = name.capitalize()

    @op(name=f"_{name}_dim", outputs=("values", "indices"), differentiable=(0,),
        node=f"{node}Backward1", title=name, vjp=_selected_backward)
    def along(input: Array, dim: Dim, keepdim: bool) -> Any:
        need_elements("median", input.shape, dim)
        unsupported("median_out_impl", input.dtype, "cb")
        if not input.ndim:
            return _itself(input)
        place = xp.in_rows(sorting_kernels.middle_index(input, dim, skip_nan))
        return _selected(input, place, dim, keepdim)

    @op(name=f"_{name}", node=f"{node}Backward0", vjp=_of_whole_backward, quiet=True,
        guard=kinds("if", "median_cpu"),
        batches=lambda batch, input: along(flat(input), 1, False)[0])
    def of_all(input: Array) -> Any:
        flat = input if input.ndim == 1 else xp.as_array(input).reshape(-1)
        if not flat.size:
            with xp.quiet():  # an integer becomes what the processor makes of NaN
                return xp.asarray(xp.nan).astype(input.dtype)[()]
        return sorting_kernels.median(flat, skip_nan)

    @composite(method=True, name=name, doc=doc)
    @numpy_names
    def median(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
        if dim is None:
            if out is not None or keepdim:
                raise missing_arguments(name, ["dim"])
            return of_all(input)
        return getattr(return_types, name)(run_into(out, name, _MEDIAN_OUT, along, input, dim,
                                                    keepdim))

    return median


median = _declare_median(
    "median", "The lower median, along ``dim`` with its index or of all elements.", False)
nanmedian = _declare_median("nanmedian", "The lower median of what is not NaN.", True)

# ---------------------------------------------------------------- one element by rank


def _selected(input: Any, index: Any, dim: int, keepdim: bool) -> Any:
    """A value and its index, from an index that keeps its dimension."""
    if not keepdim:
        return xp.squeeze(xp.take_along_axis(input, index, dim), dim), xp.squeeze(index, dim)
    return xp.take_along_axis(input, index, dim), index


def _itself(input: Any) -> Any:
    return xp.array(input), xp.zeros((), xp.INT64)


@op(outputs=("values", "indices"), differentiable=(0,), node="KthvalueBackward0",
    vjp=lambda g, like, indices, dim, keepdim: put_selected(g[0], indices, like, dim, keepdim))
def _kthvalue(input: Array, k: int, dim: Dim, keepdim: bool) -> Any:
    need_elements("kthvalue", input.shape, dim)
    if not 1 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    unsupported("kthvalue_cpu", input.dtype, "cb")
    if not input.ndim:
        return _itself(input)
    order = sorting_kernels.sorting_indices(input, dim, False)
    place = order[(slice(None),) * dim + (slice(k - 1, k),)].copy()
    return _selected(input, place, dim, keepdim)


@composite(method=True, out=Out((
    "output values must be of same type as input",
    "output indices must be of scalar type {result}"), apart=True))
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The ``k``-th smallest element along ``dim``, and its index."""
    return return_types.kthvalue(_kthvalue(input, k, dim, keepdim))


@op(outputs=("values", "indices"), differentiable=(0,), node="ModeBackward0",
    vjp=lambda g, like, indices, dim, keepdim: put_selected(g[0], indices, like, dim, keepdim))
def _mode(input: Array, dim: Dim, keepdim: bool) -> Any:
    unsupported("mode_cpu", input.dtype, "c")
    need_elements("mode", input.shape, dim)
    if not input.ndim:
        return _itself(input)
    return _selected(input, sorting_kernels.most_frequent(input, dim), dim, keepdim)


@composite(method=True, out=Out((
    "expected scalar type '{result}' but got '{out}' for values output",
    "expected scalar type '{result}' but got '{out}' for indices output")))
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The commonest value along ``dim``, and an index of it."""
    return return_types.mode(_mode(input, dim, keepdim))


@elementwise()
def _whole_rank(input: Array, rounding: str) -> Any:
    """Ranks as indices, rounded down, up or to the nearest even."""
    round_ = {"lower": xp.floor, "higher": xp.ceil, "nearest": xp.rint}[rounding]
    return xp.as_array(round_(input)).astype(xp.INT64)


@op(outputs=("scale", "offset"), differentiable=(), batches="leading")
def _rank_range(input: Array, skip_nan: bool) -> Any:
    """What turns a quantile into a rank in each sorted lane: rank = q * scale + offset."""
    length = input.shape[-1]
    numbers = xp.sum(~xp.isnan(input), axis=-1, keepdims=True)
    if skip_nan:
        scale = xp.maximum(numbers - 1, 0)
        return scale.astype(input.dtype), xp.zeros(numbers.shape, input.dtype)
    # NaN sorts last: a lane that has one is read there, whatever the quantile.
    broken = numbers < length
    return (xp.where(broken, 0, length - 1).astype(input.dtype),
            xp.where(broken, length - 1, 0).astype(input.dtype))


def _quantile(name: str, input: Any, q: Any, dim: Any, keepdim: bool, interpolation: str,
              skip_nan: bool) -> Any:
    if not isinstance(q, Tensor):
        q = _number_as_quantile(name, input, q)
    check_quantile(input, q, interpolation)
    rank = input.ndim
    d = 0 if dim is None else canonical_dim(dim, rank)
    if dim is None or not rank:
        lanes, rest = reshape(input, (-1,)), (1,) * rank if keepdim else ()
    else:
        lanes = movedim(input, d, -1)
        rest = tuple([1 if i == d else n for i, n in enumerate(input.shape) if keepdim or i != d])
    ordered = _sort(lanes, -1, False)[0]
    scale, offset = _rank_range(ordered, skip_nan)
    found = _at_ranks(ordered, reshape(q, (-1,)) * scale + offset, interpolation)
    return _with_quantiles_first(movedim(found, -1, 0), (*q.shape, *rest))


@linear(node="SqueezeBackward4", batches="dims", vjp=lambda g, like: reshape(g, like.shape))
def _with_quantiles_first(input: Array, shape: Any) -> Any:
    return xp.copied(input).reshape(shape)


def _number_as_quantile(name: str, input: Any, q: Any) -> Tensor:
    if not isinstance(q, (int, float)):
        raise TypeError(f"{name}() received an invalid combination of arguments - got "
                        f"({type(q).__name__}), but expected one of:\n"
                        " * (Tensor q, int dim, bool keepdim, *, str interpolation)\n"
                        " * (float q, int dim, bool keepdim, *, str interpolation)")
    if not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    return wrap(library_of(input._data).asarray(q, dtype=input._data.dtype))


def _at_ranks(ordered: Any, ranks: Any, interpolation: str) -> Any:
    """The values at fractional ranks of sorted lanes."""
    last = ordered.ndim - 1
    if interpolation in ("lower", "higher", "nearest"):
        return _take_along(ordered, _whole_rank(ranks, interpolation), last)
    low = _whole_rank(ranks, "lower")
    below = _take_along(ordered, low, last)
    above = _take_along(ordered, _whole_rank(ranks, "higher"), last)
    return lerp(below, above, 0.5 if interpolation == "midpoint" else ranks - low)


_QUANTILE_OUT = Out("quantile() out tensor must be same dtype as the input tensor", copies=True)


@composite(method=True, out=_QUANTILE_OUT)
def quantile(input: Tensor, q: Any, dim: Any = None, keepdim: bool = False, *,
             interpolation: str = "linear") -> Any:
    """The ``q``-th quantiles along ``dim``, or of all elements; a tensor ``q`` comes first."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


@composite(method=True, out=_QUANTILE_OUT)
def nanquantile(input: Tensor, q: Any, dim: Any = None, keepdim: bool = False, *,
                interpolation: str = "linear") -> Any:
    """The ``q``-th quantiles of what is not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)
