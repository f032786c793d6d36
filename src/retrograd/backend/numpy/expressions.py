"""Elementwise expressions of large arrays, computed by a native kernel in one go.

NumPy goes through memory once for every step of ``g * ((1 - y) * y)``; the kernel takes all steps
for a block of elements while it lies in the cache, and shares the blocks among threads. Each step
rounds as NumPy's does; functions of single precision are within 1.5 units in the last place.
"""

from __future__ import annotations

import ast
import math
from functools import partial, update_wrapper
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from . import BOOL, FLOAT32, FLOAT64, LARGE, in_rows, ndarray
from .native import IN_ORDER, OVER, WRITABLE, kernels

STEPS = {name: number for number, name in enumerate((
    "add", "subtract", "multiply", "divide", "negate", "exp", "sqrt", "absolute", "less",
    "less_equal", "greater", "greater_equal", "zeroed", "copy", "sign", "maximum", "minimum",
    "chosen", "equal", "not_equal", "and", "or", "xor", "not", "number", "floor", "ceil", "trunc",
    "rint", "copysign", "log", "log1p", "expm1", "tanh", "sin", "cos", "power", "fmod", "hypot",
    "fmax", "fmin", "exp2", "log2", "log10", "tan", "arcsin", "arccos", "arctan", "arctan2",
    "cosh"))}
"""The kernel's numbers for its steps."""
_OPERATORS = {ast.Add: 0, ast.Sub: 1, ast.Mult: 2, ast.Div: 3, ast.USub: 4}
_FUNCTIONS: dict[Any, int] = {getattr(np, name): STEPS[name] for name in (
    "exp", "sqrt", "absolute")}
_COMPARISONS = {ast.Lt: 8, ast.LtE: 9, ast.Gt: 10, ast.GtE: 11}
_WORTH_A_STEP = 1 << 16  # elements from which this is quicker for one step of arithmetic alone


class _NoSteps(Exception):
    """The expression holds something that the kernel does not know."""


def _parsed(formula: str) -> ast.expr:
    """The formula as a tree; in CPython 3.11 and 3.12 parsers of several threads may disturb each
    other, and say so (gh-106905), for which the formula is not to blame."""
    for _ in range(100):
        try:
            return ast.parse(formula, mode="eval").body
        except SystemError:
            continue
    return ast.parse(formula, mode="eval").body


class _Steps:
    """An expression as the steps that lead to its value, in the order in which they are taken."""

    def __init__(self, formula: str, constants: list[float], functions: dict[str, Any]):
        self.constants, self.functions = constants, functions
        self.arrays: list[str] = []
        self.taken: list[tuple[int, Any, Any]] = []  # kind, and the two operands
        self.value(_parsed(formula))

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


# ---------------------------------------------------------------- whole functions


class _Unknown(Exception):
    """A function does something that is no step of the kernel."""


class _Element(np.lib.mixins.NDArrayOperatorsMixin):
    """Stands for one element of each array, while a function that is elementwise runs on it.

    NumPy hands over what its functions are asked of it, which is written down as steps.
    """

    shape: tuple[int, ...] = ()
    ndim, size, strides = 0, 1, ()
    flags = SimpleNamespace(num=0, c_contiguous=False, aligned=False)

    def __init__(self, program: _Program, dtype: Any, place: Any):
        self.program, self.dtype, self.place = program, dtype, place

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise _Unknown
        return self.program.called(ufunc, given)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        if function is np.where and len(given) == 3:
            return self.program.chosen(*given)
        if function in _LIKE and not options:
            return self.dtype.type(_LIKE[function])
        raise _Unknown

    def astype(self, dtype: Any) -> Any:
        if self.dtype == dtype:
            return self
        if self.dtype == BOOL and dtype == self.program.dtype:
            return self.program.took("number", self)
        raise _Unknown

    def copy(self) -> _Element:
        return self

    def _refuse(self, *given: Any) -> Any:
        raise _Unknown

    __bool__ = __array__ = _refuse


