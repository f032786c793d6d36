"""Roots, exponentials, logarithms, sigmoid and logit."""

from __future__ import annotations

import math
from typing import Any

from ...backend import pointwise as pointwise_kernels
from ...backend import xp
from ...core.op import PUBLIC, Array, Number, elementwise, publish
from ...core.tensor import Tensor
from ..checks.common import kinds
from .conjugate import conj
from .number_operands import BOTH, publish_pair
from .where import where, zeroed

LOG2, LOG10 = math.log(2.0), math.log(10.0)

# ---------------------------------------------------------------- roots


@elementwise(promote="float", inplace="function")
def reciprocal(input: Array) -> Any:
    """One over ``input``."""
    return xp.reciprocal(input)


reciprocal.vjp(input=lambda g, y: -g * conj(y * y))


@elementwise(promote="float", inplace="function")
def sqrt(input: Array) -> Any:
    """The square root."""
    return xp.sqrt(input)


sqrt.vjp(input=lambda g, y: g / (2 * conj(y)))


@elementwise(promote="float", inplace="function")
def rsqrt(input: Array) -> Any:
    """One over the square root."""
    return 1 / xp.sqrt(input)


rsqrt.vjp(input=lambda g, y: -0.5 * g * conj(y * y * y))

# ---------------------------------------------------------------- exponentials and logarithms


@elementwise(promote="float", quiet=True, inplace="function")
def exp(input: Array) -> Any:
    """e to the power of ``input``."""
    return xp.exp(input)


exp.vjp(input=lambda g, y: g * conj(y))


@elementwise(promote="float", inplace="function")
def exp2(input: Array) -> Any:
    """Two to the power of ``input``."""
    return xp.exp2(input)


exp2.vjp(input=lambda g, y: g * conj(y) * LOG2)


@elementwise(promote="float", inplace="function")
def expm1(input: Array) -> Any:
    """e to the power of ``input``, minus one, exact for small ``input``."""
    return xp.expm1(input)


expm1.vjp(input=lambda g, y: g * conj(y + 1))


@elementwise(promote="float", inplace="function")
def log(input: Array) -> Any:
    """The natural logarithm."""
    return xp.log(input)


log.vjp(input=lambda g, input: g / conj(input))


@elementwise(promote="float", inplace="function")
def log2(input: Array) -> Any:
    """The logarithm to base two."""
    return xp.log2(input)


log2.vjp(input=lambda g, input: g / conj(input * LOG2))


@elementwise(promote="float", inplace="function")
def log10(input: Array) -> Any:
    """The logarithm to base ten."""
    return xp.log10(input)


log10.vjp(input=lambda g, input: g / conj(input * LOG10))


@elementwise(promote="float", inplace="function", node="Log1PBackward0")
def log1p(input: Array) -> Any:
    """The natural logarithm of one plus ``input``, exact for small ``input``."""
    return xp.log1p(input)


log1p.vjp(input=lambda g, input: g / conj(input + 1))


@elementwise(numbers=(), guard=kinds("fc", "logaddexp_cpu"))
def logaddexp(input: Array, other: Array) -> Any:
    """The logarithm of the sum of exponentials."""
    return pointwise_kernels.log_add_exp(input, other, False)


logaddexp.vjp(input=lambda g, input, other: g / conj(1 + exp(other - input)),
              other=lambda g, input, other: g / conj(1 + exp(input - other)))


@elementwise(numbers=(), guard=kinds("f", "logaddexp2_cpu"))
def logaddexp2(input: Array, other: Array) -> Any:
    """The logarithm to base two of the sum of powers of two."""
    return pointwise_kernels.log_add_exp(input, other, True)


logaddexp2.vjp(input=lambda g, input, other: g / conj(1 + exp2(other - input)),
               other=lambda g, input, other: g / conj(1 + exp2(input - other)))

# ---------------------------------------------------------------- sigmoid and logit


@elementwise(promote="float", inplace="function")
def sigmoid(input: Array) -> Any:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + xp.exp(-input))


sigmoid.vjp(input=lambda g, y: g * conj((1 - y) * y))


@elementwise(promote="float", inplace="function", guard=kinds("f", "logit_cpu"))
def logit(input: Array, eps: float | None = None) -> Any:
    """log(x / (1 - x)), with ``input`` held ``eps`` away from 0 and 1 if that is given."""
    if eps is not None:
        input = pointwise_kernels.bounded(input, eps, 1 - eps)
    return xp.log(input / (1 - input))


logit.vjp(input=lambda g, input, eps: _logit_gradient(g, input, eps))


def _logit_gradient(g: Any, input: Any, eps: float | None) -> Any:
    found = g / (input * (1 - input))
    if eps is None:
        return where((input < 0) | (input > 1), math.nan, found)
    return zeroed(found, (input < eps) | (input > 1 - eps))


@elementwise(numbers=(), promote="float", function=None, method=False, inplace=True,
             guard=kinds("f", "xlogy_cpu"))
def xlogy(input: Array, other: Array) -> Any:
    """``input`` times the logarithm of ``other``, 0 where ``input`` is 0."""
    return _xlogy_kernel(input, other)


def _xlogy_kernel(input: Any, other: Any) -> Any:
    found = xp.where(input == 0, xp.zeros((), input.dtype), input * xp.log(other))
    return xp.where(xp.isnan(other), other, found)


xlogy.vjp(input=lambda g, input, other: g * zeroed(log(other), (input == 0) & (other <= 0)),
          other=lambda g, input, other: g * (input / other))


@elementwise(promote="float", function=None, method=False, inplace=True, node="XlogyBackward2",
             title="xlogy", guard=kinds("f", "xlogy_cpu"), rounds="other")
def _xlogy_number(input: Array, other: Number) -> Any:
    return _xlogy_kernel(input, pointwise_kernels.number_in(input.dtype, other))


_xlogy_number.vjp(input=lambda g, input, other: _scaled_log(g, input, other))


def _scaled_log(g: Any, input: Any, other: Any) -> Any:
    if other > 0:
        return g * math.log(other)
    return zeroed(g * (-math.inf if other == 0 else math.nan), input == 0)


@elementwise(promote="float", function=None, method=False, numbers=BOTH, node="XlogyBackward1",
             title="xlogy",
             guard=kinds("f", "xlogy_cpu"))
def _xlogy_of_number(input: Array, other: Array) -> Any:
    return _xlogy_kernel(input, other)


_xlogy_of_number.vjp(other=lambda g, input, other: g * (input / other))
_xlogy = publish_pair("xlogy", xlogy, _xlogy_number, _xlogy_of_number)
publish(_xlogy, "xlogy", function="special")
PUBLIC["torch"]["xlogy_"] = Tensor.xlogy_  # type: ignore[attr-defined]
