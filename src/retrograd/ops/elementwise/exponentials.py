"""Roots, exponentials, logarithms, sigmoid and logit."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...core.op import PUBLIC, Array, Number, elementwise, publish
from ...core.tensor import Tensor
from ..checks.common import kinds
from ..memory.casts import in_dtype_of
from .conjugate import conj
from .expressions import binary, unary
from .number_operands import BOTH, publish_pair
from .where import zeroed

LOG2, LOG10 = math.log(2.0), math.log(10.0)
_function = partial(unary, promote="float", inplace="function")

# ---------------------------------------------------------------- roots

reciprocal = _function("reciprocal", "One over ``input``.", lambda input: xp.reciprocal(input),
                       lambda g, y: -g * conj(y * y))
sqrt = _function("sqrt", "The square root.", lambda input: xp.sqrt(input),
                 lambda g, y: g / (2 * conj(y)))
rsqrt = _function("rsqrt", "One over the square root.", lambda input: 1 / xp.sqrt(input),
                  lambda g, y: -0.5 * g * conj(y * y * y))

# ---------------------------------------------------------------- exponentials and logarithms

exp = _function("exp", "e to the power of ``input``.", lambda input: xp.exp(input),
                lambda g, y: g * conj(y), quiet=True)
exp2 = _function("exp2", "Two to the power of ``input``.", lambda input: xp.exp2(input),
                 lambda g, y: g * conj(y) * LOG2)
expm1 = _function("expm1", "e to the power of ``input``, minus one, exact for small ``input``.",
                  lambda input: xp.expm1(input), lambda g, y: g * conj(y + 1))
log = _function("log", "The natural logarithm.", lambda input: xp.log(input),
                lambda g, input: g / conj(input))
log2 = _function("log2", "The logarithm to base two.", lambda input: xp.log2(input),
                 lambda g, input: g / conj(input * LOG2))
log10 = _function("log10", "The logarithm to base ten.", lambda input: xp.log10(input),
                  lambda g, input: g / conj(input * LOG10))
log1p = _function(
    "log1p", "The natural logarithm of one plus ``input``, exact for small ``input``.",
    lambda input: pointwise_kernels.log1p(input), lambda g, input: g / conj(input + 1),
    node="Log1PBackward0")
logaddexp = binary("logaddexp", "The logarithm of the sum of exponentials.",
                   lambda input, other: pointwise_kernels.log_add_exp(input, other, False),
                   numbers=(), guard=kinds("fc", "logaddexp_cpu"),
                   input=lambda g, input, other: g / conj(1 + exp(other - input)),
                   other=lambda g, input, other: g / conj(1 + exp(input - other)))
logaddexp2 = binary("logaddexp2", "The logarithm to base two of the sum of powers of two.",
                    lambda input, other: pointwise_kernels.log_add_exp(input, other, True),
                    numbers=(), guard=kinds("f", "logaddexp2_cpu"),
                    input=lambda g, input, other: g / conj(1 + exp2(other - input)),
                    other=lambda g, input, other: g / conj(1 + exp2(input - other)))

# ---------------------------------------------------------------- sigmoid and logit

sigmoid = _function("sigmoid", "1 / (1 + exp(-x)).", lambda input: 1 / (1 + xp.exp(-input)),
                    lambda g, y: sigmoid_backward(g, conj(y)))
sigmoid_backward = binary(
    "sigmoid_backward", "The gradient of :func:`sigmoid` where that is ``other``.",
    lambda input, other: input * ((1 - other) * other), function=None, method=False, numbers=(),
    quiet=True, node="SigmoidBackwardBackward0",
    saved={"input": "grad_output", "other": "output"},
    input=lambda g, other: sigmoid_backward(g, conj(other)),
    other=lambda g, input, other: g * conj(input) * (1 - 2 * conj(other)))


@elementwise(promote="float", inplace="function", guard=kinds("f", "logit_cpu"),
             vjp=lambda g, input, eps: _logit_gradient(g, input, eps))
def logit(input: Array, eps: float | None = None) -> Any:
    """log(x / (1 - x)), with ``input`` held ``eps`` away from 0 and 1 if that is given."""
    if eps is not None:
        input = pointwise_kernels.bounded(input, eps, 1 - eps)
    return pointwise_kernels.logit(input)


def _logit_gradient(g: Any, input: Any, eps: float | None) -> Any:
    if eps is None:
        return logit_backward(g, input)
    return zeroed(g / (input * (1 - input)), (input < eps) | (input > 1 - eps))


@elementwise(function=None, method=False, numbers=(), node="WhereBackward0")
def logit_backward(input: Array, source: Array) -> Any:
    """``input`` times the derivative of :func:`logit` at ``source``."""
    return pointwise_kernels.logit_gradient(input, source)


def _logit_bend(g: Any, source: Any) -> Any:
    """``g`` over the variance of a choice of that probability, 0 where that is negative."""
    spread = source * (1 - source)
    return zeroed(g, spread < 0) / spread


def _logit_curve(g: Any, source: Any) -> Any:
    bend = _logit_bend(g, source) / (source * (1 - source))
    return bend * source - bend * (1 - source)


logit_backward.vjp(input=lambda g, source: _logit_bend(g, source),
                   source=lambda g, input, source: _logit_curve(g * input, source))


def log_like(result: Any, number: Any) -> Any:
    """The logarithm of ``number``, computed in the dtype of what it is a part of."""
    return log(number if number.dtype == result.dtype else in_dtype_of(result, number))


xlogy = binary("xlogy", "``input`` times the logarithm of ``other``, 0 where ``input`` is 0.",
               lambda input, other: pointwise_kernels.xlogy(input, other), numbers=(),
               promote="float", function=None, method=False, inplace=True,
               guard=kinds("f", "xlogy_cpu"),
               input=lambda g, input, other: g * zeroed(
                   log_like(g, other), (input == 0) & (other <= 0)),
               other=lambda g, input, other: g * (input / other))


@elementwise(promote="float", inplace=True, node="XlogyBackward2", title="xlogy",
             guard=kinds("f", "xlogy_cpu"), rounds="other",
             vjp=lambda g, input, other: _scaled_log(g, input, other))
def _xlogy_number(input: Array, other: Number) -> Any:
    return pointwise_kernels.xlogy(input, pointwise_kernels.number_in(input.dtype, other))


def _scaled_log(g: Any, input: Any, other: Any) -> Any:
    if other > 0:
        return g * math.log(other)
    return zeroed(g * (-math.inf if other == 0 else math.nan), input == 0)


_xlogy_of_number = binary(
    "_xlogy_of_number", None, lambda input, other: pointwise_kernels.xlogy(input, other),
    promote="float", numbers=BOTH, node="XlogyBackward1", title="xlogy",
    guard=kinds("f", "xlogy_cpu"),
    other=lambda g, input, other: g * (input / other))
_xlogy = publish_pair("xlogy", xlogy, _xlogy_number, _xlogy_of_number)
publish(_xlogy, "xlogy", function="special")
PUBLIC["torch"]["xlogy_"] = Tensor.xlogy_  # type: ignore[attr-defined]
