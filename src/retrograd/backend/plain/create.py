"""New arrays: ranges, numbers, and layouts."""

from __future__ import annotations

from typing import Any

from .. import xp
from .precision import is_half


def laid_out_like(array: Any, shape: tuple, dtype: Any) -> Any:
    """An uninitialised array whose dimensions lie in memory in the same order as ``array``'s."""
    if xp.is_array(array) and array.shape == tuple(shape) and not xp.is_contiguous(array):
        return xp.empty_in_order(array.shape, xp.dense_order(array), dtype)
    return xp.empty(shape, dtype)


def memory_for(shape: tuple, strides: tuple, dtype: Any) -> Any:
    """Uninitialised memory just large enough for these strides (in elements), one-dimensional."""
    if 0 in shape:
        return xp.empty(0, dtype)
    return xp.empty(1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)), dtype)


# ---------------------------------------------------------------- ranges


def arange(start: Any, count: int, step: Any, dtype: Any) -> Any:
    """``count`` numbers from ``start`` on, ``step`` apart."""
    if dtype.kind in "iu":
        steps = xp.arange(count, dtype=xp.int64)
        return (int(start) + int(step) * steps).astype(dtype)
    return (float(start) + float(step) * xp.arange(count, dtype=xp.float64)).astype(dtype)


def _work_dtype(dtype: Any) -> Any:
    if dtype.kind in "iub":
        return xp.FLOAT64
    if dtype.kind == "c" or dtype in (xp.FLOAT32, xp.FLOAT64):
        return dtype
    return xp.FLOAT32


def _evenly_spaced(start: Any, end: Any, steps: int, work: Any) -> Any:
    """Counted from both ends, so that rounding is symmetric and both ends are exact."""
    out = xp.empty(steps, work)
    low, high = xp.asarray(start, work), xp.asarray(end, work)
    step = (high - low) / (steps - 1)
    index = xp.arange(steps).astype(work)
    first = steps // 2
    out[:first] = low + step * index[:first]
    out[first:] = high - step * index[: steps - first][::-1]
    return out


def linspace(start: Any, end: Any, steps: int, dtype: Any) -> Any:
    """``steps`` evenly spaced numbers, both ends included."""
    if steps == 1:
        return xp.asarray([start]).astype(dtype)
    if dtype.kind in "iu":
        start, end = int(start), int(end)
    spaced = _evenly_spaced(start, end, steps, _work_dtype(dtype)) if steps else xp.empty(0)
    return xp.trunc(spaced).astype(dtype) if dtype.kind in "iu" else spaced.astype(dtype)


def logspace(start: Any, end: Any, steps: int, base: float, dtype: Any) -> Any:
    """``base`` to the power of evenly spaced exponents."""
    if not steps:
        return xp.empty(0, dtype)
    if steps == 1:
        only = xp.asarray([complex(base) if dtype.kind == "c" else float(base)])
        return xp.power(only, start).astype(dtype)
    if dtype.kind in "iu":
        start, end = int(start), int(end)
    work = _work_dtype(dtype)
    if is_half(dtype):
        start, end = (float(xp.asarray(float(limit)).astype(dtype)) for limit in (start, end))
    exponents = _evenly_spaced(start, end, steps, work)
    return xp.power(xp.asarray(base, work), exponents).astype(dtype)


def eye(rows: int, columns: int, dtype: Any) -> Any:
    out = xp.zeros((rows, columns), dtype)
    diagonal = min(rows, columns)
    index = xp.arange(diagonal)
    out[index, index] = 1
    return out
