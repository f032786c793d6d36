"""Element by element: arithmetic, comparison, elementary functions."""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from typing import Any

from .. import dtypes, return_types
from ..backend import numpy as xp
from ..backend import pointwise as arrays
from ..errors import no_kernel, no_overload, not_a_tensor
from ..interpret import NUMBERS
from ..op import PUBLIC, Array, Index, Number, composite, elementwise, op, publish
from ..tensor import Tensor, wrap
from .convert import cast

BOTH = ("input", "other")
LOG2, LOG10 = math.log(2.0), math.log(10.0)

# ---------------------------------------------------------------- what ops refuse

_KIND_NAMES = ("b", "i", "f", "c")


def kinds(allowed: str, kernel: str, **worded: tuple[type[Exception], str]) -> Callable[..., None]:
    """A guard that admits dtypes by kind: bool, integer, floating, complex."""

    def guard(given: dict[str, Any], common: dtypes.dtype) -> None:
        kind = _KIND_NAMES[dtypes.category(common)]
        if kind in allowed:
            return
        if kind in worded:
            error, message = worded[kind]
            raise error(message)
        raise no_kernel(kernel, common)

    return guard


def with_number(common: dtypes.dtype, number: Any) -> dtypes.dtype:
    """The dtype that tensors of dtype ``common`` and a Python number have in common."""
    kind = dtypes.of_scalar(number)
    if dtypes.category(kind) <= dtypes.category(common):
        return common
    return common.to_complex() if kind.is_complex and common.is_floating_point else kind


def kinds_with_number(allowed: str, kernel: str) -> Callable[..., None]:
    """:func:`kinds` of the dtype that the tensor and the number ``other`` have in common."""
    guard = kinds(allowed, kernel)
    return lambda given, common: guard(given, with_number(common, given["other"]))


def _no_complex(kernel: str) -> Callable[..., None]:
    return kinds("bif", kernel)


def is_number(value: Any) -> bool:
    """Whether ``value`` is a Python or backend number."""
    return isinstance(value, (*NUMBERS, xp.generic))


def plain_number(value: Any) -> Any:
    return value.item() if isinstance(value, xp.generic) else value


def widened(input: Any, number: Any) -> Any:
    """Raw ``input`` in the dtype that it and a Python number have in common."""
    return arrays.widened(input, number, dtypes.get_default_dtype().np)


def with_room_for(input: Tensor, number: Any) -> Tensor:
    """A real tensor as a complex one where it meets a complex number."""
    if isinstance(number, builtins.complex) and not input.is_complex():
        kind = input.dtype if input.is_floating_point() else dtypes.get_default_dtype()
        return cast(input, kind.to_complex())
    return input


def no_derivative(name: str) -> Any:
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


def in_place(made: Any) -> Any:
    """The in-place function of a declared op."""
    return made.op.inplace_function


# ---------------------------------------------------------------- masks that rules use


@elementwise(function=None, method=False, node="MaskedFillBackward0")
def zeroed(input: Array, mask: Index) -> Any:
    """``input`` with zeros where ``mask`` is true, whatever stood there."""
    return arrays.zeroed(input, mask)


@elementwise(function=None, method=False, node="MaskedFillBackward0")
def kept(input: Array, mask: Index) -> Any:
    """``input`` with zeros where ``mask`` is false, whatever stood there."""
    return arrays.kept(input, mask)


zeroed.vjp(input=lambda g, mask: zeroed(g, mask))
kept.vjp(input=lambda g, mask: kept(g, mask))


@elementwise(function=None, method=False, node="ZerosLikeBackward0", quiet=True)
def zeros_as(input: Array) -> Any:
    """Zeros in the shape and dtype of ``input``."""
    return xp.zeros_like(input)


zeros_as.vjp(input=lambda g: zeros_as(g))


@elementwise(function=None, method=False, promote=None, quiet=True, node="RealBackward0")
def real_part(input: Array) -> Any:
    """The real part, in memory of its own."""
    return xp.array(input.real)


@elementwise(function=None, method=False, promote=None, quiet=True, node="ImagBackward0")
def imag_part(input: Array) -> Any:
    """The imaginary part, in memory of its own."""
    return xp.array(input.imag)


real_part.vjp(input=lambda g: g)
real_part.jvp(input=lambda tangent: real_part(tangent))
imag_part.vjp(input=lambda g: g * 1j)
imag_part.jvp(input=lambda tangent: imag_part(tangent))

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


