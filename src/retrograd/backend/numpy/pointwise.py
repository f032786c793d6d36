"""Array code of elementwise ops that NumPy has no single function for."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import float_info
from . import special as scipy_special

_HALF_SIZE = 2
_MASKED_BY_BITS = 4096  # elements from which masking by bit patterns beats a masked write


# ---------------------------------------------------------------- dtypes


def widened(array: Any, number: Any, default: np.dtype) -> Any:
    """``array`` in the dtype that it and a Python number have in common."""
    kind = array.dtype.kind
    if isinstance(number, complex):
        if kind == "c":
            return array
        single = (array.dtype if kind in "fV" else default).itemsize <= 4
        return array.astype(np.complex64 if single else np.complex128)
    if isinstance(number, float):
        return array.astype(default) if kind in "iub" else array
    return array.astype(np.int64) if kind == "b" and not isinstance(number, bool) else array


def number_in(dtype: np.dtype, number: Any) -> Any:
    """A Python number as a scalar of ``dtype``; integers wrap around, as in C."""
    return np.asarray(number).astype(dtype)[()]


def is_half(dtype: np.dtype) -> bool:
    return dtype.itemsize == _HALF_SIZE and dtype.kind in "fV"


def _in_float32(array: Any) -> Any:
    return array.astype(np.float32) if is_half(array.dtype) else array


def in_single(function: Any, *arrays: Any) -> Any:
    """``function`` of arrays that may be of half precision, which is computed in float32."""
    dtype = arrays[0].dtype
    if not is_half(dtype):
        return function(*arrays)
    return function(*(a.astype(np.float32) for a in arrays)).astype(dtype)


def special(name: str, *arrays: Any) -> Any:
    """A function of scipy.special, in the dtype of its arguments."""
    return in_single(scipy_special(name), *arrays)


# ---------------------------------------------------------------- arithmetic


def add_multiple(array: Any, other: Any, factor: Any) -> Any:
    """``array + factor * other`` in their own dtype."""
    kind = array.dtype.kind
    if kind != {bool: "b", complex: "c"}.get(type(factor), kind):
        raise TypeError(f"a factor of type {type(factor).__name__} for {array.dtype} data")
    if kind == "b":
        return array | (other & bool(factor))
    return array + number_in(array.dtype, factor) * other


def refuse_zero(array: Any, divisor: Any) -> None:
    if divisor.dtype.kind in "iub" and not np.all(divisor) and array.size:
        raise RuntimeError("ZeroDivisionError")


def floor_quotient(array: Any, other: Any) -> Any:
    refuse_zero(array, other)
    return np.floor_divide(array, other)


def trunc_quotient(array: Any, other: Any) -> Any:
    """The quotient rounded towards zero."""
    refuse_zero(array, other)
    if array.dtype.kind not in "iu":
        return np.trunc(array / other)
    quotient = np.floor_divide(array, other)
    inexact = quotient * other != array
    return quotient + (inexact & ((array < 0) != (other < 0))).astype(quotient.dtype)


def remainder(array: Any, other: Any) -> Any:
    refuse_zero(array, other)
    return np.remainder(array, other)


def fmod(array: Any, other: Any) -> Any:
    refuse_zero(array, other)
    return np.fmod(array, other)


def power(base: Any, exponent: Any) -> Any:
    """Powers; integers to negative integer powers are 0 or ±1."""
    if base.dtype.kind != "i" or not np.any(exponent < 0):
        return base ** exponent
    found = np.power(base, np.where(exponent < 0, 0, exponent))
    odd = np.where(exponent % 2 == 0, 1, base)
    inverse = np.where(base == 1, 1, np.where(base == -1, odd, 0))
    return np.where(exponent < 0, inverse, found).astype(base.dtype)


def sign(array: Any) -> Any:
    """-1, 0 or 1, or the direction of a complex number; 0 for NaN."""
    if array.dtype.kind == "b":
        return array.copy()
    found = np.sign(array)
    if array.dtype.kind in "fV" and _has_nan(found):
        found = np.where(np.isnan(found), np.zeros((), found.dtype), found)
    return found


def _has_nan(signs: Any) -> bool:
    if signs.dtype.kind == "V" or not signs.ndim:
        return bool(np.isnan(signs).any())
    total = np.vdot(signs, signs)  # the quickest way to look at them all
    return bool(total != total)


def lerp(start: Any, end: Any, weight: Any) -> Any:
    """``start + weight * (end - start)``, from whichever end is nearer."""
    span = end - start
    if isinstance(weight, (int, float, complex)):
        return start + weight * span if abs(weight) < 0.5 else end - span * (1 - weight)
    return np.where(np.abs(weight) < 0.5, start + weight * span, end - span * (1 - weight))


def log_add_exp(array: Any, other: Any, base_two: bool) -> Any:
    if array.dtype.kind != "c":
        return (np.logaddexp2 if base_two else np.logaddexp)(array, other)
    scale = np.log(2.0) if base_two else 1.0
    first = array.real >= other.real
    high, low = np.where(first, array, other), np.where(first, other, array)
    found = high + np.log(1 + np.exp((low - high) * scale)) / scale
    return np.where(np.isinf(array) & (array == other), array, found).astype(array.dtype)


def sinc(array: Any) -> Any:
    scaled = np.pi * array
    safe = np.where(scaled == 0, np.ones_like(scaled), scaled)
    return np.where(scaled == 0, np.ones_like(scaled), np.sin(safe) / safe)


def mantissa_and_exponent(array: Any) -> tuple[Any, Any]:
    single = _in_float32(array)
    mantissa, exponent = np.frexp(single)
    return mantissa.astype(array.dtype), exponent.astype(np.int32)


def round_decimals(array: Any, decimals: int) -> Any:
    scale = 10.0 ** abs(decimals)
    if decimals < 0:
        return np.rint(array / scale) * scale
    return np.rint(array * scale) / scale


# ---------------------------------------------------------------- bounds

# The ufunc behind ``np.clip`` costs a fifth of it on small arrays, and less than two comparisons
# with a scalar on large ones.
try:
    from numpy._core.umath import clip as _clip
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
    """``array`` held between two numbers, either of which may be None."""
    scalars = _SCALARS.get(array.dtype)
    if scalars is not None:
        return _clip(array, scalars[-np.inf if low is None else low],
                     scalars[np.inf if high is None else high])
    if low is not None:
        array = np.maximum(array, low)
    return array if high is None else np.minimum(array, high)


# ---------------------------------------------------------------- masks


def zeroed(array: Any, mask: Any) -> Any:
    """``array`` with zeros where ``mask`` is true."""
    if array.shape != mask.shape or not array.ndim or array.dtype.kind == "V":
        return np.where(mask, np.zeros((), array.dtype), array)
    if array.size < _MASKED_BY_BITS or array.dtype.kind != "f":
        found = array.copy()
        found[mask] = 0
        return found
    pattern = mask.view(np.int8).astype(_whole(array))
    pattern -= 1
    return _through(pattern, array)


def kept(array: Any, mask: Any) -> Any:
    """``array`` with zeros where ``mask`` is false."""
    if array.size < _MASKED_BY_BITS or array.shape != mask.shape or array.dtype.kind != "f":
        return zeroed(array, ~mask)
    pattern = mask.view(np.int8).astype(_whole(array))
    np.negative(pattern, out=pattern)
    return _through(pattern, array)


def _whole(array: Any) -> np.dtype:
    """The integers as wide as the elements of ``array``."""
    return np.dtype(f"i{array.dtype.itemsize}")


def _through(pattern: Any, array: Any) -> Any:
    # All bits of a kept element are ones in the pattern, all of a dropped one zeros: no branches.
    np.bitwise_and(pattern, array.view(pattern.dtype), out=pattern)
    return pattern.view(array.dtype)


def close(array: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Where two arrays are equal within tolerances."""
    found = array == other
    if equal_nan and array.dtype.kind in "fcV":
        found = found | (np.isnan(array) & np.isnan(other))
    if rtol == 0 and atol == 0:
        return found
    if array.dtype.kind in "iub":
        array, other = np.asarray(array, np.float64), np.asarray(other, np.float64)
    distance = np.abs(array - other)
    return found | (np.isfinite(distance) & (distance <= atol + np.abs(rtol * other)))


