"""Elementwise updates written down as steps, which a native kernel takes in one pass.

An update is a function of tensors that writes to some of them, as steps of optimizers are. Run on
:class:`Recorded` in their place, it writes down what it does; the kernel does that for a block of
elements at a time, on all threads. Each step rounds as the tensors' own operation does.
"""

from __future__ import annotations

from typing import Any

from ..plain.pointwise import lerp
from .expressions import STEPS
from .native import alike, kernels

HAS_KERNEL = "update" in kernels
_LAST = 255  # operand; constants are numbered from there


class Program:
    """Steps on ``written`` arrays that they may write to, and on one more that they read."""

    def __init__(self, written: int) -> None:
        self.written = written
        self.steps = bytearray()
        self.constants: list[float] = []
        self.free: list[int] = []
        self.operands = written + 1

    def arrays(self) -> list[Recorded]:
        """What stands for the arrays."""
        return [Recorded(self, number) for number in range(self.written + 1)]

    def place(self, operand: Any) -> int:
        """The number of an operand."""
        if isinstance(operand, Recorded):
            return operand.place
        number = float(operand)
        if not number or number not in self.constants:  # 0.0 equals -0.0
            self.constants.append(number)
            return _LAST + 1 - len(self.constants)
        return _LAST - self.constants.index(number)

    def take(self, kind: str, to: Recorded, a: Any, b: Any) -> Recorded:
        """Write down a step."""
        self.steps += bytes((STEPS[kind], to.place, self.place(a), self.place(b)))
        return to

    def new(self) -> Recorded:
        """What is found on the way, in a place that nothing else needs."""
        if self.free:
            return Recorded(self, self.free.pop())
        self.operands += 1
        return Recorded(self, self.operands - 1)

    def run(self, *arrays: Any) -> None:
        """Take the steps on arrays that lie row by row."""
        kernels["update"](bytes(self.steps), tuple(self.constants),
                          self.operands - self.written - 1, self.written, *arrays)


def runs_on(*arrays: Any) -> bool:
    """Whether the kernel can read these arrays."""
    return HAS_KERNEL and arrays[0].dtype.itemsize > 2 and all(
        [alike(arrays[0], array) for array in arrays])


def contents(array: Any) -> bytes:
    """What tells arrays of other numbers apart."""
    return array.tobytes()  # type: ignore[no-any-return]


def _function(kind: str) -> Any:
    return lambda self: self._found(kind, self, self)


def _operator(kind: str) -> Any:
    return lambda self, other: self._found(kind, self, other)


def _reflected(kind: str) -> Any:
    return lambda self, other: self._found(kind, other, self)


def _in_place(name: str) -> Any:
    def write(self: Recorded, *args: Any, **kwargs: Any) -> Recorded:
        getattr(self, name)(*args, **kwargs)
        self.program.steps[-3] = self.place  # the last step finds its values here
        self._version += 1
        return self

    return write


class Recorded:
    """What stands for a tensor: its methods write down steps and compute nothing."""

    __slots__ = ("_version", "place", "program")

    def __init__(self, program: Program, place: int) -> None:
        self.program, self.place, self._version = program, place, 0

    def __del__(self) -> None:
        if self.place > self.program.written:
            self.program.free.append(self.place)

    def _found(self, kind: str, a: Any, b: Any) -> Recorded:
        return self.program.take(kind, self.program.new(), a, b)

    def is_complex(self) -> bool:
        return False

    __add__, __sub__, __mul__, __truediv__, __lt__, __gt__, maximum, minimum = map(
        _operator, ("add", "subtract", "multiply", "divide", "less", "greater", "maximum",
                    "minimum"))
    __radd__, __rsub__, __rmul__ = map(_reflected, ("add", "subtract", "multiply"))
    __neg__, sqrt, abs, sign, clone = map(
        _function, ("negate", "sqrt", "absolute", "sign", "copy"))
    mul = __mul__

    def __rtruediv__(self, other: float) -> Recorded:
        return self._found("divide", 1.0, self) * other  # as PyTorch rounds it

    def add(self, other: Any, alpha: float = 1) -> Recorded:
        return self + (other if alpha == 1 else other * alpha)

    def addcmul(self, first: Recorded, second: Recorded, value: float = 1) -> Recorded:
        return self.add(first * second, value)

    def addcdiv(self, first: Recorded, second: Recorded, value: float = 1) -> Recorded:
        return self.add(first / second, value)

    def lerp(self, end: Recorded, weight: float) -> Recorded:
        return lerp(self, end, weight)

    def clamp(self, least: float, most: float) -> Recorded:
        return self.maximum(least).minimum(most)

    def where(self, mask: Recorded, other: Any) -> Recorded:
        return self.program.take("chosen", self._found("copy", other, other), self, mask)

    def masked_fill(self, mask: Recorded, value: float) -> Recorded:
        return self.program.take("chosen", self.clone(), value, mask)

    def copy_(self, other: Recorded) -> Recorded:
        self._version += 1
        return self.program.take("copy", self, other, other)

    mul_, add_, addcmul_, addcdiv_, lerp_ = map(
        _in_place, ("mul", "add", "addcmul", "addcdiv", "lerp"))
