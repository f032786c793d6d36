"""Work on large arrays, a block at a time, shared among threads.

The threads are Python's, and wait for the next call: to wake one takes a hundredth of a
millisecond, to make one ten times that. NumPy, SciPy and BLAS compute without the interpreter's
lock, so blocks are to be large enough that their calls are longer than what lies between them.
Whoever calls takes blocks from the front and never waits for a thread to wake up: what is left is
done by those who are there. A forked process begins without helpers, as a fresh one does. While
other threads of the process are at work, BLAS's above all, as many fewer help.
"""

from __future__ import annotations

import _thread
import ctypes
import inspect
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any

import numpy as np

from ...base.locks import new_lock
from . import FLOAT32, FLOAT64, threads

_LEAST, _MOST = 1 << 17, 1 << 18  # numbers in a block
_WORTH = 1 << 12  # numbers of an array from which bodies that fill what they are given are quicker
_FEW = 1 << 14  # of SciPy's functions, the quickest of which take 10 ns for each number


def over_blocks(compute: Callable[[slice], None], count: int, block: int) -> None:
    """Call ``compute`` with slices of ``block`` rows that make up ``count``, on several threads.

    The slices are the same however many threads there are, and so is what is computed. An error in
    one of them, or an interrupt, is raised when no thread is at work any more.
    """
    if 0 < count <= block:
        return compute(slice(0, count))
    work = _Work(compute, [slice(start, min(start + block, count))
                           for start in range(0, count, block)])
    try:
        most = min(threads.count(), len(work.left)) - 1
        for _ in range(most - _busy.now() if most > 0 else 0):
            helper = _idle_helper(most)
            if helper is None:
                break
            helper.call(work)
        work.take_part(work.left.popleft)
    except BaseException as error:
        work.give_up(error)
    finally:
        work.wait()
    _busy.note()
    if work.errors:
        raise work.errors[0]


class _Busy(threading.local):
    """How many other threads of this process were at work since this one last shared its own.

    BLAS's go on looking for work on their processors for a tenth of a second after a large product:
    whoever shares one of these with them waits for milliseconds when it is to go on.
    """

    clock = others = 0.0

    def now(self) -> int:
        clock, others = self.clock, self.others
        self.note()
        return max(0, round((self.others - others) / max(self.clock - clock, _MOMENT)))

    def note(self) -> None:
        self.clock = time.perf_counter()
        self.others = time.process_time() - time.thread_time()


_MOMENT = 1e-4  # seconds, in which a helper may still be about to wait
_busy = _Busy()


