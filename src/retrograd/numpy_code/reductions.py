"""NumPy's reductions and running sums, on tensors: its names, its arguments, its defaults."""

from __future__ import annotations

import math
from builtins import max as larger
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from .operands import (
    WEAK,
    axes_of,
    axis_of,
    cast,
    common,
    given,
    inexact,
    numpy,
    operand,
    refused,
    strongly,
    torch,
    values,
)

# ---------------------------------------------------------------- what they share


def _those(a: Any, dtype: Any, where: Any, otherwise: float) -> Tensor:
    """The elements that take part, the others replaced by what changes nothing."""
    x = operand(a)
    x = x if dtype is None else cast(x, dtype)
    return x if where is True else torch.where(operand(where), x, otherwise)


def _count(where: Any, x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Any:
    """How many elements take part."""
    if where is True:
        return math.prod([x.shape[axis] for axis in axes])
    mask = numpy.named("broadcast_to")(values(where), x.shape)
    return cast(operand(mask.sum(axes, keepdims=keepdims)), torch.abs(x)._data.dtype)


def along_one(op: Callable[[Tensor, int], Tensor], x: Tensor, axes: tuple[int, ...],
              keepdims: bool = False) -> Tensor:
    """A reduction that knows one dimension, over several: they are made one."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = torch.permute(x, (*kept, *axes)).reshape(
        (*[x.shape[axis] for axis in kept], math.prod([x.shape[axis] for axis in axes])))
    found = op(rows, -1)
    return found.reshape(_kept_shape(x, axes)) if keepdims else found


def _kept_shape(x: Tensor, axes: tuple[int, ...]) -> list[int]:
    return [1 if axis in axes else n for axis, n in enumerate(x.shape)]


# ---------------------------------------------------------------- sums and products


def sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
        initial: Any = None, where: Any = True) -> Any:
    x = _those(a, dtype, where, 0)
    axes = axes_of(x, axis)
    found = torch.sum(x, axes, bool(keepdims)) if axes else x
    return given(found if initial is None else found + initial, out, "sum")


def prod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
         initial: Any = None, where: Any = True) -> Any:
    x = _those(a, dtype, where, 1)
    found = along_one(torch.prod, x, axes_of(x, axis), keepdims)
    return given(found if initial is None else found * initial, out, "prod")


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *,
         where: Any = True) -> Any:
    x = inexact(a, dtype)
    axes = axes_of(x, axis)
    if where is True and axes:
        return given(torch.mean(x, axes, bool(keepdims)), out, "mean")
    return given(sum(x, axes, keepdims=keepdims, where=where)
                 / _count(where, x, axes, keepdims), out, "mean")


def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
        root: bool = False) -> Any:
    x = inexact(a, dtype)
    axes, ddof = axes_of(x, axis), ddof if correction is None else correction
    if where is True and mean is None and axes and x.numel():
        return given((torch.std if root else torch.var)(x, axes, correction=ddof, keepdim=keepdims),
                     out, "std" if root else "var")
    centre = _mean(x, axes, keepdims=True, where=where) if mean is None else operand(mean)
    squares = torch.abs(x - centre) ** 2
    found = sum(squares, axes, keepdims=keepdims, where=where) / (
        _count(where, x, axes, keepdims) - ddof)
    return given(torch.sqrt(found) if root else found, out, "std" if root else "var")


def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: bool = False, **options: Any) -> Any:
    return var(a, axis, dtype, out, ddof, keepdims, root=True, **options)


_mean = mean


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *,
            keepdims: bool = False) -> Any:
    if weights is None:
        x = inexact(a)
        found = mean(x, axis, keepdims=keepdims)
        total = torch.full_like(found, x.numel() / larger(found.numel(), 1))
    else:
        x, w = common(inexact(a), weights)
        if x.shape != w.shape:
            w = _along_axes(x, w, axis)
        total = sum(torch.broadcast_to(w, x.shape), axis, keepdims=keepdims)
        if bool((values(total) == 0).any()):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        found = sum(x * w, axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def _along_axes(x: Tensor, weights: Tensor, axis: Any) -> Tensor:
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = axes_of(x, axis)
    if tuple(weights.shape) != tuple([x.shape[i] for i in axes]):
        raise ValueError("Shape of weights must be consistent with shape of a along specified "
                         "axis.")
    in_order = torch.permute(weights, sorted(range(len(axes)), key=axes.__getitem__))
    return in_order.reshape([n if i in axes else 1 for i, n in enumerate(x.shape)])


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, name: str = "cumsum",
           initial: bool = False) -> Any:
    x = _those(a, dtype, True, 0)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis_of(x, axis))
    found = getattr(torch, name)(x, axis)
    if initial:
        edge = list(x.shape)
        edge[axis] = 1
        found = torch.cat([torch.full(edge, int(name == "cumprod"), dtype=found.dtype), found],
                          axis)
    return given(found, out, name)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return cumsum(a, axis, dtype, out, "cumprod")


def cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
                   include_initial: bool = False, name: str = "cumsum") -> Any:
    if axis is None and operand(x).ndim > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is "
                         "required.")
    return cumsum(x, axis, dtype, out, name, include_initial)


def cumulative_prod(x: Any, /, **options: Any) -> Any:
    return cumulative_sum(x, name="cumprod", **options)


# ---------------------------------------------------------------- extremes and order


def max(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
        where: Any = True, ops: Any = (torch.amax, torch.maximum, -math.inf)) -> Any:
    reduce, pair, bound = ops
    if where is not True and initial is None:
        raise ValueError(f"reduction operation '{pair.__name__}' does not have an identity, so to "
                         "use a where mask one has to specify 'initial'")
    x = _those(a, None, where, bound)
    axes = axes_of(x, axis)
    found = reduce(x, axes, bool(keepdims)) if axes else x
    if initial is not None:
        found = pair(found, cast(operand(initial), found._data.dtype))
    return given(found, out, reduce.__name__)


def min(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
        where: Any = True) -> Any:
    return max(a, axis, out, keepdims, initial, where, (torch.amin, torch.minimum, math.inf))


amax, amin = max, min


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return given(max(a, axis, None, keepdims) - min(a, axis, None, keepdims), out, "ptp")


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
           keepdims: bool = False) -> Any:
    x = inexact(a)
    return given(along_one(_middle, x, axes_of(x, axis), keepdims), out, "median")


def _middle(rows: Tensor, dim: int) -> Tensor:
    n = rows.shape[-1]
    found = torch.sort(rows, -1)[0][..., larger(n - 1, 0) // 2:n // 2 + 1].mean(-1)
    return torch.where(torch.isnan(rows).any(-1), math.nan, found)


_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
             method: str = "linear", keepdims: bool = False, *, weights: Any = None,
             op: Any = torch.quantile, of: int = 1) -> Any:
    if method not in _METHODS or weights is not None:
        raise refused(op.__name__, "only method=" + ", ".join(map(repr, _METHODS)) + " without "
                      "weights can; torch.sort() and np.interp() write the others")
    x = inexact(a)
    x, share = common(x, q) if type(q) in WEAK else strongly(x, q)
    own, share = x._data.dtype, share / of
    if own.itemsize < 4:
        x, share = cast(x, "float32"), cast(share, "float32")
    axes = axes_of(x, axis)
    rows = along_one(lambda rows, dim: rows, x, axes)
    found = op(rows, share.reshape(-1), dim=-1, interpolation=method)
    shape = _kept_shape(x, axes) if keepdims else rows.shape[:-1]
    return given(cast(found.reshape((*share.shape, *shape)), own), out, op.__name__)


def percentile(a: Any, q: Any, *args: Any, **options: Any) -> Any:
    return quantile(a, q, *args, of=100, **options)


def nanquantile(a: Any, q: Any, *args: Any, **options: Any) -> Any:
    return quantile(a, q, *args, op=torch.nanquantile, **options)


def nanpercentile(a: Any, q: Any, *args: Any, **options: Any) -> Any:
    return nanquantile(a, q, *args, of=100, **options)


def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
              keepdims: bool = False) -> Any:
    return nanquantile(a, 0.5, axis, out, keepdims=keepdims)


# ---------------------------------------------------------------- those that leave NaN out


def _numbers(a: Any, where: Any = True) -> Any:
    """Which elements take part: those that are numbers."""
    return ~numpy.named("isnan")(values(operand(a))) & values(where)


def _without(function: Any, nothing: Any = None) -> Any:
    """The form of a reduction that leaves NaN out; ``nothing`` is what no numbers reduce to."""

    def called(a: Any, *args: Any, where: Any = True, **options: Any) -> Any:
        there = _numbers(a, where)
        if nothing is not None:
            options.setdefault("initial", nothing)
        found = function(torch.where(operand(there), a, 0), *args, where=there, **options)
        return found if nothing is None else torch.where(found == nothing, math.nan, found)

    return called


nansum, nanprod, nanmean, nanvar, nanstd = map(_without, (sum, prod, mean, var, std))
nanmax, nanmin = _without(max, -math.inf), _without(min, math.inf)


def nancumsum(a: Any, *args: Any, **options: Any) -> Any:
    return cumsum(torch.where(operand(_numbers(a)), a, 0), *args, **options)


def nancumprod(a: Any, *args: Any, **options: Any) -> Any:
    return cumprod(torch.where(operand(_numbers(a)), a, 1), *args, **options)


# ---------------------------------------------------------------- counts with weights


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    if weights is None:
        return numpy.named("bincount")(values(x), minlength=minlength)
    x, weights = numpy.asarray(values(x)), cast(operand(weights), "float64")
    bins = len(numpy.named("bincount")(x, minlength=minlength))
    return torch.zeros(bins, dtype=weights.dtype).index_add(0, cast(operand(x), "int64"), weights)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
              ) -> Any:
    plain = numpy.named("histogram")(values(a), values(bins), range, density)
    if weights is None:
        return plain
    edges = plain[1]
    place = numpy.named("searchsorted")(edges, numpy.asarray(values(a)).ravel(), "right") - 1
    place[numpy.asarray(values(a)).ravel() == edges[-1]] -= 1
    inside = (place >= 0) & (place < len(edges) - 1)
    weights = operand(weights)
    counts = cast(bincount(place[inside], weights.reshape(-1)[operand(inside)], len(edges) - 1),
                  weights._data.dtype)
    if density:
        widths = cast(operand(numpy.named("diff")(edges)), "float64")
        counts = counts / widths / counts.sum()
    return counts, edges
