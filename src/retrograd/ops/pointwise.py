"""Arithmetic, element by element; the operators of tensors."""

from __future__ import annotations

import builtins
import math
from typing import Any

from .. import return_types
from ..backend import pointwise as arrays
from ..backend import xp
from ..base import dtypes
from ..base.errors import no_kernel, no_overload
from ..core.op import PUBLIC, Array, Number, composite, elementwise, op, publish
from ..core.tensor import Tensor
from .bounds import (
    _clamp_max_number,
    _clamp_min_number,
    _clamp_numbers,
    clamp,
    clamp_max,
    clamp_min,
    maximum,
    minimum,
    round,
)
from .compare import (
    bitwise_left_shift,
    bitwise_not,
    bitwise_right_shift,
    isfinite,
    isnan,
    logical_not,
)
from .convert import cast
from .elementary import (
    LOG2,
    cos,
    exp,
    exp2,
    expm1,
    log,
    log1p,
    logit,
    reciprocal,
    rsqrt,
    sigmoid,
    sin,
    sinc,
    sqrt,
    tanh,
    xlogy,
)
from .masking import conj, imag_part, kept, real_part, where, zeroed, zeros_as
from .overloads import (
    BOTH,
    in_place,
    is_number,
    is_operand,
    kinds,
    kinds_with_number,
    no_derivative,
    plain_number,
    publish_pair,
    widened,
    with_number,
    with_room_for,
)
from .shape import joint_shape

# ---------------------------------------------------------------- arithmetic


def _check_alpha(given: dict[str, Any], common: dtypes.dtype) -> None:
    alpha = given["alpha"]
    if isinstance(alpha, bool) and common is not dtypes.bool:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and dtypes.category(common) < 2:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating "
                           "point number.")
    if isinstance(alpha, builtins.complex) and not common.is_complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex "
                           "number.")


_NO_BOOL_SUB = ("Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
                "trying to invert a mask, use the `~` or `logical_not()` operator instead.")


def _check_sub(given: dict[str, Any], common: dtypes.dtype) -> None:
    if common is dtypes.bool:
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. "
                           "Use the `^` or `logical_xor()` operator instead.")
    if any(isinstance(given[n], Tensor) and given[n].dtype is dtypes.bool for n in BOTH):
        raise RuntimeError(_NO_BOOL_SUB)
    _check_alpha(given, common)


@elementwise(operator="add", inplace=True, quiet=True, fast="{0} + {1}", numbers=BOTH,
             guard=_check_alpha)
