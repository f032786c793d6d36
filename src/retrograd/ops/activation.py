"""Activations of neural networks, softmax and dropout."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..backend import pointwise as arrays
from ..backend import smooth as curves
from ..backend import softmax as exponentials
from ..backend import xp
from ..base import dtypes
from ..base.errors import REQUIRED
from ..base.warning import warn
from ..core.general import wrap_any
from ..core.op import PUBLIC, Array, Dim, Index, Number, composite, elementwise, op, publish
from ..core.tensor import Tensor, wrap
from .bounds import _clamp_max_number
from .convert import cast
from .elementary import exp, log, sigmoid, tanh
from .join import _cat
from .masking import kept, where, zeroed, zeroed_by, zeros_as
from .overloads import in_place, kinds
from .parts import _slice
from .pointwise import abs
from .reduce import _sum_dims
from .shape import reshape
from .special import erf

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_GELU_SCALE, _GELU_CUBIC = math.sqrt(2 / math.pi), 0.044715


def _functional(function: Any, name: str) -> Any:
    """Publish ``function`` in ``nn.functional`` alone."""
    function.__name__ = function.__qualname__ = name
    publish(function, name, method=False, function="nn.functional")
    return function


def _with_inplace(name: str, made: Any, written: Any = None) -> None:
    """Publish an activation of ``input`` alone with its ``inplace`` switch."""
    written = written or in_place(made)

    def function(input: Tensor, inplace: bool = False) -> Tensor:
        return written(input) if inplace else made(input)

    function.__doc__ = made.__doc__
    _functional(function, name)


# ---------------------------------------------------------------- pieces of lines


@elementwise(inplace="function", quiet=True, guard=kinds(
    "if", "relu", b=(RuntimeError, "Boolean inputs not supported for relu"),
    c=(NotImplementedError, "clamp is not supported for complex types")))
def relu(input: Array) -> Any:
    """``input``, or 0 where it is negative."""
    return arrays.bounded(input, 0, None)


relu.vjp(input=lambda g, y: zeroed_by(g, y, y <= 0))
_with_inplace("relu", relu)


@elementwise(function="nn.functional", method=False, inplace=True, quiet=True,
             guard=lambda given, common: _check_hardtanh(given, common))
def hardtanh(input: Array, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """``input`` held between two bounds, where the gradient stops."""
    if input.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
    return arrays.bounded(input, min_val, max_val)


def _check_hardtanh(given: dict[str, Any], common: dtypes.dtype) -> None:
    kinds("if", "hardtanh", b=(RuntimeError, "Bool inputs not supported for hardtanh"),
          c=(NotImplementedError, "clamp is not supported for complex types"))(given, common)
    if common is dtypes.uint8 and (given["min_val"] < 0 or given["max_val"] < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")


hardtanh.vjp(input=lambda g, input, min_val, max_val:
             zeroed_by(g, input, (input <= min_val) | (input >= max_val)))


def _hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0,
              inplace: bool = False) -> Tensor:
    """``input`` held between two bounds, where the gradient stops."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (in_place(hardtanh) if inplace else hardtanh)(input, min_val, max_val)


_functional(_hardtanh, "hardtanh")


def _relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``input`` held between 0 and 6."""
    return (in_place(hardtanh) if inplace else hardtanh)(input, 0, 6)


_functional(_relu6, "relu6")


@elementwise(function=None, method=False, inplace=True, guard=kinds("f", "leaky_relu_cpu"))
def leaky_relu(input: Array, negative_slope: float = 0.01) -> Any:
    """``input``, times a small slope where it is negative."""
    return arrays.leaky(input, negative_slope)


leaky_relu.vjp(input=lambda g, input, negative_slope: g * leaky_slope(input, negative_slope))


@elementwise(function=None, method=False, quiet=True, node="LeakyReluBackwardBackward0")
def leaky_slope(input: Array, negative_slope: float) -> Any:
    """The derivative of :func:`leaky_relu`."""
    return arrays.slope_of_leaky(input, negative_slope)


leaky_slope.vjp(input=lambda g: zeros_as(g))


def _leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input``, times a small slope where it is negative."""
    return (in_place(leaky_relu) if inplace else leaky_relu)(input, negative_slope)


_functional(_leaky_relu, "leaky_relu")


