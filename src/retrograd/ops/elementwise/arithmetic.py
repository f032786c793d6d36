"""Arithmetic, element by element."""

from __future__ import annotations

import builtins
from typing import Any

from ...backend import pointwise as pointwise_kernels
from ...backend import xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import no_overload
from ...core.binding import universal
from ...core.op import PUBLIC, Array, Number, by_factor, composite, elementwise, publish
from ...core.tensor import Tensor
from ..checks.common import kinds, kinds_with_number, no_derivative
from ..checks.elementwise import (
    check_addcdiv,
    check_alpha,
    check_lerp,
    check_rsub,
    check_sub,
    refuse_bool_neg,
)
from ..shapes.expanding import joint_shape
from .conjugate import conj, real_part
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
             guard=check_alpha, rounds="alpha")
def add(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Sum of ``input`` and ``alpha`` times ``other``, broadcast together."""
    if alpha == 1 and type(alpha) is int:
        return input + other
    return pointwise_kernels.add_multiple(input, other, alpha)


add.vjp(input=lambda g: g, other=_scaled)


@elementwise(operator="sub", inplace=True, quiet=True, fast="{0} - {1}", numbers=BOTH,
             guard=check_sub, aliases=("subtract",), rounds="alpha")
def sub(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Difference of ``input`` and ``alpha`` times ``other``."""
    if alpha == 1 and type(alpha) is int:
        return input - other
    return pointwise_kernels.add_multiple(input, other, alpha if type(alpha) is bool else -alpha)


sub.vjp(input=lambda g: g, other=_minus_scaled)


@elementwise(method=False, function=None, guard=check_sub, numbers=())
def rsub(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Difference of ``other`` and ``alpha`` times ``input``."""
    return other - input if alpha == 1 else pointwise_kernels.add_multiple(other, input, -alpha)


rsub.vjp(input=lambda g, alpha: g * -alpha, other=lambda g: g)


@elementwise(method=False, function=None, quiet=True, guard=check_rsub, node="RsubBackward1",
             title="rsub", rounds="other")
def _rsub_number(input: Array, other: Number, alpha: Number = 1) -> Any:
    input = widened(input, other)
    return pointwise_kernels.number_in(input.dtype, other) - (
        input if alpha == 1 else input * alpha)


_rsub_number.vjp(input=_minus_scaled)


def _rsub(input: Tensor, other: Tensor | Number, *, alpha: Any = 1) -> Any:
    """Difference of ``other`` and ``alpha`` times ``input``."""
    if isinstance(other, Tensor):
        if isinstance(input, Tensor):
            joint_shape(other.shape, input.shape)  # an error names them in this order
        return rsub(input, other, alpha=alpha)
    if not isinstance(input, Tensor) or not is_number(other):
        raise no_overload("rsub", (input, other),
                          "Tensor input, Tensor other, *, Number alpha = 1",
                          "Tensor input, Number other, Number alpha = 1")
    other = plain_number(other)
    if isinstance(other, (bool, builtins.complex)):
        check_rsub({"input": input, "other": other, "alpha": alpha}, input.dtype)
    return _rsub_number(with_room_for(input, other), other, alpha)


publish(_rsub, "rsub", method=False)


@elementwise(operator="mul", inplace=True, quiet=True, fast="{0} * {1}", numbers=BOTH,
             aliases=("multiply",), wide="other")
def mul(input: Array, other: Array) -> Any:
    """Product of ``input`` and ``other``, broadcast together."""
    return xp.multiply(input, other)


mul.vjp(input=lambda g, other: g * conj(other),
        other=lambda g, input: g * conj(input))


@elementwise(promote="float", operator="truediv", inplace=True, fast="{0} / {1}", numbers=BOTH,
             function=None, method=False, wide="other")
def div(input: Array, other: Array) -> Any:
    """Quotient of ``input`` and ``other``; integers divide to the default float."""
    return xp.divide(input, other)


div.vjp(input=lambda g, other: g / conj(other),
        other=lambda g, input, other: -g * conj((input / other) / other))


@elementwise(function=None, method=False, inplace=True, numbers=BOTH, node="DivBackward2",
             guard=kinds("if", "div_floor_cpu"), title="div", wide="other")
def _div_floor(input: Array, other: Array, *, rounding_mode: str = "floor") -> Any:
    return pointwise_kernels.floor_quotient(input, other)


@elementwise(function=None, method=False, inplace=True, numbers=BOTH, node="DivBackward2",
             guard=kinds("if", "div_trunc_cpu"), title="div", wide="other")
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


def _divide(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None = None,
            out: Any = None) -> Any:
    """Quotient of ``input`` and ``other``, optionally rounded towards zero or down."""
    if rounding_mode is None and out is None:
        return div(input, other)
    return _division(rounding_mode)(input, other, out=out)


def _divide_(input: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Any:
    """In-place version of :func:`div`."""
    return in_place(_division(rounding_mode))(input, other)


publish(_divide, "div", aliases=("divide",))
publish(_divide_, "div_", function=None, aliases=("divide_",))
publish(div, "true_divide")
publish(in_place(div), "true_divide_", function=None)


@elementwise(inplace=True, numbers=BOTH, node="NotImplemented", operator="floordiv",
             guard=kinds("if", "div_floor_cpu"), wide="other")
def floor_divide(input: Array, other: Array) -> Any:
    """Quotient of ``input`` and ``other``, rounded down."""
    return pointwise_kernels.floor_quotient(input, other)


floor_divide.vjp(input=lambda g: no_derivative("aten::floor_divide"),
                 other=lambda g: no_derivative("aten::floor_divide"))


@elementwise(function=None, method=False, inplace=True, node="RemainderBackward1", numbers=(),
             guard=kinds("if", "remainder_cpu"))
def remainder(input: Array, other: Array) -> Any:
    """What is left of ``input`` after division by ``other``, with the sign of ``other``."""
    return pointwise_kernels.remainder(input, other)


remainder.vjp(input=lambda g: g,
              other=lambda g, input, other: -g * _div_floor(input, other))


@elementwise(function=None, method=False, inplace=True, node="RemainderBackward0",
             guard=kinds_with_number("if", "remainder_cpu"), title="remainder", rounds="other")
def _remainder_number(input: Array, other: Number) -> Any:
    input = widened(input, other)
    return pointwise_kernels.remainder(input, pointwise_kernels.number_in(input.dtype, other))


_remainder_number.vjp(input=lambda g: g)


@elementwise(function=None, method=False, node="NotImplemented", numbers=BOTH,
             guard=kinds("if", "remainder_cpu"), title="remainder")
def _remainder_of_number(input: Array, other: Array) -> Any:
    return pointwise_kernels.remainder(input, other)


_remainder_of_number.vjp(other=lambda g: no_derivative("aten::remainder"))


@elementwise(function=None, method=False, inplace=True, node="FmodBackward1", numbers=(),
             guard=kinds("if", "fmod_cpu"))
def fmod(input: Array, other: Array) -> Any:
    """What is left of ``input`` after division by ``other``, with the sign of ``input``."""
    return pointwise_kernels.fmod(input, other)


fmod.vjp(input=lambda g: g,
         other=lambda g, input, other: -g * _div_trunc(input, other))


@elementwise(function=None, method=False, inplace=True, node="FmodBackward0",
             guard=kinds_with_number("if", "fmod_cpu"), title="fmod", rounds="other")
def _fmod_number(input: Array, other: Number) -> Any:
    input = widened(input, other)
    return pointwise_kernels.fmod(input, pointwise_kernels.number_in(input.dtype, other))


_fmod_number.vjp(input=lambda g: g)
_remainder = publish_pair("remainder", remainder, _remainder_number, _remainder_of_number)
_fmod = publish_pair("fmod", fmod, _fmod_number)


@elementwise(operator="neg", inplace="function", quiet=True, fast="-{0}", aliases=("negative",),
             guard=refuse_bool_neg)
def neg(input: Array) -> Any:
    """The negative."""
    return xp.negative(input)


neg.vjp(input=lambda g: -g)


@composite(method=True, operator="pos")
def positive(input: Tensor) -> Tensor:
    """``input`` itself."""
    if input.dtype is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@elementwise(operator="abs", quiet=True, aliases=("absolute",), guard=kinds("ifc", "abs_cpu"))
def abs(input: Array) -> Any:
    """The absolute value; of a complex number its distance from zero."""
    return xp.absolute(input)


abs.vjp(input=lambda g, input: g * sgn(input))
abs.jvp(input=lambda tangent, input: real_part(tangent * conj(sgn(input))))


@universal
def is_complex_value(value: Any) -> bool:
    dtype = value.dtype
    return dtype.is_complex if isinstance(dtype, dtypes.dtype) else kind_of(dtype) == "c"


@elementwise(function=None, method=False, inplace=True, quiet=True, node="AbsBackward0",
             guard=kinds("if", "abs_cpu", c=(RuntimeError, "In-place abs is not supported for "
                                             "complex tensors.")), title="abs")
def _abs_real(input: Array) -> Any:
    return xp.absolute(input)


_abs_real.vjp(input=lambda g, input: g * sgn(input))
publish(in_place(_abs_real), "abs_", aliases=("absolute_",))
del PUBLIC["torch"]["absolute_"]


@elementwise(inplace=True, quiet=True, guard=kinds("bif", "sign_cpu", c=(
    NotImplementedError, "Unlike NumPy, torch.sign is not intended to support complex numbers. "
    "Please use torch.sgn instead.")))
def sign(input: Array) -> Any:
    """-1, 0 or 1."""
    return pointwise_kernels.sign(input)


sign.vjp(input=lambda g: zeros_as(g))


@elementwise(inplace=True, quiet=True)
def sgn(input: Array) -> Any:
    """-1, 0 or 1; of a complex number the unit in its direction."""
    return pointwise_kernels.sign(input)


sgn.vjp(input=lambda g, input, y, like:
        _direction_gradient(g, input, y) if kind_of(like.dtype) == "c" else zeros_as(g))
sgn.jvp(input=lambda tangent, input, y: _direction_gradient(tangent, input, y))


def _direction_gradient(g: Any, input: Any, y: Any) -> Any:
    # What moves along the direction does not turn it.
    turning = g - y * real_part(g * conj(y))
    return zeroed(turning / abs(input), input == 0)


@elementwise(inplace=True, numbers=(), guard=kinds("ifc", "addcmul_cpu_out"))
def addcmul(input: Array, tensor1: Array, tensor2: Array, *, value: Number = 1) -> Any:
    """``input`` plus ``value`` times the product of two tensors."""
    return pointwise_kernels.add_multiple(input, tensor1 * tensor2, value)


addcmul.vjp(input=lambda g: g,
            tensor1=lambda g, tensor2, value: g * conj(tensor2 * value),
            tensor2=lambda g, tensor1, value: g * conj(tensor1 * value))


@elementwise(inplace=True, numbers=(), guard=check_addcdiv)
def addcdiv(input: Array, tensor1: Array, tensor2: Array, *, value: Number = 1) -> Any:
    """``input`` plus ``value`` times the quotient of two tensors."""
    return pointwise_kernels.add_multiple(input, tensor1 / tensor2, value)


addcdiv.vjp(input=lambda g: g,
            tensor1=lambda g, tensor2, value: g * conj(value / tensor2),
            tensor2=lambda g, tensor1, tensor2, value:
            -g * conj(value * tensor1 / (tensor2 * tensor2)))


@elementwise(function=None, method=False, inplace=True, numbers=(), guard=check_lerp,
             node="LerpBackward0", title="lerp")
def _lerp_number(input: Array, end: Array, weight: Number) -> Any:
    return pointwise_kernels.lerp(input, end, weight)


_lerp_number.vjp(input=lambda g, weight: g * (1 - _conjugate(weight)),
                 end=lambda g, weight: g * _conjugate(weight))


def _conjugate(number: Any) -> Any:
    return number.conjugate()


@elementwise(function=None, method=False, inplace=True, numbers=(), guard=check_lerp,
             node="LerpBackward1")
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
    return _lerp_number(input, end, plain_number(weight), out=out)


def lerp_(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """In-place version of :func:`lerp`."""
    made = _lerp if isinstance(weight, Tensor) else _lerp_number
    return in_place(made)(input, end, plain_number(weight))


publish(lerp_, "lerp_", function=None)


@elementwise(inplace=True, numbers=(), guard=kinds("f", "hypot_cpu"))
def hypot(input: Array, other: Array) -> Any:
    """The hypotenuse of a right triangle with the given legs."""
    return xp.hypot(input, other)


hypot.vjp(input=lambda g, input, y: g * (input / y),
          other=lambda g, other, y: g * (other / y))