def add(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Sum of ``input`` and ``alpha`` times ``other``, broadcast together."""
    if alpha == 1 and type(alpha) is int:
        return input + other
    return arrays.add_multiple(input, other, alpha)


add.vjp(input=lambda g: g,
        other=lambda g, alpha: g if alpha == 1 else g * alpha)


@elementwise(operator="sub", inplace=True, quiet=True, fast="{0} - {1}", numbers=BOTH,
             guard=_check_sub, aliases=("subtract",))
def sub(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Difference of ``input`` and ``alpha`` times ``other``."""
    if alpha == 1 and type(alpha) is int:
        return input - other
    return arrays.add_multiple(input, other, alpha if type(alpha) is bool else -alpha)


sub.vjp(input=lambda g: g,
        other=lambda g, alpha: -g if alpha == 1 else g * -alpha)


@elementwise(method=False, function=None, guard=_check_sub, numbers=())
def rsub(input: Array, other: Array, *, alpha: Number = 1) -> Any:
    """Difference of ``other`` and ``alpha`` times ``input``."""
    return other - input if alpha == 1 else arrays.add_multiple(other, input, -alpha)


rsub.vjp(input=lambda g, alpha: g * -alpha, other=lambda g: g)


def _check_rsub(given: dict[str, Any], common: dtypes.dtype) -> None:
    other = given["other"]
    if isinstance(other, bool) and common is not dtypes.bool:
        raise RuntimeError(_NO_BOOL_SUB)
    _check_sub(given, with_number(common, other))


@elementwise(method=False, function=None, quiet=True, guard=_check_rsub, node="RsubBackward1",
             title="rsub")
def _rsub_number(input: Array, other: Number, alpha: Number = 1) -> Any:
    input = widened(input, other)
    return arrays.number_in(input.dtype, other) - (input if alpha == 1 else input * alpha)


_rsub_number.vjp(input=lambda g, alpha: -g if alpha == 1 else g * -alpha)


def _rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
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
        _check_rsub({"input": input, "other": other, "alpha": alpha}, input.dtype)
    return _rsub_number(with_room_for(input, other), other, alpha)


publish(_rsub, "rsub", method=False)


@elementwise(operator="mul", inplace=True, quiet=True, fast="{0} * {1}", numbers=BOTH,
             aliases=("multiply",))
def mul(input: Array, other: Array) -> Any:
    """Product of ``input`` and ``other``, broadcast together."""
    return xp.multiply(input, other)


mul.vjp(input=lambda g, other: g * conj(other),
        other=lambda g, input: g * conj(input))


@elementwise(promote="float", operator="truediv", inplace=True, fast="{0} / {1}", numbers=BOTH,
             function=None, method=False)
def div(input: Array, other: Array) -> Any:
    """Quotient of ``input`` and ``other``; integers divide to the default float."""
    return xp.divide(input, other)


div.vjp(input=lambda g, other: g / conj(other),
        other=lambda g, input, other: -g * conj((input / other) / other))


@elementwise(function=None, method=False, inplace=True, numbers=BOTH, node="DivBackward2",
             guard=kinds("if", "div_floor_cpu"), title="div")
def _div_floor(input: Array, other: Array, *, rounding_mode: str = "floor") -> Any:
    return arrays.floor_quotient(input, other)


@elementwise(function=None, method=False, inplace=True, numbers=BOTH, node="DivBackward2",
             guard=kinds("if", "div_trunc_cpu"), title="div")
def _div_trunc(input: Array, other: Array, *, rounding_mode: str = "trunc") -> Any:
    return arrays.trunc_quotient(input, other)


for _rounded in (_div_floor, _div_trunc):
    _rounded.vjp(input=lambda g: zeros_as(g), other=lambda g: zeros_as(g))
_DIVISIONS = {None: div, "floor": _div_floor, "trunc": _div_trunc}


def _division(rounding_mode: str | None) -> Any:
    if rounding_mode not in _DIVISIONS:
        raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
                           f"found '{rounding_mode}'")
    return _DIVISIONS[rounding_mode]


