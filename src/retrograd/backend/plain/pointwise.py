"""Array code of elementwise ops that array libraries have no single function for."""

from __future__ import annotations

import math
from typing import Any

from .. import xp
from .precision import is_half, wide

# ---------------------------------------------------------------- dtypes


def widened(array: Any, number: Any, default: Any) -> Any:
    """``array`` in the dtype that it and a Python number have in common."""
    kind = array.dtype.kind
    if isinstance(number, complex):
        if kind == "c":
            return array
        single = (array.dtype if kind in "fV" else default).itemsize <= 4
        return array.astype(xp.complex64 if single else xp.complex128)
    if isinstance(number, float):
        return array.astype(default) if kind in "iub" else array
    return array.astype(xp.int64) if kind == "b" and not isinstance(number, bool) else array


def number_in(dtype: Any, number: Any) -> Any:
    """A Python number as one of ``dtype``; integers wrap around, as in C."""
    return xp.asarray(number).astype(dtype)[()]


def in_single(function: Any, *arrays: Any) -> Any:
    """``function`` of arrays that may be of half precision, which is computed in float32."""
    dtype = arrays[0].dtype
    if not is_half(dtype):
        return function(*arrays)
    return function(*map(wide, arrays)).astype(dtype)


def special(name: str, *arrays: Any) -> Any:
    """A function of scipy.special, in the dtype of its arguments."""
    return in_single(xp.special(name), *arrays)


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
    if divisor.dtype.kind in "iub" and not xp.all(divisor) and array.size:
        raise RuntimeError("ZeroDivisionError")


def floor_quotient(array: Any, other: Any) -> Any:
    refuse_zero(array, other)
    return xp.floor_divide(array, other)


def trunc_quotient(array: Any, other: Any) -> Any:
    """The quotient rounded towards zero."""
    refuse_zero(array, other)
    if array.dtype.kind not in "iu":
        return xp.trunc(array / other)
    quotient = xp.floor_divide(array, other)
    inexact = quotient * other != array
    return quotient + (inexact & ((array < 0) != (other < 0))).astype(quotient.dtype)


def remainder(array: Any, other: Any) -> Any:
    refuse_zero(array, other)
    return xp.remainder(array, other)


def fmod(array: Any, other: Any) -> Any:
    refuse_zero(array, other)
    return xp.fmod(array, other)


def power(base: Any, exponent: Any) -> Any:
    """Powers; integers to negative integer powers are 0 or ±1."""
    if base.dtype.kind != "i" or not xp.any(exponent < 0):
        return base ** exponent
    found = xp.power(base, xp.where(exponent < 0, 0, exponent))
    odd = xp.where(exponent % 2 == 0, 1, base)
    inverse = xp.where(base == 1, 1, xp.where(base == -1, odd, 0))
    return xp.where(exponent < 0, inverse, found).astype(base.dtype)


def sign(array: Any) -> Any:
    """-1, 0 or 1, or the direction of a complex number; 0 for NaN."""
    if array.dtype.kind == "b":
        return array.copy()
    if array.dtype.kind not in "fV":
        return xp.sign(array)
    return (array > 0).astype(array.dtype) - (array < 0).astype(array.dtype)


def lerp(start: Any, end: Any, weight: Any) -> Any:
    """``start + weight * (end - start)``, from whichever end is nearer."""
    span = end - start
    if isinstance(weight, (int, float, complex)):
        return start + weight * span if abs(weight) < 0.5 else end - span * (1 - weight)
    return xp.where(xp.abs(weight) < 0.5, start + weight * span, end - span * (1 - weight))


def log1p(array: Any) -> Any:
    """The logarithm of one plus ``array``, exact for small values, complex ones too."""
    if array.dtype.kind != "c":
        return xp.log1p(array)
    x, y = array.real, array.imag
    near = xp.hypot(x, y) < 0.5
    square = xp.where(near, x * (2 + x) + y * y, xp.zeros((), x.dtype))
    length = xp.where(near, xp.log1p(square) / 2, xp.log(xp.hypot(x + 1, y)))
    return made_complex(length, xp.arctan2(y, x + 1))


def log_add_exp(array: Any, other: Any, base_two: bool) -> Any:
    if array.dtype.kind != "c":
        return (xp.logaddexp2 if base_two else xp.logaddexp)(array, other)
    scale = math.log(2.0) if base_two else 1.0
    first = array.real >= other.real
    high, low = xp.where(first, array, other), xp.where(first, other, array)
    found = high + xp.log(1 + xp.exp((low - high) * scale)) / scale
    return xp.where(xp.isinf(array) & (array == other), array, found).astype(array.dtype)


def sinc(array: Any) -> Any:
    return _sine_ratio(xp.pi * array)


def _sine_ratio(array: Any) -> Any:
    safe = xp.where(array == 0, xp.ones_like(array), array)
    return xp.where(array == 0, xp.ones_like(array), xp.sin(safe) / safe)


def sine_ratio(array: Any) -> Any:
    """sin(x) / x, which is 1 at zero and 0 at infinity."""
    return xp.where(xp.isinf(array), xp.zeros_like(array), _sine_ratio(array))


