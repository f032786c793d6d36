"""Smooth activations on NumPy arrays: large ones block by block."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, smooth as plain
from . import FLOAT32
from .native import native
from .pointwise import bounded
from .sharing import BLOCK, over_blocks

# SciPy's error function takes its numbers one at a time. A quotient of polynomials in x² is as
# exact as float32 needs: its coefficients, falling, make the largest relative error of erf(x) / x
# up to x = 4 as small as it gets, which is 2.5e-8.
_ABOVE = (1.98676986e-06, 2.84565492e-04, 3.88335929e-03, 5.31017929e-02, 1.93545538e-01,
          1.12837914)
_BELOW = (3.74200214e-05, 1.18557337e-03, 1.52072832e-02, 1.15350183e-01, 5.04857823e-01, 1)
_MANY = 2048


def _probability(x: Any) -> Any:
    # Many numbers of single precision; beyond the bound the result is 0 or 1 to all digits.
    if x.dtype != FLOAT32 or x.size < _MANY:
        return plain._probability(x)
    inside = bounded(x * math.sqrt(0.5), -4, 4)
    square = inside * inside
    inside *= _polynomial(_ABOVE, square)
    inside /= _polynomial(_BELOW, square)
    inside += 1
    inside *= 0.5
    return inside


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    found = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        found += coefficient
        found *= x
    found += coefficients[-1]
    return found


def _by_blocks(body: Callable[..., Any]) -> Callable[..., Any]:
    """``body``, of arrays of one shape, for large ones on a block at a time."""

    def blockwise(*arrays: Any) -> Any:
        x = arrays[-1]
        if x.size <= BLOCK or arrays[0].shape != x.shape:
            found = body(*arrays)
            return found if found.dtype == x.dtype else found.astype(x.dtype)  # SciPy widens halves
        out = np.empty(x.shape, x.dtype)
        target, sources = out.reshape(-1), [array.reshape(-1) for array in arrays]

        def compute(part: slice) -> None:
            target[part] = body(*[source[part] for source in sources])

        over_blocks(compute, x.size, BLOCK)
        return out

    blockwise.__name__, blockwise.__doc__ = body.__name__, body.__doc__
    blockwise.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
    return blockwise


fill_with_plain_bodies(globals(), plain, **{
    name + kind: lambda body, call=f"{name}{kind}({arrays}, like(x))", when=when: native(
        call, when=f"x.ndim and {when}")(_by_blocks(body))
    for name in ("gelu", "tanh_gelu", "silu")
    for kind, arrays, when in (("", "x", "ready(x)"), ("_gradient", "g, x", "alike(g, x)"))})
