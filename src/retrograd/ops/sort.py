"""Order: sorting, selecting by rank, searching, distinct values and counts."""

from __future__ import annotations

from typing import Any

from .. import return_types
from ..backend import sort as arrays
from ..backend import xp
from ..base import dtypes
from ..base.errors import canonical_dim, existing_dim
from ..core.general import store_out
from ..core.op import Array, Dim, Index, composite, elementwise, linear, op, view
from ..core.tensor import Tensor, wrap
from .pointwise import lerp
from .shape import movedim, reshape, unsqueeze


def unsupported(kernel: str, dtype: Any, kinds: str) -> None:
    """Raise if ``dtype`` is of one of ``kinds``, for which PyTorch has no such kernel."""
    if dtype.kind in kinds:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{dtypes.from_numpy_dtype(dtype).alias}'")


def need_elements(function: str, shape: tuple[int, ...], dim: int,
                  colon: str = "():") -> None:
    """Raise if a dimension that something must be picked from is empty."""
    if shape and not shape[dim]:
        raise IndexError(f"{function}{colon} Expected reduction dim {dim} to have non-zero size.")


def no_derivative(name: str, kind: type = NotImplementedError) -> Any:
    """The rule of an op that PyTorch records and cannot differentiate."""
    raise kind(f"the derivative for '{name}' is not implemented." if kind is NotImplementedError
               else f"derivative for aten::{name} is not implemented")


# ---------------------------------------------------------------- along a dimension by indices


@linear(function=None, method=False, node="GatherBackward0")
def _take_along(input: Array, index: Index, dim: int) -> Any:
    """The elements that ``index`` names along ``dim``."""
    return arrays.take_along(input, index, dim)


_take_along.vjp(input=lambda g, like, index, dim: _put_along(g, index, like.shape, dim, False))


@linear(function=None, method=False, node="ValueSelectingReductionBackward0")
def _put_along(input: Array, index: Index, shape: Any, dim: int, unique: bool) -> Any:
    """Zeros of ``shape`` with ``input`` added where ``index`` says; the adjoint of the above."""
    return arrays.put_along(input, index, shape, dim, unique)


_put_along.vjp(input=lambda g, index, dim: _take_along(g, index, dim))


def put_selected(g: Any, indices: Any, like: Any, dim: int, keepdim: bool) -> Any:
    """The gradient of one selected element along ``dim``, at its place in zeros."""
    if not like.shape:
        return g
    if not keepdim:
        g, indices = unsqueeze(g, dim), unsqueeze(indices, dim)
    return _put_along(g, indices, like.shape, dim, True)


# ---------------------------------------------------------------- sorting


def _sorted(input: Any, dim: int, descending: bool) -> Any:
    if input.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    order = arrays.sorting_indices(input, dim, descending)
    return arrays.laid_out_as(input, arrays.take_along(input, order, dim), order)


@op(function=None, method=False, outputs=("values", "indices"), differentiable=(0,),
    node="SortBackward0")
def _sort(input: Array, dim: Dim, descending: bool) -> Any:
    return _sorted(input, dim, descending)


_sort.vjp(input=lambda g, like, indices, dim: _put_along(g[0], indices, like.shape, dim, True))


@op(function=None, method=False, outputs=("values", "indices"), differentiable=(0,),
    node="SortBackward1", title="sort")
def _stable_sort(input: Array, dim: Dim, descending: bool) -> Any:
    return _sorted(input, dim, descending)


_stable_sort.vjp(
    input=lambda g, like, indices, dim: _put_along(g[0], indices, like.shape, dim, True))


def into(function: str, out: Any, results: Any) -> Any:
    """Results of several tensors, written to those given as ``out=``."""
    if out is None:
        return results
    if any(t._edge is not None for t in (*out, *results)):
        raise RuntimeError(f"{function}(): functions with out=... arguments don't support "
                           "automatic differentiation, but one of the arguments requires grad.")
    for target, found in zip(out, results, strict=True):
        store_out(function, found._data, target)
    return tuple(out)


def into_one(out: Any, result: Any) -> Any:
    """The result of a composite, copied to the tensor given as ``out=``."""
    if out is None:
        return result
    return out.copy_(result) if out.shape == result.shape else store_out("out", result._data, out)


@composite(method=True)
def sort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool | None = None,
         out: Any = None) -> Any:
    """The elements in order along ``dim``, and the indices they had; equal ones keep theirs."""
    ordered = _sort if stable is None else _stable_sort
    return return_types.sort(into("sort", out, ordered(input, dim, descending)))


@op(function=None, method=False)
def _argsort(input: Array, dim: Dim, descending: bool) -> Any:
    return _sorted(input, dim, descending)[1]