def _tensor_or_number(name: str, with_tensor: Any, with_number: Any, of_number: Any = None) -> Any:
    """The public function of an op whose second operand is a tensor or a number."""
    forms = ["Tensor input, Tensor other, *, Tensor out = None",
             "Tensor input, Number other, *, Tensor out = None"]
    if of_number is not None:
        forms.insert(1, "Number self, Tensor other, *, Tensor out = None")

    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        if isinstance(other, Tensor):
            if isinstance(input, Tensor):
                return with_tensor(input, other, out=out)
            if of_number is not None and is_number(input):
                return of_number(input, other, out=out)
        elif isinstance(input, Tensor) and is_number(other):
            other = plain_number(other)
            return with_number(with_room_for(input, other), other, out=out)
        raise no_overload(name, (input, other), *forms)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = with_tensor.__doc__
    return function


def _tensor_or_number_(name: str, with_tensor: Any, with_number: Any) -> Any:
    """The in-place method beside :func:`_tensor_or_number`."""

    def function(input: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return in_place(with_tensor)(input, other)
        if is_number(other):
            return in_place(with_number)(input, plain_number(other))
        raise no_overload(name, (other,), "Tensor other", "Number other")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"In-place version of :func:`{name[:-1]}`."
    return function


def _publish_pair(name: str, with_tensor: Any, with_number: Any, of_number: Any = None,
                  function: str = "torch") -> Any:
    made = _tensor_or_number(name, with_tensor, with_number, of_number)
    publish(made, name, function=function)
    publish(_tensor_or_number_(name + "_", with_tensor, with_number), name + "_", function=None)
    return made


_remainder = _publish_pair("remainder", remainder, _remainder_number, _remainder_of_number)
_fmod = _publish_pair("fmod", fmod, _fmod_number)


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


@elementwise(promote="float", inplace="function")
def reciprocal(input: Array) -> Any:
    """One over ``input``."""
    return xp.reciprocal(input)


reciprocal.vjp(input=lambda g, y: -g * conj(y * y))


@elementwise(promote="float", inplace="function")
def sqrt(input: Array) -> Any:
    """The square root."""
    return xp.sqrt(input)


sqrt.vjp(input=lambda g, y: g / (2 * conj(y)))


@elementwise(promote="float", inplace="function")
def rsqrt(input: Array) -> Any:
    """One over the square root."""
    return 1 / xp.sqrt(input)


rsqrt.vjp(input=lambda g, y: -0.5 * g * conj(y * y * y))

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
    if exponent == 2:
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
    return zeroed(g * conj(y * log(input)), flat)


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
        return zeroed(g * y * -math.inf, real_part(exponent) >= 0)
    if isinstance(base, builtins.complex) or (base < 0 and is_complex_value(exponent)):
        return g * conj(y * _complex_logarithm(base))
    return g * conj(y * (math.log(base) if base > 0 else math.nan))


def _complex_logarithm(number: Any) -> Any:
    import cmath

    return cmath.log(number)


_POW_FORMS = ("Tensor input, Tensor exponent, *, Tensor out = None",
              "Number self, Tensor exponent, *, Tensor out = None",
              "Tensor input, Number exponent, *, Tensor out = None")


def _is_operand(value: Any) -> bool:
    return isinstance(value, (Tensor, *NUMBERS, xp.generic))


@composite(method=True)
def pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """``input`` to the power of ``exponent``; either may be a number."""
    if not _is_operand(input) or not _is_operand(exponent):
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

# ---------------------------------------------------------------- comparison


def _comparison(name: str) -> Callable[..., None]:
    return _no_complex(f"{name}_cpu")


@elementwise(operator="eq", quiet=True)
def eq(input: Array, other: Array) -> Any:
    """Where ``input`` and ``other`` are equal."""
    return xp.equal(input, other)


@elementwise(operator="ne", quiet=True, aliases=("not_equal",))
def ne(input: Array, other: Array) -> Any:
    """Where ``input`` and ``other`` differ."""
    return xp.not_equal(input, other)


@elementwise(operator="lt", quiet=True, aliases=("less",), guard=_comparison("lt"))
def lt(input: Array, other: Array) -> Any:
    """Where ``input`` is less than ``other``."""
    return xp.less(input, other)


@elementwise(operator="le", quiet=True, aliases=("less_equal",),
             guard=_comparison("le"))
def le(input: Array, other: Array) -> Any:
    """Where ``input`` is at most ``other``."""
    return xp.less_equal(input, other)


@elementwise(operator="gt", quiet=True, aliases=("greater",), guard=_comparison("gt"))
def gt(input: Array, other: Array) -> Any:
    """Where ``input`` is greater than ``other``."""
    return xp.greater(input, other)


@elementwise(operator="ge", quiet=True, aliases=("greater_equal",),
             guard=_comparison("ge"))
def ge(input: Array, other: Array) -> Any:
    """Where ``input`` is at least ``other``."""
    return xp.greater_equal(input, other)


def _comparison_in_place(made: Any, aliases: tuple[str, ...] = ()) -> None:
    """Publish the in-place variant of a comparison: zeros and ones, which have no slope."""
    name = made.op.name
    forms = []
    for form, suffix in enumerate(("_number", "_tensor")):

        def kernel(input: Array, other: Array) -> Any:
            return made.op.kernel(input, other)

        kernel.__name__ = f"_{name}{suffix}"
        forms.append(elementwise(function=None, method=False, inplace=True, title=name,
                                 guard=made.op.guard, node=f"{name.capitalize()}Backward{form}")
                     (kernel))
        forms[-1].vjp(input=lambda g: zeros_as(g), other=lambda g: zeros_as(g))
    publish(_tensor_or_number_(name + "_", forms[1], forms[0]), name + "_", function=None,
            aliases=tuple(a + "_" for a in aliases))


for _comparison_op, _other_name in ((eq, ""), (ne, "not_equal"), (lt, "less"), (le, "less_equal"),
                                    (gt, "greater"), (ge, "greater_equal")):
    _comparison_in_place(_comparison_op, (_other_name,) if _other_name else ())


def _check_close(given: dict[str, Any], common: dtypes.dtype) -> None:
    first, second = given["input"].dtype, given["other"].dtype
    if first is not second:
        raise RuntimeError(f"{first.alias} did not match {second.alias}")


@elementwise(promote=None, numbers=(), guard=_check_close)
def isclose(input: Array, other: Array, rtol: float = 1e-5, atol: float = 1e-8,
            equal_nan: bool = False) -> Any:
    """Where ``input`` and ``other`` are equal within tolerances."""
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got "
                               f"{tolerance:g}")
    return arrays.close(input, other, rtol, atol, equal_nan)


