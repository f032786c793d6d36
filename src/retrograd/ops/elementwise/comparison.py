"""Comparison, and the kinds of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...backend import pointwise as pointwise_kernels
from ...backend import xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import not_a_tensor
from ...core.op import Array, composite, elementwise, publish
from ...core.tensor import Tensor
from ..checks.common import kinds, no_complex
from .number_operands import tensor_or_number_
from .where import zeros_as

# ---------------------------------------------------------------- comparison


def _comparison(name: str) -> Callable[..., None]:
    return no_complex(f"{name}_cpu")


@elementwise(operator="eq", quiet=True)
def eq(input: Array, other: Array) -> Any:
    """Where ``input`` and ``other`` are equal."""
    return xp.equal(input, other)


@elementwise(operator="ne", quiet=True, aliases=("not_equal",))
def ne(input: Array, other: Array) -> Any:
    """Where ``input`` and ``other`` differ."""
    return xp.not_equal(input, other)


@elementwise(operator="lt", quiet=True, aliases=("less",), guard=_comparison("lt"))
def lt(input: Array, other: Array) -> Any:
    """Where ``input`` is less than ``other``."""
    return xp.less(input, other)


@elementwise(operator="le", quiet=True, aliases=("less_equal",),
             guard=_comparison("le"))
def le(input: Array, other: Array) -> Any:
    """Where ``input`` is at most ``other``."""
    return xp.less_equal(input, other)


@elementwise(operator="gt", quiet=True, aliases=("greater",), guard=_comparison("gt"))
def gt(input: Array, other: Array) -> Any:
    """Where ``input`` is greater than ``other``."""
    return xp.greater(input, other)


@elementwise(operator="ge", quiet=True, aliases=("greater_equal",),
             guard=_comparison("ge"))
def ge(input: Array, other: Array) -> Any:
    """Where ``input`` is at least ``other``."""
    return xp.greater_equal(input, other)


def _comparison_in_place(made: Any, aliases: tuple[str, ...] = ()) -> None:
    """Publish the in-place variant of a comparison: zeros and ones, which have no slope."""
    name = made.op.name
    forms = []
    for form, suffix in enumerate(("_number", "_tensor")):

        def kernel(input: Array, other: Array) -> Any:
            return made.op.kernel(input, other)

        kernel.__name__ = f"_{name}{suffix}"
        forms.append(elementwise(function=None, method=False, inplace=True, title=name,
                                 guard=made.op.guard, node=f"{name.capitalize()}Backward{form}")
                     (kernel))
        forms[-1].vjp(input=lambda g: zeros_as(g), other=lambda g: zeros_as(g))
    publish(tensor_or_number_(name + "_", forms[1], forms[0]), name + "_", function=None,
            aliases=tuple(a + "_" for a in aliases))


for _comparison_op, _other_name in ((eq, ""), (ne, "not_equal"), (lt, "less"), (le, "less_equal"),
                                    (gt, "greater"), (ge, "greater_equal")):
    _comparison_in_place(_comparison_op, (_other_name,) if _other_name else ())


def _check_close(given: dict[str, Any], common: dtypes.dtype) -> None:
    first, second = given["input"].dtype, given["other"].dtype
    if first is not second:
        raise RuntimeError(f"{first.alias} did not match {second.alias}")


@elementwise(promote=None, numbers=(), guard=_check_close)
def isclose(input: Array, other: Array, rtol: float = 1e-5, atol: float = 1e-8,
            equal_nan: bool = False) -> Any:
    """Where ``input`` and ``other`` are equal within tolerances."""
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got "
                               f"{tolerance:g}")
    return pointwise_kernels.close(input, other, rtol, atol, equal_nan)


@composite(method=True)
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8,
             equal_nan: bool = False) -> bool:
    """Whether all elements are equal within tolerances."""
    if not isinstance(other, Tensor):
        raise not_a_tensor("allclose", "other", 2, other)
    return bool(isclose(input, other, rtol, atol, equal_nan)._data.all())


@composite(method=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements."""
    for position, (name, value) in enumerate((("input", input), ("other", other)), 1):
        if not isinstance(value, Tensor):
            raise not_a_tensor("equal", name, position, value)
    return input.shape == other.shape and bool((input._data == other._data).all())

# ---------------------------------------------------------------- kinds of numbers


@elementwise(quiet=True)
def isnan(input: Array) -> Any:
    """Where ``input`` is not a number."""
    return xp.isnan(input)


@elementwise(quiet=True)
def isinf(input: Array) -> Any:
    """Where ``input`` is infinite."""
    return xp.isinf(input)


@elementwise(quiet=True)
def isfinite(input: Array) -> Any:
    """Where ``input`` is neither infinite nor NaN."""
    return xp.isfinite(input)


@elementwise(quiet=True, guard=kinds("bif", "isposinf", c=(
    RuntimeError, "isposinf does not support complex inputs.")))
def isposinf(input: Array) -> Any:
    """Where ``input`` is plus infinity."""
    return input == math.inf if kind_of(input.dtype) == "f" else xp.zeros(input.shape, xp.BOOL)


@elementwise(quiet=True, guard=kinds("bif", "isneginf", c=(
    RuntimeError, "isneginf does not support complex inputs.")))
def isneginf(input: Array) -> Any:
    """Where ``input`` is minus infinity."""
    return input == -math.inf if kind_of(input.dtype) == "f" else xp.zeros(input.shape, xp.BOOL)


@elementwise(quiet=True)
def isreal(input: Array) -> Any:
    """Where the imaginary part is zero."""
    return xp.isreal(input)


@elementwise(quiet=True, guard=kinds("bif", "signbit_cpu", c=(
    NotImplementedError, "signbit is not implemented for complex tensors.")))
def signbit(input: Array) -> Any:
    """Where the sign bit is set; it is for -0.0."""
    return xp.signbit(input) if kind_of(input.dtype) == "f" else input < 0