@composite(method=True)
def argsort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """The indices that put the elements in order along ``dim``."""
    return _argsort(input, dim, descending)


@composite(method=True)
def msort(input: Any) -> Any:
    """The elements in ascending order along the first dimension."""
    return _sort(input, 0, False)[0]


@op(function=None, method=False, outputs=("values", "indices"), differentiable=(0,),
    node="TopkBackward0")
def _topk(input: Array, k: int, dim: Dim, largest: bool, sorted: bool) -> Any:
    length = input.shape[dim] if input.ndim else 1
    if not 0 <= k <= length:
        raise RuntimeError("selected index k out of range")
    unsupported("topk_cpu", input.dtype, "cb")
    found = arrays.largest_indices(input, k, dim, largest, sorted)
    found = xp.in_rows(found)
    return xp.in_rows(arrays.take_along(input, found, dim)), found


_topk.vjp(input=lambda g, like, indices, dim: _put_along(g[0], indices, like.shape, dim, True))


@composite(method=True)
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *,
         out: Any = None) -> Any:
    """The ``k`` largest (or smallest) elements along ``dim``, and their indices."""
    return return_types.topk(into("topk", out, _topk(input, k, dim, largest, sorted)))


# ---------------------------------------------------------------- one element by rank


def _selected(input: Any, index: Any, dim: int, keepdim: bool) -> Any:
    """A value and its index, from an index that keeps its dimension."""
    if not keepdim:
        return xp.squeeze(xp.take_along_axis(input, index, dim), dim), xp.squeeze(index, dim)
    return xp.take_along_axis(input, index, dim), index


def _itself(input: Any) -> Any:
    return xp.array(input), xp.zeros((), xp.INT64)


@op(function=None, method=False, outputs=("values", "indices"), differentiable=(0,),
    node="KthvalueBackward0")
def _kthvalue(input: Array, k: int, dim: Dim, keepdim: bool) -> Any:
    need_elements("kthvalue", input.shape, dim)
    if not 1 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    unsupported("kthvalue_cpu", input.dtype, "cb")
    if not input.ndim:
        return _itself(input)
    order = arrays.sorting_indices(input, dim, False)
    place = order[(slice(None),) * dim + (slice(k - 1, k),)].copy()
    return _selected(input, place, dim, keepdim)


_kthvalue.vjp(input=lambda g, like, indices, dim, keepdim:
              put_selected(g[0], indices, like, dim, keepdim))


@composite(method=True)
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The ``k``-th smallest element along ``dim``, and its index."""
    return return_types.kthvalue(into("kthvalue", out, _kthvalue(input, k, dim, keepdim)))


@op(function=None, method=False, outputs=("values", "indices"), differentiable=(0,),
    node="ModeBackward0")
def _mode(input: Array, dim: Dim, keepdim: bool) -> Any:
    need_elements("mode", input.shape, dim)
    if not input.ndim:
        return _itself(input)
    return _selected(input, arrays.most_frequent(input, dim), dim, keepdim)


_mode.vjp(input=lambda g, like, indices, dim, keepdim:
          put_selected(g[0], indices, like, dim, keepdim))


@composite(method=True)
def mode(input: Any, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The commonest value along ``dim``, and an index of it."""
    return return_types.mode(into("mode", out, _mode(input, dim, keepdim)))


def median_along(input: Any, dim: int, keepdim: bool, skip_nan: bool) -> Any:
    """The lower median and its index, on raw arrays."""
    need_elements("median", input.shape, dim)
    unsupported("median_out_impl", input.dtype, "cb")
    if not input.ndim:
        return _itself(input)
    place = xp.in_rows(arrays.middle_index(input, dim, skip_nan))
    return _selected(input, place, dim, keepdim)


def median_of_all(input: Any, skip_nan: bool) -> Any:
    """The lower median of every element, on raw arrays."""
    unsupported("median_cpu", input.dtype, "cb")
    flat = xp.as_array(input).reshape(-1)
    if not flat.size:
        return input.dtype.type(xp.nan)
    return flat[arrays.middle_index(flat, 0, skip_nan)[0]]


# ---------------------------------------------------------------- quantiles

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _check_quantile(input: Any, q: Any, interpolation: str) -> None:
    def need(condition: bool, message: str) -> None:
        if not condition:
            raise RuntimeError(f"quantile() {message}")

    need(input.numel() > 0, "input tensor must be non-empty")
    need(q.ndim <= 1, "q must be a scalar or 1D tensor")
    need(input.dtype in (dtypes.float32, dtypes.float64),
         "input tensor must be either float or double dtype")
    need(q.dtype is input.dtype, "q tensor must be same dtype as the input tensor")
    need(interpolation in _INTERPOLATIONS, "interpolation must be one of linear, lower, higher, "
         f"midpoint or nearest, but got {interpolation}")
    # Inside a transform there is no one value to look at.
    if isinstance(q._data, (xp.ndarray, xp.generic)):
        need(bool(((q._data >= 0) & (q._data <= 1)).all()), "q values must be in the range [0, 1]")


