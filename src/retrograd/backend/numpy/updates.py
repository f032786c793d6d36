"""Elementwise updates written down as steps, which are taken in one pass.

An update is a function of tensors that writes to some of them, as steps of optimizers are. Run on
:class:`Recorded` in their place, it writes down what it does; a native kernel does that for a block
of elements at a time, on all threads, or NumPy for larger ones that stay in the cache, without any
new memory. Each step rounds as the tensors' own operation does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plain.pointwise import lerp
from . import quiet
from .expressions import STEPS
from .native import alike, kernels

_LAST = 255  # operand; constants are numbered from there
_BLOCK = 1 << 15  # elements


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
        kernels.get("update", update)(bytes(self.steps), tuple(self.constants),
                                      self.operands - self.written - 1, self.written, *arrays)


def runs_on(*arrays: Any) -> bool:
    """Whether steps can be taken on these arrays."""
    return arrays[0].dtype.itemsize > 2 and all([alike(arrays[0], array) for array in arrays])


def contents(array: Any) -> bytes:
    """What tells arrays of other numbers apart."""
    return array.tobytes()  # type: ignore[no-any-return]


# ---------------------------------------------------------------- steps, taken by NumPy


def update(steps: bytes, constants: tuple[float, ...], blocks: int, written: int,
           *arrays: Any) -> None:
    """Take steps for each element of arrays of one size, which write to those before ``written``.

    Operands are numbered: arrays, ``blocks`` of what is found on the way, and the constants, from
    the last number downwards.
    """
    flat = [array.reshape(-1) for array in arrays]
    size, dtype = flat[0].size, flat[0].dtype
    found = np.empty((blocks, min(size, _BLOCK)), dtype)
    operands = {_LAST - number: np.asarray(constant, dtype)
                for number, constant in enumerate(constants)}
    taken = [(_TAKEN[steps[i]], *steps[i + 1:i + 4]) for i in range(0, len(steps), 4)]
    with quiet():
        for start in range(0, size, _BLOCK):
            operands.update(enumerate([array[start:start + _BLOCK] for array in flat]))
            operands.update(enumerate(found[:, :size - start], len(flat)))
            for take, to, a, b in taken:
                take(operands[a], operands[b], out=operands[to])


def _of_one(ufunc: Any) -> Any:
    return lambda a, b, out: ufunc(a, out=out)


def _mask(comparison: Any) -> Any:
    """Truth values as numbers of which all bits are ones, or zeros."""
    return lambda a, b, out: np.negative(comparison(a, b).view(np.int8), out=_bits(out))


def _sign(a: Any, b: Any, out: Any) -> None:
    np.subtract((a > 0).view(np.int8), (a < 0).view(np.int8), out=out)


def _chosen(a: Any, mask: Any, out: Any) -> None:
    """Puts ``a`` where the mask says so."""
    changed = _bits(a) ^ _bits(out)
    changed &= _bits(mask)
    np.bitwise_xor(_bits(out), changed, out=_bits(out))


def _bits(array: Any) -> Any:
    return array.view(f"i{array.itemsize}")


_TAKEN = {STEPS[kind]: take for kind, take in {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "maximum": np.maximum, "minimum": np.minimum, "negate": _of_one(np.negative),
    "sqrt": _of_one(np.sqrt), "absolute": _of_one(np.absolute), "copy": _of_one(np.positive),
    "less": _mask(np.less), "greater": _mask(np.greater), "sign": _sign,
    "chosen": _chosen}.items()}


# ---------------------------------------------------------------- steps, written down


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