@elementwise(function="torch", method=False, inplace="function",
             guard=kinds("if", "threshold_cpu"))
def threshold(input: Array, threshold: Number, value: Number) -> Any:
    """``input``, or ``value`` where it is not above ``threshold``."""
    return xp.where(input <= threshold, arrays.number_in(input.dtype, value), input)


threshold.vjp(input=lambda g, input, threshold: zeroed_by(g, input, input <= threshold))


def _threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input``, or ``value`` where it is not above ``threshold``."""
    made = PUBLIC["torch"]["threshold_" if inplace else "threshold"]
    return made(input, threshold, value)


_functional(_threshold, "threshold")


@elementwise(function="nn.functional", method=False, inplace=True, quiet=True,
             guard=kinds("f", "hardsigmoid_cpu"))
def hardsigmoid(input: Array) -> Any:
    """A sigmoid of three straight pieces."""
    return arrays.bounded(input + 3, 0, 6) / 6


# PyTorch's slope is the single precision sixth, in every dtype.
_SIXTH = 0.1666666716337204

hardsigmoid.vjp(input=lambda g, input: kept(g * _SIXTH, (input > -3) & (input < 3)))
_with_inplace("hardsigmoid", hardsigmoid)


@elementwise(function="nn.functional", method=False, inplace=True, quiet=True,
             guard=kinds("f", "hardswish_cpu"))
def hardswish(input: Array) -> Any:
    """``input`` times :func:`hardsigmoid` of it."""
    return input * arrays.bounded(input + 3, 0, 6) / 6


hardswish.vjp(input=lambda g, input: where(
    input < 3, zeroed(g * (input / 3 + 0.5), input <= -3), g))
_with_inplace("hardswish", hardswish)


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
    return input - arrays.bounded(input, -lambd, lambd)


@elementwise(quiet=True, guard=kinds("f", "hardshrink_cpu"))
def hardshrink(input: Array, lambd: float = 0.5) -> Any:
    """``input``, or 0 where it is no farther than ``lambd`` from 0."""
    return arrays.zeroed(input, (input >= -lambd) & (input <= lambd))


for _shrink in (softshrink, hardshrink):
    _shrink.vjp(input=lambda g, input, lambd:
                zeroed_by(g, input, (input >= -lambd) & (input <= lambd)))


@elementwise(function=None, method=False, numbers=(), node="PreluKernelBackward0",
             guard=kinds("f", "prelu_cpu"))
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
    return xp.where(input > 0, input * scale, low)


elu.vjp(input=lambda g, input, alpha, scale, input_scale: where(
    input <= 0, g * (alpha * scale * input_scale * _low_exp(input, input_scale)), g * scale))


def _low_exp(input: Any, scale: Any) -> Any:
    """Exponentials of the negative elements; the rest is not let overflow."""
    return exp(_clamp_max_number(input, 0) * scale)


def _elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input``, bent towards ``-alpha`` where it is negative."""
    return (in_place(elu) if inplace else elu)(input, alpha)


_functional(_elu, "elu")


@composite()
def selu(input: Tensor) -> Tensor:
    """:func:`elu` scaled so that it keeps mean 0 and variance 1."""
    return elu(input, SELU_ALPHA, SELU_SCALE)


def selu_(input: Tensor) -> Tensor:
    """In-place version of :func:`selu`."""
    return in_place(elu)(input, SELU_ALPHA, SELU_SCALE)


publish(selu_, "selu_", method=False)
_with_inplace("selu", selu, selu_)


