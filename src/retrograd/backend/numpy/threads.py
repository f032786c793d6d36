"""How many threads the BLAS library inside NumPy's wheels uses, and the native kernels."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...base.locks import new_lock
from . import native

_asked = 1  # the answer where NumPy was built with a BLAS that cannot be asked


def count() -> int:
    """The number of threads a large matrix product may use."""
    get = blas_function("get_num_threads")
    return _asked if get is None else one_thread.before if one_thread.inside else get()


def limit(n: int) -> None:
    """Let matrix products and native kernels use ``n`` threads; without OpenBLAS the former number
    is only remembered."""
    global _asked
    _asked = n
    native.set_threads(n)
    set_ = blas_function("set_num_threads")
    if set_ is not None:
        with one_thread.lock:
            one_thread.before = n
            if not one_thread.inside:
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


class OneThread:
    """A block in which a BLAS library uses one thread, whichever thread calls it.

    Its own threads go on waiting for work on cores that others have work for, and in small products
    they take memory from one core's cache to the other's that is written to next.
    """

    def __init__(self, function: Callable[[str], Any]) -> None:
        self.function, self.lock = function, new_lock()
        self.inside = self.before = 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave)

    def __enter__(self) -> None:
        with self.lock:
            if not self.inside and self.function("set_num_threads") is not None:
                self.before = self.function("get_num_threads")()
                self.function("set_num_threads")(1)
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside and self.function("set_num_threads") is not None:
                self.function("set_num_threads")(self.before)

    def _leave(self) -> None:
        """In a process that has none of the threads that were inside."""
        if self.inside:
            self.inside = 1
            self.__exit__()


one_thread = OneThread(blas_function)
