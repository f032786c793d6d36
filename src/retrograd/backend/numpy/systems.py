"""Linear systems of NumPy arrays: LAPACK's and BLAS's own routines, if SciPy is there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies
from ..plain import systems as plain
from .routines import routine, routines_for

_SMALL = 16
"""Batches of matrices up to this size are solved by one call of NumPy's, which is quicker."""


def _each(function: Any, a: Any, b: Any, *options: Any) -> Any:
    """``function`` of every matrix of ``a`` and its right-hand sides in ``b``."""
    if a.ndim == 2 and b.ndim == 2:
        return function(a, b, *options)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    found = np.empty((*lead, *b.shape[-2:]), b.dtype)
    matrices = np.broadcast_to(a, (*lead, *a.shape[-2:]))
    sides = np.broadcast_to(b, found.shape)
    for index in np.ndindex(lead):
        found[index] = function(matrices[index], sides[index], *options)
    return found


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    size = a.shape[-1]
    if not b.size or not a.size or a.dtype != b.dtype or (a.ndim > 2 and size <= _SMALL) or (
            routine("trsm", a.dtype) is None):
        return plain.solve_triangular(a, b, upper, unit)
    with routines_for(size):
        return _each(_one_triangle, a, b, upper, unit)


def _one_triangle(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    # These routines read columns, so that the rows of ``a`` are those of its transpose.
    turned = a.flags.c_contiguous
    columns = a.T if turned else np.asfortranarray(a)
    lower = upper if turned else not upper
    if b.shape[1] == 1:
        x, info = routine("trtrs", a.dtype)(columns, b, lower=lower, trans=turned, unitdiag=unit)
        if not info:
            return x
    x = np.array(b, b.dtype.newbyteorder("="), order="C")  # as the routine writes it
    _substitute(a, x, upper, unit)
    return x


_BLOCK = 24
"""Rows of a triangle that are solved at once; what they leave to the others is a product."""


def _substitute(a: Any, x: Any, upper: bool, unit: bool) -> None:
    """Put the solution of ``a @ x = b`` in the place of the right-hand sides, which x holds."""
    size = a.shape[0]
    if size > 2 * _BLOCK:
        half = size // 2
        first, last = slice(0, half), slice(half, size)
        known, others = (last, first) if upper else (first, last)
        _substitute(a[known, known], x[known], upper, unit)
        x[others] -= a[others, known] @ x[known]
        _substitute(a[others, others], x[others], upper, unit)
        return
    turned = a.flags.c_contiguous
    columns = a.T if turned else np.asfortranarray(a)
    routine("trsm", a.dtype)(1.0, columns, x.T, side=1, lower=upper if turned else not upper,
                             trans_a=not turned, diag=unit, overwrite_b=1)


def cholesky(a: Any, upper: bool, name: str, quiet: bool = False) -> Any:
    factor = routine("potrf", a.dtype) if a.size and (a.ndim == 2 or a.shape[-1] > _SMALL) else None
    if factor is None:
        return plain.cholesky(a, upper, name, quiet)
    found = np.empty(a.shape, a.dtype)
    with routines_for(a.shape[-1]):
        for index in np.ndindex(a.shape[:-2]):
            # The transpose, whose columns are these rows, has the transposed factor on the other
            # side.
            turned, info = factor(a[index].T, lower=upper)
            if info or not np.isfinite(turned.diagonal()).all():
                return plain.cholesky(a, upper, name, quiet)
            found[index] = turned.T
    return found


def lu_factor(a: Any) -> tuple[Any, Any, Any]:
    factor = routine("getrf", a.dtype) if a.size else None
    if factor is None:
        return plain.lu_factor(a)
    packed, lead = np.empty(a.shape, a.dtype), a.shape[:-2]
    pivots = np.empty((*lead, min(a.shape[-2:])), np.int32)
    info = np.empty(lead, np.int32)
    with routines_for(min(a.shape[-2:])):
        for index in np.ndindex(lead):
            packed[index], swaps, info[index] = factor(a[index])
            pivots[index] = swaps + 1
    return packed, pivots, info


def row_order(pivots: Any, rows: int) -> Any:
    # Swaps of numbers in a list; of many matrices, all at once.
    if pivots.size > pivots.shape[-1] * _SMALL:
        return plain.row_order(pivots, rows)
    orders = []
    count = math.prod(pivots.shape[:-1])
    for swaps in pivots.reshape(count, pivots.shape[-1]).tolist():
        order = list(range(rows))
        for k, other in enumerate(swaps):
            order[k], order[other - 1] = order[other - 1], order[k]
        orders.append(order)
    return np.array(orders, np.int64).reshape(*pivots.shape[:-1], rows)


fill_with_plain_bodies(globals(), plain)
