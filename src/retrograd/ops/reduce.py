"""Reductions: sums, products, statistics, extremes, truth."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

from .. import return_types
from ..backend import reduce as arrays
from ..backend import xp
from ..base import dtypes
from ..base.errors import canonical_dims, no_overload
from ..core.arguments import refuse_foreign
from ..core.op import Array, Dim, Dims, Index, composite, elementwise, linear, op, publish
from ..core.tensor import Tensor
from .convert import cast_gradient
from .parts import diagonal_backward
from .pointwise import conj, exp, maximum, minimum
from .shape import expand, reshape, restore_dims
from .sort import (
    into,
    into_one,
    median_along,
    median_of_all,
    need_elements,
    put_selected,
    unsupported,
)

UNSET: Any = type("Unset", (), {"__repr__": lambda self: "<all>"})()
"""Stands for an argument that was not given, where None means something else."""


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def numpy_names(function: Any) -> Any:
    """Let ``axis`` and ``keepdims`` stand for ``dim`` and ``keepdim``, as PyTorch does."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        kwargs = {_NUMPY_NAMES.get(n, n): v for n, v in kwargs.items()} if kwargs else kwargs
        try:
            return function(*args, **kwargs)
        except Exception as error:
            refuse_foreign(function, args, kwargs, error)
            raise

    return called


_PYTHON_TYPES = (float, int, bool, complex)


def _np(dtype: Any) -> Any:
    """The backend's dtype for the argument ``dtype``."""
    if dtype is None:
        return None
    if not isinstance(dtype, dtypes.dtype) and dtype not in _PYTHON_TYPES:
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    return dtypes.as_dtype(dtype).np


# ---------------------------------------------------------------- sums and means


@linear(function=None, method=False, node="SumBackward0", quiet=True)
def _sum(input: Array, dtype: Any = None) -> Any:
    if dtype is None:
        return arrays.sum_all(input)
    return arrays.total(input, None, False, _np(dtype))


_sum.vjp(input=lambda g, like: _spread(g, like, None, False))


