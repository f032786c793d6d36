"""Steps of optimizers that look at a parameter as a whole, on raw arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..plain.pointwise import lerp
from . import FLOAT32, FLOAT64, narrow
from .native import WRITABLE, native


def are_ready(*arrays: Any) -> bool:
    """Whether the steps apply: to arrays of one wide dtype, which may be written to."""
    dtype = arrays[0].dtype
    return (dtype is FLOAT32 or dtype is FLOAT64) and all(
        [type(a) is np.ndarray and a.dtype is dtype and a.size
         and a.flags.num & WRITABLE == WRITABLE for a in arrays])


# ---------------------------------------------------------------- Adafactor


@native("factored_step(param, grad, rows, columns, weight, rate, eps, least, most, shrink)",
        when="in_order(param, grad, rows, columns)")
def factored_step(param: Any, grad: Any, rows: Any, columns: Any, weight: float, rate: float,
                  eps: float, least: float, most: float, shrink: float) -> None:
    """Move matrices whose squared gradients are kept as the means of rows and of columns.

    The step is ``rate`` times the parameter's own size, or ``least``, and shorter where its
    direction is longer than ``most``.
    """
    squares = np.square(grad)
    rows[...] = lerp(rows, squares.mean(-1, keepdims=True), weight)
    columns[...] = lerp(columns, squares.mean(-2, keepdims=True), weight)
    variance = np.multiply(rows, columns, out=squares)
    variance /= np.maximum(rows.mean(-2, keepdims=True), eps)
    _move_by_size(param, grad, variance, rate, eps, least, most, shrink)


@native("unfactored_step(param, grad, variance, weight, rate, eps, least, most, shrink)",
        when="in_order(param, grad, variance)")
def unfactored_step(param: Any, grad: Any, variance: Any, weight: float, rate: float, eps: float,
                    least: float, most: float, shrink: float) -> None:
    """The same for vectors, whose squared gradients are kept themselves."""
    variance[...] = lerp(variance, np.square(grad), weight)
    _move_by_size(param, grad, variance.copy(), rate, eps, least, most, shrink)


def _move_by_size(param: Any, grad: Any, variance: Any, rate: float, eps: float, least: float,
                  most: float, shrink: float) -> None:
    rate *= max(least, _size(param))
    np.maximum(variance, eps * eps, out=variance)
    update = np.divide(grad, np.sqrt(variance, out=variance), out=variance)
    update *= -rate / max(1.0, _size(update) / most)
    if shrink != 1:
        param *= shrink
    param += update


def _size(array: Any) -> float:
    """The root of the mean square."""
    return math.sqrt(np.square(array, dtype=np.float64).mean())


# ---------------------------------------------------------------- Muon


def orthogonal(matrices: Any, coefficients: Sequence[float], steps: int, eps: float) -> Any:
    """The orthogonal matrices nearest to some, by Newton and Schulz, rounded as in bfloat16."""
    is_tall = matrices.shape[-2] > matrices.shape[-1]
    found = _rounded(matrices.swapaxes(-1, -2) if is_tall else matrices)
    norms = _rounded(np.sqrt(np.square(found).sum((-2, -1), keepdims=True)))
    found = np.ascontiguousarray(_rounded(found / np.maximum(norms, _rounded(np.float32(eps)))))
    found = towards_orthogonal(found, steps, *coefficients)
    return found.swapaxes(-1, -2) if is_tall else found


def _rounded(array: Any) -> Any:
    return array.astype(narrow("bfloat16")).astype(FLOAT32)


@native("orthogonal_steps(found, like(found), steps, a, b, c)",
        when="found.size >= 1 << 14 and ready(found)")
def towards_orthogonal(found: Any, steps: int, a: float, b: float, c: float) -> Any:
    """Some steps on matrices that are wider than high, each product rounded as in bfloat16."""
    for _ in range(steps):
        gram = _rounded(np.matmul(found, found.swapaxes(-1, -2)))
        both = np.matmul(gram, gram)
        both *= c
        both += gram * b
        change = np.matmul(_rounded(both), found)
        change += found * a
        found = _rounded(change)
    return found
