"""Smooth activations on raw arrays, and what they pass on of a gradient."""

from __future__ import annotations

import math
from typing import Any

from .. import xp

ROOT_TWO_PI = math.sqrt(2 * math.pi)
SCALE, CUBIC = math.sqrt(2 / math.pi), 0.044715  # of the tangent in tanh_gelu


# ---------------------------------------------------------------- the normal distribution


def _bell(x: Any) -> Any:
    return xp.exp(x * x * -0.5)


def _probability(x: Any, bell: Any = None) -> Any:
    """The probability of a normal variable to be below ``x``, whose ``bell`` may be known."""
    return (xp.special("erf")(x * math.sqrt(0.5)) + 1) * 0.5


def gelu(x: Any) -> Any:
    """``x`` times the normal probability of being below it."""
    return _probability(x) * x


def gelu_gradient(g: Any, x: Any) -> Any:
    """``g`` times the derivative of :func:`gelu`."""
    bell = _bell(x)
    return (_probability(x, bell) + x * bell * (1 / ROOT_TWO_PI)) * g


# ---------------------------------------------------------------- approximated by a tangent


def _bend(x: Any) -> Any:
    return xp.tanh((x * x * (SCALE * CUBIC) + SCALE) * x)


def tanh_gelu(x: Any) -> Any:
    """:func:`gelu` with a hyperbolic tangent in place of the normal distribution."""
    return (_bend(x) + 1) * 0.5 * x


def tanh_gelu_gradient(g: Any, x: Any) -> Any:
    """``g`` times the derivative of :func:`tanh_gelu`."""
    bend = _bend(x)
    # Of 0.5 (1 + bend), the factor of x, and then of the bend's own change.
    change = (x * x * (3 * SCALE * CUBIC) + SCALE) * x * 0.5 * (1 - bend * bend)
    return ((bend + 1) * 0.5 + change) * g


# ---------------------------------------------------------------- sigmoid


def silu(x: Any) -> Any:
    """``x`` times its sigmoid."""
    return x / (xp.exp(-x) + 1)


def silu_gradient(g: Any, x: Any) -> Any:
    """``g`` times the derivative of :func:`silu`."""
    sigmoid = 1 / (xp.exp(-x) + 1)
    return sigmoid * ((1 - sigmoid) * x + 1) * g


# ---------------------------------------------------------------- sigmoid and tangent


def _gate_and_rest(x: Any) -> tuple[Any, Any, Any]:
    """exp(-|x|), and two numbers: the first over both is the tangent of the softplus of ``x``."""
    e = xp.exp(-xp.abs(x))
    return e, xp.where(x < 0, e * (e + 2), 2 * e + 1), xp.where(x < 0, e * 0 + 2, 2 * e * e)


def mish(x: Any) -> Any:
    """``x`` times the hyperbolic tangent of its softplus."""
    _, gate, rest = _gate_and_rest(x)
    return x * gate / (gate + rest)


def mish_gradient(g: Any, x: Any) -> Any:
    """``g`` times the derivative of :func:`mish`."""
    e, gate, rest = _gate_and_rest(x)
    whole, sigmoid = gate + rest, xp.where(x < 0, e, e * 0 + 1) / (e + 1)
    # One minus the square of a share, of which the rest is the other one.
    return (gate + x * sigmoid * rest * (2 * gate + rest) / whole) / whole * g