@linear(function=None, method=False, node="SumBackward1", title="sum")
def _sum_dims(input: Array, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return arrays.total(input, dim, keepdim, _np(dtype))


_sum_dims.vjp(input=lambda g, like, dim, keepdim: _spread(g, like, dim, keepdim))


@linear(function=None, method=False, node="ExpandBackward0", quiet=True, any_dtype=True)
def _spread(input: Array, target: Any, dim: Any, keepdim: bool) -> Any:
    """A reduction's gradient in the shape and dtype of ``target``, what was reduced."""
    return arrays.spread(input, target.shape, target.dtype, dim, keepdim)


_spread.vjp(input=lambda g, like, dim, keepdim:
            cast_gradient(_sum_dims(g, dim, keepdim), like.dtype))


@composite(method=True)
def sum(input: Any, dim: Any = UNSET, keepdim: bool = False, *, dtype: Any = None, out: Any = None,
        axis: Any = UNSET, keepdims: Any = UNSET) -> Any:
    """Sum over ``dim``; over every dimension by default."""
    if dim is UNSET and axis is UNSET:
        if keepdim or dtype is not None or keepdims is not UNSET:
            _check_whole("sum", keepdim, keepdims, dtype)
        return _sum(input, dtype, out=out)
    dim, keepdim = _checked_dims("sum", dim, keepdim, axis, keepdims)
    return _sum_dims(input, dim, keepdim, dtype, out=out)


_SUM_FORMS = ("*, torch.dtype dtype = None",
              "tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None")


def _check_whole(function: str, keepdim: Any, keepdims: Any, dtype: Any) -> None:
    """Refuse arguments that a sum or mean of all elements does not take."""
    if keepdim or keepdims is not UNSET:
        raise no_overload(function, (keepdim,), *_SUM_FORMS)
    if not isinstance(dtype, dtypes.dtype) and dtype not in _PYTHON_TYPES:
        forms = "".join([f"\n * ({form})" for form in _SUM_FORMS])
        raise TypeError(f"{function}() received an invalid combination of arguments - got (dtype="
                        f"{type(dtype).__name__}, ), but expected one of:{forms}\n")


def _checked_dims(function: str, dim: Any, keepdim: Any, axis: Any, keepdims: Any) -> Any:
    """``dim`` and ``keepdim``, which NumPy's names may stand for."""
    dim = dim if axis is UNSET else axis
    keepdim = keepdim if keepdims is UNSET else keepdims
    if isinstance(dim, (str, float, bool)):
        raise no_overload(function, (dim,), *_SUM_FORMS)
    if keepdim is not True and keepdim is not False:
        raise TypeError(f"{function}(): argument 'keepdim' must be bool, not "
                        f"{type(keepdim).__name__}")
    return dim, keepdim


def _check_mean(input: Any, dtype: Any) -> None:
    kind = input.dtype if dtype is None else _np(dtype)
    if kind.kind in "biu":
        where = "Input" if dtype is None else "Optional"
        raise RuntimeError(f"mean(): could not infer output dtype. {where} dtype must be either a "
                           "floating point or complex dtype. Got: "
                           f"{dtypes.from_numpy_dtype(kind).alias}")


@linear(function=None, method=False, node="MeanBackward0", quiet=True)
def _mean(input: Array, dtype: Any = None) -> Any:
    own = input.dtype
    if dtype is None and (own is xp.FLOAT32 or own is xp.FLOAT64) and input.size:
        return arrays.sum_all(input) / input.size
    _check_mean(input, dtype)
    return arrays.mean(input, None, False, _np(dtype))


_mean.vjp(input=lambda g, like: _spread(g / math.prod(like.shape), like, None, False))


@linear(function=None, method=False, node="MeanBackward1", title="mean")
def _mean_dims(input: Array, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    if dtype is not None or input.dtype.kind not in "fc":
        _check_mean(input, dtype)
    return arrays.mean(input, dim, keepdim, _np(dtype))


def _mean_backward(g: Any, like: Any, dim: Any, keepdim: bool) -> Any:
    return _spread(g / arrays.count_along(like.shape, dim), like, dim, keepdim)


_mean_dims.vjp(input=_mean_backward)


@composite(method=True)
def mean(input: Any, dim: Any = UNSET, keepdim: bool = False, *, dtype: Any = None, out: Any = None,
         axis: Any = UNSET, keepdims: Any = UNSET) -> Any:
    """Mean over ``dim``; over every dimension by default."""
    if dim is UNSET and axis is UNSET:
        if keepdim or dtype is not None or keepdims is not UNSET:
            _check_whole("mean", keepdim, keepdims, dtype)
        return _mean(input, dtype, out=out)
    dim, keepdim = _checked_dims("mean", dim, keepdim, axis, keepdims)
    return _mean_dims(input, dim, keepdim, dtype, out=out)


@op(function=None, method=False, node="NansumBackward0")
def _nansum(input: Array, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    if input.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    return arrays.sum_of_numbers(input, dim, keepdim, _np(dtype))


_nansum.vjp(input=lambda g, like, input, dim, keepdim:
            _spread(g, like, dim, keepdim) * _not_nan(input))


@elementwise(function=None, method=False)
def _not_nan(input: Array) -> Any:
    """One for every number, zero for NaN."""
    return arrays.not_nan(input)


@composite(method=True)
@numpy_names
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
           out: Any = None) -> Any:
    """Sum of what is not NaN."""
    return _nansum(input, dim, keepdim, dtype, out=out)


@composite(method=True)
@numpy_names
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
            out: Any = None) -> Any:
    """Mean of what is not NaN."""
    kind = input.dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError("nanmean(): expected input to have floating point or complex dtype but "
                           f"got {kind.alias}")
    count = _sum_dims(_not_nan(input), dim, keepdim, dtypes.int64)
    return into_one(out, _nansum(input, dim, keepdim, dtype) / count)


# ---------------------------------------------------------------- products


@op(function=None, method=False, node="ProdBackward0")
def _prod(input: Array, dtype: Any = None) -> Any:
    return arrays.product(input, None, False, _np(dtype))


_prod.vjp(input=lambda g, like, input: _spread(g, like, None, False) * conj(
    reshape(_products_of_others(reshape(input, (-1,)), 0), like.shape)))


@op(function=None, method=False, node="ProdBackward1", title="prod")
def _prod_dim(input: Array, dim: Dim, keepdim: bool = False, dtype: Any = None) -> Any:
    return arrays.product(input, dim, keepdim, _np(dtype))


_prod_dim.vjp(input=lambda g, like, input, dim, keepdim:
              _spread(g, like, (dim,), keepdim) * conj(_products_of_others(input, dim)))


@op(function=None, method=False)
def _products_of_others(input: Array, dim: Dim) -> Any:
    """The product of all other elements along ``dim``: no division, so zeros are no trouble."""
    return arrays.products_of_others(input, dim)


_products_of_others.vjp(input=lambda g, input, dim:
                        _others_backward(g, input, dim) if input.ndim else g * 0)


def _others_backward(g: Any, input: Any, dim: int) -> Any:
    before, after = exclusive_cumprod(input, dim, False), exclusive_cumprod(input, dim, True)
    return (exclusive_cumprod_backward(g * conj(after), input, before, dim, False)
            + exclusive_cumprod_backward(g * conj(before), input, after, dim, True))


@op(function=None, method=False)
def exclusive_cumprod(input: Array, dim: Dim, reverse: bool) -> Any:
    """The product of the elements before each one along ``dim``, or of those after it."""
    return arrays.exclusive_products(input, dim, reverse)


exclusive_cumprod.vjp(input=lambda g, input, y, dim, reverse:
                      exclusive_cumprod_backward(g, input, y, dim, reverse))


def exclusive_cumprod_backward(g: Any, input: Any, y: Any, dim: int, reverse: bool) -> Any:
    """An element multiplies all later products: collect them from the far end."""
    return conj(y) * recurrence(shift(conj(input), dim, not reverse), shift(g, dim, not reverse),
                                dim, not reverse)


@linear(function=None, method=False)
def shift(input: Array, dim: Dim, reverse: bool) -> Any:
    """Each element's predecessor along ``dim`` (successor, if ``reverse``); zero at the edge."""
    return arrays.shifted(input, dim, reverse)


shift.vjp(input=lambda g, dim, reverse: shift(g, dim, not reverse))


@op(function=None, method=False)
def recurrence(factor: Array, term: Array, dim: int, reverse: bool) -> Any:
    """``y[k] = factor[k] * y[k - 1] + term[k]`` along ``dim``, from the far end if ``reverse``."""
    return arrays.recurrence(factor, term, dim, reverse)


recurrence.vjp(
    factor=lambda g, factor, y, dim, reverse:
        recurrence(shift(conj(factor), dim, not reverse), g, dim, not reverse)
        * conj(shift(y, dim, reverse)),
    term=lambda g, factor, dim, reverse:
        recurrence(shift(conj(factor), dim, not reverse), g, dim, not reverse))


@composite(method=True)
@numpy_names
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
         out: Any = None) -> Any:
    """Product along ``dim``; of all elements by default."""
    if dim is None:
        return _prod(input, dtype, out=out)
    if isinstance(dim, (tuple, list)):
        raise no_overload("prod", (dim,), "*, torch.dtype dtype = None",
                          "int dim, bool keepdim = False, *, torch.dtype dtype = None")
    return _prod_dim(input, dim, keepdim, dtype, out=out)


