"""Linear systems of NumPy arrays: LAPACK's and BLAS's own routines, if SciPy is there."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies
from ..plain import systems as plain
from . import optional

_SMALL = 16
"""Batches of matrices up to this size are solved by one call of NumPy's, which is quicker."""


@cache
def _routine(name: str, dtype: np.dtype) -> Any:
    """A routine of SciPy's for a dtype; None where there is none, or no SciPy."""
    letter = {"f": "s", "d": "d", "F": "c", "D": "z"}.get(dtype.char)
    if letter is None:
        return None
    try:
        library = optional("scipy.linalg." + ("blas" if name == "trsm" else "lapack"), name)
    except ModuleNotFoundError:
        return None
    return getattr(library, letter + name)


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
            _routine("trsm", a.dtype) is None):
        return plain.solve_triangular(a, b, upper, unit)
    return _each(_one_triangle, a, b, upper, unit)


def _one_triangle(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    # These routines read columns, so that the rows of ``a`` are those of its transpose.
    turned = a.flags.c_contiguous
    columns = a.T if turned else np.asfortranarray(a)
    lower = upper if turned else not upper
    if b.shape[1] == 1:
        x, info = _routine("trtrs", a.dtype)(columns, b, lower=lower, trans=turned, unitdiag=unit)
        if not info:
            return x
    x = np.array(b, order="C")
    return _routine("trsm", a.dtype)(1.0, columns, x.T, side=1, lower=lower, trans_a=not turned,
                                     diag=unit, overwrite_b=1).T


def lu_factor(a: Any) -> tuple[Any, Any, Any]:
    factor = _routine("getrf", a.dtype) if a.size else None
    if factor is None:
        return plain.lu_factor(a)
    packed, lead = np.empty(a.shape, a.dtype), a.shape[:-2]
    pivots = np.empty((*lead, min(a.shape[-2:])), np.int32)
    info = np.empty(lead, np.int32)
    for index in np.ndindex(lead):
        packed[index], swaps, info[index] = factor(a[index])
        pivots[index] = swaps + 1
    return packed, pivots, info


fill_with_plain_bodies(globals(), plain)
