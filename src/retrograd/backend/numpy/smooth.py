"""Smooth activations on NumPy arrays: large ones block by block."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, smooth as plain
from . import FLOAT32
from .native import native
from .sharing import BLOCK, over_blocks

# SciPy's error function takes its numbers one at a time. The probability beyond x > 0, divided by
# exp(-x² / 2), is a polynomial in 1 / (1 + 0.28 x) that begins with its first power, as exact as
# float32 needs: these coefficients, falling, make the largest error 1e-8.
_STEEPNESS = 0.28
_BEYOND = (-0.105687276, 0.389382258, -0.236198733, 0.268272042, 0.0677512434, 0.11648046)
_MANY = 2048
_SIGN = np.int32(-1 << 31)


def _probability(x: Any, bell: Any = None) -> Any:
    # Many numbers of single precision.
    if x.dtype != FLOAT32 or x.size < _MANY:
        return plain._probability(x, bell)
    near = np.abs(x)
    near *= _STEEPNESS
    near += 1
    np.divide(1, near, near)
    found = near * _BEYOND[0]
    for coefficient in _BEYOND[1:]:
        found += coefficient
        found *= near
    found *= np.exp(x * x * -0.5) if bell is None else bell
    np.subtract(0.5, found, found)
    bits = found.view(np.int32)
    bits |= x.view(np.int32) & _SIGN  # which ``copysign`` takes ten times as long for
    found += 0.5
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
