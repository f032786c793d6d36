"""The memory of arrays, where glibc's malloc serves NumPy: how much is kept, and where it begins.

Left to itself, malloc gives freed memory back to the system and asks for it again in the next step,
and the system hands out each page anew, filled with zeros, on its first use. A training step frees
and allocates the same sizes over and over: with some memory kept no page is handed out twice.

What is kept is bounded, and a full run of Python's garbage collector gives it back, so that a
long-running process need not hold what it no longer uses: ``del model; gc.collect()``. Blocks above
32 MB are mapped one by one, as ever, and go back when they are freed. Other systems are left alone,
and so is a malloc that was set by glibc's own environment variables.

Arrays of 64 KB and more begin with a line of the processor's cache, where the native kernels are
there and NumPy's own allocator is in use: what moves much memory takes up to a third less time.
NumPy knows allocators by context, and threads that were begun later have NumPy's own.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...base.locks import new_lock

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the numbers of malloc.h
_LARGEST_BLOCK = 32 << 20
_MOST, _SHARE = 1 << 30, 32
_GLIBCS_OWN = 128 << 10  # both thresholds, before it adapts them

_setting = new_lock()
_kept: int | None = None
_align: Callable[[Any, bool], bool] | None = None


@cache
def _malloc() -> Any:
    """The C library, if it is glibc; its functions are called without letting other threads run."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.PyDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None


def settle() -> None:
    """Keep what is kept by default, unless it was said before how much to keep."""
    if _kept is None:
        keep(_by_default())


def kept() -> int:
    """How many bytes of freed memory this process keeps at most; 0 where malloc decides."""
    settle()
    return _kept or 0


def keep(size: int) -> None:
    """Keep up to ``size`` bytes of freed memory for the next arrays; 0 leaves it to malloc."""
    global _kept
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"keep expects a number of bytes, but got {type(size).__name__}")
    if not 0 <= size < 1 << 31:
        raise ValueError(f"keep expects between 0 and 2**31 - 1 bytes, but got {size}")
    with _setting:
        if _malloc() is None:
            size = 0
        elif size or _kept:
            _malloc().mallopt(_MMAP_THRESHOLD, _LARGEST_BLOCK if size else _GLIBCS_OWN)
            _malloc().mallopt(_TRIM_THRESHOLD, size or _GLIBCS_OWN)
        _let_begin_with_lines(size > 0)
        if size and not _kept:
            gc.callbacks.append(_after_collection)
        elif _kept and not size:
            gc.callbacks.remove(_after_collection)
            give_back()
        _kept = size


def let_begin_with_lines(align: Callable[[Any, bool], bool]) -> None:
    """Let large arrays begin with lines of the cache, by a native function, if memory is kept."""
    global _align
    settle()
    with _setting:
        _align = align
        _let_begin_with_lines(bool(_kept))


def _let_begin_with_lines(wanted: bool) -> None:
    if _align is not None:
        _align(np._core._multiarray_umath._ARRAY_API, wanted)  # type: ignore[attr-defined]


def give_back() -> bool:
    """Give all memory that is kept and not in use back to the system; whether there was any."""
    return _malloc() is not None and bool(_malloc().malloc_trim(0))


def _after_collection(phase: str, info: dict[str, int]) -> None:
    if phase == "stop" and info["generation"] == 2:
        give_back()


def _by_default() -> int:
    """A share of the machine's memory, if nobody said otherwise."""
    asked = os.environ.get("RETROGRAD_KEEP_MEMORY")
    if asked is not None:
        try:
            return max(0, min(int(asked) << 20, (1 << 31) - 1))
        except ValueError:
            raise ValueError("RETROGRAD_KEEP_MEMORY is a number of megabytes, "
                             f"but got {asked!r}") from None
    if _malloc() is None or "GLIBC_TUNABLES" in os.environ or any(
            name.startswith("MALLOC_") for name in os.environ):
        return 0
    return min(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _SHARE, _MOST)
