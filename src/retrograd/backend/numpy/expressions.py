"""Elementwise expressions of large arrays, computed by a native kernel in one go.

NumPy goes through memory once for every step of ``g * ((1 - y) * y)``; the kernel takes all steps
for a block of elements while it lies in the cache, and shares the blocks among threads. Each step
rounds as NumPy's does (an exponential within 1.1 units in the last place).
"""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from . import FLOAT32, FLOAT64
from .native import IN_ORDER, kernels

STEPS = {name: number for number, name in enumerate((
    "add", "subtract", "multiply", "divide", "negate", "exp", "sqrt", "absolute", "less",
    "less_equal", "greater", "greater_equal", "zeroed", "copy", "sign", "maximum", "minimum",
    "chosen"))}
"""The kernel's numbers for its steps."""
_OPERATORS = {ast.Add: 0, ast.Sub: 1, ast.Mult: 2, ast.Div: 3, ast.USub: 4}
_FUNCTIONS: dict[Any, int] = {getattr(np, name): STEPS[name] for name in (
    "exp", "sqrt", "absolute")}
_COMPARISONS = {ast.Lt: 8, ast.LtE: 9, ast.Gt: 10, ast.GtE: 11}
_WORTH_A_STEP = 1 << 16  # elements from which this is quicker for one step of arithmetic alone


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
            case ast.Call(func=ast.Name(id="zeroed_by_kernel"), args=[
                    operand, _, ast.Compare(ops=[comparison]) as mask]):
                mask_of = self.step(_COMPARISONS.get(type(comparison)), mask.left,
                                    mask.comparators[0])
                return self.took(STEPS["zeroed"], self.value(operand), mask_of)
            case ast.Call(func=ast.Name(id=name), args=[operand], keywords=[]):
                return self.step(_FUNCTIONS.get(self.functions.get(name)), operand, operand)
        raise _NoSteps

    def step(self, kind: int | None, left: ast.expr, right: ast.expr) -> tuple[int]:
        if kind is None:
            raise _NoSteps
        a = self.value(left)
        return self.took(kind, a, a if right is left else self.value(right))

    def took(self, kind: int, a: Any, b: Any) -> tuple[int]:
        self.taken.append((kind, a, b))
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


def expression(formula: str, constants: list[float], functions: dict[str, Any], least: int = 2
               ) -> tuple[list[str], Any] | None:
    """The arrays that a formula names, and a function of them that computes it for large ones.

    None where there is no kernel for it, or where it takes fewer steps of arithmetic than
    ``least``.
    """
    if "compute" not in kernels:
        return None
    try:
        steps = _Steps(formula, constants, functions)
    except (_NoSteps, TypeError):
        return None
    is_cheap = len(steps.taken) < 2 and not any(
        [kind == _FUNCTIONS[np.exp] for kind, *_ in steps.taken])
    if is_cheap and len(steps.taken) < least:
        return None
    run, encoded, blocks = kernels["compute"], steps.encoded(), len(steps.taken) - 1
    numbers = tuple(map(float, constants))
    bound = _WORTH_A_STEP if is_cheap else 0
    step_by_step = eval(f"lambda constants, {', '.join(steps.arrays)}: {formula}", functions)

    def compute(*arrays: Any) -> Any:
        found = None if arrays[0].size < bound else _read(arrays)
        if found is None:
            return step_by_step(constants, *arrays)
        times, read = found
        return run(encoded, numbers, times, blocks, np.empty(arrays[0].shape, arrays[0].dtype),
                   *read)

    return steps.arrays, compute


def _read(arrays: tuple[Any, ...]) -> tuple[tuple[int, ...], list[Any]] | None:
    """The arrays as the kernel reads them, for a result in the shape of the first.

    And how many elements of the result in a row meet one of theirs. None if it cannot read them.
    """
    shape, dtype = arrays[0].shape, arrays[0].dtype
    if dtype is not FLOAT32 and dtype is not FLOAT64:
        return None
    times, read = [], []
    for array in arrays:
        if array.dtype is not dtype:
            return None
        count = 1
        if array.shape != shape or array.flags.num & IN_ORDER != IN_ORDER:
            # Expanded arrays are read where they are not.
            if 0 in array.strides and array.size:
                array = array[tuple([slice(1) if s == 0 else slice(None) for s in array.strides])]
            count = _meetings(array.shape, shape)
            if not count or array.flags.num & IN_ORDER != IN_ORDER:
                return None
        times.append(count)
        read.append(array)
    return tuple(times), read


def _meetings(own: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """How many elements in a row of a result meet one of an array that is broadcast to it.

    0 if the array does not fit, or if others come between: one of shape (3, 1, 2), for example.
    """
    ahead, first, last = len(shape) - len(own), 0, len(own)
    while last and own[last - 1] == 1:
        last -= 1
    while first < last and own[first] == 1:
        first += 1
    if ahead < 0 or own[first:last] != shape[ahead + first:ahead + last]:
        return 0
    return math.prod(shape[ahead + last:])


# ---------------------------------------------------------------- gradients that meet


_ADD = bytes((0, 2, 0, 1))


def added(grads: dict[Any, Any], edge: Any, gradient: Any) -> Any:
    """The sum of a large gradient and the one that has arrived at ``edge`` before it."""
    known = grads[edge]
    if known.size < _WORTH_A_STEP or known.__class__ is not np.ndarray \
            or gradient.__class__ is not np.ndarray \
            or known.shape != gradient.shape or "compute" not in kernels:
        return known + gradient
    found = _read((known, gradient))
    if found is None:
        return known + gradient
    times, read = found
    return kernels["compute"](_ADD, (), times, 0, np.empty(known.shape, known.dtype), *read)
