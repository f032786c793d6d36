"""Comparison, and the kinds of numbers."""

from __future__ import annotations

import math
from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import not_a_tensor
from ...core.op import Array, composite, elementwise, publish
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..checks.common import kinds, no_complex
from .expressions import binary, unary
from .number_operands import tensor_or_number_
from .where import zeros_as

# ---------------------------------------------------------------- comparison


_FORMS = ("Tensor input, Tensor other, *, Tensor out = None",
          "Tensor input, Number other, *, Tensor out = None")


def _comparison(name: str, doc: str, kernel: Any, *aliases: str, guard: Any = None) -> Any:
    """Declare a comparison, and its in-place variant: zeros and ones, which have no slope."""
    made = binary(name, doc, kernel, operator=name, quiet=True, aliases=aliases, guard=guard,
                  meets_arrays=guard is None, stored="any" if guard is None else "",
                  forms=_FORMS)
    with_number, with_tensor = [
        binary(f"_{name}{suffix}", None, lambda input, other: kernel(input, other), inplace=True,
               title=name, guard=guard, node=f"{name.capitalize()}Backward{form}",
               input=lambda g: zeros_as(g), other=lambda g: zeros_as(g))
        for form, suffix in enumerate(("_number", "_tensor"))]
    publish(tensor_or_number_(name + "_", with_tensor, with_number), name + "_", function=None,
            aliases=tuple(a + "_" for a in aliases))
    return made


eq = _comparison("eq", "Where ``input`` and ``other`` are equal.",
                 lambda input, other: xp.equal(input, other))
ne = _comparison("ne", "Where ``input`` and ``other`` differ.",
                 lambda input, other: xp.not_equal(input, other), "not_equal")
lt = _comparison("lt", "Where ``input`` is less than ``other``.",
                 lambda input, other: xp.less(input, other), "less", guard=no_complex("lt_cpu"))
le = _comparison("le", "Where ``input`` is at most ``other``.",
                 lambda input, other: xp.less_equal(input, other), "less_equal",
                 guard=no_complex("le_cpu"))
gt = _comparison("gt", "Where ``input`` is greater than ``other``.",
                 lambda input, other: xp.greater(input, other), "greater",
                 guard=no_complex("gt_cpu"))
ge = _comparison("ge", "Where ``input`` is at least ``other``.",
                 lambda input, other: xp.greater_equal(input, other), "greater_equal",
                 guard=no_complex("ge_cpu"))


def _check_close(given: dict[str, Any], common: dtypes.dtype) -> None:
    first, second = given["input"].dtype, given["other"].dtype
    if first is not second:
        raise RuntimeError(f"{first.alias} did not match {second.alias}")


@elementwise(promote=None, numbers=(), guard=_check_close)
def isclose(input: Array, other: Array, rtol: float = 1e-5, atol: float = 1e-8,
            equal_nan: bool = False) -> Any:
    """Where ``input`` and ``other`` are equal within tolerances."""
    rtol, atol = float(rtol), float(atol)  # they may be zero-dim tensors
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


def _real(name: str, error: type[Exception], says: str, kernel: str = "") -> Any:
    return kinds("bif", kernel or name, c=(error, f"{name} {says}"))


isnan = unary("isnan", "Where ``input`` is not a number.", lambda input: xp.isnan(input),
              quiet=True, stored="any")
isinf = unary("isinf", "Where ``input`` is infinite.", lambda input: xp.isinf(input), quiet=True)
isfinite = unary("isfinite", "Where ``input`` is neither infinite nor NaN.",
                 lambda input: xp.isfinite(input), quiet=True)


def _bools(name: str) -> Out:
    return Out(f"{name} does not support non-boolean outputs.")


isposinf = unary("isposinf", "Where ``input`` is plus infinity.",
                 lambda input: _equals(input, math.inf), quiet=True,
                 out=_bools("isposinf"),
                 guard=_real("isposinf", RuntimeError, "does not support complex inputs."))
isneginf = unary("isneginf", "Where ``input`` is minus infinity.",
                 lambda input: _equals(input, -math.inf), quiet=True,
                 out=_bools("isneginf"),
                 guard=_real("isneginf", RuntimeError, "does not support complex inputs."))


def _equals(input: Any, infinity: float) -> Any:
    return input == infinity if kind_of(input.dtype) == "f" else xp.zeros(input.shape, xp.BOOL)


isreal = unary("isreal", "Where the imaginary part is zero.", lambda input: xp.isreal(input),
               quiet=True)
signbit = unary("signbit", "Where the sign bit is set; it is for -0.0.",
                lambda input: xp.signbit(input) if kind_of(input.dtype) == "f" else input < 0,
                quiet=True, out=_bools("signbit"), guard=_real("signbit", NotImplementedError,
                                        "is not implemented for complex tensors.", "signbit_cpu"))
