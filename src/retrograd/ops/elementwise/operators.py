"""Python's operators on tensors, where they are more than an op."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...base import dtypes
from ...core.tensor import Tensor
from .arithmetic import _remainder, _rsub, _rsub_number, div, floor_divide
from .logic import bitwise_left_shift, bitwise_not, bitwise_right_shift
from .number_operands import in_place, is_operand
from .powers import _pow_number, pow, pow_

for _commutative in ("add", "mul"):
    setattr(Tensor, f"__r{_commutative}__", getattr(Tensor, f"__{_commutative}__"))


def _either_side(name: str) -> Any:
    """A commutative operator, called with the tensor on the right."""
    operation, reflected = getattr(Tensor, f"__{name}__"), f"__r{name}__"

    def function(self: Tensor, other: Any) -> Any:
        if not isinstance(self, Tensor):  # two numbers are no operands of it either way
            raise TypeError(f"descriptor '{reflected}' for 'torch._C.TensorBase' objects doesn't "
                            f"apply to a '{type(self).__name__}' object")
        return operation(self, other)

    function.__doc__ = f"``other {name} self``, bit by bit."
    return function


def _reflected(self: Tensor, other: Any) -> Any:
    """``other - self``."""
    if type(other) is float or type(other) is int:
        try:
            return _rsub_number(self, other)
        except TypeError:
            if isinstance(self, Tensor):
                raise
            return NotImplemented
    return _rsub(self, other) if is_operand(other) else NotImplemented


def _reflected_division(self: Tensor, other: Any) -> Any:
    """``other / self``."""
    return self.reciprocal() * other if is_operand(other) or xp.is_array(other) else NotImplemented


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
    return pow(other, self) if is_operand(other) and isinstance(self, Tensor) else NotImplemented


def _modulo(self: Tensor, other: Any) -> Any:
    """``self % other``."""
    return _remainder(self, other) if is_operand(other) else NotImplemented


def _of_other(made: Any, sign: str) -> Any:
    """The operator that finds this tensor on its right."""

    def function(self: Tensor, other: Any) -> Any:
        is_meant = is_operand(other) and isinstance(self, Tensor)
        return made(other, self) if is_meant else NotImplemented

    function.__doc__ = f"``other {sign} self``."
    return function


def _in_place_operator(write: Any, sign: str) -> Any:
    """The operator that writes to this tensor, and leaves what it does not know to the other."""

    def function(self: Tensor, other: Any) -> Any:
        return write(self, other) if is_operand(other) else NotImplemented

    function.__doc__ = f"``self {sign} other``, in place."
    return function


def _invert(self: Tensor) -> Tensor:
    """``~self``."""
    if dtypes.category(self.dtype) > 1:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type "
                        "tensors")
    return bitwise_not(self)


_OPERATORS = {
    "rand": _either_side("and"), "ror": _either_side("or"), "rxor": _either_side("xor"),
    "rsub": _reflected, "rtruediv": _reflected_division, "rdiv": _reflected_division,
    "pow": _power, "rpow": _reflected_power, "ipow": _in_place_operator(pow_, "**="),
    "mod": _modulo, "rmod": _of_other(_remainder, "%"),
    "imod": _in_place_operator(Tensor.remainder_, "%="),  # type: ignore[attr-defined]
    "rfloordiv": _of_other(floor_divide, "//"), "invert": _invert,
    "rlshift": _of_other(bitwise_left_shift, "<<"),
    "rrshift": _of_other(bitwise_right_shift, ">>"),
    "irshift": _in_place_operator(in_place(bitwise_right_shift), ">>="),
    "div": Tensor.__truediv__,  # type: ignore[attr-defined]
    "idiv": in_place(div),
}
for _name, _function in _OPERATORS.items():
    setattr(Tensor, f"__{_name}__", _function)
del Tensor.__ineg__  # type: ignore[attr-defined]
