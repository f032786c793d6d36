"""How many threads the BLAS library inside NumPy's wheels uses, and the native kernels."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import native

_asked = 1  # the answer where NumPy was built with a BLAS that cannot be asked


def count() -> int:
    """The number of threads a large matrix product may use."""
    get = blas_function("get_num_threads")
    return _asked if get is None else get()


def limit(n: int) -> None:
    """Let matrix products and native kernels use ``n`` threads; without OpenBLAS the former number
    is only remembered."""
    global _asked
    _asked = n
    native.set_threads(n)
    set_ = blas_function("set_num_threads")
    if set_ is not None:
        set_(n)


@cache
def blas_function(name: str, file: str = np.__file__) -> Any:
    """OpenBLAS's function of that name, or None if its library did not come with a package.

    The package, NumPy or SciPy, is known by its file: each brings a library of its own.
    """
    package = Path(file).parent
    for folder in (package.parent / f"{package.name}.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(path))
            # Wheels rename the symbols: a prefix, and a suffix for 64-bit indices.
            for spelling in (f"scipy_openblas_{name}64_", f"scipy_openblas_{name}",
                             f"openblas_{name}64_", f"openblas_{name}"):
                if hasattr(library, spelling):
                    return getattr(library, spelling)
    return None