def _divide(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """Quotient of ``input`` and ``other``, optionally rounded towards zero or down."""
    if rounding_mode is None and out is None:
        return div(input, other)
    return _division(rounding_mode)(input, other, out=out)


def _divide_(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """In-place version of :func:`div`."""
    return in_place(_division(rounding_mode))(input, other)


publish(_divide, "div", aliases=("divide",))
publish(_divide_, "div_", function=None, aliases=("divide_",))
publish(div, "true_divide")
publish(in_place(div), "true_divide_", function=None)


@elementwise(inplace=True, numbers=BOTH, node="NotImplemented", operator="floordiv",
             guard=kinds("if", "div_floor_cpu"))
def floor_divide(input: Array, other: Array) -> Any:
    """Quotient of ``input`` and ``other``, rounded down."""
    return arrays.floor_quotient(input, other)


floor_divide.vjp(input=lambda g: no_derivative("floor_divide"),
                 other=lambda g: no_derivative("floor_divide"))


@elementwise(function=None, method=False, inplace=True, node="RemainderBackward1", numbers=(),
             guard=kinds("if", "remainder_cpu"))
def remainder(input: Array, other: Array) -> Any:
    """What is left of ``input`` after division by ``other``, with the sign of ``other``."""
    return arrays.remainder(input, other)


remainder.vjp(input=lambda g: g,
              other=lambda g, input, other: -g * _div_floor(input, other))


@elementwise(function=None, method=False, inplace=True, node="RemainderBackward0",
             guard=kinds_with_number("if", "remainder_cpu"), title="remainder")
def _remainder_number(input: Array, other: Number) -> Any:
    input = widened(input, other)
    return arrays.remainder(input, arrays.number_in(input.dtype, other))


_remainder_number.vjp(input=lambda g: g)


@elementwise(function=None, method=False, node="NotImplemented", numbers=BOTH,
             guard=kinds("if", "remainder_cpu"), title="remainder")
def _remainder_of_number(input: Array, other: Array) -> Any:
    return arrays.remainder(input, other)


_remainder_of_number.vjp(other=lambda g: no_derivative("remainder"))


@elementwise(function=None, method=False, inplace=True, node="FmodBackward1", numbers=(),
             guard=kinds("if", "fmod_cpu"))
def fmod(input: Array, other: Array) -> Any:
    """What is left of ``input`` after division by ``other``, with the sign of ``input``."""
    return arrays.fmod(input, other)


fmod.vjp(input=lambda g: g,
         other=lambda g, input, other: -g * _div_trunc(input, other))


@elementwise(function=None, method=False, inplace=True, node="FmodBackward0",
             guard=kinds_with_number("if", "fmod_cpu"), title="fmod")
def _fmod_number(input: Array, other: Number) -> Any:
    input = widened(input, other)
    return arrays.fmod(input, arrays.number_in(input.dtype, other))


_fmod_number.vjp(input=lambda g: g)
_remainder = publish_pair("remainder", remainder, _remainder_number, _remainder_of_number)
_fmod = publish_pair("fmod", fmod, _fmod_number)


def _refuse_bool_neg(given: dict[str, Any], common: dtypes.dtype) -> None:
    if common is dtypes.bool:
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you "
                           "are trying to invert a mask, use the `~` or `logical_not()` operator "
                           "instead.")


@elementwise(operator="neg", inplace="function", quiet=True, fast="-{0}", aliases=("negative",),
             guard=_refuse_bool_neg)
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


def is_complex_value(value: Any) -> bool:
    dtype = value.dtype
    return dtype.is_complex if isinstance(dtype, dtypes.dtype) else dtype.kind == "c"


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
    return arrays.sign(input)


sign.vjp(input=lambda g: zeros_as(g))


@elementwise(inplace=True, quiet=True)
def sgn(input: Array) -> Any:
    """-1, 0 or 1; of a complex number the unit in its direction."""
    return arrays.sign(input)


sgn.vjp(input=lambda g, input, y, like:
        _direction_gradient(g, input, y) if like.dtype.kind == "c" else zeros_as(g))
sgn.jvp(input=lambda tangent, input, y: _direction_gradient(tangent, input, y))


def _direction_gradient(g: Any, input: Any, y: Any) -> Any:
    # What moves along the direction does not turn it.
    turning = g - y * real_part(g * conj(y))
    return zeroed(turning / abs(input), input == 0)

# ---------------------------------------------------------------- powers


def _check_pow(given: dict[str, Any], common: dtypes.dtype) -> None:
    exponent = given["exponent"]
    if isinstance(exponent, Tensor):
        if common is dtypes.bool:
            raise no_kernel("pow", common)
        return
    if isinstance(exponent, int) and exponent < 0 and dtypes.category(common) < 2:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


@elementwise(function=None, method=False, inplace=True, guard=_check_pow, node="PowBackward0",
             title="pow")
def _pow_number(input: Array, exponent: Number) -> Any:
    input = widened(input, exponent)
    if input.dtype.kind == "b":
        return input | (not exponent)
    return input ** exponent if exponent != -0.5 else 1 / xp.sqrt(input)


_pow_number.vjp(input=lambda g, input, exponent: _pow_gradient(g, input, exponent))


def _pow_gradient(g: Any, input: Any, exponent: Any) -> Any:
    if exponent == 0:
        return zeros_as(g)
    if exponent == 2 and not isinstance(g, Tensor):
        return g * conj(2 * input)
    return g * conj(exponent * _pow_number(input, exponent - 1))


@elementwise(function=None, method=False, inplace=True, guard=_check_pow, numbers=(),
             node="PowBackward1")
def _pow(input: Array, exponent: Array) -> Any:
    return arrays.power(input, exponent)


_pow.vjp(input=lambda g, input, exponent: zeroed(
             g * conj(exponent * _pow(input, exponent - 1)), exponent == 0),
         exponent=lambda g, input, exponent, y: _exponent_gradient(g, input, exponent, y))


def _exponent_gradient(g: Any, input: Any, exponent: Any, y: Any) -> Any:
    # 0 ** x is flat for x >= 0, where the logarithm of 0 would say otherwise.
    flat = (input == 0) & (real_part(exponent) >= 0)
    # A negative real base has a logarithm beside a complex exponent.
    base = input + 0j if is_complex_value(y) and not is_complex_value(input) else input
    return g * zeroed(conj(y * log(base)), flat)


@elementwise(function=None, method=False, guard=lambda given, common: _check_base(given, common),
             node="PowBackward2", promote=None, title="pow")
def _pow_of_number(self: Number, exponent: Array) -> Any:
    exponent = widened(exponent, self)
    return arrays.power(arrays.number_in(exponent.dtype, self), exponent)


def _check_base(given: dict[str, Any], common: dtypes.dtype) -> None:
    if common is dtypes.bool and isinstance(given["self"], bool):
        raise no_kernel("pow", common)


_pow_of_number.vjp(exponent=lambda g, self, exponent, y: _base_gradient(g, self, exponent, y))


def _base_gradient(g: Any, base: Any, exponent: Any, y: Any) -> Any:
    if base == 0:
        return g * zeroed(y * -math.inf, real_part(exponent) >= 0)
    if isinstance(base, builtins.complex) or (base < 0 and is_complex_value(exponent)):
        return g * conj(y * _complex_logarithm(base))
    return g * conj(y * (math.log(base) if base > 0 else math.nan))


def _complex_logarithm(number: Any) -> Any:
    import cmath

    return cmath.log(number)


_POW_FORMS = ("Tensor input, Tensor exponent, *, Tensor out = None",
              "Number self, Tensor exponent, *, Tensor out = None",
              "Tensor input, Number exponent, *, Tensor out = None")


@composite(method=True)
def pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """``input`` to the power of ``exponent``; either may be a number."""
    if not is_operand(input) or not is_operand(exponent):
        raise no_overload("pow", (input, exponent), *_POW_FORMS)
    if not isinstance(exponent, Tensor):
        if not isinstance(input, Tensor):
            raise no_overload("pow", (input, exponent), *_POW_FORMS)
        exponent = plain_number(exponent)
        return _pow_number(with_room_for(input, exponent), exponent, out=out)
    if isinstance(input, Tensor):
        return _pow(input, exponent, out=out)
    input = plain_number(input)
    return _pow_of_number(input, with_room_for(exponent, input), out=out)


def pow_(input: Tensor, exponent: Any) -> Tensor:
    """In-place version of :func:`pow`."""
    if isinstance(exponent, Tensor):
        return in_place(_pow)(input, exponent)
    if not is_number(exponent):
        raise no_overload("pow_", (exponent,), "Tensor exponent", "Number exponent")
    return in_place(_pow_number)(input, plain_number(exponent))


publish(pow_, "pow_", function=None)


@composite(method=True)
def square(input: Tensor, *, out: Any = None) -> Tensor:
    """``input`` times itself."""
    return pow(input, 2, out=out)


def square_(input: Tensor) -> Tensor:
    """In-place version of :func:`square`."""
    return pow_(input, 2)


publish(square_, "square_")


def _power_dtype(*operands: Any) -> dtypes.dtype:
    is_complex = any(o.is_complex() if isinstance(o, Tensor) else isinstance(o, builtins.complex)
                     for o in operands)
    return dtypes.complex128 if is_complex else dtypes.float64


@composite(method=True)
def float_power(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """``input`` to the power of ``exponent``, in double precision."""
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise no_overload("float_power", (input, exponent), *_POW_FORMS)
    dtype = _power_dtype(input, exponent)
    kind = builtins.complex if dtype.is_complex else builtins.float

    def double(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return kind(value)
        return cast(value, dtype)

    return pow(double(input), double(exponent), out=out)


def float_power_(input: Tensor, exponent: Any) -> Tensor:
    """In-place version of :func:`float_power`."""
    dtype = _power_dtype(input, exponent)
    if input.dtype is not dtype:
        raise RuntimeError(f"the base given to float_power_ has dtype {input.dtype.alias} but the "
                           f"operation's result requires dtype {dtype.alias}")
    if isinstance(exponent, Tensor):
        return pow_(input, cast(exponent, dtype))
    return pow_(input, builtins.complex(exponent) if dtype.is_complex else
                builtins.float(exponent))


publish(float_power_, "float_power_", function=None)

# ---------------------------------------------------------------- combined arithmetic


@elementwise(inplace=True, numbers=(), guard=kinds("ifc", "addcmul_cpu_out"))
def addcmul(input: Array, tensor1: Array, tensor2: Array, *, value: Number = 1) -> Any:
    """``input`` plus ``value`` times the product of two tensors."""
    return arrays.add_multiple(input, tensor1 * tensor2, value)


addcmul.vjp(input=lambda g: g,
            tensor1=lambda g, tensor2, value: g * conj(tensor2 * value),
            tensor2=lambda g, tensor1, value: g * conj(tensor1 * value))


def _check_addcdiv(given: dict[str, Any], common: dtypes.dtype) -> None:
    if all(dtypes.category(given[n].dtype) < 2 for n in ("tensor1", "tensor2")):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2))"
            ".to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
            "float inputs. The future addcdiv behavior is just the latter implementation: (input + "
            "value * tensor1 / tensor2), for all dtypes.")


