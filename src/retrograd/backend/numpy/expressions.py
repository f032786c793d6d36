"""Elementwise expressions of large arrays, computed by a native kernel in one go.

NumPy goes through memory once for every step of ``g * ((1 - y) * y)``; the kernel takes all steps
for a block of elements while it lies in the cache, and shares the blocks among threads. Each step
rounds as NumPy's does (an exponential within 1.1 units in the last place).
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from . import FLOAT32, FLOAT64
from .native import in_order, kernels

LARGE = 1 << 14
"""The number of elements from which this is quicker."""

# The kernel's numbers for its steps.
_OPERATORS = {ast.Add: 0, ast.Sub: 1, ast.Mult: 2, ast.Div: 3, ast.USub: 4}
_FUNCTIONS: dict[Any, int] = {np.exp: 5, np.sqrt: 6, np.absolute: 7}


class _NoSteps(Exception):
    """The expression holds something that the kernel does not know."""


class _Steps:
    """An expression as the steps that lead to its value, in the order in which they are taken."""

    def __init__(self, formula: str, constants: list[float], functions: dict[str, Any]):
        self.constants, self.functions = constants, functions
        self.arrays: list[str] = []
        self.taken: list[tuple[int, Any, Any]] = []  # kind, and the two operands
        self.value(ast.parse(formula, mode="eval").body)

    def value(self, node: ast.expr) -> Any:
        """An operand: a constant's number, an array's name, or the number of a step as a tuple."""
        match node:
            case ast.Name(id=name):
                if name not in self.arrays:
                    self.arrays.append(name)
                return name
            case ast.Subscript(value=ast.Name(id="constants"), slice=ast.Constant(value=number)):
                return number
            case ast.BinOp(left=left, op=operator, right=right):
                return self.step(_OPERATORS.get(type(operator)), left, right)
            case ast.UnaryOp(op=operator, operand=operand):
                return self.step(_OPERATORS.get(type(operator)), operand, operand)
            case ast.Call(func=ast.Name(id=name), args=[operand], keywords=[]):
                return self.step(_FUNCTIONS.get(self.functions.get(name)), operand, operand)
        raise _NoSteps

    def step(self, kind: int | None, left: ast.expr, right: ast.expr) -> tuple[int]:
        if kind is None:
            raise _NoSteps
        a = self.value(left)
        self.taken.append((kind, a, a if right is left else self.value(right)))
        return (len(self.taken) - 1,)

    def encoded(self) -> bytes:
        """Four bytes for each step: operands are constants, arrays, and what steps found."""
        first = len(self.constants)
        found = first + len(self.arrays)

        def place(operand: Any) -> int:
            if isinstance(operand, tuple):
                return found + operand[0]
            return first + self.arrays.index(operand) if isinstance(operand, str) else operand

        return b"".join([bytes((kind, found + nr, place(a), place(b)))
                         for nr, (kind, a, b) in enumerate(self.taken)])


def expression(formula: str, constants: list[float], functions: dict[str, Any]
               ) -> tuple[list[str], Any] | None:
    """The arrays that a formula names, and a function of them that computes it for large ones.

    None where there is no kernel for it, or none is needed: a single step of arithmetic is as
    quick as it gets.
    """
    if "evaluate" not in kernels:
        return None
    try:
        steps = _Steps(formula, constants, functions)
    except (_NoSteps, TypeError):
        return None
    if len(steps.taken) < 2 and not any(kind == _FUNCTIONS[np.exp] for kind, *_ in steps.taken):
        return None
    evaluate, encoded, blocks = kernels["evaluate"], steps.encoded(), len(steps.taken) - 1
    numbers = tuple(map(float, constants))
    step_by_step = eval(f"lambda constants, {', '.join(steps.arrays)}: {formula}", functions)

    def compute(*arrays: Any) -> Any:
        shape, dtype = arrays[0].shape, arrays[0].dtype
        if (dtype is FLOAT32 or dtype is FLOAT64) and in_order(*arrays) and all(
                [a.dtype is dtype and (a.shape == shape or not a.ndim) for a in arrays]):
            return evaluate(encoded, numbers, blocks, np.empty(shape, dtype), *arrays)
        return step_by_step(constants, *arrays)

    return steps.arrays, compute
