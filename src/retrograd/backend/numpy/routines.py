"""LAPACK's and BLAS's own routines, if SciPy is there."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np

from . import optional
from .threads import OneThread, blas_function

_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}


@cache
def routine(name: str, dtype: np.dtype) -> Any:
    """A routine of SciPy's for a dtype; None where there is none, or no SciPy."""
    letter = _LETTERS.get(dtype.char)
    if letter is None:
        return None
    try:
        library = optional("scipy.linalg." + ("blas" if name == "trsm" else "lapack"), name)
    except ModuleNotFoundError:
        return None
    return getattr(library, letter + name, None)


_FEW = 32
"""For matrices up to this size NumPy's call is the quicker one, and all are done by one."""


def routine_for(name: str, a: Any) -> Any:
    """LAPACK's routine for these matrices; None where there is none, or they are small."""
    return routine(name, a.dtype) if a.size and min(a.shape[-2:]) > _FEW else None


def are_few(a: Any, most: int) -> bool:
    """Whether a kernel factors these matrices, all of a batch by one call."""
    return a.dtype.char in "fd" and a.flags.aligned and 0 < max(a.shape[-2:]) <= most


def indices(lead: tuple[int, ...]) -> Any:
    """The indices of each matrix of a batch; of a single one without the detour."""
    return np.ndindex(lead) if lead else ((),)


def repeated(a: Any, shape: tuple[int, ...]) -> Any:
    """A view of ``a`` that has that shape."""
    return a if a.shape == shape else np.broadcast_to(a, shape)


def in_columns(a: Any) -> Any:
    """A copy whose columns lie one after the other, for a routine to write over."""
    return np.array(a.swapaxes(-1, -2), a.dtype.newbyteorder("="), order="C").swapaxes(-1, -2)


def keep(target: Any, found: Any) -> None:
    """Write what a routine found over what it was given: it did so itself, unless ``target`` lies
    where it cannot, as matrices in a batch may (SciPy wants some at multiples of eight bytes)."""
    if found is not target:
        target[...] = found


@cache
def work_size(name: str, dtype: np.dtype, *sizes: int, **options: int) -> int:
    """How many numbers a routine wants for its work on matrices of these sizes."""
    return int(routine(name + "_lwork", dtype)(*sizes, **options)[0].real)


_SMALL = 16
"""Matrices up to this size are worth no threads to BLAS either."""


def routines_for(size: int) -> Any:
    """A block that calls routines for square matrices of that size."""
    return _AS_IT_IS if size <= _SMALL else _ONE_THREAD


@cache
def _scipys(name: str) -> Any:
    return blas_function(name, optional("scipy", name).__file__)


_ONE_THREAD, _AS_IT_IS = OneThread(_scipys), nullcontext()