@elementwise(inplace=True, numbers=(), guard=_check_addcdiv)
def addcdiv(input: Array, tensor1: Array, tensor2: Array, *, value: Number = 1) -> Any:
    """``input`` plus ``value`` times the quotient of two tensors."""
    return arrays.add_multiple(input, tensor1 / tensor2, value)


addcdiv.vjp(input=lambda g: g,
            tensor1=lambda g, tensor2, value: g * conj(value / tensor2),
            tensor2=lambda g, tensor1, tensor2, value:
            -g * conj(value * tensor1 / (tensor2 * tensor2)))


def _check_lerp(given: dict[str, Any], common: dtypes.dtype) -> None:
    start = given["input"].dtype
    for name in ("end", "weight"):
        other = given[name]
        if isinstance(other, Tensor) and other.dtype is not start and \
                (name == "end" or other.ndim):
            raise RuntimeError(f"expected dtype {_C_NAMES.get(start, start.name)} for `{name}` but "
                               f"got dtype {_C_NAMES.get(other.dtype, other.dtype.name)}")
    if dtypes.category(common) < 2:
        kernel = "lerp_kernel_tensor" if isinstance(given["weight"], Tensor) else \
            "lerp_kernel_scalar"
        raise no_kernel(kernel, common)


_C_NAMES = {dtypes.float32: "float", dtypes.float64: "double", dtypes.float16: "c10::Half",
            dtypes.bfloat16: "c10::BFloat16", dtypes.int64: "long int", dtypes.int32: "int",
            dtypes.int16: "short int", dtypes.int8: "signed char", dtypes.uint8: "unsigned char",
            dtypes.complex64: "c10::complex<float>", dtypes.complex128: "c10::complex<double>"}


