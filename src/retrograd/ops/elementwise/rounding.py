"""Rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend import pointwise as pointwise_kernels
from ...backend import xp
from ...backend.interface import kind_of
from ...core.op import Array, composite, elementwise, publish
from ...core.tensor import Tensor
from ..checks.common import kinds
from .number_operands import in_place
from .where import zeros_as


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
    return xp.rint(input) if kind_of(input.dtype) == "f" else input.copy()


@elementwise(function=None, method=False, inplace=True, guard=kinds("f", "round_cpu"),
             node="RoundBackward1", title="round")
def _round_decimals(input: Array, decimals: int) -> Any:
    return pointwise_kernels.round_decimals(input, decimals)


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
