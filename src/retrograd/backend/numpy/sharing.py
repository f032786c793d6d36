"""Work on large arrays, a block that stays in the cache at a time, shared among threads.

Threads are made for one call: that takes a twentieth of a millisecond, and nothing of them is left
for a fork or the end of the process to meet.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from itertools import pairwise
from typing import Any

import numpy as np

from . import threads

BLOCK = 1 << 18  # numbers
_FEW = 1 << 14  # of SciPy's functions, the quickest of which take 10 ns for each number


def over_blocks(compute: Callable[[slice], None], count: int, block: int) -> None:
    """Call ``compute`` with slices of ``block`` rows that make up ``count``, on several threads.

    The slices are the same however many threads there are, and so is what is computed.
    """
    blocks = -(-count // block)
    shares = max(1, min(threads.count(), blocks // 2))
    failed: list[BaseException] = []

    def work(first: int, last: int) -> None:
        try:
            for start in range(first * block, last * block, block):
                if not failed:
                    compute(slice(start, min(start + block, count)))
        except BaseException as error:
            failed.append(error)

    own, *others = pairwise([blocks * i // shares for i in range(shares + 1)])
    running = []
    for share in others:
        # In a copy of this context, which says what is done about floating point errors.
        helper = threading.Thread(target=copy_context().run, args=(work, *share))
        try:
            helper.start()
        except RuntimeError:  # no more threads, or the interpreter is about to end
            work(*share)
        else:
            running.append(helper)
    work(*own)
    for helper in running:
        helper.join()
    if failed:
        raise failed[0]


# ---------------------------------------------------------------- one number at a time


def shared(function: Any) -> Callable[..., Any]:
    """A ufunc of SciPy's that takes its large arguments apart."""
    count = getattr(function, "nin", 2)  # zeta is a Python function over one

    def call(*arguments: Any) -> Any:
        first = arguments[0] if len(arguments) == 1 else max(arguments, key=np.size)
        if getattr(first, "size", 1) < 2 * _FEW or len(arguments) != count \
                or not all([_as_large(argument, first.shape) for argument in arguments]):
            return function(*arguments)
        return _in_parts(function, arguments, first.shape)

    return call


def _as_large(argument: Any, shape: tuple[int, ...]) -> bool:
    """Whether it is a number, or an array that can be taken apart as one of ``shape`` is."""
    if not np.ndim(argument):
        return True
    return argument.shape == shape and argument.flags.c_contiguous


def _in_parts(function: Any, arguments: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    flat = [a.reshape(-1) if np.ndim(a) else a for a in arguments]
    none = function(*[a[:0] if np.ndim(a) else a for a in flat])  # which tells the dtypes
    found = [np.empty(shape, part.dtype)
             for part in (none if isinstance(none, tuple) else (none,))]
    targets = [array.reshape(-1) for array in found]
    over_blocks(lambda part: function(*[a[part] if np.ndim(a) else a for a in flat],
                                      *[target[part] for target in targets]),
                targets[0].size, _FEW)
    return found[0] if len(found) == 1 else tuple(found)