@elementwise(function=None, method=False, inplace=True, numbers=(), guard=_check_lerp,
             node="LerpBackward0", title="lerp")
def _lerp_number(input: Array, end: Array, weight: Number) -> Any:
    return arrays.lerp(input, end, weight)


_lerp_number.vjp(input=lambda g, weight: g * (1 - _conjugate(weight)),
                 end=lambda g, weight: g * _conjugate(weight))


def _conjugate(number: Any) -> Any:
    return number.conjugate()


@elementwise(function=None, method=False, inplace=True, numbers=(), guard=_check_lerp,
             node="LerpBackward1")
def _lerp(input: Array, end: Array, weight: Array) -> Any:
    return arrays.lerp(input, end, weight)


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

# ---------------------------------------------------------------- choosing


@elementwise(inplace="function", halves=False)
def nan_to_num(input: Array, nan: float | None = None, posinf: float | None = None,
               neginf: float | None = None) -> Any:
    """``input`` with numbers in place of NaN and the infinities."""
    return arrays.replaced(input, 0.0 if nan is None else nan, posinf, neginf)


nan_to_num.vjp(input=lambda g, input: kept(g, isfinite(input)))


@elementwise(promote="float", function=None, method=False, inplace=True, quiet=True, numbers=(),
             guard=kinds("f", "copysign_cpu"))
