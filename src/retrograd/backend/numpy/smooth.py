"""Smooth activations on NumPy arrays: large ones block by block."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, smooth as plain
from . import FLOAT32
from .native import native
from .sharing import by_elements

# SciPy's error function takes its numbers one at a time. Half the logarithm of the odds of being
# below x is x times a polynomial in x², falling coefficients of which are these; its hyperbolic
# tangent gives the probability, with an error of 7e-8 at most beside what is rounded.
_HALF_LOG_ODDS = (1.80936412e-09, -1.33646905e-07, 3.97311380e-06, -5.52779459e-05,
                  -3.29547464e-05, 3.63339113e-02, 7.97884493e-01)
_MANY = 2048


def _probability(x: Any, bell: Any = None) -> Any:
    # Many numbers of single precision.
    if x.dtype != FLOAT32 or x.size < _MANY:
        return plain._probability(x, bell)
    return _fill_with_probability(x, x * x, np.empty_like(x))


def _fill_with_probability(x: Any, square: Any, out: Any) -> Any:
    np.multiply(square, _HALF_LOG_ODDS[0], out=out)
    for coefficient in _HALF_LOG_ODDS[1:-1]:
        out += coefficient
        out *= square
    out += _HALF_LOG_ODDS[-1]
    out *= x
    np.tanh(out, out=out)
    out *= 0.5
    out += 0.5
    return out


def _fill_with_gelu(x: Any, out: Any) -> None:
    _fill_with_probability(x, x * x, out)
    out *= x


def _fill_with_gelu_gradient(g: Any, x: Any, out: Any) -> None:
    bell = x * x
    _fill_with_probability(x, bell, out)
    bell *= -0.5
    np.exp(bell, out=bell)
    bell *= x
    bell *= 1 / plain.ROOT_TWO_PI
    out += bell
    out *= g


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
    for name in ("gelu", "tanh_gelu", "silu")
    for kind, arrays, when in (("", "x", "ready(x)"), ("_gradient", "g, x", "alike(g, x)"))})
