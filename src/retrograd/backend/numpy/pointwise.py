"""Elementwise ops on NumPy arrays: where one ufunc, or arithmetic on bits, does it quicker."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, pointwise as plain
from ..plain.pointwise import sign_and_factorial
from . import FLOAT32, FLOAT64
from .native import in_order, native

_MASKED_BY_BITS = 4096  # elements from which masking by bit patterns beats a choice


# ---------------------------------------------------------------- bounds

# The ufunc behind ``np.clip`` costs a fifth of it on small arrays, and less than two comparisons
# with a scalar on large ones.
try:
    from numpy._core.umath import clip as _clip  # type: ignore[attr-defined]
except ImportError:  # pragma: no cover - a NumPy without this internal

    def _clip(array: Any, low: Any, high: Any) -> Any:
        return np.minimum(np.maximum(array, low), high)


class _Scalars(dict[Any, np.ndarray]):
    """Python numbers as zero-dim arrays of one dtype, made once: ufuncs take them as they are."""

    def __init__(self, dtype: Any):
        self.dtype = np.dtype(dtype)

    def __missing__(self, number: float) -> np.ndarray:
        made = np.asarray(number, self.dtype)
        if number == number and len(self) < 4096:
            self[number] = made
        return made


_SCALARS = {np.dtype(t): _Scalars(t) for t in (np.float32, np.float64)}


def bounded(array: Any, low: Any, high: Any) -> Any:
    scalars = _SCALARS.get(array.dtype)  # float32 and float64
    if scalars is None:
        return plain.bounded(array, low, high)
    return _clip(array, scalars[-np.inf if low is None else low],
                 scalars[np.inf if high is None else high])


_ZERO_AND_INFINITY = [(scalars[0], scalars[np.inf]) for scalars in _SCALARS.values()]


@native("rectified(array, like(array))", when="array.size >= LARGE and ready(array)")
def rectified(array: Any) -> Any:
    # The two dtypes that have constants at hand.
    dtype = array.dtype
    if dtype is FLOAT32:
        return _clip(array, *_ZERO_AND_INFINITY[0])
    if dtype is FLOAT64:
        return _clip(array, *_ZERO_AND_INFINITY[1])
    return plain.rectified(array)


# ---------------------------------------------------------------- masks


@native("zeroed(array, mask, like(array))", when="array.size > 1023 and masks(mask, array)")
def zeroed(array: Any, mask: Any) -> Any:
    # Large arrays of floating numbers.
    if array.size < _MASKED_BY_BITS or array.shape != mask.shape or array.dtype.kind != "f":
        return plain.zeroed(array, mask)
    pattern = mask.view(np.int8).astype(_whole(array))
    pattern -= 1
    return _through(pattern, array)


@native("kept(array, mask, like(array))", when="array.size > 1023 and masks(mask, array)")
def kept(array: Any, mask: Any) -> Any:
    if array.size < _MASKED_BY_BITS or array.shape != mask.shape or array.dtype.kind != "f":
        return plain.kept(array, mask)
    pattern = mask.view(np.int8).astype(_whole(array))
    np.negative(pattern, out=pattern)
    return _through(pattern, array)


def common_dtype(left: Any, right: Any) -> Any:
    """The dtype of the array among two operands; that of a number, if there is none."""
    return (left if getattr(left, "ndim", 0) or not hasattr(right, "dtype") else right).dtype


def operands_of(mask: Any, left: Any, right: Any) -> tuple[Any, Any] | None:
    """What is chosen from as arrays of one dtype; None for what the kernel does not take."""
    if not hasattr(left, "dtype") and not hasattr(right, "dtype"):
        return None
    dtype = common_dtype(left, right)
    if (dtype is not FLOAT32 and dtype is not FLOAT64) or mask.dtype != np.bool_ \
            or not in_order(mask):
        return None
    found = []
    for operand in (left, right):
        if type(operand) in (int, float):
            operand = np.asarray(operand, dtype)
        if getattr(operand, "dtype", None) is not dtype:
            return None
        operand = np.asarray(operand)
        if operand.ndim and (operand.shape != mask.shape or not in_order(operand)):
            return None
        found.append(operand)
    return found[0], found[1]


@native("chosen(mask, *operands_of(mask, left, right), "
        "empty(mask.shape, common_dtype(left, right)))", operands_of, common_dtype,
        when="operands_of(mask, left, right)")
def chosen(mask: Any, left: Any, right: Any) -> Any:
    # Large arrays by bits: NumPy's own choice guesses each element, and is often wrong.
    if _is_shared(mask, left, right):
        return _masked(mask, left, right)
    operands = None if mask.size < _MASKED_BY_BITS else operands_of(mask, left, right)
    if operands is None:
        return np.where(mask, left, right)
    dtype = operands[0].dtype
    left, right = [operand.view(_whole(operand)) for operand in operands]
    pattern = mask.view(np.int8).astype(right.dtype)
    np.negative(pattern, out=pattern)
    pattern &= left ^ right
    pattern ^= right
    return pattern.view(dtype)


def _is_shared(mask: Any, array: Any, number: Any) -> bool:
    """Whether many numbers share each choice between theirs and the same other one."""
    return getattr(number, "shape", None) == () and 0 < mask.size < getattr(array, "size", 0) \
        and array.dtype is number.dtype and array.dtype in _SCALARS and mask.dtype == np.bool_ \
        and array.flags.c_contiguous and array.size >= _MASKED_BY_BITS \
        and np.broadcast_shapes(mask.shape, array.shape) == array.shape


def _masked(mask: Any, array: Any, number: Any) -> Any:
    whole = _whole(array)
    pattern = mask.view(np.int8).astype(whole)
    np.negative(pattern, out=pattern)
    found = array.view(whole) & pattern
    found |= ~pattern & number.view(whole)
    return found.view(array.dtype)


def remainder(array: Any, other: Any) -> Any:
    # Many numbers of single precision, unless a quotient has too many digits: NumPy takes them one
    # at a time. In double precision products and differences of so few bits are exact, and no
    # quotient is rounded up to a whole number.
    if array.size < _MANY or array.dtype != FLOAT32 or other.dtype != FLOAT32:
        return plain.remainder(array, other)
    divisor = other.astype(FLOAT64)
    quotient = array / divisor
    np.floor(quotient, out=quotient)
    if not (np.isfinite(divisor).all() and quotient.max() < 1 << 28 and quotient.min() > -1 << 28):
        return plain.remainder(array, other)
    quotient *= divisor
    found = np.subtract(array, quotient, out=quotient)
    return np.copysign(found, divisor, out=found).astype(FLOAT32)


@native("trigamma(array, like(array))",
        when="array.size > 255 and array.dtype.char in 'fd' and in_order(array)")
def trigamma(array: Any) -> Any:
    # Many positive numbers of single precision: a series for those above six, to which a few steps
    # lead from any other.
    if array.size < _MANY or array.dtype != FLOAT32 or not array.min() > 0:
        return plain.trigamma(array)
    found, x = np.zeros(array.shape, FLOAT32), array.copy()
    for _ in range(6):
        found += 1 / (x * x)
        x += 1
    inverse = 1 / x
    square = inverse * inverse
    series = ((square * (1 / 42) - 1 / 30) * square + 1 / 6) * square
    found += ((series + 1) * inverse + square * 0.5)
    return found


# ---------------------------------------------------------------- pairs


def are_many(array: Any, other: Any) -> bool:
    """Whether a kernel takes these in pairs."""
    return max(array.size, other.size) > 63 and array.dtype is other.dtype \
        and array.dtype.char in "fd"


def spread(array: Any, shape: tuple[int, ...]) -> Any:
    """An array of that shape, or of one number, in order."""
    return array if in_order(array) and (array.shape == shape or array.size == 1) \
        else np.broadcast_to(array, shape).copy()


def pairs(array: Any, other: Any) -> tuple[Any, Any, Any]:
    """Two arrays as large as their result, or of one number; and memory for that."""
    shape = array.shape if array.shape == other.shape \
        else np.broadcast_shapes(array.shape, other.shape)
    return spread(array, shape), spread(other, shape), np.empty(shape, array.dtype)


@native("log_add_exp(*pairs(array, other), base_two)", are_many, pairs, spread,
        when="are_many(array, other)")
def log_add_exp(array: Any, other: Any, base_two: bool) -> Any:
    # NumPy's own takes one pair at a time; this takes several passes, all of them quicker.
    if array.size < _MANY or array.dtype.char not in "fd" or array.dtype != other.dtype:
        return plain.log_add_exp(array, other, base_two)
    found = np.subtract(array, other)
    np.negative(np.abs(found, out=found), out=found)
    np.log1p((np.exp2 if base_two else np.exp)(found, out=found), out=found)
    if base_two:
        found *= 1 / math.log(2)
    found += np.maximum(array, other)
    # Equal infinities have no difference.
    return np.where(array == other, array + (1 if base_two else math.log(2)), found)


_MANY = 1024


def _whole(array: Any) -> np.dtype:
    """The integers as wide as the elements of ``array``."""
    return np.dtype(f"i{array.dtype.itemsize}")


def _through(pattern: Any, array: Any) -> Any:
    # All bits of a kept element are ones in the pattern, all of a dropped one zeros: no branches.
    np.bitwise_and(pattern, array.view(pattern.dtype), out=pattern)
    return pattern.view(array.dtype)


def made_complex(real: Any, imag: Any) -> Any:
    # Both parts are written where they belong, at once.
    shape = np.broadcast_shapes(real.shape, imag.shape)
    found = np.empty(shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    found.real = real
    found.imag = imag
    return found


_UNARY = ("erf", "erfc", "erfcx", "erfinv", "ndtr", "log_ndtr", "logit", "entr", "digamma",
          "log_gamma", "ndtri", "i0", "i0e", "i1", "i1e", "bessel_j0", "bessel_j1", "bessel_y0",
          "bessel_y1", "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0",
          "scaled_modified_bessel_k1", "airy_ai", "sine_ratio", "sinc")


def single(array: Any, number: float) -> Any:
    """A number as an array of the same dtype."""
    return np.array(number, array.dtype)


fill_with_plain_bodies(globals(), plain, leaky_gradient=native(
    "leaky_gradient(g, array, like(array), slope)",
    when="array.size >= LARGE and alike(g, array)"), **{
    f"{name}_gradient": native(
        f"{name}_gradient(g, array, like(array))",
        when="array.size > 255 and array.dtype.char in 'fd' and alike(g, array)")
    for name in ("logit", "log_ndtr", "erfinv")}, **{
    name: native(f"{name}(array, like(array))",
                 when="array.size > 255 and array.dtype.char in 'fd' and in_order(array)")
    for name in _UNARY}, zeta=native(
        "zeta(*pairs(array, other), 1.0)", are_many, pairs, spread,
        when="are_many(array, other)"), **{
    name: native(f"{name}(*pairs(array, other))", are_many, pairs, spread,
                 when="are_many(array, other)") for name in ("xlogy", "xlog1py")}, **{
    name: native(f"incomplete_gamma(*pairs(array, other), {name == 'gammaincc'})", are_many, pairs,
                 spread, when="are_many(array, other)") for name in ("gammainc", "gammaincc")},
    slope_of_trigamma=native(
        "zeta(single(array, order + 1), array, like(array), sign_and_factorial(order))", single,
        sign_and_factorial,
        when="array.size > 63 and array.dtype.char in 'fd' and in_order(array)"))
