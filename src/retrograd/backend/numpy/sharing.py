"""SciPy's functions of large arrays, which take one number at a time, shared among threads.

Threads are made for one call: that takes a tenth of a millisecond, and nothing of them is left for
a fork or the end of the process to meet.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from itertools import pairwise
from typing import Any

import numpy as np

from . import threads

_WORTH_A_THREAD = 1 << 14  # numbers; the quickest of these functions take 10 ns for each


def shared(function: Any) -> Callable[..., Any]:
    """A ufunc that takes its large arguments apart, for as many threads as may be used."""
    count = getattr(function, "nin", 2)  # zeta is a Python function over one

    def call(*arguments: Any) -> Any:
        first = arguments[0] if len(arguments) == 1 else max(arguments, key=np.size)
        size = getattr(first, "size", 1)
        if size < 2 * _WORTH_A_THREAD or len(arguments) != count \
                or not all([_as_large(argument, first.shape) for argument in arguments]):
            return function(*arguments)
        helpers = min(threads.count(), size // _WORTH_A_THREAD) - 1
        return _in_parts(function, arguments, first.shape, helpers) if helpers > 0 \
            else function(*arguments)

    return call


def _as_large(argument: Any, shape: tuple[int, ...]) -> bool:
    """Whether it is a number, or an array that can be taken apart as one of ``shape`` is."""
    if not np.ndim(argument):
        return True
    return argument.shape == shape and argument.flags.c_contiguous


def _in_parts(function: Any, arguments: tuple[Any, ...], shape: tuple[int, ...],
              helpers: int) -> Any:
    flat = [a.reshape(-1) if np.ndim(a) else a for a in arguments]
    none = function(*[a[:0] if np.ndim(a) else a for a in flat])  # which tells the dtypes
    found = [np.empty(shape, part.dtype)
             for part in (none if isinstance(none, tuple) else (none,))]
    targets = [array.reshape(-1) for array in found]
    failed: list[BaseException] = []

    def compute(part: slice) -> None:
        try:
            function(*[a[part] if np.ndim(a) else a for a in flat],
                     *[target[part] for target in targets])
        except BaseException as error:
            failed.append(error)

    bounds = [targets[0].size * i // (helpers + 1) for i in range(helpers + 2)]
    parts = [slice(low, high) for low, high in pairwise(bounds)]
    running = []
    for part in parts[1:]:
        # In a copy of this context, which says what is done about floating point errors.
        helper = threading.Thread(target=copy_context().run, args=(compute, part))
        try:
            helper.start()
        except RuntimeError:  # no more threads, or the interpreter is about to end
            compute(part)
        else:
            running.append(helper)
    compute(parts[0])
    for helper in running:
        helper.join()
    if failed:
        raise failed[0]
    return found[0] if len(found) == 1 else tuple(found)