_LIKE = {np.zeros_like: 0, np.ones_like: 1}
_MASKS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "and", "or",
          "xor", "not"}
_LOGICAL = {"and", "or", "xor", "not"}
_SINGLE = {"log", "expm1", "tanh", "sin", "cos", "power", "fmod", "hypot", "exp2", "log2",
           "log10", "tan", "arcsin", "arccos", "arctan", "arctan2", "cosh"}
"""Steps of which the kernel has quick and exact ones for float32 alone."""
_BY_NAME = {"negative": "negate", "fabs": "absolute", "bitwise_and": "and", "logical_and": "and",
            "bitwise_or": "or", "logical_or": "or", "bitwise_xor": "xor", "logical_xor": "xor",
            "invert": "not", "logical_not": "not"}


def _remainder(a: Any, b: Any) -> Any:
    left = np.fmod(a, b)
    moved = np.where((b < 0) ^ (left < 0), left + b, left)
    return np.where(left != 0, moved, np.where(b == 0, left, np.copysign(left, b)))


def _positive_remainder(a: Any, b: float) -> Any:
    left = np.fmod(a, b)
    return np.where(left < 0, left + b, left + 0)  # which makes zeros positive


def _floor_quotient(a: Any, b: Any) -> Any:
    left = np.fmod(a, b)
    exact = (a - left) / b
    exact = np.where((left != 0) & ((b < 0) ^ (left < 0)), exact - 1, exact)
    whole = np.floor(exact)
    whole = np.where(exact - whole > 0.5, whole + 1, whole)
    return np.where(b == 0, a / b, np.where(exact != 0, whole, np.copysign(0, a / b)))


_COMPOSED: dict[str, Any] = {
    "square": lambda a: a * a, "reciprocal": lambda a: 1 / a, "positive": lambda a: a,
    "isnan": lambda a: a != a, "isinf": lambda a: np.absolute(a) == np.inf,
    "isfinite": lambda a: np.absolute(a) < np.inf,
    "clip": lambda a, low, high: np.minimum(high, np.maximum(low, a)),  # of zeros it keeps its own
    "remainder": _remainder, "floor_divide": _floor_quotient,
    "expit": lambda a: 1 / (np.exp(-a) + 1)}
"""What NumPy's functions are, in steps."""
_POWERS: dict[float, Any] = {2: lambda a: a * a, 0.5: np.sqrt, -1: lambda a: 1 / a}


