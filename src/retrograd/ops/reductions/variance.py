"""Variance and standard deviation."""

from __future__ import annotations

import math
from typing import Any

from ...backend import reduce as reduce_kernels, xp
from ...base.errors import no_overload
from ...core.op import Array, Dims, composite, elementwise, op
from ...core.out_rules import CASTABLE, Out
from ...core.tensor import Tensor
from ..checks.reductions import check_spread
from ..elementwise.conjugate import conj
from .arguments import numpy_names
from .sums import _mean_backward, _mean_dims, _spread


@elementwise(function=None, method=False, node="DivBackward0")
def ratio(input: Array, other: Array) -> Any:
    """A quotient that is zero where ``other`` is, which is real."""
    found = xp.divide(input, other)
    return xp.where(other == 0, 0, found)


ratio.vjp(input=lambda g, other: ratio(g, other),
          other=lambda g, other, y: -ratio(g * conj(y), other))


@elementwise()
def _boundless(input: Array) -> Any:
    """What infinity times the absolute value is."""
    nan, inf = [xp.asarray(value, dtype=input.dtype) for value in (math.nan, math.inf)]
    return xp.where(input == 0, nan, inf)


def var_backward(g: Any, like: Any, input: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    freedom = reduce_kernels.count_along(like.shape, dim) - correction
    centred = input - _mean_dims(input, dim, True)
    # PyTorch reduces all elements by a rule of its own, which is constant without freedom.
    if freedom <= 0 and (dim is None or not like.shape):
        return _spread(g, like, dim, keepdim) * _boundless(centred)
    factor = 2 / freedom if freedom else math.inf
    return _spread(g * factor, like, dim, keepdim) * centred


@op(node="VarBackward0", out=Out(CASTABLE), vjp=var_backward)
def _var(input: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    own = input.dtype
    if dim is None and not keepdim and (own is xp.FLOAT32 or own is xp.FLOAT64) and \
            0 < input.size <= 4096:
        return reduce_kernels.plain_variance(input, correction)
    return reduce_kernels.variance(input, dim, keepdim, correction)[0]


@op(node="StdBackward0", out=Out(CASTABLE), vjp=lambda g, like, input, y, dim, correction, keepdim:
    var_backward(ratio(g, y * 2), like, input, dim, correction, keepdim))
def _std(input: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    return reduce_kernels.standard_deviation(input, dim, keepdim, correction)[0]


@op(outputs=("var", "mean"), node="VarMeanBackward0",
    vjp=lambda g, like, input, dim, correction, keepdim:
    _var_mean_backward(g[0], g[1], like, input, dim, correction, keepdim))
def _var_mean(input: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    return reduce_kernels.variance(input, dim, keepdim, correction)


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


@op(outputs=("std", "mean"), node="StdMeanBackward0", saved={"std": "result0"})
def _std_mean(input: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    return reduce_kernels.standard_deviation(input, dim, keepdim, correction)


_std_mean.vjp(input=lambda g, like, input, std, dim, correction, keepdim: _var_mean_backward(
    None if g[0] is None else ratio(g[0], std * 2), g[1], like, input, dim, correction, keepdim))


def _spread_arguments(name: str, input: Any, dim: Any, unbiased: Any, keepdim: Any,
                      correction: Any) -> tuple[Any, ...]:
    """The overloads of ``var`` and its kin as (input, dim, correction, keepdim)."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None or not isinstance(unbiased, bool):
            raise no_overload(name, (input, dim, unbiased, correction),
                              "Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim "
                              "= False", "Tensor input, tuple of ints dim = None, *, Number "
                              "correction = None, bool keepdim = False")
        correction = int(unbiased)
    elif correction is None:
        correction = 1
    if isinstance(input, Tensor):
        check_spread(name, input, dim, correction)
    return input, dim, correction, keepdim


@composite(method=True)
@numpy_names
def var(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
        correction: Any = None, out: Any = None) -> Any:
    """Variance over ``dim``; ``correction`` is taken from the count that it is divided by."""
    return _var(*_spread_arguments("var", input, dim, unbiased, keepdim, correction), out=out)


@composite(method=True)
@numpy_names
def std(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
        correction: Any = None, out: Any = None) -> Any:
    """Standard deviation over ``dim``: the square root of the variance."""
    return _std(*_spread_arguments("std", input, dim, unbiased, keepdim, correction), out=out)


@composite()
@numpy_names
def var_mean(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
             correction: Any = None) -> Any:
    """Variance and mean over ``dim``."""
    return _var_mean(*_spread_arguments("var_mean", input, dim, unbiased, keepdim, correction))


@composite()
@numpy_names
def std_mean(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
             correction: Any = None) -> Any:
    """Standard deviation and mean over ``dim``."""
    return _std_mean(*_spread_arguments("std_mean", input, dim, unbiased, keepdim, correction))
