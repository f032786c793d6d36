"""Activations of neural networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ...backend import pointwise as pointwise_kernels, smooth as smooth_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...core.binding import raw_body
from ...core.op import (
    PUBLIC,
    Array,
    Dim,
    Flag,
    Number,
    composite,
    elementwise,
    op,
    public,
    publish,
)
from ...core.operands import fitted
from ...core.out_rules import CASTABLE, Out
from ...core.signatures import named
from ...core.tensor import Tensor
from ..checks.common import check_half, kinds
from ..elementwise.arithmetic import abs
from ..elementwise.clamping import _bounded, _clamp_max_number
from ..elementwise.conjugate import conj
from ..elementwise.exponentials import exp, sigmoid
from ..elementwise.expressions import unary
from ..elementwise.number_operands import in_place
from ..elementwise.trigonometry import tanh
from ..elementwise.where import kept, where, zeroed, zeroed_by, zeros_as
from ..shapes.joining import _cat
from ..shapes.reshaping import reshape
from ..shapes.slicing import _slice

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_GELU_SCALE, _GELU_CUBIC = math.sqrt(2 / math.pi), 0.044715


def functional(name: str, doc: str | None = None) -> Callable[[Any], Any]:
    """Publish the function below in ``nn.functional`` alone."""

    def declare(function: Any) -> Any:
        publish(named(name, doc)(function), name, method=False, function="nn.functional")
        return function

    return declare


def _with_inplace(made: Any, written: Any = None) -> Any:
    """Publish an activation of ``input`` alone with its ``inplace`` switch."""
    written = written or in_place(made)

    @functional(made.__name__, made.__doc__)
    def function(input: Tensor, inplace: Flag = False) -> Tensor:
        return written(input) if inplace else made(input)

    return made


# ---------------------------------------------------------------- pieces of lines


relu = _with_inplace(unary(
    "relu", "``input``, or 0 where it is negative.",
    lambda input: pointwise_kernels.rectified(input),
    lambda g, y: zeroed_by(g, y, y <= 0), inplace="function", quiet=True, guard=kinds(
        "if", "relu", b=(RuntimeError, "Boolean inputs not supported for relu"),
        c=(NotImplementedError, "clamp is not supported for complex types"))))


@elementwise(function="nn.functional", method=False, inplace=True, quiet=True,
             guard=lambda given, common: _check_hardtanh(given, common),
             vjp=lambda g, input, min_val, max_val:
             zeroed_by(g, input, (input <= min_val) | (input >= max_val)))
def hardtanh(input: Array, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """``input`` held between two bounds, where the gradient stops."""
    if kind_of(input.dtype) in "iu":
        return _bounded(input, int(min_val), int(max_val))
    return pointwise_kernels.bounded(input, min_val, max_val)


def _check_hardtanh(given: dict[str, Any], common: dtypes.dtype) -> None:
    kinds("if", "hardtanh", b=(RuntimeError, "Bool inputs not supported for hardtanh"),
          c=(NotImplementedError, "clamp is not supported for complex types"))(given, common)
    if common is dtypes.uint8 and (given["min_val"] <= -1 or given["max_val"] <= -1):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    check_half(common, given["min_val"], given["max_val"])


@functional("hardtanh")
def _hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0,
              inplace: Flag = False) -> Tensor:
    """``input`` held between two bounds, where the gradient stops."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (in_place(hardtanh) if inplace else hardtanh)(input, min_val, max_val)


@functional("relu6")
def _relu6(input: Tensor, inplace: Flag = False) -> Tensor:
    """``input`` held between 0 and 6."""
    return (in_place(hardtanh) if inplace else hardtanh)(input, 0, 6)


@elementwise(function=None, method=False, inplace=True, guard=kinds("f", "leaky_relu_cpu"),
             vjp=lambda g, input, negative_slope: _leaky_gradient(g, input, negative_slope))
def leaky_relu(input: Array, negative_slope: float = 0.01) -> Any:
    """``input``, times a small slope where it is negative."""
    return pointwise_kernels.leaky(input, negative_slope)


@elementwise(function=None, method=False, quiet=True, node="LeakyReluBackwardBackward0",
             vjp=lambda g: zeros_as(g))
def leaky_slope(input: Array, negative_slope: float) -> Any:
    """The derivative of :func:`leaky_relu`."""
    return pointwise_kernels.slope_of_leaky(input, negative_slope)


