"""Smooth activations on NumPy arrays: large ones block by block, which stay in the cache."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies
from ..plain import smooth as plain
from ..plain.smooth import CUBIC, ROOT_TWO_PI, SCALE
from . import FLOAT32
from . import special as scipy_special
from .native import native
from .pointwise import bounded
from .rows import number

# In place, block by block: quicker from a few numbers on; single ones take the plain way.
_BLOCK = 1 << 16
_SMALL_BLOCK = 1 << 14  # from four times as many numbers BLAS takes threads, which cost more here


def _by_blocks(compute: Callable[[Any, Any], None], otherwise: Callable[..., Any], x: Any,
               size: int = _BLOCK, g: Any = None) -> Any:
    """What ``compute(x, out)`` writes, times ``g``; single numbers are left to ``otherwise``."""
    if not x.ndim or (g is not None and g.shape != x.shape):
        return otherwise(x) if g is None else otherwise(g, x)
    out = np.empty(x.shape, x.dtype)
    if x.size <= size:
        compute(x, out)
        return out if g is None else np.multiply(out, g, out)
    source, target = x.reshape(-1), out.reshape(-1)
    factors = None if g is None else g.reshape(-1)
    for i in range(0, x.size, size):
        part = target[i:i + size]
        compute(source[i:i + size], part)
        if factors is not None:
            np.multiply(part, factors[i:i + size], part)
    return out


# ---------------------------------------------------------------- the normal distribution

# SciPy's function takes its numbers one at a time; a quotient of polynomials in x², evaluated for
# a whole block by one matrix product, is as exact as float32 needs. Its coefficients, rising, make
# the largest relative error of erf(x) / x up to x = 4 as small as it gets, which is 2.5e-8.
_ABOVE = (1.12837914, 1.93545538e-01, 5.31017929e-02, 3.88335929e-03, 2.84565492e-04,
          1.98676986e-06)
_BELOW = (1, 5.04857823e-01, 1.15350183e-01, 1.52072832e-02, 1.18557337e-03, 3.74200214e-05)
_WORTH_A_PRODUCT = 2048


# For the normal distribution, which is half of erf(x / sqrt(2)).
_QUOTIENT = np.array([[a * 0.5 ** (k + 1.5) for k, a in enumerate(_ABOVE)],
                      [b * 0.5 ** k for k, b in enumerate(_BELOW)]], FLOAT32)


def _put_probability(x: Any, out: Any) -> None:
    """The probability of a normal variable to be below ``x``."""
    if x.dtype != FLOAT32 or x.size < _WORTH_A_PRODUCT:
        np.multiply(x, number(math.sqrt(0.5), x.dtype), out)
        scipy_special("erf")(out, out)
        np.add(out, number(1, x.dtype), out)
        np.multiply(out, number(0.5, x.dtype), out)
        return
    # Beyond the bounds the probability is 0 or 1 to all digits.
    bound = 4 * math.sqrt(2)
    inside = bounded(x.reshape(-1), -bound, bound)
    powers = np.empty((6, x.size), FLOAT32)
    one, first, second, third, fourth, fifth = powers
    one.fill(1)
    np.multiply(inside, inside, first)
    np.multiply(first, first, second)
    np.multiply(first, second, third)
    np.multiply(second, second, fourth)
    np.multiply(second, third, fifth)
    above, below = _QUOTIENT.dot(powers)
    inside *= above
    inside /= below
    np.add(inside.reshape(x.shape), number(0.5, FLOAT32), out)


@native("gelu(x, like(x))", when="x.ndim and ready(x)")
def gelu(x: Any) -> Any:
    return _by_blocks(_put_gelu, plain.gelu, x, _SMALL_BLOCK)


def _put_gelu(x: Any, out: Any) -> None:
    _put_probability(x, out)
    np.multiply(out, x, out)


@native("gelu_gradient(g, x, like(x))", when="x.ndim and alike(g, x)")
def gelu_gradient(g: Any, x: Any) -> Any:
    return _by_blocks(_put_gelu_slope, plain.gelu_gradient, x, _SMALL_BLOCK, g)


def _put_gelu_slope(x: Any, out: Any) -> None:
    _put_probability(x, out)
    density = x * x
    density *= number(-0.5, x.dtype)
    np.exp(density, density)
    density *= number(1 / ROOT_TWO_PI, x.dtype)
    density *= x
    np.add(out, density, out)


# ---------------------------------------------------------------- approximated by a tangent


@native("tanh_gelu(x, like(x))", when="x.ndim and ready(x)")
def tanh_gelu(x: Any) -> Any:
    return _by_blocks(_put_tanh_gelu, plain.tanh_gelu, x)


def _put_bend(x: Any, square: Any, out: Any) -> None:
    """The tangent; ``square`` is that of ``x``."""
    np.multiply(square, number(SCALE * CUBIC, x.dtype), out)
    np.add(out, number(SCALE, x.dtype), out)
    np.multiply(out, x, out)
    np.tanh(out, out)


def _put_tanh_gelu(x: Any, out: Any) -> None:
    _put_bend(x, x * x, out)
    np.add(out, number(1, x.dtype), out)
    np.multiply(out, number(0.5, x.dtype), out)
    np.multiply(out, x, out)


@native("tanh_gelu_gradient(g, x, like(x))", when="x.ndim and alike(g, x)")
def tanh_gelu_gradient(g: Any, x: Any) -> Any:
    return _by_blocks(_put_tanh_gelu_slope, plain.tanh_gelu_gradient, x, g=g)


def _put_tanh_gelu_slope(x: Any, out: Any) -> None:
    one, half = number(1, x.dtype), number(0.5, x.dtype)
    square = x * x
    _put_bend(x, square, out)
    # Of 0.5 (1 + bend), the factor of x, and then of the bend's own change.
    square *= number(3 * SCALE * CUBIC, x.dtype)
    square += number(SCALE, x.dtype)
    square *= x
    square *= half
    rest = out * out
    np.subtract(one, rest, rest)
    square *= rest
    np.add(out, one, out)
    np.multiply(out, half, out)
    np.add(out, square, out)


# ---------------------------------------------------------------- sigmoid


@native("silu(x, like(x))", when="x.ndim and ready(x)")
def silu(x: Any) -> Any:
    return _by_blocks(_put_silu, plain.silu, x)


def _put_silu(x: Any, out: Any) -> None:
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, number(1, x.dtype), out)
    np.divide(x, out, out)


@native("silu_gradient(g, x, like(x))", when="x.ndim and alike(g, x)")
def silu_gradient(g: Any, x: Any) -> Any:
    return _by_blocks(_put_silu_slope, plain.silu_gradient, x, g=g)


def _put_silu_slope(x: Any, out: Any) -> None:
    one = number(1, x.dtype)
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, one, out)
    np.divide(one, out, out)
    rest = one - out
    rest *= x
    rest += one
    np.multiply(out, rest, out)


fill_with_plain_bodies(globals(), plain)
