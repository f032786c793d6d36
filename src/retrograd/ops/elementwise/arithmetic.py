"""Arithmetic, element by element."""

from __future__ import annotations

import builtins
from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import no_overload
from ...core.binding import universal
from ...core.op import PUBLIC, Array, Number, by_factor, composite, elementwise, public, publish
from ...core.operands import fitted, fitting_number
from ...core.out_rules import CASTABLE, FOUND, Out
from ...core.tensor import Tensor
from ..checks import elementwise as checks
from ..checks.common import kinds, kinds_with_number, no_derivative
from ..shapes.expanding import joint_shape
from .conjugate import conj, real_part
from .expressions import binary, unary
from .number_operands import (
    BOTH,
    in_place,
    is_number,
    plain_number,
    publish_pair,
    widened,
    with_room_for,
)
from .where import zeroed, zeros_as


@by_factor("")
def _scaled(g: Any, alpha: Any) -> Any:
    return g if alpha == 1 else g * alpha


@by_factor("-")
def _minus_scaled(g: Any, alpha: Any) -> Any:
    return -g if alpha == 1 else g * -alpha


@elementwise(operator="add", inplace=True, quiet=True, fast="{0} + {1}", numbers=BOTH,
             guard=checks.check_alpha, rounds="alpha", within=("alpha",), former=True,
             stored="complex")