@elementwise(function="torch", method=False, inplace="function", guard=kinds("f", "elu_cpu"))
def celu(input: Array, alpha: Number = 1.0) -> Any:
    """An :func:`elu` whose slope is continuous for every ``alpha``."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return xp.where(input > 0, input, xp.expm1(xp.minimum(input, 0) / alpha) * alpha)


celu.vjp(input=lambda g, input, alpha: where(input <= 0, g * _low_exp(input, 1 / alpha), g))


def _celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """An :func:`elu` whose slope is continuous for every ``alpha``."""
    return PUBLIC["torch"]["celu_" if inplace else "celu"](input, alpha)


_functional(_celu, "celu")

# ---------------------------------------------------------------- smooth units


def _check_gelu(given: dict[str, Any], common: dtypes.dtype) -> None:
    kinds("f", "GeluKernelImpl")(given, common)


@elementwise(function="nn.functional", method=False, guard=_check_gelu)
def gelu(input: Array, *, approximate: str = "none") -> Any:
    """``input`` times the normal probability of being below it."""
    if approximate == "none":
        return curves.gelu(input)
    if approximate != "tanh":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return curves.tanh_gelu(input)


gelu.vjp(input=lambda g, input, approximate: gelu_backward(g, input, approximate))


@elementwise(function=None, method=False, numbers=(), node="GeluBackwardBackward0")
def gelu_backward(input: Array, source: Array, approximate: str) -> Any:
    """``input`` times the derivative of :func:`gelu` at ``source``."""
    slope = curves.gelu_gradient if approximate == "none" else curves.tanh_gelu_gradient
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


@elementwise(function="nn.functional", method=False, inplace=True,
             guard=kinds("fc", "silu_cpu"))
def silu(input: Array) -> Any:
    """``input`` times its sigmoid."""
    return curves.silu(input)


silu.vjp(input=lambda g, input: silu_backward(g, input))


@elementwise(function=None, method=False, numbers=(), node="SiluBackwardBackward0")
def silu_backward(input: Array, source: Array) -> Any:
    """``input`` times the derivative of :func:`silu` at ``source``."""
    return curves.silu_gradient(input, source)


silu_backward.vjp(
    input=lambda g, source: silu_backward(g, source),
    source=lambda g, input, source: g * input * _silu_curve(source, sigmoid(source)))


def _silu_curve(input: Any, s: Any) -> Any:
    return s * (1 - s) * (2 + input * (1 - 2 * s))


_with_inplace("silu", silu)


@elementwise(function="nn.functional", method=False, inplace=True, guard=kinds("f", "mish_cpu"))
def mish(input: Array) -> Any:
    """``input`` times the hyperbolic tangent of its softplus."""
    return input * xp.tanh(xp.logaddexp(input, 0))


mish.vjp(input=lambda g, input: g * _mish_slope(input, tanh(softplus(input)), sigmoid(input)))


def _mish_slope(input: Any, bend: Any, s: Any) -> Any:
    return bend + input * s * (1 - bend * bend)


_with_inplace("mish", mish)


@elementwise(function="nn.functional", method=False, guard=kinds("f", "softplus_cpu"))
def softplus(input: Array, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(βx)) / β, and ``input`` itself where βx is beyond ``threshold``."""
    scaled = input * beta
    return xp.where(scaled > threshold, input, xp.log1p(xp.exp(scaled)) / beta)


softplus.vjp(input=lambda g, input, beta, threshold: where(
    input * beta > threshold, g, g * sigmoid(input * beta)))


@elementwise(function="nn.functional", method=False, node="LogSigmoidBackward0",
             guard=kinds("f", "log_sigmoid_cpu"))
def logsigmoid(input: Array) -> Any:
    """The logarithm of the sigmoid, exact at both ends."""
    return xp.in_rows(xp.minimum(input, 0) - xp.log1p(xp.exp(-xp.abs(input))))


logsigmoid.vjp(input=lambda g, input: g * sigmoid(-input))


@composite(function="nn.functional")
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (abs(input) + 1)


@composite(function="nn.functional")
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - tanh(input)


# ---------------------------------------------------------------- softmax


def _check_softmax(name: str) -> Callable[..., None]:
    def guard(given: dict[str, Any], common: dtypes.dtype) -> None:
        if dtypes.category(common) != 2:
            rank, dim = given["input"].ndim, given["dim"]
            last = "lastdim_" if rank == 0 or dim % rank == rank - 1 else ""
            kinds("f", f"{name}_{last}kernel_impl")(given, common)

    return guard


@op(function=None, method=False, node="SoftmaxBackward0", guard=_check_softmax("softmax"))
def _softmax(input: Array, dim: Dim) -> Any:
    return exponentials.softmax(input, dim)


_softmax.vjp(input=lambda g, y, dim: softmax_backward(g, y, dim))
_softmax.jvp(input=lambda tangent, y, dim: softmax_backward(tangent, y, dim))


