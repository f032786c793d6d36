"""Logic and bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...backend import xp
from ...base import dtypes
from ...base.errors import no_overload
from ...core.out_rules import CASTABLE, Out
from ..checks.common import kinds
from .expressions import binary, unary
from .number_operands import BOTH

_connective = partial(binary, inplace=True, promote=None, numbers=(), quiet=True, halves=False)
logical_and = _connective("logical_and", "Where both are not zero.",
                          lambda input, other: xp.logical_and(input, other))
logical_or = _connective("logical_or", "Where at least one is not zero.",
                         lambda input, other: xp.logical_or(input, other))
logical_xor = _connective("logical_xor", "Where exactly one is not zero.",
                          lambda input, other: xp.logical_xor(input, other))
logical_not = unary("logical_not", "Where ``input`` is zero.", lambda input: xp.logical_not(input),
                    inplace=True, quiet=True, out=Out(CASTABLE))


def _bits(name: str, allowed: str, kernel: str = "") -> Callable[..., None]:
    """A guard by dtype, which also refuses two numbers: one operand must be a tensor."""
    guard = kinds(allowed, f"{kernel or name}_cpu")

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


_bitwise = partial(binary, inplace=True, numbers=BOTH)
bitwise_and = _bitwise("bitwise_and", "Bits that are set in both; of bools, their conjunction.",
                       lambda input, other: xp.bitwise_and(input, other), operator="and",
                       guard=_bits("bitwise_and", "bi"))
bitwise_or = _bitwise("bitwise_or", "Bits that are set in either; of bools, their disjunction.",
                      lambda input, other: xp.bitwise_or(input, other), operator="or",
                      guard=_bits("bitwise_or", "bi"))
bitwise_xor = _bitwise(
    "bitwise_xor", "Bits that are set in exactly one; of bools, their difference.",
    lambda input, other: xp.bitwise_xor(input, other), operator="xor",
    guard=_bits("bitwise_xor", "bi"))
bitwise_not = unary("bitwise_not", "All bits turned over; of bools, their negation.",
                    lambda input: xp.invert(input), inplace=True,
                    guard=kinds("bi", "bitwise_not_cpu"))
bitwise_left_shift = _bitwise("bitwise_left_shift", "Bits moved towards the higher places.",
                              lambda input, other: xp.left_shift(input, other), operator="lshift",
                              guard=_bits("bitwise_left_shift", "i", "lshift"))
bitwise_right_shift = _bitwise("bitwise_right_shift",
                               "Bits moved towards the lower places; the sign stays.",
                               lambda input, other: xp.right_shift(input, other),
                               operator="rshift",
                               guard=_bits("bitwise_right_shift", "i", "rshift"))
gcd = binary("gcd", "The greatest common divisor.", lambda input, other: xp.gcd(input, other),
             inplace="function", numbers=(), guard=kinds("i", "gcd_cpu"))
lcm = binary("lcm", "The least common multiple.", lambda input, other: xp.lcm(input, other),
             inplace="function", numbers=(), guard=kinds("i", "lcm_cpu"))
