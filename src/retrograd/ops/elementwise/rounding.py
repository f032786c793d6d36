"""Rounding."""

from __future__ import annotations

from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...backend.interface import kind_of
from ...core.op import Array, composite, elementwise, public
from ...core.tensor import Tensor
from ..checks.common import kinds
from .expressions import unary
from .number_operands import in_place
from .where import zeros_as


def _rounding(name: str, doc: str, kernel: Any, *aliases: str) -> Any:
    """Declare a rounding, whose derivative is zero."""
    guard = kinds("if", f"{name}_vml_cpu", c=(
        NotImplementedError, f"{name} is not supported for complex inputs"))
    return unary(name, doc, kernel, lambda g: zeros_as(g), inplace="function", quiet=True,
                 guard=guard, aliases=aliases)


floor = _rounding("floor", "The nearest integer that is not greater.",
                  lambda input: xp.floor(input))
ceil = _rounding("ceil", "The nearest integer that is not less.", lambda input: xp.ceil(input))
trunc = _rounding("trunc", "The integer part.", lambda input: xp.trunc(input), "fix")
_round = unary("_round", None,
               lambda input: xp.rint(input) if kind_of(input.dtype) == "f" else input.copy(),
               lambda g: zeros_as(g), inplace=True, quiet=True, guard=kinds("if", "round_vml_cpu"),
               node="RoundBackward0")


@elementwise(inplace=True, guard=kinds("f", "round_cpu"), node="RoundBackward1", title="round",
             vjp=lambda g: zeros_as(g))
def _round_decimals(input: Array, decimals: int) -> Any:
    return pointwise_kernels.round_decimals(input, decimals)


@composite(method=True)
def round(input: Tensor, *, decimals: int = 0, out: Any = None) -> Tensor:
    """The nearest integer, or the nearest number with that many decimals; ties go to even."""
    if decimals == 0:
        return _round(input, out=out)
    return _round_decimals(input, decimals, out=out)


@public("round_")
def round_(input: Tensor, *, decimals: int = 0) -> Tensor:
    """In-place version of :func:`round`."""
    return in_place(_round)(input) if decimals == 0 else in_place(_round_decimals)(input, decimals)


frac = unary("frac", "The fractional part, with the sign of ``input``.",
             lambda input: input - xp.trunc(input), lambda g: g, inplace="function", quiet=True,
             guard=kinds("f", "frac_cpu"))