@op(function=None, method=False, node="SoftmaxBackwardDataBackward0")
def softmax_backward(input: Array, output: Array, dim: Dim) -> Any:
    """The gradient of softmax from that of its ``output``; it is its own transpose."""
    return exponentials.softmax_gradient(input, output, dim)


softmax_backward.vjp(
    input=lambda g, output, dim: softmax_backward(g, output, dim),
    output=lambda g, input, output, dim: g * (input - _along(input * output, dim))
    - input * _along(g * output, dim))


def _along(value: Any, dim: int) -> Any:
    """The sums along ``dim``, which stays."""
    return _sum_dims(value, (dim,), True) if value.ndim else value


@op(function=None, method=False, node="LogSoftmaxBackward0", guard=_check_softmax("log_softmax"))
def _log_softmax(input: Array, dim: Dim) -> Any:
    return exponentials.log_softmax(input, dim)


_log_softmax.vjp(input=lambda g, y, dim: log_softmax_backward(g, y, dim))
_log_softmax.jvp(input=lambda tangent, y, dim: tangent - _along(tangent * exp(y), dim))


@op(function=None, method=False, node="LogSoftmaxBackwardDataBackward0")
def log_softmax_backward(input: Array, output: Array, dim: Dim) -> Any:
    """The gradient of log_softmax from that of its ``output``."""
    return exponentials.log_softmax_gradient(input, output, dim)


log_softmax_backward.vjp(
    input=lambda g, output, dim: g - _along(g * exp(output), dim),
    output=lambda g, input, output, dim: -(g * exp(output)) * _along(input, dim))


def _public_softmax(name: str, made: Any, doc: str) -> Any:
    def at_top_level(input: Tensor = REQUIRED, dim: int = REQUIRED, dtype: Any = None) -> Tensor:
        if dtype is None:
            return made(input, dim)
        return made(cast(input, dtypes.as_dtype(dtype)), dim)

    def functional(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
                   dtype: Any = None) -> Tensor:
        if dim is None:
            warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to "
                 "include dim=X as an argument.")
            dim = 0 if input.ndim in (0, 1, 3) else 1
        return made(input, dim) if dtype is None else at_top_level(input, dim, dtype)

    at_top_level.__name__ = at_top_level.__qualname__ = name
    at_top_level.__doc__ = functional.__doc__ = doc
    publish(at_top_level, name)
    PUBLIC["special"][name] = at_top_level
    _functional(functional, name)
    return functional


_functional_softmax = _public_softmax(
    "softmax", _softmax, "Exponentials along ``dim``, divided by their sum.")
_public_softmax("log_softmax", _log_softmax, "The logarithm of softmax, computed safely.")


def _softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
             dtype: Any = None) -> Tensor:
    """Softmax of the negative."""
    return _functional_softmax(-input, dim, _stacklevel, dtype)


_functional(_softmin, "softmin")

# ---------------------------------------------------------------- gates


_floats_to_halve = kinds("f", "glu_cpu")


def _halves(given: dict[str, Any], common: dtypes.dtype) -> None:
    if not given["input"].ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    _floats_to_halve(given, common)


@op(function="nn.functional", method=False, guard=_halves)
def glu(input: Array, dim: Dim = -1) -> Any:
    """The first half of ``input`` along ``dim``, times the sigmoid of the second."""
    if input.shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size "
                           f"{input.shape[dim]}")
    first, second = xp.split(input, 2, axis=dim)
    return first / (1 + xp.exp(-second))


glu.vjp(input=lambda g, input, dim: _glu_gradient(g, input, dim))


def _glu_gradient(g: Any, input: Any, dim: int) -> Any:
    half = input.shape[dim] // 2
    first, second = _slice(input, dim, 0, half, 1), _slice(input, dim, half, 2 * half, 1)
    gate = sigmoid(second)
    return _cat([g * gate, g * first * (gate * (1 - gate))], dim)


# ---------------------------------------------------------------- dropout


def _mask(shape: Any, dtype: Any, p: float, part: float = 1.0) -> Tensor:
    """Random zeros, and elsewhere one over ``part``."""
    from ..random import drawn, stream_of

    stream = stream_of(None)

    return wrap_any(drawn(lambda whole: stream.dropout_mask(whole, dtype.np, p, part), shape))


