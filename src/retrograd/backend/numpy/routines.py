"""LAPACK's and BLAS's own routines, if SciPy is there."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from . import optional

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
