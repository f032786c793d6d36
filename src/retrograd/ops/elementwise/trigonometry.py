"""Trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from typing import Any

from ...backend import pointwise as pointwise_kernels
from ...backend import xp
from ...core.op import Array, elementwise
from ..checks.common import kinds
from .comparison import isinf
from .conjugate import conj
from .exponentials import reciprocal, rsqrt
from .where import zeroed


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
    return pointwise_kernels.sinc(input)


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
