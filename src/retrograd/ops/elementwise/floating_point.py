"""Signs, exponents and neighbours of floating-point numbers."""

from __future__ import annotations

from typing import Any

from ... import return_types
from ...backend import pointwise as pointwise_kernels, xp
from ...core.op import Array, Number, composite, elementwise, op
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..checks.common import kinds, no_derivative
from ..checks.elementwise import check_frexp, check_heaviside
from ..memory.casts import cast_gradient
from .comparison import isfinite
from .conjugate import conj
from .exponentials import LOG2, exp2
from .expressions import binary
from .number_operands import publish_pair
from .where import kept, zeroed, zeros_as


@elementwise(inplace="function", halves=False, compares=True,
             vjp=lambda g, input: kept(g, isfinite(input)),
             out=Out("nan_to_num: dtype of out: {out} should be same as input: {result}"))
def nan_to_num(input: Array, nan: float | None = None, posinf: float | None = None,
               neginf: float | None = None) -> Any:
    """``input`` with numbers in place of NaN and the infinities."""
    return pointwise_kernels.replaced(input, 0.0 if nan is None else nan, posinf, neginf)


copysign = binary("copysign", "The magnitude of ``input`` with the sign of ``other``.",
                  lambda input, other: xp.copysign(input, other), promote="float", function=None,
                  method=False, inplace=True, quiet=True, numbers=(),
                  guard=kinds("f", "copysign_cpu"),
                  input=lambda g, input, y: g * zeroed(y / input, input == 0),
                  other=lambda g: zeros_as(g))


@elementwise(promote="float", inplace=True, quiet=True, node="CopysignBackward1",
             guard=kinds("f", "copysign_cpu"), title="copysign",
             vjp=lambda g, input, y: g * zeroed(y / input, input == 0))
def _copysign_number(input: Array, other: Number) -> Any:
    return xp.copysign(input, pointwise_kernels.number_in(input.dtype, other))


_copysign = publish_pair("copysign", copysign, _copysign_number)


@elementwise(inplace=True, quiet=True, numbers=(), node="NotImplemented", guard=check_heaviside,
             out=Out("heaviside is not yet implemented for tensors with different dtypes."),
             vjp=lambda g: no_derivative("aten::heaviside"))
def heaviside(input: Array, values: Array) -> Any:
    """0 below zero, 1 above it, and ``values`` at it."""
    return xp.where(input == 0, values, (input > 0).astype(values.dtype))


nextafter = binary("nextafter", "The next number after ``input`` in the direction of ``other``.",
                   lambda input, other: xp.nextafter(input, other), inplace=True, quiet=True,
                   numbers=(), halves=False, guard=kinds("f", "nextafter_cpu"),
                   input=lambda g, input, other: zeroed(g, input == other),
                   other=lambda g: zeros_as(g))
ldexp = binary("ldexp", "``input`` times two to the power of ``other``.",
               lambda input, other: input * xp.exp2(other), promote="float", inplace="function",
               out=Out("ldexp can't be cast to the desired output type {out}"),
               numbers=(), input=lambda g, other: g * conj(exp2(other)),
               other=lambda g, y: g * conj(y) * LOG2)


@op(outputs=("mantissa", "exponent"), differentiable=(0,), node="FrexpBackward0", guard=check_frexp,
    batches="leading",
    vjp=lambda g, like, exponent: cast_gradient(ldexp(g[0], -exponent), like.dtype))
def _frexp(input: Array) -> Any:
    return pointwise_kernels.mantissa_and_exponent(input)


@composite(method=True, out=Out((
    "torch.frexp() expects mantissa to have dtype {c_result} but got {c_out}",
    "torch.frexp() expects exponent to have int dtype but got {c_out}")))
def frexp(input: Tensor) -> Any:
    """``input`` as a mantissa between a half and one, and a power of two."""
    return return_types.frexp(_frexp(input))