def _check_probability(p: float, error: type[Exception] = RuntimeError) -> None:
    if p < 0 or p > 1:
        raise error(f"dropout probability has to be between 0 and 1, but got {p:g}"
                    if error is RuntimeError else
                    f"dropout probability has to be between 0 and 1, but got {p}")


def _scaled_mask(input: Tensor, shape: Any, p: float) -> Tensor:
    return _mask(shape, input.dtype, p, 1 if p == 1 else 1 - p)


def _whole_shape(input: Tensor) -> Any:
    return input.shape


def _dropped(input: Tensor, p: float, train: bool, inplace: bool,
             shape_of: Callable[[Tensor], Any]) -> Tensor:
    _check_probability(p)
    if not train or p == 0 or 0 in input._data.shape:
        return input
    mask = _scaled_mask(input, shape_of(input), p)
    return input.mul_(mask) if inplace else input * mask


@composite()
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """``input`` with elements zeroed at random and the rest scaled up, while training."""
    return _dropped(input, p, train, False, _whole_shape)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place version of :func:`dropout`."""
    return _dropped(input, p, train, True, _whole_shape)


publish(dropout_, "dropout_", method=False)


def _functional_dropout(input: Tensor, p: float = 0.5, training: bool = True,
                        inplace: bool = False) -> Tensor:
    """``input`` with elements zeroed at random and the rest scaled up, while training."""
    _check_probability(p, ValueError)
    return _dropped(input, p, training, inplace, _whole_shape)


_functional(_functional_dropout, "dropout")


def _channel_shape(input: Tensor) -> tuple[int, ...]:
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*input.shape[:2], *(1,) * (input.ndim - 2))


@composite()
def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout of whole channels."""
    return _dropped(input, p, train, False, _channel_shape)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place version of :func:`feature_dropout`."""
    return _dropped(input, p, train, True, _channel_shape)


publish(feature_dropout_, "feature_dropout_", method=False)


def _check_spatial(rank: int, spatial: int) -> None:
    """Refuse or, as long as that is tolerated, warn of input that is not channels in space."""
    name, few, many = f"dropout{spatial}d", spatial + 1, spatial + 2
    if spatial == 2 and rank == 3:
        warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D "
             "dropout behavior is desired - input is interpreted as shape (N, C, L), where C is "
             "the channel dim. This behavior will change in a future release to interpret the "
             "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
             "channel-wise dropout behavior, please switch to using dropout1d instead.")
    if rank in (few, many):
        return
    note = (f"Note that {name} exists to provide channel-wise dropout on inputs with {spatial} "
            f"spatial dimension{'s' * (spatial > 1)}, a channel dimension, and an optional batch "
            f"dimension (i.e. {few}D or {many}D inputs).")
    if spatial == 1:
        raise RuntimeError(f"{name}: Expected {few}D or {many}D input, but received a {rank}D "
                           f"input. {note}")
    warn(f"{name}: Received a {rank}-D input to {name}, which is deprecated and will result in an "
         "error in a future release. To retain the behavior and silence this warning, please use "
         f"dropout instead. {note}")


def _channel_dropout(spatial: int) -> None:
    def function(input: Tensor, p: float = 0.5, training: bool = True,
                 inplace: bool = False) -> Tensor:
        """Dropout of whole channels."""
        _check_probability(p, ValueError)
        _check_spatial(input.ndim, spatial)
        # Three dimensions are a batch of signals to dropout2d, not one image.
        batched = spatial == 2 or input.ndim == spatial + 2
        whole = input if batched else input.unsqueeze(0)
        found = _dropped(whole, p, training, inplace, _channel_shape)
        return found if batched else found.squeeze(0)

    _functional(function, f"dropout{spatial}d")


for _spatial in (1, 2, 3):
    _channel_dropout(_spatial)

_ALPHA_DROPPED = SELU_ALPHA * SELU_SCALE


def _alpha_dropped(input: Tensor, p: float, train: bool, inplace: bool,
                   shape_of: Callable[[Tensor], Any]) -> Tensor:
    """Dropout to the value that keeps mean and variance of :func:`selu` units."""
    _check_probability(p)
    if not train or p == 0 or not input.numel():
        return input
    mask = _mask(shape_of(input), input.dtype, p)
    if p == 1:
        return input.mul_(mask) if inplace else input * mask
    scale = 1 / math.sqrt((_ALPHA_DROPPED ** 2 * p + 1) * (1 - p))
    shift = (mask - 1) * (_ALPHA_DROPPED * scale) + _ALPHA_DROPPED * scale * p
    scaled: Any = mask * scale
    return input.mul_(scaled).add_(shift) if inplace else input * scaled + shift


@composite()
def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout to the value that keeps mean and variance of :func:`selu` units."""
    return _alpha_dropped(input, p, train, False, _whole_shape)


