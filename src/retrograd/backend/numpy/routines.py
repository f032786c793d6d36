"""LAPACK's and BLAS's own routines, if SciPy is there."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np

from ...base.locks import new_lock
from . import optional
from .threads import blas_function

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


class _OneThread:
    """A block in which SciPy's BLAS uses one thread.

    Its threads would go on waiting for work on the cores that NumPy's BLAS, which has threads of
    its own, is given the next product on: the two in turns take several times as long as either.
    """

    def __init__(self) -> None:
        self.lock = new_lock()
        self.inside = self.before = 0

    def __enter__(self) -> None:
        with self.lock:
            if not self.inside:
                self.before = _scipys("get_num_threads")()
                _scipys("set_num_threads")(1)
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                _scipys("set_num_threads")(self.before)


_ONE_THREAD, _AS_IT_IS = _OneThread(), nullcontext()
_SMALL = 64
"""Matrices up to this size are worth no threads to BLAS either."""


def routines_for(size: int) -> Any:
    """A block that calls routines for square matrices of that size."""
    return _AS_IT_IS if size <= _SMALL or _scipys("set_num_threads") is None else _ONE_THREAD


def _scipys(name: str) -> Any:
    return blas_function(name, optional("scipy", name).__file__)