def copysign(input: Array, other: Array) -> Any:
    """The magnitude of ``input`` with the sign of ``other``."""
    return xp.copysign(input, other)


copysign.vjp(input=lambda g, input, y: g * zeroed(y / input, input == 0),
             other=lambda g: zeros_as(g))


@elementwise(promote="float", function=None, method=False, inplace=True, quiet=True,
             node="CopysignBackward1", guard=kinds("f", "copysign_cpu"), title="copysign")
def _copysign_number(input: Array, other: Number) -> Any:
    return xp.copysign(input, arrays.number_in(input.dtype, other))


_copysign_number.vjp(input=lambda g, input, y: g * zeroed(y / input, input == 0))
_copysign = publish_pair("copysign", copysign, _copysign_number)


def _check_heaviside(given: dict[str, Any], common: dtypes.dtype) -> None:
    first, second = given["input"].dtype, given["values"].dtype
    if first.is_complex or second.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if first is not second:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


@elementwise(inplace=True, quiet=True, numbers=(), node="NotImplemented", guard=_check_heaviside)
def heaviside(input: Array, values: Array) -> Any:
    """0 below zero, 1 above it, and ``values`` at it."""
    return xp.where(input == 0, values, (input > 0).astype(values.dtype))


heaviside.vjp(input=lambda g: no_derivative("heaviside"),
              values=lambda g: no_derivative("heaviside"))


@elementwise(inplace=True, quiet=True, numbers=(), halves=False, guard=kinds("f", "nextafter_cpu"))
def nextafter(input: Array, other: Array) -> Any:
    """The next number after ``input`` in the direction of ``other``."""
    return xp.nextafter(input, other)


nextafter.vjp(input=lambda g, input, other: zeroed(g, input == other),
              other=lambda g: zeros_as(g))


@elementwise(promote="float", inplace="function", numbers=())
def ldexp(input: Array, other: Array) -> Any:
    """``input`` times two to the power of ``other``."""
    return input * xp.exp2(other)


ldexp.vjp(input=lambda g, other: g * conj(exp2(other)),
          other=lambda g, y: g * conj(y) * LOG2)


def _check_frexp(given: dict[str, Any], common: dtypes.dtype) -> None:
    if dtypes.category(common) != 2:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")


@op(function=None, method=False, outputs=("mantissa", "exponent"), differentiable=(0,),
    node="FrexpBackward0", guard=_check_frexp)