class _Program:
    """The steps of a function, and what they need."""

    def __init__(self, dtype: Any):
        self.dtype = dtype
        self.constants: list[float] = []
        self.taken: list[tuple[str, list[Any]]] = []  # kinds and places of operands

    def called(self, ufunc: Any, given: tuple[Any, ...]) -> Any:
        name = ufunc.__name__
        if name == "power" and isinstance(given[1], (int, float)) and given[1] in _POWERS:
            return _POWERS[given[1]](given[0])
        if name in ("multiply", "divide") and type(given[1]) in (int, float) and given[1] == 1:
            return given[0]
        if name == "remainder" and isinstance(given[1], (int, float, np.floating)) \
                and given[1] > 0:
            return _positive_remainder(*given)
        if name in _COMPOSED:
            # A number is put into a block as well, which comparisons of it make a mask of.
            return _COMPOSED[name](*[v if isinstance(v, _Element) or name == "clip"
                                     else self.took("copy", v) for v in given])
        kind = _BY_NAME.get(name, name)
        if kind not in STEPS or any([self.is_mask(v) != (kind in _LOGICAL) for v in given]) \
                or (kind in _SINGLE and self.dtype is not FLOAT32):
            raise _Unknown
        return self.took(kind, *given)

    def is_mask(self, value: Any) -> bool:
        return getattr(value, "dtype", None) == BOOL or isinstance(value, bool)

    def chosen(self, mask: Any, left: Any, right: Any) -> Any:
        if not isinstance(mask, _Element) or not self.is_mask(mask) or self.is_mask(left) \
                or self.is_mask(right):
            raise _Unknown
        if _is_zero(left) and isinstance(right, _Element):
            return self.took("zeroed", right, mask)
        if _is_zero(right) and isinstance(left, _Element):
            return self.took("and", left, mask, dtype=self.dtype)
        return self.took("chosen", left, mask, right)

    def took(self, kind: str, *operands: Any, dtype: Any = None) -> _Element:
        self.taken.append((kind, [self.place(operand) for operand in operands]))
        return _Element(self, dtype or (BOOL if kind in _MASKS else self.dtype),
                        (len(self.taken) - 1,))

    def place(self, operand: Any) -> Any:
        """Where an operand is: an array's name, a constant's number, or a step as a tuple."""
        if isinstance(operand, _Element):
            return operand.place
        if getattr(operand, "dtype", self.dtype) != self.dtype or np.ndim(operand) \
                or self.is_mask(operand) or isinstance(operand, complex):
            raise _Unknown
        self.constants.append(float(operand))
        return len(self.constants) - 1

    def encoded(self, arrays: list[str]) -> tuple[bytes, int]:
        """Five bytes for each step, and how many blocks there are between it and the result."""
        first = len(self.constants)
        found = first + len(arrays)
        last_use = {place: nr for nr, (_, places) in enumerate(self.taken) for place in places}
        blocks: dict[Any, int] = {}
        free: list[int] = []
        count = 0
        steps = []
        for nr, (kind, places) in enumerate(self.taken):
            given = [found + blocks[p] if isinstance(p, tuple) else
                     first + arrays.index(p) if isinstance(p, str) else p for p in places]
            free += [blocks[p] for p in dict.fromkeys(places)
                     if isinstance(p, tuple) and last_use[p] == nr]
            if not free:
                free.append(count)
                count += 1
            blocks[nr,] = free.pop()
            given += [given[-1]] * (3 - len(given))
            steps.append([STEPS[kind], found + blocks[nr,], *given])
        # The last step alone writes to the result, behind all blocks: it may be one of the arrays.
        steps[-1][1] = found + count
        return b"".join(map(bytes, steps)), count


def _is_zero(value: Any) -> bool:
    return not isinstance(value, _Element) and np.ndim(value) == 0 and value == 0 \
        and not np.signbit(value)


_STEPS_TOO = {"rectified", "zeroed", "kept", "chosen"}
"""Bodies whose kernels do what a step does."""
_MOST_OPERANDS = 200
_NUMBERS = (bool, int, float, str, type(None))
_MANY = 256  # programs of a function, one for each of the numbers that it was given


HAS_KERNEL = "evaluated" in kernels


