"""Powers."""

from __future__ import annotations

import builtins
import math
from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import no_overload
from ...core.binding import raw_body
from ...core.op import Array, Number, composite, elementwise, public
from ...core.operands import fitted
from ...core.out_rules import CASTABLE, Out
from ...core.tensor import Tensor
from ..checks.elementwise import check_base, check_pow
from ..memory.casts import cast
from .arithmetic import is_complex_value
from .conjugate import conj, real_part
from .exponentials import log_like
from .number_operands import in_place, is_number, is_operand, plain_number, widened, with_room_for
from .where import zeroed, zeros_as


@elementwise(inplace=True, guard=check_pow, node="PowBackward0", title="pow", rounds="exponent",
             out=Out(CASTABLE),
             vjp=lambda g, input, exponent: _pow_gradient(g, input, exponent))
def _pow_number(input: Array, exponent: Number) -> Any:
    input = widened(input, exponent)
    kind = kind_of(input.dtype)
    if kind != "f":
        if kind == "b":
            return input | (not exponent)
        exponent = fitted(exponent, input.dtype)
    if input.dtype is xp.FLOAT32 or input.dtype is xp.FLOAT64:  # products, as PyTorch takes them
        if exponent == 3:
            return input * input * input
        if exponent == -2:
            return 1 / (input * input)
    return input ** exponent if exponent != -0.5 else 1 / xp.sqrt(input)


def _pow_gradient(g: Any, input: Any, exponent: Any) -> Any:
    if exponent == 0:
        return zeros_as(g)
    return g * conj(_pow_slope(input, exponent))


def _pow_slope(input: Any, exponent: Any) -> Any:
    return exponent * _pow_number(input, exponent - 1)


@raw_body(_pow_slope)
def _pow_slope_of_arrays(input: Any, exponent: Any) -> Any:
    return 2 * input if exponent == 2 else exponent * _pow_number(input, exponent - 1)


@elementwise(inplace=True, guard=check_pow, numbers=(), node="PowBackward1")
def _pow(input: Array, exponent: Array) -> Any:
    return pointwise_kernels.power(input, exponent)


_pow.vjp(input=lambda g, input, exponent: zeroed(
             g * conj(exponent * _pow(input, exponent - 1)), exponent == 0),
         exponent=lambda g, input, exponent, y: _exponent_gradient(g, input, exponent, y))


def _exponent_gradient(g: Any, input: Any, exponent: Any, y: Any) -> Any:
    # 0 ** x is flat for x >= 0, where the logarithm of 0 would say otherwise.
    flat = (input == 0) & (real_part(exponent) >= 0)
    # A negative real base has a logarithm beside a complex exponent.
    base = input + 0j if is_complex_value(y) and not is_complex_value(input) else input
    return g * zeroed(conj(y * log_like(y, base)), flat)


@elementwise(guard=lambda given, common: check_base(given, common), node="PowBackward2",
             promote=None, title="pow", rounds="self",
             vjp=lambda g, self, exponent, y: _base_gradient(g, self, exponent, y))
def _pow_of_number(self: Number, exponent: Array) -> Any:
    exponent = widened(exponent, self)
    return pointwise_kernels.power(pointwise_kernels.number_in(exponent.dtype, self), exponent)


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
def pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Any = None) -> Any:
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


@public("pow_", function=None)
def pow_(input: Tensor, exponent: Tensor | Number) -> Tensor:
    """In-place version of :func:`pow`."""
    if isinstance(exponent, Tensor):
        return in_place(_pow)(input, exponent)
    if not is_number(exponent):
        raise no_overload("pow_", (exponent,), "Tensor exponent", "Number exponent")
    return in_place(_pow_number)(input, plain_number(exponent))


@composite(method=True)
def square(input: Tensor, *, out: Any = None) -> Tensor:
    """``input`` times itself."""
    return (_pow_number if isinstance(input, Tensor) else pow)(input, 2, out=out)


@public("square_")
def square_(input: Tensor) -> Tensor:
    """In-place version of :func:`square`."""
    return pow_(input, 2)


def _power_dtype(*operands: Any) -> dtypes.dtype:
    is_complex = any(o.is_complex() if isinstance(o, Tensor) else isinstance(o, builtins.complex)
                     for o in operands)
    return dtypes.complex128 if is_complex else dtypes.float64


@composite(method=True, out=Out(
    "the output given to float_power has dtype {out} but the operation's result requires dtype "
    "{result}"))
def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Any:
    """``input`` to the power of ``exponent``, in double precision."""
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise no_overload("float_power", (input, exponent), *_POW_FORMS)
    dtype = _power_dtype(input, exponent)
    kind = builtins.complex if dtype.is_complex else builtins.float

    def double(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return kind(value)
        return cast(value, dtype)

    return pow(double(input), double(exponent))


@public("float_power_", function=None)
def float_power_(input: Tensor, exponent: Tensor | Number) -> Tensor:
    """In-place version of :func:`float_power`."""
    dtype = _power_dtype(input, exponent)
    if input.dtype is not dtype:
        raise RuntimeError(f"the base given to float_power_ has dtype {input.dtype.alias} but the "
                           f"operation's result requires dtype {dtype.alias}")
    if isinstance(exponent, Tensor):
        return pow_(input, cast(exponent, dtype))
    return pow_(input, builtins.complex(exponent) if dtype.is_complex else
                builtins.float(exponent))