def _frexp(input: Array) -> Any:
    return arrays.mantissa_and_exponent(input)


_frexp.vjp(input=lambda g, input, mantissa: where(input == 0, g[0], g[0] * (mantissa / input)))


@composite(method=True)
def frexp(input: Tensor) -> Any:
    """``input`` as a mantissa between a half and one, and a power of two."""
    return return_types.frexp(_frexp(input))

# ---------------------------------------------------------------- complex numbers


@elementwise(function=None, method=False, quiet=True, node="ConjPhysicalBackward0")
def _conj_physical(input: Array) -> Any:
    return xp.conj(input) if input.dtype.kind == "c" else input.copy()


@elementwise(function=None, method=False, inplace=True, quiet=True, node="ConjPhysicalBackward1",
             title="conj_physical")
def _conj_physical_written(input: Array) -> Any:
    return xp.conj(input) if input.dtype.kind == "c" else input.copy()


_conj_physical.vjp(input=lambda g: conj(g))
_conj_physical_written.vjp(input=lambda g: conj(g))


@composite(method=True)
def conj_physical(input: Tensor, *, out: Any = None) -> Tensor:
    """The complex conjugate in memory of its own; a real tensor is its own."""
    return _conj_physical(input, out=out) if out is not None or input.is_complex() else input


publish(in_place(_conj_physical_written), "conj_physical_")


@composite(method=True)
def resolve_conj(input: Tensor) -> Tensor:
    """``input`` itself: conjugates are never pending here."""
    return input


@composite(method=True)
def resolve_neg(input: Tensor) -> Tensor:
    """``input`` itself: negations are never pending here."""
    return input


@elementwise(promote="float", quiet=True)
def angle(input: Array) -> Any:
    """The angle of a complex number; of a real one 0, or π below zero."""
    if input.dtype.kind == "c":
        return xp.angle(input)
    flat = xp.where(input < 0, math.pi, 0.0).astype(input.dtype)
    return xp.where(xp.isnan(input), input, flat)


angle.vjp(input=lambda g, input, like: _angle_gradient(g, input, like))
angle.jvp(input=lambda tangent, input: real_part(tangent * conj(_turn(input)))
          if is_complex_value(input) else zeros_as(tangent))


def _angle_gradient(g: Any, input: Any, like: Any) -> Any:
    return g * _turn(input) if like.dtype.kind == "c" else zeros_as(g)


def _turn(input: Any) -> Any:
    return zeroed(input * 1j / (input * conj(input)), input == 0)


def _check_parts(given: dict[str, Any], common: dtypes.dtype) -> None:
    first, second = (v for v in given.values() if isinstance(v, Tensor))
    allowed = (dtypes.float16, dtypes.float32, dtypes.float64)
    if first.dtype not in allowed or second.dtype not in allowed:
        raise RuntimeError("Expected both inputs to be Half, Float or Double tensors but got "
                           f"{first.dtype.alias} and {second.dtype.alias}")
    if first.dtype is not second.dtype:
        raise RuntimeError(f"Expected object of scalar type {first.dtype.alias} but got scalar "
                           f"type {second.dtype.alias} for second argument")


@elementwise(method=False, quiet=True, numbers=(), promote=None, guard=_check_parts)
def complex(real: Array, imag: Array) -> Any:
    """The complex numbers with the given parts."""
    return arrays.made_complex(real, imag)


complex.vjp(real=lambda g: real_part(g), imag=lambda g: imag_part(g))
complex.jvp(real=lambda tangent: tangent + 0j, imag=lambda tangent: tangent * 1j)


@elementwise(method=False, quiet=True, numbers=(), promote=None, guard=_check_parts)
def polar(abs: Array, angle: Array) -> Any:
    """The complex numbers with the given distances and angles."""
    return arrays.made_complex(abs * xp.cos(angle), abs * xp.sin(angle))