# ---------------------------------------------------------------- variance


@elementwise(function=None, method=False, node="DivBackward0")
def ratio(input: Array, other: Array) -> Any:
    """A quotient that is zero where ``other`` is."""
    found = xp.divide(input, other)
    return xp.where(other == 0, found.dtype.type(0), found)


ratio.vjp(input=lambda g, other: ratio(g, conj(other)),
          other=lambda g, other, y: -ratio(g * conj(y), conj(other)))


@op(function=None, method=False, node="VarBackward0")
def _var(input: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    own = input.dtype
    if dim is None and not keepdim and (own is xp.FLOAT32 or own is xp.FLOAT64) and \
            0 < input.size <= 4096:
        return arrays.plain_variance(input, correction)
    return arrays.variance(input, dim, keepdim, correction)[0]


@elementwise(function=None, method=False)
def _boundless(input: Array) -> Any:
    """What infinity times the absolute value is."""
    return xp.where(input == 0, input.dtype.type(math.nan), input.dtype.type(math.inf))


def var_backward(g: Any, like: Any, input: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    freedom = arrays.count_along(like.shape, dim) - correction
    centred = input - _mean_dims(input, dim, True)
    # PyTorch reduces all elements by a rule of its own, which is constant without freedom.
    if freedom <= 0 and (dim is None or not like.shape):
        return _spread(g, like, dim, keepdim) * _boundless(centred)
    factor = 2 / freedom if freedom else math.inf
    return _spread(g * factor, like, dim, keepdim) * centred


_var.vjp(input=var_backward)


@op(function=None, method=False, node="StdBackward0")
def _std(input: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    return arrays.standard_deviation(input, dim, keepdim, correction)[0]


_std.vjp(input=lambda g, like, input, y, dim, correction, keepdim:
         var_backward(ratio(g, y * 2), like, input, dim, correction, keepdim))


@op(function=None, method=False, outputs=("var", "mean"), node="VarMeanBackward0")
def _var_mean(input: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    return arrays.variance(input, dim, keepdim, correction)


_var_mean.vjp(input=lambda g, like, input, dim, correction, keepdim:
              _var_mean_backward(g[0], g[1], like, input, dim, correction, keepdim))


def _var_mean_backward(g_var: Any, g_mean: Any, like: Any, input: Any, dim: Any, correction: Any,
                       keepdim: bool) -> Any:
    return _added(None if g_var is None else var_backward(g_var, like, input, dim, correction,
                                                          keepdim),
                  None if g_mean is None else _mean_backward(g_mean, like, dim, keepdim))


def _added(first: Any, second: Any) -> Any:
    """The sum of two gradients; one of them may be missing."""
    if first is None or second is None:
        return second if first is None else first
    return first + second


@op(function=None, method=False, outputs=("std", "mean"), node="StdMeanBackward0",
    saved={"std": "result0"})
def _std_mean(input: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    return arrays.standard_deviation(input, dim, keepdim, correction)


_std_mean.vjp(input=lambda g, like, input, std, dim, correction, keepdim: _var_mean_backward(
    None if g[0] is None else ratio(g[0], std * 2), g[1], like, input, dim, correction, keepdim))


def _spread_arguments(name: str, input: Any, dim: Any, unbiased: Any, keepdim: Any,
                      correction: Any) -> tuple[Any, ...]:
    """The overloads of ``var`` and its kin as (input, dim, correction, keepdim)."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise no_overload(name, (input, dim, unbiased, correction),
                              "Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim "
                              "= False", "Tensor input, tuple of ints dim = None, *, Number "
                              "correction = None, bool keepdim = False")
        correction = int(unbiased)
    elif correction is None:
        correction = 1
    if isinstance(input, Tensor):
        _check_spread(name, input, dim, correction)
    return input, dim, correction, keepdim


def _check_spread(name: str, input: Any, dim: Any, correction: Any) -> None:
    kind = input.dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError("std and var only support floating point and complex dtypes")
    shape = input._data.shape
    if dim is not None:
        dim = canonical_dims(dim, len(shape))
    if arrays.count_along(shape, dim) <= correction:
        warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less "
                      "than the reduction factor (input numel divided by output numel).",
                      UserWarning, stacklevel=5)


@composite(method=True)
@numpy_names
def var(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
        correction: Any = None, out: Any = None) -> Any:
    """Variance over ``dim``; ``correction`` is taken from the count that it is divided by."""
    return _var(*_spread_arguments("var", input, dim, unbiased, keepdim, correction), out=out)


@composite(method=True)
@numpy_names
def std(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
        correction: Any = None, out: Any = None) -> Any:
    """Standard deviation over ``dim``: the square root of the variance."""
    return _std(*_spread_arguments("std", input, dim, unbiased, keepdim, correction), out=out)


@composite()
@numpy_names
def var_mean(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
             correction: Any = None) -> Any:
    """Variance and mean over ``dim``."""
    return _var_mean(*_spread_arguments("var_mean", input, dim, unbiased, keepdim, correction))


@composite()
@numpy_names
def std_mean(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
             correction: Any = None) -> Any:
    """Standard deviation and mean over ``dim``."""
    return _std_mean(*_spread_arguments("std_mean", input, dim, unbiased, keepdim, correction))


# ---------------------------------------------------------------- extremes


@linear(function=None, method=False)
def _share(input: Array, mask: Index, dim: Any, keepdim: bool) -> Any:
    """A reduction's gradient in equal parts over the places in ``mask``."""
    return arrays.shared(input, mask, dim)


_share.vjp(input=lambda g, mask, dim, keepdim: _average(g, mask, dim, keepdim))


@linear(function=None, method=False)
def _average(input: Array, mask: Index, dim: Any, keepdim: bool) -> Any:
    return arrays.averaged(input, mask, dim, keepdim)


_average.vjp(input=lambda g, mask, dim, keepdim: _share(g, mask, dim, keepdim))


@op(function=None, method=False)
def _winners(input: Array, value: Array, dim: Any, keepdim: bool) -> Any:
    """Where ``input`` holds the value it was reduced to over ``dim``, which may be NaN."""
    return arrays.winners(input, restore_dims(value, input, dim, keepdim))


@op(function=None, method=False)
def _equals(input: Array, value: Array, dim: Any, keepdim: bool) -> Any:
    """Where ``input`` holds the value it was reduced to over ``dim``; NaN is nowhere."""
    return input == restore_dims(value, input, dim, keepdim)


def _of_whole_backward(g: Any, input: Any, y: Any) -> Any:
    """Elements that equal the result share the gradient; a NaN equals itself."""
    return _share(g, _winners(input, y, None, False), None, False)


def _extreme_backward(g: Any, input: Any, y: Any, dim: Any, keepdim: bool) -> Any:
    """Elements that equal the result share the gradient; a NaN equals nothing."""
    return _share(g, _equals(input, y, dim, keepdim), dim, keepdim)


def _selected_backward(g: Any, like: Any, indices: Any, dim: int, keepdim: bool) -> Any:
    return put_selected(g[0], indices, like, dim, keepdim)


def _need_any(name: str, input: Any) -> None:
    if not input.size:
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == "
                           "0. Specify the reduction dim with the 'dim' argument.")


@op(function=None, method=False, node="MaxBackward1", quiet=True)
def _max(input: Array) -> Any:
    _need_any("max", input)
    unsupported("max_all", input.dtype, "c")
    return xp.maximum.reduce(input, axis=None)


_max.vjp(input=_of_whole_backward)


@op(function=None, method=False, node="MinBackward1", quiet=True)
def _min(input: Array) -> Any:
    _need_any("min", input)
    unsupported("min_all", input.dtype, "c")
    return xp.minimum.reduce(input, axis=None)


_min.vjp(input=_of_whole_backward)


def _extreme_along(name: str, find: Any, input: Any, dim: int, keepdim: bool) -> Any:
    need_elements(name, input.shape, dim)
    if input.dtype.kind == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    if not input.ndim:
        return xp.array(input), xp.zeros((), xp.INT64)
    index = arrays.arg_extreme(find, input, dim, True)
    return arrays.taken_at(input, index, dim, keepdim), (
        index if keepdim else xp.squeeze(index, dim))


@op(function=None, method=False, outputs=("values", "indices"), differentiable=(0,),
    node="MaxBackward0", title="max")
def _max_dim(input: Array, dim: Dim, keepdim: bool) -> Any:
    return _extreme_along("max", xp.argmax, input, dim, keepdim)


_max_dim.vjp(input=_selected_backward)


@op(function=None, method=False, outputs=("values", "indices"), differentiable=(0,),
    node="MinBackward0", title="min")
def _min_dim(input: Array, dim: Dim, keepdim: bool) -> Any:
    return _extreme_along("min", xp.argmin, input, dim, keepdim)


_min_dim.vjp(input=_selected_backward)


@composite(method=True)
@numpy_names
def max(input: Any, dim: Any = None, keepdim: Any = False, *, other: Any = None,
        out: Any = None) -> Any:
    """The largest element; along ``dim`` also its index; or the larger of two tensors."""
    if dim is None and other is None:
        return _max(input, out=out)
    return _extreme("max", maximum, _max_dim, input, dim, keepdim, other, out)


@composite(method=True)
@numpy_names
def min(input: Any, dim: Any = None, keepdim: Any = False, *, other: Any = None,
        out: Any = None) -> Any:
    """The smallest element; along ``dim`` also its index; or the smaller of two tensors."""
    if dim is None and other is None:
        return _min(input, out=out)
    return _extreme("min", minimum, _min_dim, input, dim, keepdim, other, out)


def _extreme(name: str, of_two: Any, along: Any, input: Any, dim: Any, keepdim: Any, other: Any,
             out: Any) -> Any:
    if isinstance(dim, Tensor) and keepdim is False:
        other = dim
    if other is not None:
        return of_two(input, other, out=out)
    found = along(input, _one_dim(name, dim), keepdim)
    return getattr(return_types, name)(into(name, out, found))


def _one_dim(function: str, dim: Any) -> Any:
    if isinstance(dim, (float, str, tuple, list)):
        raise no_overload(function, (dim,), "", "Tensor other", "int dim, bool keepdim = False")
    if isinstance(dim, Tensor):
        raise TypeError(f"{function}(): argument 'dim' (position 1) must be int, not Tensor")
    return dim


def _check_extremes(name: str, kernel: str, input: Any, dim: Any) -> None:
    unsupported(kernel, input.dtype, "c")
    if dim and input.ndim:
        for d in dim:
            need_elements(name, input.shape, d)
    else:
        _need_any(name, input)


@op(node="AmaxBackward0")
def amax(input: Array, dim: Dims = (), keepdim: bool = False) -> Any:
    """The largest element over ``dim``; equal ones share the gradient."""
    _check_extremes("amax", "max_values_cpu", input, dim)
    return arrays.extreme(xp.maximum, input, dim, keepdim)


amax.vjp(input=_extreme_backward)


@op(node="AminBackward0")
def amin(input: Array, dim: Dims = (), keepdim: bool = False) -> Any:
    """The smallest element over ``dim``; equal ones share the gradient."""
    _check_extremes("amin", "min_values_cpu", input, dim)
    return arrays.extreme(xp.minimum, input, dim, keepdim)


amin.vjp(input=_extreme_backward)


@op(function=None, method=False, outputs=("min", "max"), node="AminmaxBackward0")
def _aminmax(input: Array, dim: Dims, keepdim: bool) -> Any:
    unsupported("aminmax_cpu", input.dtype, "c")
    if dim is None and not input.size:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the "
                           "operation has no identity.")
    if dim is not None:
        need_elements("aminmax", input.shape, dim[0], ":")
    return (arrays.extreme(xp.minimum, input, dim, keepdim),
            arrays.extreme(xp.maximum, input, dim, keepdim))


_aminmax.vjp(input=lambda g, input, min, max, dim, keepdim:
             _aminmax_backward(g[0], g[1], input, min, max, dim, keepdim))


def _aminmax_backward(g_min: Any, g_max: Any, input: Any, low: Any, high: Any, dim: Any,
                      keepdim: bool) -> Any:
    return _added(None if g_min is None else _extreme_backward(g_min, input, low, dim, keepdim),
                  None if g_max is None else _extreme_backward(g_max, input, high, dim, keepdim))


@composite(method=True)
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False, out: Any = None) -> Any:
    """The smallest and the largest element along ``dim``."""
    return return_types.aminmax(into("aminmax", out, _aminmax(input, dim, keepdim)))


def _check_arg(name: str, input: Any, dim: Any) -> None:
    if input.dtype.kind in "cb":
        kind = "complex" if input.dtype.kind == "c" else "bool"
        raise RuntimeError(f"{name}(): does not support {kind} input")
    if dim is None:
        if not input.size:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() "
                             "== 0.")
    else:
        need_elements(name, input.shape, dim)


def _index_dim(function: str, dim: Any) -> Any:
    if isinstance(dim, (Tensor, float, str, tuple, list)):
        raise TypeError(f"{function}(): argument 'dim' (position 1) must be int, not "
                        f"{type(dim).__name__}")
    return dim


@op(function=None, method=False)
def _argmax(input: Array, dim: Dims, keepdim: bool) -> Any:
    axis = None if dim is None else dim[0]
    _check_arg("argmax", input, axis)
    return arrays.arg_extreme(xp.argmax, input, axis, keepdim)


@op(function=None, method=False)
def _argmin(input: Array, dim: Dims, keepdim: bool) -> Any:
    axis = None if dim is None else dim[0]
    _check_arg("argmin", input, axis)
    return arrays.arg_extreme(xp.argmin, input, axis, keepdim)


@composite(method=True)
@numpy_names
def argmax(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The index of the first largest element, along ``dim`` or of the flattened tensor."""
    return _argmax(input, _index_dim("argmax", dim), keepdim, out=out)


@composite(method=True)
@numpy_names
def argmin(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The index of the first smallest element, along ``dim`` or of the flattened tensor."""
    return _argmin(input, _index_dim("argmin", dim), keepdim, out=out)


# ---------------------------------------------------------------- medians


@op(function=None, method=False, node="MedianBackward0")
def _median(input: Array) -> Any:
    return median_of_all(input, False)


_median.vjp(input=_of_whole_backward)


@op(function=None, method=False, node="NanmedianBackward0")
def _nanmedian(input: Array) -> Any:
    return median_of_all(input, True)


_nanmedian.vjp(input=_of_whole_backward)


@op(function=None, method=False, outputs=("values", "indices"), differentiable=(0,),
    node="MedianBackward1", title="median")
def _median_dim(input: Array, dim: Dim, keepdim: bool) -> Any:
    return median_along(input, dim, keepdim, False)


_median_dim.vjp(input=_selected_backward)


@op(function=None, method=False, outputs=("values", "indices"), differentiable=(0,),
    node="NanmedianBackward1", title="nanmedian")
def _nanmedian_dim(input: Array, dim: Dim, keepdim: bool) -> Any:
    return median_along(input, dim, keepdim, True)


_nanmedian_dim.vjp(input=_selected_backward)


@composite(method=True)
@numpy_names
def median(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median, along ``dim`` with its index or of all elements."""
    if dim is None:
        return _median(input)
    return return_types.median(into("median", out, _median_dim(input, dim, keepdim)))


@composite(method=True)
@numpy_names
def nanmedian(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median of what is not NaN."""
    if dim is None:
        return _nanmedian(input)
    return return_types.nanmedian(into("nanmedian", out, _nanmedian_dim(input, dim, keepdim)))


# ---------------------------------------------------------------- others


@op(promote="float")
def logsumexp(input: Array, dim: Dims, keepdim: bool = False) -> Any:
    """The logarithm of the sum of exponentials over ``dim``, without overflow."""
    return arrays.log_sum(input, dim, keepdim)


logsumexp.vjp(input=lambda g, like, input, y, dim, keepdim: _spread(g, like, dim, keepdim) * conj(
    exp(input - _spread(y, like, dim, keepdim))))


publish(logsumexp, "logsumexp", method=False, function="special")


@op(function=None, method=False)
def _any(input: Array, dim: Dims, keepdim: bool) -> Any:
    return arrays.truth(xp.logical_or, input, dim, keepdim)


@op(function=None, method=False)
def _all(input: Array, dim: Dims, keepdim: bool) -> Any:
    return arrays.truth(xp.logical_and, input, dim, keepdim)


@composite(method=True)
@numpy_names
def any(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether some element over ``dim`` is not zero."""
    return _any(input, dim, keepdim, out=out)


@composite(method=True)
@numpy_names
def all(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether every element over ``dim`` is not zero."""
    return _all(input, dim, keepdim, out=out)


@op()
def count_nonzero(input: Array, dim: Dims = None) -> Any:
    """How many elements over ``dim`` are not zero."""
    return arrays.count_nonzero(input, dim)


@linear()
def trace(input: Array) -> Any:
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    unsupported("trace", input.dtype, "b")
    return arrays.sum_all(input.diagonal())


trace.vjp(input=lambda g, like: diagonal_backward(
    expand(g, (_shorter(*like.shape),)), like.shape, 0, 0, 1))


def _shorter(rows: int, columns: int) -> int:
    return rows if rows < columns else columns