class Fused:
    """A function that is elementwise in its arrays, computed by the kernel for large ones.

    Where it does more than the kernel has steps for, it is called.
    """

    def __init__(self, function: Any):
        self.function = function
        self.programs: dict[Any, Any] = {}
        self.steps: dict[Any, Any] = {}  # the one that it is, by dtype and with a factor or without

    def __call__(self, *given: Any) -> Any:
        found = self._prepared(given)
        return self.function(*given) if found is None else found[0](*found[1])

    def into(self, target: Any, *given: Any) -> Any:
        """A call that fills ``target``; None if there is none.

        That may be one of the arrays, and shares no memory with any other. The call enters no code
        of Python's, where an interrupt might come before the write.
        """
        if target.flags.num & WRITABLE != WRITABLE:
            return None
        if given[0] is target and 2 <= len(given) <= 3:
            step = self._step_into(*given)
            if step is not None:
                return step
        found = self._prepared(given)
        if found is None:
            return None
        program, (shape, times, arrays, order) = found
        if order is not None or shape != target.shape or program.dtype is not target.dtype:
            return None
        return program.filling(target, times, arrays)

    def _step_into(self, target: Any, other: Any, *factor: Any) -> Any:
        """The same call where one step of arithmetic is all there is to do, which asks for less."""
        dtype = target.dtype
        if getattr(other, "dtype", None) is not dtype or (
                factor and factor[0].__class__ is not int and factor[0].__class__ is not float):
            return None
        known = dtype, len(factor)
        try:
            step = self.steps[known]
        except KeyError:
            step = self.steps[known] = _step_of(self.function, target, is_scaled=bool(factor))
        if step is None or (other.ndim and (other.shape != target.shape
                                            or other.flags.num & IN_ORDER != IN_ORDER)):
            return None
        return partial(kernels["arithmetic"], step, target, other, *(factor or (1,)))

    def _prepared(self, given: tuple[Any, ...]) -> Any:
        """The program for such arguments, and how it reads them; None if there is none."""
        key: list[Any] = []
        arrays: list[Any] = []
        for value in given:
            kind = value.__class__
            if kind is ndarray:
                key.append(value.dtype)
                arrays.append(value)
            elif kind is float:
                key.append(value.hex())
            elif kind in _NUMBERS:
                key.append((kind, value))
            elif isinstance(value, np.generic):
                key.append(value.dtype)
                arrays.append(value)  # kernels read it as an array without dimensions
            else:
                return None
        known = tuple(key)
        try:
            program = self.programs[known]
        except KeyError:
            if len(self.programs) >= _MANY:
                self.programs.clear()
            program = self.programs[known] = _program_of(self.function, given)
        if program is None or (arrays[0].size < program.least
                               and max([a.size for a in arrays]) < program.least):
            return None
        read = _laid_out(arrays)
        return None if read is None else (program, read)


def fused(body: Any) -> Any:
    """A body that is elementwise in its arrays, computed in one pass for large ones."""
    if not HAS_KERNEL:
        return body
    in_one_pass = Fused(body)

    def chosen(*given: Any) -> Any:
        is_large = any([getattr(value, "size", 0) >= LARGE for value in given])
        return (in_one_pass if is_large else body)(*given)

    return update_wrapper(chosen, body)


_FACTOR = 3.1416015625  # stands for any; single precision has it as it is
_OPPOSITE = {"add": "subtract", "subtract": "add"}


def _step_of(function: Any, array: Any, is_scaled: bool) -> Any:
    """The number of the step of arithmetic that a function of two arrays is, and of a factor.

    None for any other function.
    """
    program = _program_of(function, (array, array, *[_FACTOR] * is_scaled))
    match program and "arithmetic" in kernels and program.taken:
        case [(name, ["a0", "a1"])] if not is_scaled and STEPS[name] <= STEPS["divide"]:
            return STEPS[name]
        case [("multiply", ["a1", 0] | [0, "a1"]),
              (("add" | "subtract") as name, ["a0", (0,)])] if is_scaled:
            # To subtract is to add what is multiplied by a negative number.
            names = {_FACTOR: name, -_FACTOR: _OPPOSITE[name]}
            return STEPS.get(names.get(program.constants[0], ""))
    return None


def _program_of(function: Any, given: tuple[Any, ...]) -> Any:
    """A function that computes ``function`` for arrays of these dtypes, with these numbers."""
    dtypes = {v.dtype for v in given if isinstance(v, (np.ndarray, np.generic))}
    floating = dtypes - {BOOL}
    if floating not in ({FLOAT32}, {FLOAT64}):
        return None
    (dtype,) = floating
    program = _Program(dtype)
    names = [f"a{nr}" if isinstance(v, (np.ndarray, np.generic)) else "" for nr, v in
             enumerate(given)]
    try:
        result = function(*[_Element(program, v.dtype, name) if name else v
                            for name, v in zip(names, given)])
    except Exception:  # whatever it is, the function says so on the arrays themselves
        return None
    if not isinstance(result, _Element) or result.place != (len(program.taken) - 1,) \
            or _reaches_kernel(function):
        return None
    arrays = [name for name in names if name]
    if len(program.taken) + len(arrays) + len(program.constants) > _MOST_OPERANDS:
        return None
    return _Encoded(program, arrays, result.dtype)