@composite(method=True)
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8,
             equal_nan: bool = False) -> bool:
    """Whether all elements are equal within tolerances."""
    if not isinstance(other, Tensor):
        raise not_a_tensor("allclose", "other", 2, other)
    return bool(isclose(input, other, rtol, atol, equal_nan)._data.all())


@composite(method=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements."""
    for position, (name, value) in enumerate((("input", input), ("other", other)), 1):
        if not isinstance(value, Tensor):
            raise not_a_tensor("equal", name, position, value)
    return input.shape == other.shape and bool((input._data == other._data).all())


# ---------------------------------------------------------------- logic and bits


@elementwise(inplace=True, promote=None, numbers=(), quiet=True, halves=False)
def logical_and(input: Array, other: Array) -> Any:
    """Where both are not zero."""
    return xp.logical_and(input, other)


@elementwise(inplace=True, promote=None, numbers=(), quiet=True, halves=False)
def logical_or(input: Array, other: Array) -> Any:
    """Where at least one is not zero."""
    return xp.logical_or(input, other)


@elementwise(inplace=True, promote=None, numbers=(), quiet=True, halves=False)
def logical_xor(input: Array, other: Array) -> Any:
    """Where exactly one is not zero."""
    return xp.logical_xor(input, other)


@elementwise(inplace=True, quiet=True)
def logical_not(input: Array) -> Any:
    """Where ``input`` is zero."""
    return xp.logical_not(input)


@elementwise(inplace=True, operator="and", numbers=BOTH, guard=kinds("bi", "bitwise_and_cpu"))
def bitwise_and(input: Array, other: Array) -> Any:
    """Bits that are set in both; of bools, their conjunction."""
    return xp.bitwise_and(input, other)


@elementwise(inplace=True, operator="or", numbers=BOTH, guard=kinds("bi", "bitwise_or_cpu"))
def bitwise_or(input: Array, other: Array) -> Any:
    """Bits that are set in either; of bools, their disjunction."""
    return xp.bitwise_or(input, other)


@elementwise(inplace=True, operator="xor", numbers=BOTH, guard=kinds("bi", "bitwise_xor_cpu"))
def bitwise_xor(input: Array, other: Array) -> Any:
    """Bits that are set in exactly one; of bools, their difference."""
    return xp.bitwise_xor(input, other)


@elementwise(inplace=True, guard=kinds("bi", "bitwise_not_cpu"))
def bitwise_not(input: Array) -> Any:
    """All bits turned over; of bools, their negation."""
    return xp.invert(input)


@elementwise(inplace=True, operator="lshift", numbers=BOTH, guard=kinds("i", "lshift_cpu"))
def bitwise_left_shift(input: Array, other: Array) -> Any:
    """Bits moved towards the higher places."""
    return xp.left_shift(input, other)


@elementwise(inplace=True, operator="rshift", numbers=BOTH, guard=kinds("i", "rshift_cpu"))
def bitwise_right_shift(input: Array, other: Array) -> Any:
    """Bits moved towards the lower places; the sign stays."""
    return xp.right_shift(input, other)


@elementwise(inplace="function", numbers=(), guard=kinds("i", "gcd_cpu"))
def gcd(input: Array, other: Array) -> Any:
    """The greatest common divisor."""
    return xp.gcd(input, other)


@elementwise(inplace="function", numbers=(), guard=kinds("i", "lcm_cpu"))
def lcm(input: Array, other: Array) -> Any:
    """The least common multiple."""
    return xp.lcm(input, other)


# ---------------------------------------------------------------- kinds of numbers


@elementwise(quiet=True)
def isnan(input: Array) -> Any:
    """Where ``input`` is not a number."""
    return xp.isnan(input)


@elementwise(quiet=True)
def isinf(input: Array) -> Any:
    """Where ``input`` is infinite."""
    return xp.isinf(input)


@elementwise(quiet=True)
def isfinite(input: Array) -> Any:
    """Where ``input`` is neither infinite nor NaN."""
    return xp.isfinite(input)


@elementwise(quiet=True, guard=kinds("bif", "isposinf", c=(
    RuntimeError, "isposinf does not support complex inputs.")))
def isposinf(input: Array) -> Any:
    """Where ``input`` is plus infinity."""
    return input == math.inf if input.dtype.kind == "f" else xp.zeros(input.shape, xp.BOOL)


@elementwise(quiet=True, guard=kinds("bif", "isneginf", c=(
    RuntimeError, "isneginf does not support complex inputs.")))
def isneginf(input: Array) -> Any:
    """Where ``input`` is minus infinity."""
    return input == -math.inf if input.dtype.kind == "f" else xp.zeros(input.shape, xp.BOOL)


@elementwise(quiet=True)
def isreal(input: Array) -> Any:
    """Where the imaginary part is zero."""
    return xp.isreal(input)


@elementwise(quiet=True, guard=kinds("bif", "signbit_cpu", c=(
    NotImplementedError, "signbit is not implemented for complex tensors.")))
def signbit(input: Array) -> Any:
    """Where the sign bit is set; it is for -0.0."""
    return xp.signbit(input) if input.dtype.kind == "f" else input < 0


# ---------------------------------------------------------------- exponentials and logarithms


@elementwise(promote="float", quiet=True, inplace="function")
def exp(input: Array) -> Any:
    """e to the power of ``input``."""
    return xp.exp(input)


exp.vjp(input=lambda g, y: g * conj(y))


@elementwise(promote="float", inplace="function")
def exp2(input: Array) -> Any:
    """Two to the power of ``input``."""
    return xp.exp2(input)


exp2.vjp(input=lambda g, y: g * conj(y) * LOG2)


@elementwise(promote="float", inplace="function")
def expm1(input: Array) -> Any:
    """e to the power of ``input``, minus one, exact for small ``input``."""
    return xp.expm1(input)


expm1.vjp(input=lambda g, y: g * conj(y + 1))


@elementwise(promote="float", inplace="function")
def log(input: Array) -> Any:
    """The natural logarithm."""
    return xp.log(input)


log.vjp(input=lambda g, input: g / conj(input))


@elementwise(promote="float", inplace="function")
def log2(input: Array) -> Any:
    """The logarithm to base two."""
    return xp.log2(input)


log2.vjp(input=lambda g, input: g / conj(input * LOG2))


@elementwise(promote="float", inplace="function")
def log10(input: Array) -> Any:
    """The logarithm to base ten."""
    return xp.log10(input)


log10.vjp(input=lambda g, input: g / conj(input * LOG10))


@elementwise(promote="float", inplace="function", node="Log1PBackward0")
def log1p(input: Array) -> Any:
    """The natural logarithm of one plus ``input``, exact for small ``input``."""
    return xp.log1p(input)


log1p.vjp(input=lambda g, input: g / conj(input + 1))


@elementwise(numbers=(), guard=kinds("fc", "logaddexp_cpu"))
def logaddexp(input: Array, other: Array) -> Any:
    """The logarithm of the sum of exponentials."""
    return arrays.log_add_exp(input, other, False)


logaddexp.vjp(input=lambda g, input, other: g / conj(1 + exp(other - input)),
              other=lambda g, input, other: g / conj(1 + exp(input - other)))


@elementwise(numbers=(), guard=kinds("f", "logaddexp2_cpu"))
def logaddexp2(input: Array, other: Array) -> Any:
    """The logarithm to base two of the sum of powers of two."""
    return arrays.log_add_exp(input, other, True)


logaddexp2.vjp(input=lambda g, input, other: g / conj(1 + exp2(other - input)),
               other=lambda g, input, other: g / conj(1 + exp2(input - other)))

# ---------------------------------------------------------------- trigonometric functions


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
    return arrays.sinc(input)


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

# ---------------------------------------------------------------- rounding


def _rounding(name: str) -> Callable[..., None]:
    if name == "round":
        return kinds("if", "round_vml_cpu")
    return kinds("if", f"{name}_vml_cpu", c=(
        NotImplementedError, f"{name} is not supported for complex inputs"))


@elementwise(inplace="function", quiet=True, guard=_rounding("floor"))
def floor(input: Array) -> Any:
    """The nearest integer that is not greater."""
    return xp.floor(input)


@elementwise(inplace="function", quiet=True, guard=_rounding("ceil"))
def ceil(input: Array) -> Any:
    """The nearest integer that is not less."""
    return xp.ceil(input)


@elementwise(inplace="function", quiet=True, guard=_rounding("trunc"), aliases=("fix",))
def trunc(input: Array) -> Any:
    """The integer part."""
    return xp.trunc(input)


@elementwise(function=None, method=False, inplace=True, quiet=True, guard=_rounding("round"),
             node="RoundBackward0")
def _round(input: Array) -> Any:
    return xp.rint(input) if input.dtype.kind == "f" else input.copy()


@elementwise(function=None, method=False, inplace=True, guard=kinds("f", "round_cpu"),
             node="RoundBackward1", title="round")
def _round_decimals(input: Array, decimals: int) -> Any:
    return arrays.round_decimals(input, decimals)


for _rounded in (floor, ceil, trunc, _round, _round_decimals):
    _rounded.vjp(input=lambda g: zeros_as(g))


@composite(method=True)
def round(input: Tensor, *, decimals: int = 0, out: Any = None) -> Tensor:
    """The nearest integer, or the nearest number with that many decimals; ties go to even."""
    if decimals == 0:
        return _round(input, out=out)
    return _round_decimals(input, decimals, out=out)


def round_(input: Tensor, *, decimals: int = 0) -> Tensor:
    """In-place version of :func:`round`."""
    return in_place(_round)(input) if decimals == 0 else in_place(_round_decimals)(input, decimals)


publish(round_, "round_")


@elementwise(inplace="function", quiet=True, guard=kinds("f", "frac_cpu"))
def frac(input: Array) -> Any:
    """The fractional part, with the sign of ``input``."""
    return input - xp.trunc(input)


frac.vjp(input=lambda g: g)

# ---------------------------------------------------------------- bounds


_CLAMP = kinds("if", "clamp_scalar_cpu",
               c=(NotImplementedError, "clamp is not supported for complex types"))


def _check_clamp(given: dict[str, Any], common: dtypes.dtype) -> None:
    bounds = [given[n] for n in ("min", "max") if n in given and given[n] is not None]
    if common is dtypes.bool and any(not isinstance(b, bool) for b in bounds):
        return
    _CLAMP(given, common)


def _bounded(input: Any, low: Any, high: Any) -> Any:
    for bound in (low, high):
        if bound is not None:
            input = widened(input, bound)
    return arrays.bounded(input, low, high)


@elementwise(function=None, method=False, inplace=True, quiet=True, guard=_check_clamp,
             node="ClampBackward1", title="clamp")
def _clamp_numbers(input: Array, min: Number = None, max: Number = None) -> Any:
    return _bounded(input, min, max)


_clamp_numbers.vjp(input=lambda g, input, min, max: kept(g, _within(input, min, max)))


def _within(input: Any, low: Any, high: Any) -> Any:
    """Where ``input`` lies between the bounds; NaN does not."""
    if high is None:
        return input >= low
    return input <= high if low is None else (input >= low) & (input <= high)


@elementwise(function=None, method=False, inplace=True, quiet=True, guard=_CLAMP,
             node="ClampBackward0", title="clamp")
def _clamp_tensors(input: Array, min: Array, max: Array) -> Any:
    return xp.minimum(xp.maximum(input, min), max)


_clamp_tensors.vjp(
    input=lambda g, input, min, max: kept(g, (input >= min) & (input <= max)),
    min=lambda g, input, min, max: kept(g, (input < min) & (min < max)),
    max=lambda g, input, min, max: kept(g, (input > max) | (max < min)))


def _lower_bound(name: str, node: str) -> Any:
    def kernel(input: Array, min: Array) -> Any:
        return xp.maximum(input, min)

    kernel.__name__ = name
    made = elementwise(function=None, method=False, inplace=True, quiet=True, guard=_CLAMP,
                       node=node, title="clamp")(kernel)
    made.vjp(input=lambda g, input, min: kept(g, input >= min),
             min=lambda g, input, min: kept(g, input < min))
    return made


def _upper_bound(name: str, node: str) -> Any:
    def kernel(input: Array, max: Array) -> Any:
        return xp.minimum(input, max)

    kernel.__name__ = name
    made = elementwise(function=None, method=False, inplace=True, quiet=True, guard=_CLAMP,
                       node=node, title="clamp")(kernel)
    made.vjp(input=lambda g, input, max: kept(g, input <= max),
             max=lambda g, input, max: kept(g, input > max))
    return made


_clamp_to_min = _lower_bound("_clamp_to_min", "ClampBackward0")
_clamp_to_max = _upper_bound("_clamp_to_max", "ClampBackward0")
_clamp_min_tensor = _lower_bound("_clamp_min_tensor", "ClampMinBackward1")
_clamp_max_tensor = _upper_bound("_clamp_max_tensor", "ClampMaxBackward1")


@elementwise(function=None, method=False, inplace=True, quiet=True, guard=_check_clamp,
             node="ClampMinBackward0", title="clamp_min")
def _clamp_min_number(input: Array, min: Number) -> Any:
    return _bounded(input, min, None)


_clamp_min_number.vjp(input=lambda g, input, min: kept(g, input >= min))


@elementwise(function=None, method=False, inplace=True, quiet=True, guard=_check_clamp,
             node="ClampMaxBackward0", title="clamp_max")
def _clamp_max_number(input: Array, max: Number) -> Any:
    return _bounded(input, None, max)


_clamp_max_number.vjp(input=lambda g, input, max: kept(g, input <= max))


_BOUNDS = (float, int, type(None))


def _clamp_call(input: Any, low: Any, high: Any) -> tuple[Any, tuple[Any, ...]]:
    """Which op clamps to these bounds, and its arguments."""
    if not all(b is None or _is_operand(b) for b in (low, high)) or not isinstance(input, Tensor):
        given = (input, low) if high is None else (input, low, high)
        raise no_overload(
            "clamp", given,
            "Tensor input, Tensor min = None, Tensor max = None, *, Tensor out = None",
            "Tensor input, Number min = None, Number max = None, *, Tensor out = None")
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if not isinstance(low, Tensor) and not isinstance(high, Tensor):
        return _clamp_numbers, (input, plain_number(low), plain_number(high))
    if high is None:
        return _clamp_to_min, (input, low)
    if low is None:
        return _clamp_to_max, (input, high)
    return _clamp_tensors, (input, low, high)


@composite(method=True, aliases=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """``input`` held between two bounds, either of which may be missing."""
    if out is None and type(min) in _BOUNDS and type(max) in _BOUNDS and min is not max:
        return _clamp_numbers(input, min, max)
    made, args = _clamp_call(input, min, max)
    return made(*args, out=out)


def clamp_(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """In-place version of :func:`clamp`."""
    made, args = _clamp_call(input, min, max)
    return in_place(made)(*args)


publish(clamp_, "clamp_", aliases=("clip_",))


@composite(method=True)
def clamp_min(input: Tensor, min: Any, *, out: Any = None) -> Tensor:
    """``input``, or ``min`` where that is greater."""
    if isinstance(min, Tensor):
        return _clamp_min_tensor(input, min, out=out)
    return _clamp_min_number(input, plain_number(min), out=out)


@composite(method=True)
def clamp_max(input: Tensor, max: Any, *, out: Any = None) -> Tensor:
    """``input``, or ``max`` where that is less."""
    if isinstance(max, Tensor):
        return _clamp_max_tensor(input, max, out=out)
    return _clamp_max_number(input, plain_number(max), out=out)


def clamp_min_(input: Tensor, min: Any) -> Tensor:
    """In-place version of :func:`clamp_min`."""
    return in_place(_clamp_min_tensor if isinstance(min, Tensor) else _clamp_min_number)(input, min)


def clamp_max_(input: Tensor, max: Any) -> Tensor:
    """In-place version of :func:`clamp_max`."""
    return in_place(_clamp_max_tensor if isinstance(max, Tensor) else _clamp_max_number)(input, max)


publish(clamp_min_, "clamp_min_")
publish(clamp_max_, "clamp_max_")


def _extremum(name: str) -> Callable[..., None]:
    return kinds("bif", f"{name}_cpu", c=(
        RuntimeError, f"{name} not implemented for complex tensors."))


@elementwise(quiet=True, numbers=(), guard=_extremum("maximum"))
def maximum(input: Array, other: Array) -> Any:
    """The greater of two, NaN if either is; equals share the gradient."""
    return xp.maximum(input, other)


@elementwise(quiet=True, numbers=(), guard=_extremum("minimum"))
def minimum(input: Array, other: Array) -> Any:
    """The smaller of two, NaN if either is; equals share the gradient."""
    return xp.minimum(input, other)


maximum.vjp(input=lambda g, input, other: zeroed(_share(g, input, other), input < other),
            other=lambda g, input, other: zeroed(_share(g, input, other), other < input))
minimum.vjp(input=lambda g, input, other: zeroed(_share(g, input, other), input > other),
            other=lambda g, input, other: zeroed(_share(g, input, other), other > input))


def _share(g: Any, a: Any, b: Any) -> Any:
    return where(a == b, g / 2, g)


@elementwise(quiet=True, numbers=(), guard=_extremum("fmax"))
def fmax(input: Array, other: Array) -> Any:
    """The greater of two, ignoring NaN; of equals, the first takes the gradient."""
    return xp.fmax(input, other)


@elementwise(quiet=True, numbers=(), guard=_extremum("fmin"))
def fmin(input: Array, other: Array) -> Any:
    """The smaller of two, ignoring NaN; of equals, the first takes the gradient."""
    return xp.fmin(input, other)


fmax.vjp(input=lambda g, input, other: kept(g, (input >= other) | isnan(other)),
         other=lambda g, input, other: zeroed(g, (input >= other) | isnan(other)))
fmin.vjp(input=lambda g, input, other: kept(g, (input <= other) | isnan(other)),
         other=lambda g, input, other: zeroed(g, (input <= other) | isnan(other)))

# ---------------------------------------------------------------- choosing


def _condition(condition: Any) -> Any:
    if condition.dtype.name == "uint8":
        warnings.warn("where received a uint8 condition tensor. This behavior is deprecated and "
                      "will be removed in a future version of PyTorch. Use a boolean condition "
                      "instead.", UserWarning, stacklevel=5)
        return condition.astype(xp.BOOL)
    kind = dtypes.from_numpy_dtype(condition.dtype)
    raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with "
                       f"dtype {kind.alias}")


@elementwise(function=None, method=False, quiet=True, numbers=BOTH)
def where(condition: Index, input: Array, other: Array) -> Any:
    """``input`` where ``condition`` holds, ``other`` elsewhere."""
    if condition.dtype is not xp.BOOL and condition.dtype != xp.BOOL:
        condition = _condition(condition)
    return xp.where(condition, input, other)


where.vjp(input=lambda g, condition: kept(g, condition),
          other=lambda g, condition: zeroed(g, condition))

_WHERE_FORMS = ("Tensor condition",
                "Tensor condition, Tensor input, Tensor other, *, Tensor out = None",
                "Tensor condition, Number self, Tensor other",
                "Tensor condition, Tensor input, Number other",
                "Tensor condition, Number self, Number other")


def _where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """``input`` where ``condition`` holds, ``other`` elsewhere; alone, where it holds."""
    if input is None and other is None and isinstance(condition, Tensor):
        return tuple([wrap(found) for found in xp.nonzero(xp.atleast_1d(condition._data))])
    if not isinstance(condition, Tensor) or not (_is_operand(input) and _is_operand(other)):
        given = tuple(v for v in (condition, input, other) if v is not None)
        raise no_overload("where", given, *_WHERE_FORMS)
    return where(condition, input, other, out=out)


publish(_where, "where", method=False)


def _where_method(input: Tensor, condition: Tensor, other: Any) -> Tensor:
    """``input`` where ``condition`` holds, ``other`` elsewhere."""
    return _where(condition, input, other)


publish(_where_method, "where", function=None)


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
_copysign = _publish_pair("copysign", copysign, _copysign_number)


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


# ---------------------------------------------------------------- sigmoid and logit


@elementwise(promote="float", inplace="function")
def sigmoid(input: Array) -> Any:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + xp.exp(-input))


sigmoid.vjp(input=lambda g, y: g * conj((1 - y) * y))


@elementwise(promote="float", inplace="function", guard=kinds("f", "logit_cpu"))
def logit(input: Array, eps: float | None = None) -> Any:
    """log(x / (1 - x)), with ``input`` held ``eps`` away from 0 and 1 if that is given."""
    if eps is not None:
        input = arrays.bounded(input, eps, 1 - eps)
    return xp.log(input / (1 - input))


logit.vjp(input=lambda g, input, eps: _logit_gradient(g, input, eps))


def _logit_gradient(g: Any, input: Any, eps: float | None) -> Any:
    found = g / (input * (1 - input))
    if eps is None:
        return where((input < 0) | (input > 1), math.nan, found)
    return zeroed(found, (input < eps) | (input > 1 - eps))


@elementwise(numbers=(), promote="float", function=None, method=False, inplace=True,
             guard=kinds("f", "xlogy_cpu"))
def xlogy(input: Array, other: Array) -> Any:
    """``input`` times the logarithm of ``other``, 0 where ``input`` is 0."""
    return _xlogy_kernel(input, other)


def _xlogy_kernel(input: Any, other: Any) -> Any:
    found = xp.where(input == 0, xp.zeros((), input.dtype), input * xp.log(other))
    return xp.where(xp.isnan(other), other, found)


xlogy.vjp(input=lambda g, input, other: g * zeroed(log(other), (input == 0) & (other <= 0)),
          other=lambda g, input, other: g * (input / other))


@elementwise(promote="float", function=None, method=False, inplace=True, node="XlogyBackward2",
             title="xlogy",
             guard=kinds("f", "xlogy_cpu"))
def _xlogy_number(input: Array, other: Number) -> Any:
    return _xlogy_kernel(input, arrays.number_in(input.dtype, other))


_xlogy_number.vjp(input=lambda g, input, other: _scaled_log(g, input, other))


def _scaled_log(g: Any, input: Any, other: Any) -> Any:
    if other > 0:
        return g * math.log(other)
    return zeroed(g * (-math.inf if other == 0 else math.nan), input == 0)


@elementwise(promote="float", function=None, method=False, numbers=BOTH, node="XlogyBackward1",
             title="xlogy",
             guard=kinds("f", "xlogy_cpu"))
def _xlogy_of_number(input: Array, other: Array) -> Any:
    return _xlogy_kernel(input, other)


_xlogy_of_number.vjp(other=lambda g, input, other: g * (input / other))
_xlogy = _publish_pair("xlogy", xlogy, _xlogy_number, _xlogy_of_number)
publish(_xlogy, "xlogy", function="special")
PUBLIC["torch"]["xlogy_"] = Tensor.xlogy_  # type: ignore[attr-defined]

# ---------------------------------------------------------------- complex numbers


@elementwise(quiet=True, function=None, method=False)
def conj(input: Array) -> Any:
    """The complex conjugate."""
    return xp.conj(input)


conj.vjp(input=lambda g: conj(g))
_conj_complex = conj


def conj(input: Any) -> Any:  # type: ignore[no-redef]
    """The complex conjugate; a real tensor is its own."""
    return _conj_complex(input) if input._data.dtype.kind == "c" else input


# Rules on raw arrays find the kernel by this.
conj.op = _conj_complex.op  # type: ignore[attr-defined]
publish(conj, "conj")


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
    return _rsub(self, other) if _is_operand(other) else NotImplemented


def _reflected_division(self: Tensor, other: Any) -> Any:
    """``other / self``."""
    return reciprocal(self) * other if _is_operand(other) else NotImplemented


def _power(self: Tensor, other: Any, modulus: Any = None) -> Any:
    """``self ** other``."""
    if modulus is not None:
        return NotImplemented
    if type(other) is int or type(other) is float:
        return _pow_number(self, other)
    return pow(self, other) if _is_operand(other) else NotImplemented


def _reflected_power(self: Tensor, other: Any, modulus: Any = None) -> Any:
    """``other ** self``."""
    if modulus is not None:
        return NotImplemented
    return pow(other, self) if _is_operand(other) else NotImplemented


def _modulo(self: Tensor, other: Any) -> Any:
    """``self % other``."""
    return _remainder(self, other) if _is_operand(other) else NotImplemented


def _reflected_modulo(self: Tensor, other: Any) -> Any:
    """``other % self``."""
    return _remainder(other, self) if _is_operand(other) else NotImplemented


def _reflected_floor(self: Tensor, other: Any) -> Any:
    """``other // self``."""
    return floor_divide(other, self) if _is_operand(other) else NotImplemented


def _invert(self: Tensor) -> Tensor:
    """``~self``."""
    if dtypes.category(self.dtype) > 1:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type "
                        "tensors")
    return bitwise_not(self)


def _reflected_left_shift(self: Tensor, other: Any) -> Any:
    """``other << self``."""
    return bitwise_left_shift(other, self) if _is_operand(other) else NotImplemented


def _reflected_right_shift(self: Tensor, other: Any) -> Any:
    """``other >> self``."""
    return bitwise_right_shift(other, self) if _is_operand(other) else NotImplemented


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

__all__ = ["in_place", "is_number", "kept", "kinds", "plain_number", "zeroed", "zeros_as"]