@elementwise(function=None, method=False)
def _whole_rank(input: Array, rounding: str) -> Any:
    """Ranks as indices, rounded down, up or to the nearest even."""
    round_ = {"lower": xp.floor, "higher": xp.ceil, "nearest": xp.rint}[rounding]
    return xp.as_array(round_(input)).astype(xp.INT64)


@op(function=None, method=False, outputs=("scale", "offset"), differentiable=())
def _rank_range(input: Array, skip_nan: bool) -> Any:
    """What turns a quantile into a rank in each sorted lane: rank = q * scale + offset."""
    length = input.shape[-1]
    numbers = xp.count_nonzero(~xp.isnan(input), axis=-1, keepdims=True)
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
    _check_quantile(input, q, interpolation)
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


@view(function=None, method=False, node="SqueezeBackward4")
def _with_quantiles_first(input: Array, shape: Any) -> Any:
    return input.reshape(shape)


_with_quantiles_first.vjp(input=lambda g, like: reshape(g, like.shape))


def _number_as_quantile(name: str, input: Any, q: Any) -> Tensor:
    if not isinstance(q, (int, float)):
        raise TypeError(f"{name}() received an invalid combination of arguments - got "
                        f"({type(q).__name__}), but expected one of:\n"
                        " * (Tensor q, int dim, bool keepdim, *, str interpolation)\n"
                        " * (float q, int dim, bool keepdim, *, str interpolation)")
    if not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    return wrap(xp.asarray(q, dtype=input._data.dtype))


def _at_ranks(ordered: Any, ranks: Any, interpolation: str) -> Any:
    """The values at fractional ranks of sorted lanes."""
    last = ordered.ndim - 1
    if interpolation in ("lower", "higher", "nearest"):
        return _take_along(ordered, _whole_rank(ranks, interpolation), last)
    low = _whole_rank(ranks, "lower")
    below = _take_along(ordered, low, last)
    above = _take_along(ordered, _whole_rank(ranks, "higher"), last)
    return lerp(below, above, 0.5 if interpolation == "midpoint" else ranks - low)


@composite(method=True)
def quantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *,
             interpolation: str = "linear", out: Any = None) -> Any:
    """The ``q``-th quantiles along ``dim``, or of all elements; a tensor ``q`` comes first."""
    return into_one(out, _quantile("quantile", input, q, dim, keepdim, interpolation, False))


@composite(method=True)
def nanquantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *,
                interpolation: str = "linear", out: Any = None) -> Any:
    """The ``q``-th quantiles of what is not NaN."""
    return into_one(out, _quantile("nanquantile", input, q, dim, keepdim, interpolation, True))


# ---------------------------------------------------------------- searching


def _sorted_by(boundaries: Any, sorter: Any) -> Any:
    if sorter is None:
        return boundaries
    if sorter.size and (sorter.min() < 0 or sorter.max() >= boundaries.shape[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
    return xp.take_along_axis(boundaries, sorter, -1)


def _check_search(boundaries: Any, values: Any, sorter: Any) -> None:
    if sorter is not None and sorter.shape != boundaries.shape:
        raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size, "
                           f"but got boundary tensor {list(boundaries.shape)}and got sorter "
                           f"tensor {list(sorter.shape)}")
    if sorter is not None and sorter.dtype != xp.INT64:
        raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but got "
                           f"dtype {dtypes.from_numpy_dtype(sorter.dtype).alias}")
    if not values.ndim and boundaries.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({boundaries.ndim}) and input "
            "value's dim(0) numel(1)")
    if not boundaries.ndim:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive "
                           "dimension, but got 0 dimension")
    if boundaries.ndim > 1 and boundaries.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(boundaries.shape)} and input value tensor "
            f"{list(values.shape)}")


@op(function=None, method=False)
def _searchsorted(sorted_sequence: Array, input: Index, out_int32: bool, right: bool,
                  sorter: Index | None) -> Any:
    _check_search(sorted_sequence, input, sorter)
    return arrays.insertion_points(_sorted_by(sorted_sequence, sorter), input, right,
                                   xp.int32 if out_int32 else xp.INT64)


def _as_values(value: Any) -> Any:
    return value if isinstance(value, Tensor) else wrap(xp.asarray(value))


