"""Element by element: arithmetic, comparison, elementary functions."""

from __future__ import annotations

from typing import Any

from ..backend import numpy as xp
from ..op import Array, Number, composite, elementwise
from ..tensor import Tensor

# ---------------------------------------------------------------- arithmetic


@elementwise(operator="add", inplace=True, quiet=True, fast="{0} + {1}")
def add(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Sum of ``input`` and ``alpha`` times ``other``, broadcast together."""
    return input + other if alpha == 1 else input + alpha * other


add.vjp(input=lambda g: g,
        other=lambda g, alpha: g if alpha == 1 else g * alpha)


@elementwise(operator="sub", inplace=True, quiet=True, fast="{0} - {1}")
def sub(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Difference of ``input`` and ``alpha`` times ``other``."""
    return input - other if alpha == 1 else input - alpha * other


sub.vjp(input=lambda g: g,
        other=lambda g, alpha: -g if alpha == 1 else g * -alpha)


@elementwise(operator="mul", inplace=True, quiet=True, fast="{0} * {1}", aliases=("multiply",))
def mul(input: Array, other: Array) -> Any:
    """Product of ``input`` and ``other``, broadcast together."""
    return xp.multiply(input, other)


mul.vjp(input=lambda g, other: g * conj(other),
        other=lambda g, input: g * conj(input))


@elementwise(promote="float", operator="truediv", inplace=True, fast="{0} / {1}")
def div(input: Array, other: Array) -> Any:
    """Quotient of ``input`` and ``other``; integers divide to the default float."""
    return xp.divide(input, other)


div.vjp(input=lambda g, other: g / conj(other),
        other=lambda g, input, other: -g * conj((input / other) / other))


@elementwise(operator="neg", inplace=True, quiet=True, fast="-{0}", aliases=("negative",))
def neg(input: Array) -> Any:
    """The negative."""
    return xp.negative(input)


neg.vjp(input=lambda g: -g)


@elementwise(quiet=True)
def conj(input: Array) -> Any:
    """The complex conjugate."""
    return xp.conj(input)


conj.vjp(input=lambda g: conj(g))


@elementwise(promote="float", inplace=True)
def exp(input: Array) -> Any:
    """e to the power of ``input``."""
    return xp.exp(input)


exp.vjp(input=lambda g, y: g * conj(y))


@elementwise(promote="float", inplace=True)
def sin(input: Array) -> Any:
    """The sine."""
    return xp.sin(input)


sin.vjp(input=lambda g, input: g * conj(cos(input)))


@elementwise(promote="float", inplace=True)
def cos(input: Array) -> Any:
    """The cosine."""
    return xp.cos(input)


cos.vjp(input=lambda g, input: -g * conj(sin(input)))


@elementwise(promote="float", inplace=True, quiet=True)
def tanh(input: Array) -> Any:
    """The hyperbolic tangent."""
    return xp.tanh(input)


tanh.vjp(input=lambda g, y: g * conj(1 - y * y))

Tensor.__radd__ = add  # type: ignore[attr-defined]
Tensor.__rmul__ = mul  # type: ignore[attr-defined]

__all__ = ["composite"]