polar.vjp(abs=lambda g, angle: real_part(g) * cos(angle) + imag_part(g) * sin(angle),
          angle=lambda g, abs, angle: abs * (imag_part(g) * cos(angle) - real_part(g) * sin(angle)))
polar.jvp(abs=lambda tangent, angle: tangent * exp(angle * 1j),
          angle=lambda tangent, y: tangent * (y * 1j))

# ---------------------------------------------------------------- Python's operators

for _commutative in ("add", "mul", "and", "or", "xor"):
    setattr(Tensor, f"__r{_commutative}__", getattr(Tensor, f"__{_commutative}__"))


def _reflected(self: Tensor, other: Any) -> Any:
    """``other - self``."""
    if type(other) is float or type(other) is int:
        return _rsub_number(self, other)
    return _rsub(self, other) if is_operand(other) else NotImplemented


def _reflected_division(self: Tensor, other: Any) -> Any:
    """``other / self``."""
    return reciprocal(self) * other if is_operand(other) else NotImplemented


def _power(self: Tensor, other: Any, modulus: Any = None) -> Any:
    """``self ** other``."""
    if modulus is not None:
        return NotImplemented
    if type(other) is int or type(other) is float:
        return _pow_number(self, other)
    return pow(self, other) if is_operand(other) else NotImplemented


def _reflected_power(self: Tensor, other: Any, modulus: Any = None) -> Any:
    """``other ** self``."""
    if modulus is not None:
        return NotImplemented
    return pow(other, self) if is_operand(other) else NotImplemented


def _modulo(self: Tensor, other: Any) -> Any:
    """``self % other``."""
    return _remainder(self, other) if is_operand(other) else NotImplemented


def _reflected_modulo(self: Tensor, other: Any) -> Any:
    """``other % self``."""
    return _remainder(other, self) if is_operand(other) else NotImplemented


def _reflected_floor(self: Tensor, other: Any) -> Any:
    """``other // self``."""
    return floor_divide(other, self) if is_operand(other) else NotImplemented


def _invert(self: Tensor) -> Tensor:
    """``~self``."""
    if dtypes.category(self.dtype) > 1:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type "
                        "tensors")
    return bitwise_not(self)


def _reflected_left_shift(self: Tensor, other: Any) -> Any:
    """``other << self``."""
    return bitwise_left_shift(other, self) if is_operand(other) else NotImplemented


def _reflected_right_shift(self: Tensor, other: Any) -> Any:
    """``other >> self``."""
    return bitwise_right_shift(other, self) if is_operand(other) else NotImplemented


_OPERATORS = {
    "rsub": _reflected, "rtruediv": _reflected_division, "rdiv": _reflected_division,
    "pow": _power, "rpow": _reflected_power, "ipow": pow_,
    "mod": _modulo, "rmod": _reflected_modulo, "imod": Tensor.remainder_,  # type: ignore[attr-defined]
    "rfloordiv": _reflected_floor, "invert": _invert,
    "rlshift": _reflected_left_shift, "rrshift": _reflected_right_shift,
    "irshift": in_place(bitwise_right_shift), "div": Tensor.__truediv__,  # type: ignore[attr-defined]
    "idiv": in_place(div),
}
for _name, _function in _OPERATORS.items():
    setattr(Tensor, f"__{_name}__", _function)
del Tensor.__ineg__  # type: ignore[attr-defined]

# Other families find all elementwise ops here.
__all__ = [
    "_clamp_max_number", "_clamp_min_number", "_clamp_numbers", "abs", "clamp", "clamp_max",
    "clamp_min", "complex", "conj", "exp", "exp2", "expm1", "in_place", "is_number", "isnan",
    "kept", "kinds", "lerp", "log", "log1p", "logical_not", "logit", "maximum", "minimum", "mul",
    "plain_number", "pow", "reciprocal", "round", "rsqrt", "sgn", "sigmoid", "sinc", "sqrt",
    "tanh", "where", "xlogy", "zeroed", "zeros_as",
]