def mantissa_and_exponent(array: Any) -> tuple[Any, Any]:
    mantissa, exponent = xp.frexp(wide(array))
    return mantissa.astype(array.dtype), exponent.astype(xp.int32)


def round_decimals(array: Any, decimals: int) -> Any:
    scale = 10.0 ** abs(decimals)
    if decimals < 0:
        return xp.rint(array / scale) * scale
    return xp.rint(array * scale) / scale


# ---------------------------------------------------------------- bounds


def bounded(array: Any, low: Any, high: Any) -> Any:
    """``array`` held between two numbers, either of which may be None."""
    if low is not None:
        array = xp.maximum(array, low)
    return array if high is None else xp.minimum(array, high)


def rectified(array: Any) -> Any:
    """``array``, or 0 where it is negative."""
    return bounded(array, 0, None)


# ---------------------------------------------------------------- masks


def zeroed(array: Any, mask: Any) -> Any:
    """``array`` with zeros where ``mask`` is true."""
    return xp.where(mask, xp.zeros((), array.dtype), array)


def kept(array: Any, mask: Any) -> Any:
    """``array`` with zeros where ``mask`` is false."""
    return xp.where(mask, array, xp.zeros((), array.dtype))


def close(array: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Where two arrays are equal within tolerances."""
    found = array == other
    if equal_nan and array.dtype.kind in "fcV":
        found = found | (xp.isnan(array) & xp.isnan(other))
    if rtol == 0 and atol == 0:
        return found
    if array.dtype.kind in "iub":
        array, other = xp.asarray(array, xp.float64), xp.asarray(other, xp.float64)
    distance = xp.abs(array - other)
    return found | (xp.isfinite(distance) & (distance <= atol + xp.abs(rtol * other)))


def replaced(array: Any, nan: float, posinf: float | None, neginf: float | None) -> Any:
    """``array`` with finite numbers in place of NaN and the infinities."""
    if array.dtype.kind in "iub":
        return array.copy()
    if array.dtype.kind == "c":
        parts = [replaced(p, nan, posinf, neginf) for p in (array.real, array.imag)]
        return (parts[0] + 1j * parts[1]).astype(array.dtype)
    limits, dtype = xp.float_info(array.dtype), array.dtype
    found = xp.where(xp.isnan(array), number_in(dtype, nan), array)
    for infinity, number in ((xp.inf, limits.max if posinf is None else posinf),
                             (-xp.inf, limits.min if neginf is None else neginf)):
        found = xp.where(array == infinity, number_in(dtype, float(number)), found)
    return found


def chosen(mask: Any, left: Any, right: Any) -> Any:
    """``left`` where ``mask`` holds, ``right`` elsewhere."""
    return xp.where(mask, left, right)


def made_complex(real: Any, imag: Any) -> Any:
    return xp.pairs_as_complex(xp.stack(xp.broadcast_arrays(real, imag), axis=-1))


# ---------------------------------------------------------------- special functions


def erf(array: Any) -> Any:
    """The error function."""
    return special("erf", array)


def erfc(array: Any) -> Any:
    """One minus the error function."""
    return special("erfc", array)


def ndtr(array: Any) -> Any:
    """The probability of a normal variable to be below each number."""
    return special("ndtr", array)


def erfcx(array: Any) -> Any:
    """exp(x²) times :func:`erfc`."""
    return special("erfcx", array)


def erfinv(array: Any) -> Any:
    """The inverse of :func:`erf`."""
    return special("erfinv", array)


def log_ndtr(array: Any) -> Any:
    """The logarithm of :func:`ndtr`."""
    return special("log_ndtr", array)


def logit(array: Any) -> Any:
    """The logarithm of the odds of a probability."""
    return xp.log(array / (1 - array))


def logit_gradient(g: Any, array: Any) -> Any:
    """``g`` times the slope of :func:`logit`, which has none outside of 0 and 1."""
    spread = array * (1 - array)  # negative there
    return xp.where(spread < 0, number_in(array.dtype, math.nan), g / spread)


def log_ndtr_gradient(g: Any, array: Any) -> Any:
    """``g`` times the slope of :func:`log_ndtr`."""
    root = number_in(array.dtype, math.sqrt(0.5))
    return g / (erfcx(array * -root) * number_in(array.dtype, math.sqrt(math.pi / 2)))


def erfinv_gradient(g: Any, array: Any) -> Any:
    """``g`` times the slope of :func:`erfinv`."""
    found = erfinv(array)
    return g * (number_in(array.dtype, math.sqrt(math.pi) / 2) * xp.exp(found * found))


def entr(array: Any) -> Any:
    """The entropy of one probability."""
    return special("entr", array)


def i0(array: Any) -> Any:
    """The modified Bessel function of the first kind, of order 0."""
    return special("i0", array)


def i0e(array: Any) -> Any:
    """:func:`i0` times exp(-|x|)."""
    return special("i0e", array)


def i1(array: Any) -> Any:
    """The modified Bessel function of the first kind, of order 1."""
    return special("i1", array)


def i1e(array: Any) -> Any:
    """:func:`i1` times exp(-|x|)."""
    return special("i1e", array)


def bessel_j0(array: Any) -> Any:
    """The Bessel function of the first kind, of order 0."""
    return special("j0", array)


def bessel_j1(array: Any) -> Any:
    """The Bessel function of the first kind, of order 1."""
    return special("j1", array)


def bessel_y0(array: Any) -> Any:
    """The Bessel function of the second kind, of order 0."""
    return special("y0", array)


def bessel_y1(array: Any) -> Any:
    """The Bessel function of the second kind, of order 1."""
    return special("y1", array)


def modified_bessel_k0(array: Any) -> Any:
    """The modified Bessel function of the second kind, order 0."""
    return special("k0", array)


def modified_bessel_k1(array: Any) -> Any:
    """The modified Bessel function of the second kind, order 1."""
    return special("k1", array)


def scaled_modified_bessel_k0(array: Any) -> Any:
    """:func:`modified_bessel_k0` times exp(x)."""
    return special("k0e", array)


def scaled_modified_bessel_k1(array: Any) -> Any:
    """:func:`modified_bessel_k1` times exp(x)."""
    return special("k1e", array)


def ndtri(array: Any) -> Any:
    """The inverse of :func:`ndtr`."""
    return special("ndtri", array)


def log_gamma(array: Any) -> Any:
    found = special("gammaln", array)
    return xp.where(array == -xp.inf, -array, found)


def digamma(array: Any) -> Any:
    """The derivative of log gamma; at 0 it has the sign that PyTorch gives it."""
    found = special("psi", array)
    zero = xp.copysign(xp.inf, -array)
    return xp.where(array == 0, zero, found).astype(array.dtype)


def trigamma(array: Any) -> Any:
    """The second derivative of log gamma."""
    return xp.as_array(in_single(lambda a: xp.special("zeta")(2.0, a), array))


def polygamma(order: int, array: Any) -> Any:
    if order == 0:
        return digamma(array)
    return trigamma(array) if order == 1 else slope_of_trigamma(array, order)


def slope_of_trigamma(array: Any, order: int) -> Any:
    """The ``order``-th derivative of :func:`digamma`, which is above 1."""
    found = sign_and_factorial(order) * xp.special("zeta")(
        order + 1, xp.asarray(array, xp.float64))
    return xp.asarray(found).astype(array.dtype)


def sign_and_factorial(order: int) -> float:
    return (-1.0) ** (order + 1) * math.factorial(order)


def zeta(array: Any, other: Any) -> Any:
    """The zeta function of Hurwitz."""
    return special("zeta", array, other)


def xlogy(array: Any, other: Any) -> Any:
    """``array`` times log(``other``), 0 where ``array`` is 0."""
    found = xp.where(array == 0, xp.zeros((), array.dtype), array * xp.log(other))
    return xp.where(xp.isnan(other), other, found)


def xlog1py(array: Any, other: Any) -> Any:
    """``array`` times log(1 + ``other``), 0 where ``array`` is 0."""
    return special("xlog1py", array, other)


def gammainc(array: Any, other: Any) -> Any:
    """The lower incomplete gamma function, over the whole one."""
    return special("gammainc", array, other)


def gammaincc(array: Any, other: Any) -> Any:
    """The upper incomplete gamma function, over the whole one."""
    return special("gammaincc", array, other)


def log_multigamma(array: Any, order: int) -> Any:
    total = order * (order - 1) / 4 * math.log(math.pi)
    for j in range(order):
        total = total + xp.asarray(log_gamma(array - j / 2))
    return xp.asarray(total).astype(array.dtype)


def airy_ai(array: Any) -> Any:
    return in_single(lambda a: xp.special("airy")(a)[0], array)


# ---------------------------------------------------------------- activations


def leaky(array: Any, slope: float) -> Any:
    """``array`` with its negative part scaled."""
    scaled = array * slope
    if slope == 0:
        return xp.where(array > 0, array, scaled)
    return xp.maximum(array, scaled) if slope <= 1 else xp.minimum(array, scaled)


def slope_of_leaky(array: Any, slope: float) -> Any:
    return xp.where(array > 0, number_in(array.dtype, 1), number_in(array.dtype, slope))


def leaky_gradient(g: Any, array: Any, slope: float) -> Any:
    """``g`` times :func:`slope_of_leaky`."""
    return xp.where(array > 0, g, g * number_in(g.dtype, slope))


def random_slopes(array: Any, lower: float, upper: float, stream: Any) -> Any:
    """Slopes of a random leaky unit: 1 above zero, and one draw for each other element."""
    found = xp.ones(array.shape, array.dtype)
    bent = xp.asarray(array <= 0)
    drawn = stream.uniform((int(bent.sum()),), xp.float64, lower, upper)
    found[bent] = xp.asarray(drawn).astype(array.dtype)
    return found


def one_hot_of_largest(array: Any, axis: int) -> Any:
    found = xp.zeros(array.shape, array.dtype)
    xp.put_along_axis(found, xp.expand_dims(xp.argmax(array, axis=axis), axis), 1, axis=axis)
    return found