def _leaky_gradient(g: Any, input: Any, negative_slope: float) -> Any:
    return g * leaky_slope(input, negative_slope)


@raw_body(_leaky_gradient)
def _(g: Any, input: Any, negative_slope: float) -> Any:
    return pointwise_kernels.leaky_gradient(g, input, negative_slope)


@functional("leaky_relu")
def _leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: Flag = False) -> Tensor:
    """``input``, times a small slope where it is negative."""
    return (in_place(leaky_relu) if inplace else leaky_relu)(input, negative_slope)


@elementwise(function="torch", method=False, inplace="function", guard=kinds("if", "threshold_cpu"),
             within=("value",), out=Out(CASTABLE),
             vjp=lambda g, input, threshold: zeroed_by(g, input, input <= threshold))
def threshold(input: Array, threshold: Number, value: Number) -> Any:
    """``input``, or ``value`` where it is not above ``threshold``."""
    threshold = fitted(threshold, input.dtype)
    return xp.where(input <= threshold, pointwise_kernels.number_in(input.dtype, value), input)


@functional("threshold")
def _threshold(input: Tensor, threshold: float, value: float, inplace: Flag = False) -> Tensor:
    """``input``, or ``value`` where it is not above ``threshold``."""
    made = PUBLIC["torch"]["threshold_" if inplace else "threshold"]
    return made(input, threshold, value)


# PyTorch's slope is the single precision sixth, in every dtype.
_SIXTH = 0.1666666716337204

_activation = partial(unary, function="nn.functional", method=False)
hardsigmoid = _with_inplace(_activation(
    "hardsigmoid", "A sigmoid of three straight pieces.",
    lambda input: pointwise_kernels.bounded(input + 3, 0, 6) / 6,
    lambda g, input: kept(g * _SIXTH, (input > -3) & (input < 3)), inplace=True, quiet=True,
    guard=kinds("f", "hardsigmoid_cpu")))
hardswish = _with_inplace(_activation(
    "hardswish", "``input`` times :func:`hardsigmoid` of it.",
    lambda input: input * pointwise_kernels.bounded(input + 3, 0, 6) / 6,
    lambda g, input: where(input < 3, zeroed(g * (input / 3 + 0.5), input <= -3), g),
    inplace=True, quiet=True, guard=kinds("f", "hardswish_cpu")))


def _check_lambda(input: Any, lambd: float) -> None:
    if 0 <= lambd <= 65504:  # which every dtype can hold
        return
    dtype = dtypes.from_numpy_dtype(input.dtype)
    largest = dtypes.finfo(dtype).max
    if not 0 <= lambd <= largest:
        raise RuntimeError(f"lambda must be in range [0, {largest:g}] for input dtype "
                           f"{dtype.alias}, but found {lambd:g}")


@elementwise(function="nn.functional", method=False, quiet=True,
             guard=kinds("f", "softshrink_check"))
def softshrink(input: Array, lambd: float = 0.5) -> Any:
    """``input`` moved towards 0 by ``lambd``, and no farther than 0."""
    _check_lambda(input, lambd)
    return input - pointwise_kernels.bounded(input, -lambd, lambd)


def _check_hardshrink(given: dict[str, Any], common: dtypes.dtype) -> None:
    kinds("f", "hardshrink_cpu")(given, common)
    check_half(common, given["lambd"])


@elementwise(quiet=True, guard=_check_hardshrink, rounds="lambd")
def hardshrink(input: Array, lambd: float = 0.5) -> Any:
    """``input``, or 0 where it is no farther than ``lambd`` from 0."""
    return pointwise_kernels.zeroed(input, (input >= -lambd) & (input <= lambd))


for _shrink in (softshrink, hardshrink):
    _shrink.vjp(input=lambda g, input, lambd:
                zeroed_by(g, input, (input >= -lambd) & (input <= lambd)))


@elementwise(numbers=(), node="PreluKernelBackward0", guard=kinds("f", "prelu_cpu"))
def _prelu_kernel(input: Array, weight: Array) -> Any:
    return xp.where(input > 0, input, input * weight)


_prelu_kernel.vjp(input=lambda g, input, weight: where(input > 0, g, g * weight),
                  weight=lambda g, input: zeroed(g * input, input > 0))


