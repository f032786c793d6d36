"""Roots, exponentials, logarithms, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from typing import Any

from ..backend import pointwise as arrays
from ..backend import xp
from ..core.op import PUBLIC, Array, Number, elementwise, publish
from ..core.tensor import Tensor
from .compare import isinf
from .masking import conj, where, zeroed
from .overloads import BOTH, kinds, publish_pair

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
    return arrays.log_add_exp(input, other, False)


logaddexp.vjp(input=lambda g, input, other: g / conj(1 + exp(other - input)),
              other=lambda g, input, other: g / conj(1 + exp(input - other)))


@elementwise(numbers=(), guard=kinds("f", "logaddexp2_cpu"))
def logaddexp2(input: Array, other: Array) -> Any:
    """The logarithm to base two of the sum of powers of two."""
    return arrays.log_add_exp(input, other, True)


logaddexp2.vjp(input=lambda g, input, other: g / conj(1 + exp2(other - input)),
               other=lambda g, input, other: g / conj(1 + exp2(input - other)))

# ---------------------------------------------------------------- trigonometric functions


@elementwise(promote="float", quiet=True, inplace="function")
def sin(input: Array) -> Any:
    """The sine."""
    return xp.sin(input)


sin.vjp(input=lambda g, input: g * conj(cos(input)))


@elementwise(promote="float", quiet=True, inplace="function")
def cos(input: Array) -> Any:
    """The cosine."""
    return xp.cos(input)


cos.vjp(input=lambda g, input: -g * conj(sin(input)))


@elementwise(promote="float", inplace="function")
def tan(input: Array) -> Any:
    """The tangent."""
    return xp.tan(input)


tan.vjp(input=lambda g, y: g * conj(y * y + 1))


@elementwise(promote="float", inplace="function", aliases=("arcsin",))
def asin(input: Array) -> Any:
    """The angle whose sine is ``input``."""
    return xp.arcsin(input)


asin.vjp(input=lambda g, input: g * conj(rsqrt(1 - input * input)))


@elementwise(promote="float", inplace="function", aliases=("arccos",))
def acos(input: Array) -> Any:
    """The angle whose cosine is ``input``."""
    return xp.arccos(input)


acos.vjp(input=lambda g, input: -g * conj(rsqrt(1 - input * input)))


@elementwise(promote="float", quiet=True, inplace="function", aliases=("arctan",))
def atan(input: Array) -> Any:
    """The angle whose tangent is ``input``."""
    return xp.arctan(input)


atan.vjp(input=lambda g, input: g / conj(input * input + 1))


@elementwise(promote="float", inplace=True, numbers=(), aliases=("arctan2",),
             guard=kinds("f", "atan2_cpu"))
def atan2(input: Array, other: Array) -> Any:
    """The angle of the point with ordinate ``input`` and abscissa ``other``."""
    return xp.arctan2(input, other)


atan2.vjp(input=lambda g, input, other: g * (other * _inverse_square(input, other)),
          other=lambda g, input, other: g * (-input * _inverse_square(input, other)))


def _inverse_square(a: Any, b: Any) -> Any:
    found = reciprocal(a * a + b * b)
    return zeroed(found, isinf(found))


@elementwise(promote="float", inplace="function")
def sinh(input: Array) -> Any:
    """The hyperbolic sine."""
    return xp.sinh(input)


sinh.vjp(input=lambda g, input: g * conj(cosh(input)))


@elementwise(promote="float", inplace="function")
def cosh(input: Array) -> Any:
    """The hyperbolic cosine."""
    return xp.cosh(input)


cosh.vjp(input=lambda g, input: g * conj(sinh(input)))


@elementwise(promote="float", inplace="function", quiet=True)
def tanh(input: Array) -> Any:
    """The hyperbolic tangent."""
    return xp.tanh(input)


tanh.vjp(input=lambda g, y: g * conj(1 - y * y))


@elementwise(promote="float", inplace="function", aliases=("arcsinh",))
def asinh(input: Array) -> Any:
    """The number whose hyperbolic sine is ``input``."""
    return xp.arcsinh(input)


asinh.vjp(input=lambda g, input: g * conj(rsqrt(input * input + 1)))


@elementwise(promote="float", inplace="function", aliases=("arccosh",))
def acosh(input: Array) -> Any:
    """The number whose hyperbolic cosine is ``input``."""
    return xp.arccosh(input)


acosh.vjp(input=lambda g, input: g * conj(rsqrt(input * input - 1)))


@elementwise(promote="float", inplace="function", aliases=("arctanh",))
def atanh(input: Array) -> Any:
    """The number whose hyperbolic tangent is ``input``."""
    return xp.arctanh(input)


atanh.vjp(input=lambda g, input: g / conj(1 - input * input))


@elementwise(promote="float", inplace="function")
def sinc(input: Array) -> Any:
    """sin(πx) / πx, which is 1 at 0."""
    return arrays.sinc(input)


sinc.vjp(input=lambda g, input: g * conj(_sinc_slope(input)))


def _sinc_slope(input: Any) -> Any:
    angle = math.pi * input
    square = angle * input
    return zeroed((cos(angle) * angle - sin(angle)) / square, square == 0)


@elementwise(promote="float", inplace="function", quiet=True, node="Deg2RadBackward0",
             guard=kinds("bif", "deg2rad", c=(
                 RuntimeError, "deg2rad is not supported for complex tensors.")))
def deg2rad(input: Array) -> Any:
    """Degrees as radians."""
    return input * (math.pi / 180)


deg2rad.vjp(input=lambda g: g * (math.pi / 180))


@elementwise(promote="float", inplace="function", quiet=True, node="Rad2DegBackward0",
             guard=kinds("bif", "rad2deg", c=(
                 RuntimeError, "rad2deg is not supported for complex tensors.")))
def rad2deg(input: Array) -> Any:
    """Radians as degrees."""
    return input * (180 / math.pi)


rad2deg.vjp(input=lambda g: g * (180 / math.pi))

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
        input = arrays.bounded(input, eps, 1 - eps)
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
             title="xlogy",
             guard=kinds("f", "xlogy_cpu"))
def _xlogy_number(input: Array, other: Number) -> Any:
    return _xlogy_kernel(input, arrays.number_in(input.dtype, other))


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
