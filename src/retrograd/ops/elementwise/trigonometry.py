"""Trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...core.op import Array, elementwise
from ..checks.common import kinds
from .comparison import isinf
from .conjugate import conj
from .exponentials import reciprocal, rsqrt
from .expressions import binary, unary
from .where import zeroed


@elementwise(promote="float", quiet=True, inplace="function")
def sin(input: Array) -> Any:
    """The sine."""
    return xp.sin(input)


sin.vjp(input=lambda g, input: g * conj(cos(input)))

# The same in one statement each: name, docstring, kernel, rule.
_function = partial(unary, promote="float", inplace="function")
cos = _function("cos", "The cosine.", lambda input: xp.cos(input),
                lambda g, input: -g * conj(sin(input)), quiet=True)
tan = _function("tan", "The tangent.", lambda input: xp.tan(input),
                lambda g, y: g * conj(y * y + 1))
asin = _function("asin", "The angle whose sine is ``input``.", lambda input: xp.arcsin(input),
                 lambda g, input: g * conj(rsqrt(1 - input * input)), aliases=("arcsin",))
acos = _function("acos", "The angle whose cosine is ``input``.", lambda input: xp.arccos(input),
                 lambda g, input: -g * conj(rsqrt(1 - input * input)), aliases=("arccos",))
atan = _function("atan", "The angle whose tangent is ``input``.", lambda input: xp.arctan(input),
                 lambda g, input: g / conj(input * input + 1), quiet=True, aliases=("arctan",))
atan2 = binary("atan2", "The angle of the point with ordinate ``input`` and abscissa ``other``.",
               lambda input, other: xp.arctan2(input, other), promote="float", inplace=True,
               numbers=(), aliases=("arctan2",), guard=kinds("f", "atan2_cpu"),
               input=lambda g, input, other: g * (other * _inverse_square(input, other)),
               other=lambda g, input, other: g * (-input * _inverse_square(input, other)))


def _inverse_square(a: Any, b: Any) -> Any:
    found = reciprocal(a * a + b * b)
    return zeroed(found, isinf(found))


sinh = _function("sinh", "The hyperbolic sine.", lambda input: xp.sinh(input),
                 lambda g, input: g * conj(cosh(input)))
cosh = _function("cosh", "The hyperbolic cosine.", lambda input: xp.cosh(input),
                 lambda g, input: g * conj(sinh(input)))
tanh = _function("tanh", "The hyperbolic tangent.", lambda input: xp.tanh(input),
                 lambda g, y: tanh_backward(g, conj(y)), quiet=True)
tanh_backward = binary("tanh_backward", "The gradient of :func:`tanh` where that is ``other``.",
                       lambda input, other: input * (1 - other * other), function=None,
                       method=False, numbers=(), quiet=True, node="TanhBackwardBackward0",
                       saved={"input": "grad_output", "other": "output"},
                       input=lambda g, other: tanh_backward(g, conj(other)),
                       other=lambda g, input, other: g * conj(input) * (-2 * conj(other)))
asinh = _function("asinh", "The number whose hyperbolic sine is ``input``.",
                  lambda input: xp.arcsinh(input),
                  lambda g, input: g * conj(rsqrt(input * input + 1)), aliases=("arcsinh",))
acosh = _function("acosh", "The number whose hyperbolic cosine is ``input``.",
                  lambda input: xp.arccosh(input),
                  lambda g, input: g * conj(rsqrt(input * input - 1)), aliases=("arccosh",))
atanh = _function("atanh", "The number whose hyperbolic tangent is ``input``.",
                  lambda input: xp.arctanh(input),
                  lambda g, input: g / conj(1 - input * input), aliases=("arctanh",))
sinc = _function("sinc", "sin(πx) / πx, which is 1 at 0.",
                 lambda input: pointwise_kernels.sinc(input),
                 lambda g, input: g * conj(_sinc_slope(input)))


def _sinc_slope(input: Any) -> Any:
    angle = math.pi * input
    square = angle * input
    return zeroed((cos(angle) * angle - sin(angle)) / square, square == 0)


def _only_real(name: str) -> Any:
    return kinds("bif", name, c=(RuntimeError, f"{name} is not supported for complex tensors."))


deg2rad = _function("deg2rad", "Degrees as radians.", lambda input: input * (math.pi / 180),
                    lambda g: g * (math.pi / 180), quiet=True, node="Deg2RadBackward0",
                    guard=_only_real("deg2rad"))
rad2deg = _function("rad2deg", "Radians as degrees.", lambda input: input * (180 / math.pi),
                    lambda g: g * (180 / math.pi), quiet=True, node="Rad2DegBackward0",
                    guard=_only_real("rad2deg"))