@composite(method=True)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``input``, times a learned slope where it is negative; one slope, or one per channel."""
    if input.dtype is not weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype.alias} and "
                           f"{weight.dtype.alias}")
    if weight.ndim > 1:
        raise RuntimeError("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
                           f"{weight.ndim}")
    if weight.numel() != 1:
        if not input.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError("Mismatch of parameter numbers and input channel size. Found "
                               f"parameter numbers = {weight.numel()} and channel size = "
                               f"{channels}.")
    if weight.ndim != input.ndim:
        shape = [1] * input.ndim
        if input.ndim > 1:
            shape[1] = weight.numel()
        weight = reshape(weight, shape)
    return _prelu_kernel(input, weight)


# ---------------------------------------------------------------- exponential units


@elementwise(function=None, method=False, inplace=True, node="EluBackward0",
             guard=kinds("f", "elu_cpu"))
def elu(input: Array, alpha: Number = 1.0, scale: Number = 1, input_scale: Number = 1) -> Any:
    """``input``, bent towards ``-alpha`` where it is negative."""
    low = xp.expm1(xp.minimum(input, 0) * input_scale) * (alpha * scale)
    return xp.where(input < 0, low, input * scale)  # which keeps the sign of zeros


elu.vjp(input=lambda g, input, alpha, scale, input_scale: where(
    input <= 0, g * (alpha * scale * input_scale * _low_exp(input, input_scale)), g * scale))


def _low_exp(input: Any, scale: Any) -> Any:
    """Exponentials of the negative elements; the rest is not let overflow."""
    return exp(_clamp_max_number(input, 0) * scale)


@functional("elu")
def _elu(input: Tensor, alpha: float = 1.0, inplace: Flag = False) -> Tensor:
    """``input``, bent towards ``-alpha`` where it is negative."""
    return (in_place(elu) if inplace else elu)(input, alpha)


@composite()
def selu(input: Tensor) -> Tensor:
    """:func:`elu` scaled so that it keeps mean 0 and variance 1."""
    return elu(input, SELU_ALPHA, SELU_SCALE)


@public("selu_", method=False)
def selu_(input: Tensor) -> Tensor:
    """In-place version of :func:`selu`."""
    return in_place(elu)(input, SELU_ALPHA, SELU_SCALE)


_with_inplace(selu, selu_)


@elementwise(function="torch", method=False, inplace="function", guard=kinds("f", "elu_cpu"),
             vjp=lambda g, input, alpha: where(input <= 0, g * _low_exp(input, 1 / alpha), g))
def celu(input: Array, alpha: Number = 1.0) -> Any:
    """An :func:`elu` whose slope is continuous for every ``alpha``."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return xp.where(input < 0, xp.expm1(xp.minimum(input, 0) / alpha) * alpha, input)


@functional("celu")
def _celu(input: Tensor, alpha: float = 1.0, inplace: Flag = False) -> Tensor:
    """An :func:`elu` whose slope is continuous for every ``alpha``."""
    return PUBLIC["torch"]["celu_" if inplace else "celu"](input, alpha)


# ---------------------------------------------------------------- smooth units


@elementwise(function="nn.functional", method=False, guard=kinds("f", "GeluKernelImpl"),
             vjp=lambda g, input, approximate: gelu_backward(g, input, approximate))
def gelu(input: Array, *, approximate: str = "none") -> Any:
    """``input`` times the normal probability of being below it."""
    if approximate == "none":
        return smooth_kernels.gelu(input)
    if approximate != "tanh":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return smooth_kernels.tanh_gelu(input)


@elementwise(function=None, method=False, numbers=(), node="GeluBackwardBackward0")
def gelu_backward(input: Array, source: Array, approximate: str) -> Any:
    """``input`` times the derivative of :func:`gelu` at ``source``."""
    slope = smooth_kernels.gelu_gradient if approximate == "none" \
        else smooth_kernels.tanh_gelu_gradient
    return slope(input, source)


gelu_backward.vjp(
    input=lambda g, source, approximate: gelu_backward(g, source, approximate),
    source=lambda g, input, source, approximate: g * input * (
        _gelu_curve(source) if approximate == "none" else _tanh_gelu_curve(source)))


def _gelu_curve(input: Any) -> Any:
    return exp(-0.5 * input * input) * (2 - input * input) / _ROOT_TWO_PI


def _tanh_gelu_curve(input: Any) -> Any:
    square = input * input
    bend = tanh(_GELU_SCALE * input * (1 + _GELU_CUBIC * square))
    slope = _GELU_SCALE * (1 + 3 * _GELU_CUBIC * square)
    rest = 1 - bend * bend
    return rest * slope + 0.5 * input * rest * (
        6 * _GELU_SCALE * _GELU_CUBIC * input - 2 * bend * slope * slope)


