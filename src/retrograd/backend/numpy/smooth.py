"""Smooth activations on NumPy arrays: large ones block by block, in threads."""

from __future__ import annotations

import math
from functools import update_wrapper
from typing import Any

import numpy as np
from numpy.lib.introspect import opt_func_info

from ..plain import fill_with_plain_bodies, smooth as plain
from . import FLOAT32
from .native import native
from .rows import number
from .sharing import by_elements


def _is_vectorized(name: str) -> bool:
    """Whether NumPy has the function for several numbers of single precision at once here."""
    found = opt_func_info(func_name=f"^{name}$", signature="float32").get(name, {})
    return not found.get("ff", {}).get("current", "baseline").startswith("baseline")


# Powers of two take half the time of those of e where both are vectorized.
_POWER, _UNIT = (np.exp2, 1 / math.log(2)) if _is_vectorized("exp2") else (np.exp, 1.0)
# SciPy's error function takes its numbers one at a time. The logarithm of the odds of not being
# below x is x times a continued fraction in x², from the inside: to x² is added, and what is
# added is what a number is divided by. The error of the probability is 2e-9 beside rounding.
_INSIDE = number(37.47583424, FLOAT32)
_FRACTION = [tuple([number(value, FLOAT32) for value in level]) for level in (
    (1097.391242, -24.14442711), (-22.13666137, 132.9752010),
    (1016.707506 * _UNIT, -9.497623134 * _UNIT))]
_ONE, _EXPONENT, _HEIGHT = [number(value, FLOAT32) for value in (
    1, -0.5 * _UNIT, 1 / plain.ROOT_TWO_PI)]
_MANY = 2048


def _probability(x: Any, bell: Any = None) -> Any:
    # Many numbers of single precision.
    if x.dtype != FLOAT32 or x.size < _MANY:
        return plain._probability(x, bell)
    return 1 / _fill_with_inverse(x, x * x, np.empty_like(x))


def _fill_with_inverse(x: Any, square: Any, out: Any) -> Any:
    """One over the probability of being below ``x``."""
    # Arrays in their places: threads wait for each other while a call is prepared.
    np.add(square, _INSIDE, out)
    for dividend, shift in _FRACTION[:-1]:
        np.divide(dividend, out, out)
        np.add(out, square, out)
        np.add(out, shift, out)
    dividend, shift = _FRACTION[-1]
    np.divide(dividend, out, out)
    np.add(out, shift, out)
    np.multiply(out, x, out)
    _POWER(out, out)
    np.add(out, _ONE, out)
    return out


def _fill_with_gelu(x: Any, out: Any) -> None:
    np.divide(x, _fill_with_inverse(x, x * x, out), out)


def _fill_with_gelu_gradient(g: Any, x: Any, out: Any) -> None:
    bell = x * x
    np.divide(_ONE, _fill_with_inverse(x, bell, out), out)
    np.multiply(bell, _EXPONENT, bell)
    _POWER(bell, bell)
    np.multiply(bell, x, bell)
    np.multiply(bell, _HEIGHT, bell)
    np.add(out, bell, out)
    np.multiply(out, g, out)


_FILLS: dict[str, Any] = {"gelu": _fill_with_gelu, "gelu_gradient": _fill_with_gelu_gradient}


def _shared(body: Any) -> Any:
    """``body``, of which large arrays are filled block by block."""

    def fill(*arrays: Any) -> None:
        out = arrays[-1]
        if out.dtype is FLOAT32 and body.__name__ in _FILLS:
            _FILLS[body.__name__](*arrays)
        else:
            out[...] = body(*arrays[:-1])

    def in_its_dtype(*arrays: Any) -> Any:
        found, dtype = body(*arrays), arrays[-1].dtype
        return found if found.dtype == dtype else found.astype(dtype)  # SciPy widens halves

    return by_elements(update_wrapper(in_its_dtype, body), fill)


fill_with_plain_bodies(globals(), plain, **{
    name + kind: lambda body, call=f"{name}{kind}({arrays}, like(x))", when=when: native(
        call, when=f"x.ndim and {when}")(_shared(body))
    for name in ("gelu", "tanh_gelu", "silu", "mish")
    for kind, arrays, when in (("", "x", "ready(x)"), ("_gradient", "g, x", "alike(g, x)"))})