class _Encoded:
    """A program as the kernel takes it."""

    def __init__(self, program: _Program, arrays: list[str], dtype: Any):
        self.run, self.dtype = kernels["evaluated"], dtype  # of the result
        self.taken = program.taken
        self.constants = tuple(program.constants)
        self.steps, self.blocks = program.encoded(arrays)
        is_cheap = len(program.taken) == 1 and program.taken[0][0] not in _SINGLE | {"exp", "log1p"}
        self.least = _WORTH_A_STEP if is_cheap else 0

    def __call__(self, shape: Any, times: Any, read: Any, order: Any) -> Any:
        found = self.filling(np.empty(shape, self.dtype), times, read)()
        return found if order is None else found.transpose(order)

    def filling(self, out: Any, times: Any, read: Any) -> Any:
        """A call that computes into an array."""
        return partial(self.run, self.steps, self.constants, times, self.blocks, out, *read)


def _reaches_kernel(function: Any, depth: int = 4) -> bool:
    """Whether a function calls one that has a native kernel of its own."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    own = {label.rpartition(".")[2] for label in OVER} - _STEPS_TOO
    if not own.isdisjoint(code.co_names):
        return True
    return depth > 0 and any([_reaches_kernel(function.__globals__.get(name), depth - 1)
                              for name in code.co_names
                              if isinstance(function.__globals__.get(name), FunctionType)])


def _laid_out(arrays: list[Any]) -> Any:
    """The shape of a result, how often arrays meet it, and those as the kernel reads them.

    And the order of dimensions that turns it into NumPy's result, whose elements lie in memory as
    the arrays' do; None where it is the same. None if the kernel cannot read them.
    """
    shape = arrays[0].shape or max([a.shape for a in arrays], key=len)
    for array in arrays:
        if array.flags.num & IN_ORDER != IN_ORDER or (array.shape != shape and array.ndim):
            break
    else:
        return shape, (1,) * len(arrays), arrays, None
    if not all([a.shape == shape for a in arrays]):
        shape = np.broadcast_shapes(*[a.shape for a in arrays])
    arrays = [a[tuple([slice(1) if s == 0 else slice(None) for s in a.strides])]
              if 0 in a.strides and a.size else a for a in arrays]
    whole = [a for a in arrays if a.shape == shape]
    order = None
    if whole and not any([a.flags.c_contiguous for a in whole]):
        strides = whole[0].strides
        if list(strides) != sorted(strides, reverse=True):
            # All of them lie in memory in the same other order, and nothing else does in its own.
            if any([a.strides != strides if a.shape == shape else a.size != 1 for a in arrays]):
                return None
            by_stride = sorted(range(len(shape)), key=strides.__getitem__, reverse=True)
            arrays = [a.transpose(by_stride) if a.shape == shape else a for a in arrays]
            shape = tuple([shape[d] for d in by_stride])
            order = [by_stride.index(d) for d in range(len(shape))]
        elif any([list(a.strides) != sorted(a.strides, reverse=True) for a in whole]):
            return None
    arrays = [a if a.flags.num & IN_ORDER == IN_ORDER or a.shape != shape else in_rows(a)
              for a in arrays]
    times = tuple([_meetings(a.shape, shape) for a in arrays])
    if not all(times) or any([a.flags.num & IN_ORDER != IN_ORDER for a in arrays]):
        return None
    return shape, times, arrays, order


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


def adding(target: Any, source: Any) -> Any:
    """A call that adds a large array to another one; None if there is none.

    It enters no code of Python's, where an interrupt might come before the write.
    """
    if "arithmetic" not in kernels or not target.__class__ is source.__class__ is ndarray \
            or target.dtype is not source.dtype or target.dtype not in (FLOAT32, FLOAT64) \
            or target.shape != source.shape or target.flags.num & WRITABLE != WRITABLE \
            or source.flags.num & IN_ORDER != IN_ORDER or np.may_share_memory(target, source):
        return None
    return partial(kernels["arithmetic"], STEPS["add"], target, source, 1)