def replaced(array: Any, nan: float, posinf: float | None, neginf: float | None) -> Any:
    """``array`` with finite numbers in place of NaN and the infinities."""
    if array.dtype.kind in "iub":
        return array.copy()
    if array.dtype.kind == "c":
        parts = [replaced(p, nan, posinf, neginf) for p in (array.real, array.imag)]
        return (parts[0] + 1j * parts[1]).astype(array.dtype)
    limits = float_info(array.dtype)
    found = np.array(array)
    found[np.isnan(array)] = nan
    found[array == np.inf] = limits.max if posinf is None else posinf
    found[array == -np.inf] = limits.min if neginf is None else neginf
    return found


def made_complex(real: Any, imag: Any) -> Any:
    shape = np.broadcast_shapes(real.shape, imag.shape)
    found = np.empty(shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    found.real = real
    found.imag = imag
    return found


# ---------------------------------------------------------------- special functions


def log_gamma(array: Any) -> Any:
    found = special("gammaln", array)
    return np.where(array == -np.inf, -array, found)


def digamma(array: Any) -> Any:
    """The derivative of log gamma; at 0 it has the sign that PyTorch gives it."""
    found = special("psi", array)
    zero = np.copysign(np.inf, -array)
    return np.where(array == 0, zero, found).astype(array.dtype)


def polygamma(order: int, array: Any) -> Any:
    if order == 0:
        return digamma(array)
    factorial = float(scipy_special("factorial")(order))
    found = (-1.0) ** (order + 1) * factorial * scipy_special("zeta")(
        order + 1, np.asarray(array, np.float64))
    return np.asarray(found).astype(array.dtype)


def log_multigamma(array: Any, order: int) -> Any:
    total = order * (order - 1) / 4 * np.log(np.pi)
    for j in range(order):
        total = total + np.asarray(special("gammaln", array - j / 2))
    return np.asarray(total).astype(array.dtype)


def airy_ai(array: Any) -> Any:
    return in_single(lambda a: scipy_special("airy")(a)[0], array)


# ---------------------------------------------------------------- activations


def leaky(array: Any, slope: float) -> Any:
    """``array`` with its negative part scaled."""
    scaled = array * slope
    if slope == 0:
        return np.where(array > 0, array, scaled)
    return np.maximum(array, scaled) if slope <= 1 else np.minimum(array, scaled)


def slope_of_leaky(array: Any, slope: float) -> Any:
    return np.where(array > 0, number_in(array.dtype, 1), number_in(array.dtype, slope))


def random_slopes(array: Any, lower: float, upper: float, stream: Any) -> np.ndarray:
    """Slopes of a random leaky unit: 1 above zero, and one draw for each other element."""
    found = np.ones(array.shape, array.dtype)
    bent = np.asarray(array <= 0)
    drawn = stream.uniform((int(bent.sum()),), np.float64, lower, upper)
    found[bent] = drawn.astype(array.dtype)
    return found


def one_hot_of_largest(array: Any, axis: int) -> np.ndarray:
    found = np.zeros(array.shape, array.dtype)
    np.put_along_axis(found, np.expand_dims(np.argmax(array, axis), axis), 1, axis)
    return found