def block_of(size: int) -> int:
    """How many numbers make a block of ``size``, however many threads there are."""
    return min(max(size // 4, _LEAST), _MOST)


class _Work:
    """Blocks that threads take until none is left."""

    def __init__(self, compute: Callable[[slice], None], blocks: list[slice]) -> None:
        self.compute, self.left = compute, deque(blocks)
        self.helping: list[Any] = []  # a lock for each helper, which holds it while it takes part
        self.errors: list[BaseException] = []

    def take_part(self, taken: Callable[[], slice]) -> None:
        try:
            while self.left:
                try:
                    part = taken()
                except IndexError:  # another thread was quicker
                    break
                self.compute(part)
        except BaseException as error:
            self.give_up(error)

    def give_up(self, error: BaseException) -> None:
        self.errors.append(error)
        self.left.clear()

    def wait(self) -> None:
        """Wait for the helpers that have a block; interrupts are put off until then.

        One that comes later finds no block.
        """
        while self.helping:
            try:
                with self.helping[0]:
                    self.helping.pop(0)
            except BaseException as error:
                self.give_up(error)


# ---------------------------------------------------------------- helpers


def _processor_function() -> Callable[[], int]:
    """What tells on which processor the calling thread runs: -1 where threads cannot be moved."""
    library = ctypes.PyDLL(None) if hasattr(os, "sched_setaffinity") else None
    return getattr(library, "sched_getcpu", lambda: -1)


processor = _processor_function()


class _Helper:
    """A thread that takes part in whatever it is called for."""

    def __init__(self) -> None:
        self.task: tuple[Context, _Work] | None = None
        self.number = self.elsewhere = -1  # of this thread, and of the processor it is kept off
        self.called = _thread.allocate_lock()
        self.called.acquire()
        _thread.start_new_thread(self._serve, ())

    def call(self, work: _Work) -> None:
        here = processor()
        if here != self.elsewhere and self.number >= 0:
            self._keep_off(here)
        # In a copy of this context, which says what is done about floating point errors.
        self.task = copy_context(), work
        self.called.release()

    def _keep_off(self, here: int) -> None:
        """Run on any other processor than this one: some schedulers wake up a thread where the one
        runs that calls it, and leave both there while they take turns.
        """
        self.elsewhere = here
        others = os.sched_getaffinity(0) - {here}
        if others:
            with suppress(OSError):  # not everybody may
                os.sched_setaffinity(self.number, others)

    def _serve(self) -> None:
        self.number = _thread.get_native_id()
        while True:
            self.called.acquire()
            self._help()

    def _help(self) -> None:
        assert self.task is not None
        context, work = self.task
        self.task = None  # nothing is kept of arrays while it waits
        ticket = _thread.allocate_lock()
        with ticket:
            work.helping.append(ticket)
            context.run(work.take_part, work.left.pop)
            _idle.append(self)  # before anybody goes on who may call for help again


_idle: list[_Helper] = []
_made: list[_Helper] = []
_making = new_lock()


def _idle_helper(most: int) -> _Helper | None:
    """A helper that has nothing to do; a new one, unless there are as many as may be."""
    try:
        return _idle.pop()
    except IndexError:
        with _making:
            if len(_made) >= most:
                return None
            try:
                helper = _Helper()
            except RuntimeError:  # no more threads, or the interpreter is about to end
                return None
            _made.append(helper)
            return helper


def _forget() -> None:
    """In a process that has none of the threads."""
    _idle.clear()
    _made.clear()
    _busy.note()  # clocks of the processor begin anew


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# ---------------------------------------------------------------- bodies that share their work


def _in_place_of(function: Callable[..., Any], body: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` under the name of a body; what it does in another way is compared with that."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(function, name, getattr(body, name))
    function.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
    return function


def are_shared(*arrays: Any) -> bool:
    """Whether arrays are large, and can be taken apart as the first one is."""
    first = arrays[0]
    return first.size >= _WORTH and all(
        [a.shape == first.shape and a.dtype is first.dtype and a.flags.c_contiguous
         for a in arrays]) and (first.dtype is FLOAT32 or first.dtype is FLOAT64)


def unless_large(body: Callable[..., Any], large: Callable[..., Any]) -> Callable[..., Any]:
    """``body``, but what ``large`` finds where that is not None."""

    def chosen(*given: Any) -> Any:
        found = large(*given)
        return body(*given) if found is None else found

    return _in_place_of(chosen, body)


def by_elements(body: Callable[..., Any], fill: Callable[..., None]) -> Callable[..., Any]:
    """``body``, of arrays of one shape; ``fill`` computes a block of a large result."""

    def shared_body(*arrays: Any) -> Any:
        if not are_shared(*arrays):
            return body(*arrays)
        out = np.empty(arrays[0].shape, arrays[0].dtype)
        flat = [array.reshape(-1) for array in (*arrays, out)]
        over_blocks(lambda part: fill(*[array[part] for array in flat]), out.size,
                    block_of(out.size))
        return out

    return _in_place_of(shared_body, body)


def by_rows(body: Callable[..., Any], fill: Callable[..., None]) -> Callable[..., Any]:
    """``body``, of arrays of one shape and an axis; the same with rows, if it is the last one."""

    def shared_body(*given: Any) -> Any:
        *arrays, axis = given
        first = arrays[0]
        if first.size < _WORTH or axis != first.ndim - 1 or not are_shared(*arrays):
            return body(*given)
        out = np.empty(first.shape, first.dtype)
        over_rows(fill, first.shape[-1], *arrays, out)
        return out

    return _in_place_of(shared_body, body)


def over_rows(fill: Callable[..., None], width: int, *arrays: Any) -> None:
    """Call ``fill`` with blocks of the rows of arrays, which are of that width or columns."""
    count = arrays[0].size // width
    rows = [array.reshape(count, -1) for array in arrays]
    over_blocks(lambda part: fill(*[array[part] for array in rows]), count,
                max(1, block_of(count * width) // width))


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