@composite()
def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`alpha_dropout` of whole channels."""
    return _alpha_dropped(input, p, train, False, _channel_shape)


def _functional_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                              inplace: bool = False) -> Tensor:
    """Dropout to the value that keeps mean and variance of :func:`selu` units."""
    _check_probability(p, ValueError)
    return _alpha_dropped(input, p, training, inplace, _whole_shape)


def _functional_feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                                      inplace: bool = False) -> Tensor:
    """:func:`alpha_dropout` of whole channels."""
    _check_probability(p, ValueError)
    return _alpha_dropped(input, p, training, inplace, _channel_shape)


_functional(_functional_alpha_dropout, "alpha_dropout")
_functional(_functional_feature_alpha_dropout, "feature_alpha_dropout")

# ---------------------------------------------------------------- other random units


@elementwise(function=None, method=False, inplace=True, node="RreluWithNoiseBackward0",
             title="rrelu")
def _rrelu(input: Array, noise: Index, lower: float, upper: float, training: bool) -> Any:
    return input * noise


_rrelu.vjp(input=lambda g, input, noise: _rrelu_backward(g, input, noise))


@elementwise(function=None, method=False, numbers=(), node="RreluWithNoiseBackwardBackward0")
def _rrelu_backward(input: Array, source: Array, noise: Index) -> Any:
    return input * noise


_rrelu_backward.vjp(input=lambda g, source, noise: _rrelu_backward(g, source, noise),
                    source=lambda g: zeros_as(g))


def _rrelu_call(made: Any, input: Tensor, lower: float, upper: float, training: bool,
                generator: Any = None) -> Tensor:
    from ..random import stream_of

    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if training:
        stream = stream_of(generator)
        noise = wrap(arrays.random_slopes(input._data, lower, upper, stream))
    else:
        noise = leaky_slope(input.detach(), (lower + upper) / 2)
    return made(input, noise, lower, upper, training)


@composite()
def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          generator: Any = None) -> Tensor:
    """A leaky unit with random slopes while training, and their mean otherwise."""
    return _rrelu_call(_rrelu, input, lower, upper, training, generator)


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
           generator: Any = None) -> Tensor:
    """In-place version of :func:`rrelu`."""
    return _rrelu_call(in_place(_rrelu), input, lower, upper, training, generator)


publish(rrelu_, "rrelu_", method=False)


def _functional_rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
                      training: bool = False, inplace: bool = False) -> Tensor:
    """A leaky unit with random slopes while training, and their mean otherwise."""
    return (rrelu_ if inplace else rrelu)(input, lower, upper, training)


_functional(_functional_rrelu, "rrelu")


@composite(function="nn.functional")
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10,
                   dim: int = -1) -> Tensor:
    """A differentiable sample of a category, nearly one-hot for small ``tau``."""
    from ..random import drawn, stream_of

    stream, kind = stream_of(None), logits.dtype.np
    noise = -log(wrap_any(drawn(lambda whole: stream.exponential(whole, kind), logits.shape)))
    soft = _softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    # The gradient of the soft sample stands in for that of the hard one.
    return wrap(arrays.one_hot_of_largest(soft._data, dim)) - soft.detach() + soft


# ---------------------------------------------------------------- in-place names of nn.functional

for _name, _written in {"hardtanh_": in_place(hardtanh), "leaky_relu_": in_place(leaky_relu),
                        "elu_": in_place(elu)}.items():
    PUBLIC["nn.functional"][_name] = _written
for _name in ("hardtanh_", "leaky_relu_", "elu_", "hardsigmoid_", "hardswish_", "silu_", "mish_",
              "threshold_", "celu_"):
    delattr(Tensor, _name)

__all__ = ["Number", "cast", "erf"]