def add(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Sum of ``input`` and ``alpha`` times ``other``, broadcast together."""
    if alpha == 1 and type(alpha) is int:
        return input + other
    return pointwise_kernels.add_multiple(input, other, alpha)


add.vjp(input=lambda g: g, other=_scaled)


@elementwise(operator="sub", inplace=True, quiet=True, fast="{0} - {1}", numbers=BOTH,
             guard=checks.check_sub, aliases=("subtract",), rounds="alpha",
             within=("alpha",), former=True, stored="complex")
def sub(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Difference of ``input`` and ``alpha`` times ``other``."""
    if alpha == 1 and type(alpha) is int:
        return input - other
    return pointwise_kernels.add_multiple(input, other, alpha if type(alpha) is bool else -alpha)


sub.vjp(input=lambda g: g, other=_minus_scaled)


@elementwise(method=False, function=None, guard=checks.check_sub, numbers=(), within=("alpha",),
             stored="complex")
def rsub(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Difference of ``other`` and ``alpha`` times ``input``."""
    if alpha == 1 and type(alpha) is int:
        return other - input
    return pointwise_kernels.add_multiple(other, input, alpha if type(alpha) is bool else -alpha)


rsub.vjp(input=lambda g, alpha: g * -alpha, other=lambda g: g)


_EXACT = 1 << 53  # ints below it are numbers of double precision


@elementwise(quiet=True, guard=checks.check_rsub, node="RsubBackward1", title="rsub",
             rounds="other", vjp=_minus_scaled, stored="complex")
def _rsub_number(input: Array, other: Number, alpha: Number = 1) -> Any:
    if alpha == 1 and (input.dtype is xp.FLOAT32 or input.dtype is xp.FLOAT64) and (
            other.__class__ is float or (other.__class__ is int and -_EXACT < other < _EXACT)):
        return other - input
    input = widened(input, other)
    return pointwise_kernels.number_in(input.dtype, other) - (
        input if alpha == 1 else input * alpha)


@public("rsub", method=False)
def _rsub(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Any:
    """Difference of ``other`` and ``alpha`` times ``input``."""
    if isinstance(other, Tensor) and isinstance(input, Tensor):
        joint_shape(other.shape, input.shape)  # an error names them in this order
        return rsub(input, other, alpha=alpha)
    if not isinstance(input, Tensor) or not is_number(other):
        raise no_overload("rsub", (input, other),
                          "Tensor input, Tensor other, *, Number alpha = 1",
                          "Tensor input, Number other, Number alpha = 1")
    other = plain_number(other)
    if isinstance(other, (bool, builtins.complex)):
        checks.check_rsub({"input": input, "other": other, "alpha": alpha}, input.dtype)
    return _rsub_number(with_room_for(input, other), other, alpha)


mul = binary("mul", "Product of ``input`` and ``other``, broadcast together.",
             lambda input, other: xp.multiply(input, other), operator="mul", inplace=True,
             quiet=True, fast="{0} * {1}", numbers=BOTH, aliases=("multiply",), wide="other",
             stored="complex",
             input=lambda g, other: g * conj(other), other=lambda g, input: g * conj(input))
div = binary("div", "Quotient of ``input`` and ``other``; integers divide to the default float.",
             lambda input, other: xp.divide(input, other), promote="float", operator="truediv",
             inplace=True, fast="{0} / {1}", numbers=BOTH, function=None, method=False,
             wide="other", input=lambda g, other: g / conj(other),
             other=lambda g, input, other: -g * conj((input / other) / other))


@elementwise(inplace=True, numbers=BOTH, node="DivBackward2", guard=kinds("if", "div_floor_cpu"),
             title="div", wide="other")
def _div_floor(input: Array, other: Array, *, rounding_mode: str = "floor") -> Any:
    return pointwise_kernels.floor_quotient(input, other)


# The quotient of halves is rounded before its fraction is cut off.
@elementwise(inplace=True, numbers=BOTH, node="DivBackward2", guard=kinds("if", "div_trunc_cpu"),
             halves=False, title="div")
def _div_trunc(input: Array, other: Array, *, rounding_mode: str = "trunc") -> Any:
    return pointwise_kernels.trunc_quotient(input, other)


for _rounded in (_div_floor, _div_trunc):
    _rounded.vjp(input=lambda g: zeros_as(g), other=lambda g: zeros_as(g))
_DIVISIONS = {None: div, "floor": _div_floor, "trunc": _div_trunc}


def _division(rounding_mode: str | None) -> Any:
    if rounding_mode not in _DIVISIONS:
        raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
                           f"found '{rounding_mode}'")
    return _DIVISIONS[rounding_mode]


@public("div", aliases=("divide",))
def _divide(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None = None,
            out: Any = None) -> Any:
    """Quotient of ``input`` and ``other``, optionally rounded towards zero or down."""
    if rounding_mode is None and out is None:
        return div(input, other)
    return _division(rounding_mode)(input, other, out=out)


@public("div_", function=None, aliases=("divide_",))
def _divide_(input: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Any:
    """In-place version of :func:`div`."""
    return in_place(_division(rounding_mode))(input, other)


publish(div, "true_divide")
publish(in_place(div), "true_divide_", function=None)


floor_divide = binary("floor_divide", "Quotient of ``input`` and ``other``, rounded down.",
                      lambda input, other: pointwise_kernels.floor_quotient(input, other),
                      inplace=True, numbers=BOTH, node="NotImplemented", operator="floordiv",
                      guard=kinds("if", "div_floor_cpu"), wide="other",
                      input=lambda g: no_derivative("aten::floor_divide"),
                      other=lambda g: no_derivative("aten::floor_divide"))


def _rest(name: str, doc: str, kernel: Any, other: Any) -> tuple[Any, Any]:
    """Declare what is left of a division by a tensor, whose rule is ``other``, and by a number."""
    with_tensor = binary(name, doc, kernel, function=None, method=False, inplace=True, numbers=(),
                         node=f"{name.capitalize()}Backward1", guard=kinds("if", f"{name}_cpu"),
                         input=lambda g: g, other=other)

    @elementwise(name=f"_{name}_number", inplace=True, node=f"{name.capitalize()}Backward0",
                 title=name, guard=kinds_with_number("if", f"{name}_cpu"), rounds="other",
                 out=Out(CASTABLE))
    def with_number(input: Array, other: Number) -> Any:
        input = widened(input, other)
        return kernel(input, pointwise_kernels.number_in(input.dtype, other))

    with_number.vjp(input=lambda g: g)
    return with_tensor, with_number


remainder, _remainder_number = _rest(
    "remainder",
    "What is left of ``input`` after division by ``other``, with the sign of ``other``.",
    lambda input, other: pointwise_kernels.remainder(input, other),
    lambda g, input, other: -g * _div_floor(input, other))
_remainder_of_number = binary(
    "_remainder_of_number", None, lambda input, other: pointwise_kernels.remainder(input, other),
    node="NotImplemented", numbers=BOTH, guard=kinds("if", "remainder_cpu"), title="remainder",
    other=lambda g: no_derivative("aten::remainder"))
fmod, _fmod_number = _rest(
    "fmod", "What is left of ``input`` after division by ``other``, with the sign of ``input``.",
    lambda input, other: pointwise_kernels.fmod(input, other),
    lambda g, input, other: -g * _div_trunc(input, other))
_remainder = publish_pair("remainder", remainder, _remainder_number, _remainder_of_number)
_fmod = publish_pair("fmod", fmod, _fmod_number)
neg = unary("neg", "The negative.", lambda input: xp.negative(input), lambda g: -g, operator="neg",
            inplace="function", quiet=True, fast="-{0}", aliases=("negative",),
            guard=checks.refuse_bool_neg, stored="complex")


@composite(method=True, operator="pos")
def positive(input: Tensor) -> Tensor:
    """``input`` itself."""
    if input.dtype is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


abs = unary("abs", "The absolute value; of a complex number its distance from zero.",
            lambda input: xp.absolute(input), lambda g, input: g * sgn(input), operator="abs",
            quiet=True, aliases=("absolute",), guard=kinds("ifc", "abs_cpu"), stored="complex")
abs.jvp(input=lambda tangent, input: real_part(tangent * conj(sgn(input))))


@universal
def is_complex_value(value: Any) -> bool:
    dtype = value.dtype
    if isinstance(dtype, dtypes.dtype):
        return dtype.is_complex
    return kind_of(dtype) == "c" or (kind_of(dtype) == "V" and dtype.itemsize == 4)


_abs_real = unary("_abs_real", None, lambda input: xp.absolute(input),
                  lambda g, input: g * sgn(input), inplace=True, quiet=True, title="abs",
                  node="AbsBackward0", guard=kinds("if", "abs_cpu", c=(
                      RuntimeError, "In-place abs is not supported for complex tensors.")))
publish(in_place(_abs_real), "abs_", aliases=("absolute_",))
del PUBLIC["torch"]["absolute_"]

sign = unary("sign", "-1, 0 or 1.", lambda input: pointwise_kernels.sign(input),
             lambda g: zeros_as(g), inplace=True, quiet=True, guard=kinds("bif", "sign_cpu", c=(
                 NotImplementedError, "Unlike NumPy, torch.sign is not intended to support complex "
                 "numbers. Please use torch.sgn instead.")))
sgn = unary("sgn", "-1, 0 or 1; of a complex number the unit in its direction.",
            lambda input: pointwise_kernels.sign(input), lambda g, input, y, like:
            _direction_gradient(g, input, y) if is_complex_value(like) else zeros_as(g),
            inplace=True, quiet=True, stored="complex")
sgn.jvp(input=lambda tangent, input, y: _direction_gradient(tangent, input, y))


def _direction_gradient(g: Any, input: Any, y: Any) -> Any:
    # What moves along the direction does not turn it.
    turning = g - y * real_part(g * conj(y))
    return zeroed(turning / abs(input), input == 0)


@elementwise(inplace=True, numbers=(), guard=kinds("ifc", "addcmul_cpu_out"), former=True)
def addcmul(input: Array, tensor1: Array, tensor2: Array, *, value: Number = 1) -> Any:
    """``input`` plus ``value`` times the product of two tensors."""
    value = fitted(fitting_number(value, input), input.dtype)
    return pointwise_kernels.add_multiple(input, tensor1 * tensor2, +value)


addcmul.vjp(input=lambda g: g,
            tensor1=lambda g, tensor2, value: g * conj(tensor2 * value),
            tensor2=lambda g, tensor1, value: g * conj(tensor1 * value))


@elementwise(inplace=True, numbers=(), guard=checks.check_addcdiv, former=True)
def addcdiv(input: Array, tensor1: Array, tensor2: Array, *, value: Number = 1) -> Any:
    """``input`` plus ``value`` times the quotient of two tensors."""
    return pointwise_kernels.add_multiple(input, tensor1 / tensor2, +fitting_number(value, input))


addcdiv.vjp(input=lambda g: g,
            tensor1=lambda g, tensor2, value: g * conj(value / tensor2),
            tensor2=lambda g, tensor1, tensor2, value:
            -g * conj(value * tensor1 / (tensor2 * tensor2)))


@elementwise(inplace=True, numbers=(), guard=checks.check_lerp, node="LerpBackward0", title="lerp")
def _lerp_number(input: Array, end: Array, weight: Number) -> Any:
    return pointwise_kernels.lerp(input, end, weight)


_lerp_number.vjp(input=lambda g, weight: g * (1 - _conjugate(weight)),
                 end=lambda g, weight: g * _conjugate(weight))


def _conjugate(number: Any) -> Any:
    return number.conjugate()


@elementwise(inplace=True, numbers=(), guard=checks.check_lerp, node="LerpBackward1",
             out=Out(FOUND))
def _lerp(input: Array, end: Array, weight: Array) -> Any:
    return pointwise_kernels.lerp(input, end, weight)


_lerp.vjp(input=lambda g, weight: g * conj(1 - weight),
          end=lambda g, weight: g * conj(weight),
          weight=lambda g, input, end: g * conj(end - input))


@composite(method=True)
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Any = None) -> Tensor:
    """The point between ``input`` and ``end`` at ``weight`` of the way."""
    if isinstance(weight, Tensor):
        return _lerp(input, end, weight, out=out)
    return _lerp_number(input, end, fitting_number(weight, input._data), out=out)


@public("lerp_", function=None)
def lerp_(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """In-place version of :func:`lerp`."""
    if isinstance(weight, Tensor):
        return in_place(_lerp)(input, end, weight)
    return in_place(_lerp_number)(input, end, fitting_number(weight, input._data))


hypot = binary("hypot", "The hypotenuse of a right triangle with the given legs.",
               lambda input, other: xp.hypot(input, other), inplace=True, numbers=(),
               guard=kinds("f", "hypot_cpu"), input=lambda g, input, y: g * input / y,
               other=lambda g, other, y: g * other / y)
