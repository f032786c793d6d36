"""Logic and bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend import xp
from ...base import dtypes
from ...base.errors import no_overload
from ...core.op import Array, elementwise
from ..checks.common import kinds
from .number_operands import BOTH


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


def _bits(name: str, guard: Callable[..., None]) -> Callable[..., None]:
    """``guard``, which also refuses two numbers: one operand must be a tensor."""
    def checked(given: dict[str, Any], common: dtypes.dtype) -> None:
        pair = [given[operand] for operand in BOTH]
        if all(operand._wrapped_number for operand in pair):
            numbers = tuple([operand.item() for operand in pair])
            wrong = ", ".join([f"!{type(number).__name__}!" for number in numbers])
            raise no_overload(
                name, numbers, "Tensor input, Tensor other, *, Tensor out = None",
                "Number self, Tensor other)\n      didn't match because some of the arguments have "
                f"invalid types: ({wrong}", "Tensor input, Number other, *, Tensor out = None")
        guard(given, common)

    return checked


@elementwise(inplace=True, operator="and", numbers=BOTH,
             guard=_bits("bitwise_and", kinds("bi", "bitwise_and_cpu")))
def bitwise_and(input: Array, other: Array) -> Any:
    """Bits that are set in both; of bools, their conjunction."""
    return xp.bitwise_and(input, other)


@elementwise(inplace=True, operator="or", numbers=BOTH,
             guard=_bits("bitwise_or", kinds("bi", "bitwise_or_cpu")))
def bitwise_or(input: Array, other: Array) -> Any:
    """Bits that are set in either; of bools, their disjunction."""
    return xp.bitwise_or(input, other)


@elementwise(inplace=True, operator="xor", numbers=BOTH,
             guard=_bits("bitwise_xor", kinds("bi", "bitwise_xor_cpu")))
def bitwise_xor(input: Array, other: Array) -> Any:
    """Bits that are set in exactly one; of bools, their difference."""
    return xp.bitwise_xor(input, other)


@elementwise(inplace=True, guard=kinds("bi", "bitwise_not_cpu"))
def bitwise_not(input: Array) -> Any:
    """All bits turned over; of bools, their negation."""
    return xp.invert(input)


@elementwise(inplace=True, operator="lshift", numbers=BOTH,
             guard=_bits("bitwise_left_shift", kinds("i", "lshift_cpu")))
def bitwise_left_shift(input: Array, other: Array) -> Any:
    """Bits moved towards the higher places."""
    return xp.left_shift(input, other)


@elementwise(inplace=True, operator="rshift", numbers=BOTH,
             guard=_bits("bitwise_right_shift", kinds("i", "rshift_cpu")))
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