silu = _with_inplace(_activation(
    "silu", "``input`` times its sigmoid.", lambda input: smooth_kernels.silu(input),
    lambda g, input: silu_backward(g, conj(input)), inplace=True, guard=kinds("fc", "silu_cpu")))


@elementwise(function=None, method=False, numbers=(), node="SiluBackwardBackward0")
def silu_backward(input: Array, source: Array) -> Any:
    """``input`` times the derivative of :func:`silu` at ``source``."""
    return smooth_kernels.silu_gradient(input, source)


silu_backward.vjp(
    input=lambda g, source: silu_backward(g, conj(source)),
    source=lambda g, input, source: g * conj(input * _silu_curve(source, sigmoid(source))))


def _silu_curve(input: Any, s: Any) -> Any:
    return s * (1 - s) * (2 + input * (1 - 2 * s))


mish = _with_inplace(_activation(
    "mish", "``input`` times the hyperbolic tangent of its softplus.",
    lambda input: smooth_kernels.mish(input), lambda g, input: _mish_gradient(g, input),
    inplace=True, guard=kinds("f", "mish_cpu")))


def _mish_gradient(g: Any, input: Any) -> Any:
    bend = tanh(softplus(input))
    return g * (bend + input * sigmoid(input) * (1 - bend * bend))


@raw_body(_mish_gradient)
def _(g: Any, input: Any) -> Any:
    return smooth_kernels.mish_gradient(g, input)


@elementwise(function="nn.functional", method=False, guard=kinds("f", "softplus_cpu"),
             vjp=lambda g, input, beta, threshold:
             where(input * beta > threshold, g, g * _share(input * beta)))
def softplus(input: Array, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(βx)) / β, and ``input`` itself where βx is beyond ``threshold``."""
    scaled = input * beta
    return xp.where(scaled > threshold, input, xp.log1p(xp.exp(scaled)) / beta)


def _share(input: Any) -> Any:
    return sigmoid(input)


@raw_body(_share)
def _(input: Any) -> Any:
    # By an exponential that does not overflow, and of which small shares keep the digits.
    e = xp.exp(xp.copysign(input, -1))
    return xp.where(input < 0, e, xp.ones((), input.dtype)) / (e + 1)


logsigmoid = _activation(
    "logsigmoid", "The logarithm of the sigmoid, exact at both ends.",
    lambda input: xp.in_rows(xp.minimum(input, 0) - xp.log1p(xp.exp(xp.copysign(input, -1)))),
    lambda g, input: g * _share(-input), node="LogSigmoidBackward0",
    guard=kinds("f", "log_sigmoid_cpu"),
    out=Out("expected scalar type {result} but found {out}", silent=True))


@composite(function="nn.functional")
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (abs(input) + 1)


@composite(function="nn.functional")
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - tanh(input)

# ---------------------------------------------------------------- gates


_floats_to_halve = kinds("f", "glu_cpu")


def _halves(given: dict[str, Any], common: dtypes.dtype) -> None:
    if not given["input"].ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    _floats_to_halve(given, common)


@op(function="nn.functional", method=False, guard=_halves,
    vjp=lambda g, input, dim: _glu_gradient(g, input, dim))
def glu(input: Array, dim: Dim = -1) -> Any:
    """The first half of ``input`` along ``dim``, times the sigmoid of the second."""
    if input.shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size "
                           f"{input.shape[dim]}")
    first, second = xp.split(input, 2, axis=dim)
    return first / (1 + xp.exp(-second))


def _glu_gradient(g: Any, input: Any, dim: int) -> Any:
    half = input.shape[dim] // 2
    first, second = _slice(input, dim, 0, half, 1), _slice(input, dim, half, 2 * half, 1)
    gate = sigmoid(second)
    return _cat([g * gate, g * first * (gate * (1 - gate))], dim)


# ---------------------------------------------------------------- in-place names of nn.functional

for _name, _written in {"hardtanh_": in_place(hardtanh), "leaky_relu_": in_place(leaky_relu),
                        "elu_": in_place(elu)}.items():
    PUBLIC["nn.functional"][_name] = _written
for _name in ("hardtanh_", "leaky_relu_", "elu_", "hardsigmoid_", "hardswish_", "silu_", "mish_",
              "threshold_", "celu_"):
    delattr(Tensor, _name)