@composite()
def searchsorted(sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Any = None, out: Any = None) -> Any:
    """Where each value of ``input`` would be inserted to keep the last dimension sorted."""
    if side not in (None, "left", "right"):
        raise RuntimeError("torch.searchsorted(): side can only be 'left' or 'right' but got "
                           f"{side}")
    if side == "left" and right:
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got "
                           "side of left while right was True")
    return _searchsorted(sorted_sequence, _as_values(input), out_int32, right or side == "right",
                         sorter, out=out)


@composite()
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False,
              out: Any = None) -> Any:
    """The index of the bucket between ``boundaries`` that each value falls into."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _searchsorted(boundaries, _as_values(input), out_int32, right, None, out=out)


@op(function=None, method=False)
def _isin(elements: Array, test_elements: Index, invert: bool) -> Any:
    return xp.isin(arrays.comparable(elements), arrays.comparable(test_elements), invert=invert)


@composite()
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False,
         invert: bool = False) -> Any:
    """Whether each element is among ``test_elements``."""
    return _isin(_as_values(elements), _as_values(test_elements), invert)


# ---------------------------------------------------------------- distinct values and counts


@op(function=None, method=False, outputs=("values", "inverse", "counts"), differentiable=(0,),
    node="Unique2Backward0", title="_unique2")
def _unique2(input: Array) -> Any:
    unsupported("unique", input.dtype, "c")
    return arrays.unique(input)


_unique2.vjp(input=lambda g: no_derivative("_unique2"))


@op(function=None, method=False, outputs=("values", "inverse", "counts"), differentiable=(0,),
    node="UniqueDimBackward0")
def _unique_dim(input: Array, dim: int) -> Any:
    axis = existing_dim(dim, input.ndim)
    unsupported("unique_dim", input.dtype, "c")
    _check_slices(input.shape, axis)
    return arrays.unique_slices(input, axis)


_unique_dim.vjp(input=lambda g: no_derivative("unique_dim"))


def _check_slices(shape: tuple[int, ...], dim: int) -> None:
    """Refuse slices without elements, which cannot be told apart."""
    if shape.count(0) > 1:
        raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be "
                           "applied ")
    if 0 in shape and shape[dim]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique "
                           "cannot be applied")


@op(function=None, method=False, outputs=("values", "inverse", "counts"), differentiable=(0,),
    node="UniqueConsecutiveBackward0")
def _unique_consecutive(input: Array, dim: Any) -> Any:
    if dim is not None:
        dim = existing_dim(dim, input.ndim)
        _check_slices(input.shape, dim)
    return arrays.unique_runs(input, dim)


_unique_consecutive.vjp(input=lambda g: no_derivative("unique_consecutive"))


def _asked_for(found: Any, return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    if not (return_inverse or return_counts):
        return values
    return (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))


@composite(method=True)
def unique(input: Any, sorted: bool = True, return_inverse: bool = False,
           return_counts: bool = False, dim: Any = None) -> Any:
    """The distinct elements, or slices along ``dim``, in ascending order."""
    found = _unique2(input) if dim is None else _unique_dim(input, dim)
    return _asked_for(found, return_inverse, return_counts)


@composite(method=True)
def unique_consecutive(input: Any, return_inverse: bool = False, return_counts: bool = False,
                       dim: Any = None) -> Any:
    """The first of every run of equal elements, or of equal slices along ``dim``."""
    return _asked_for(_unique_consecutive(input, dim), return_inverse, return_counts)


def _check_counts(input: Any, minlength: int) -> None:
    unsupported("bincount_cpu", input.dtype, "fcVb")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if input.ndim != 1 or (input.size and input.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")


@op(function=None, method=False, title="bincount")
def _counts(input: Index, minlength: int) -> Any:
    _check_counts(input, minlength)
    return arrays.bincount(input, None, minlength)


@op(function=None, method=False, node="NotImplemented", title="bincount")
def _weighted_counts(weights: Array, input: Index, minlength: int) -> Any:
    _check_counts(input, minlength)
    if weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    return arrays.bincount(input, weights, minlength)


_weighted_counts.vjp(weights=lambda g: no_derivative("bincount", RuntimeError))


@composite(method=True)
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each non-negative integer occurs, or the sum of its weights."""
    # Nothing is counted, and PyTorch does not look at the weights.
    if weights is None or (input.ndim == 1 and not input.numel()):
        return _counts(input, minlength)
    return _weighted_counts(weights, input, minlength)


@op()
def histc(input: Array, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """How many elements fall into each of ``bins`` equal intervals between ``min`` and ``max``."""
    unsupported("histogram_cpu", input.dtype, "iubc")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(min), float(max)
    if low == high and input.size:
        low, high = float(input.min()), float(input.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (xp.isfinite(low) and xp.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low >= high:
        raise RuntimeError("torch.histc: max must be larger than min")
    return arrays.histogram(input, bins, low, high)
