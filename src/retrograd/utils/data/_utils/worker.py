"""Worker processes: each fetches what it is asked for, in the order in which it is asked."""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing import parent_process
from typing import Any, NamedTuple

from ....backend.numpy.streams import seed_global_stream, words_for_worker
from ....compat.settings import set_num_threads
from ....random import manual_seed
from .channel import Channel, channel_pair

CHECK_INTERVAL = 5.0
"""After how many seconds of waiting a process makes sure that the other one is still alive."""


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a data set can learn about the worker that reads it."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return the current worker's number and the number of workers; None outside of workers."""
    return _worker_info


# ---------------------------------------------------------------- what a worker answers

_generate_state = words_for_worker  # PyTorch's name, by which libraries seed workers of their own


class ExceptionWrapper:
    """An exception on its way to another process: its type, and its traceback as text."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = exc_info or sys.exc_info()
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> None:
        """Raise an exception of the same type, with the traceback in its message."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if issubclass(self.exc_type, KeyError):
            message = _Unquoted(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            error = self.exc_type(message)
        except Exception:  # its constructor wants something else
            raise RuntimeError(message) from None
        raise error


class _Unquoted(str):
    """A message that a KeyError, which shows the repr of its argument, shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Exhausted:
    """The answer of a worker whose stream is at its end."""


RESUME = "resume"
"""Asked of a worker before each epoch but its first: it starts the data set anew."""


class Job(NamedTuple):
    """All that a worker is told when it starts."""

    make_fetcher: Callable[..., Any]
    dataset: Any
    fetcher_options: tuple[Any, ...]
    worker_id: int
    num_workers: int
    base_seed: int
    init: Callable[[int], Any] | None


def run(channel: Channel, job: Job, inherited: Iterable[Channel]) -> None:
    """The whole life of a worker process."""
    try:
        for other in inherited:  # or the workers would keep each other's connections open
            other.socket.close()
        _prepare(job)
        _answer_all(channel, _Fetching(job))
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        pass  # the loader knows, or is gone


def _prepare(job: Job) -> None:
    global _worker_info
    set_num_threads(1)
    seed = job.base_seed + job.worker_id
    random.seed(seed)
    manual_seed(seed)
    seed_global_stream(job.base_seed, job.worker_id)
    _worker_info = WorkerInfo(job.worker_id, job.num_workers, seed, job.dataset)


class _Fetching:
    """Makes the answers of one worker."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.where = f"in DataLoader worker process {job.worker_id}"
        self.failed: ExceptionWrapper | None = None
        self.start(job.init)

    def start(self, init: Callable[[int], Any] | None = None) -> None:
        """Begin an epoch; if that fails, it is the answer to what is asked first."""
        self.ended = False
        try:
            if init is not None:
                init(self.job.worker_id)
            self.fetcher = self.job.make_fetcher(self.job.dataset, *self.job.fetcher_options)
        except Exception:
            self.failed = ExceptionWrapper(where=self.where)

    def answer(self, index: Any) -> Any:
        """A batch, or why there is none."""
        if self.failed is not None:
            failed, self.failed = self.failed, None
            return failed
        try:
            return self.fetcher.fetch(index)
        except StopIteration:
            if hasattr(self.fetcher, "ended"):
                self.ended = True
                return Exhausted()
            return ExceptionWrapper(where=self.where)
        except Exception:
            return ExceptionWrapper(where=self.where)


def _answer_all(channel: Channel, fetching: _Fetching) -> None:
    ready = select.poll()
    ready.register(channel.socket, select.POLLIN)
    loader = parent_process()
    while True:
        while not ready.poll(CHECK_INTERVAL * 1000):
            if loader is not None and not loader.is_alive():
                return
        try:
            task, index = channel.receive()
        except EOFError:
            return
        if task == RESUME:
            fetching.start()
        elif not fetching.ended:
            _send(channel, task, fetching.answer(index), fetching.where)


def _send(channel: Channel, task: int, answer: Any, where: str) -> None:
    try:
        channel.send((task, answer))
    except (BrokenPipeError, ConnectionResetError):
        raise
    except Exception as error:
        if isinstance(answer, ExceptionWrapper):  # a class that cannot be pickled by its name
            answer.exc_type = RuntimeError
            channel.send((task, answer))
        else:
            channel.send((task, ExceptionWrapper((type(error), error, error.__traceback__), where)))


# ---------------------------------------------------------------- the loader's side


class Worker:
    """A worker process, as its loader sees it."""

    def __init__(self, context: Any, job: Job, earlier: Iterable[Worker]) -> None:
        self.number = job.worker_id
        self.active = True
        self.tasks = 0
        self.timed_out = False
        self.arrived: deque[Any] = deque()
        self.channel, theirs = channel_pair()
        forked = context.get_start_method() == "fork"
        inherited = [*(worker.channel for worker in earlier), self.channel] if forked else []
        try:
            self.process = context.Process(target=run, args=(theirs, job, inherited), daemon=True)
            self.process.start()
        except BaseException:
            self.channel.close()
            raise
        finally:
            theirs.socket.close()
        self._ready = select.poll()
        self._ready.register(self.process.sentinel, select.POLLIN)

    def ask(self, task: Any, index: Any = None) -> None:
        """Ask for something; what has arrived meanwhile is kept."""
        try:
            self.channel.send((task, index), self._wait_to_send)
        except (BrokenPipeError, ConnectionResetError):
            raise self.death() from None

    def _wait_to_send(self, events: int) -> None:
        if self._is_readable(events, None):
            self.arrived.append(self._receive())

    def result(self, timeout: float) -> tuple[Any, Any]:
        """The oldest answer that was not given out yet."""
        if self.arrived:
            return self.arrived.popleft()  # type: ignore[no-any-return]
        if not self._is_readable(select.POLLIN, timeout or None):
            self.timed_out = True
            raise RuntimeError(f"DataLoader timed out after {timeout} seconds: worker "
                               f"{self.number} (pid {self.process.pid}) has not answered")
        return self._receive()  # type: ignore[no-any-return]

    def _is_readable(self, events: int, timeout: float | None) -> bool:
        """Wait until one of these events happens to the connection: whether there is an answer."""
        connection = self.channel.socket.fileno()
        self._ready.register(connection, events)
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = CHECK_INTERVAL if end is None else min(end - time.monotonic(), CHECK_INTERVAL)
            ready = dict(self._ready.poll(max(left, 0) * 1000))
            if connection in ready:
                return bool(ready[connection] & ~select.POLLOUT)
            if ready or not self.process.is_alive():
                raise self.death()
            if end is not None and time.monotonic() >= end:
                return False

    def _receive(self) -> Any:
        try:
            return self.channel.receive()
        except (EOFError, ConnectionResetError):
            raise self.death() from None

    def death(self) -> RuntimeError:
        """The error that says how the process has ended."""
        self.process.join(CHECK_INTERVAL)
        code = self.process.exitcode
        how = "has closed its connection"
        if code is not None:
            how = f"has exited with code {code}" if code >= 0 else \
                f"was killed by signal {_signal_name(-code)}"
        return WorkerDied(f"DataLoader worker (pid(s) {self.process.pid}) exited unexpectedly: "
                          f"worker {self.number} {how}. Rerunning with num_workers=0 may give a "
                          "better error trace.")


class WorkerDied(RuntimeError):
    """A worker process has ended before its time."""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def stop(workers: list[Worker], owner: int) -> None:
    """End worker processes: those that are idle at once, busy ones after some patience."""
    if os.getpid() != owner:
        return  # a child that was forked has copies of them, which are not its own
    try:
        for worker in workers:
            worker.channel.close()
        end = time.monotonic() + CHECK_INTERVAL
        for worker in workers:
            if not worker.timed_out:
                worker.process.join(max(0.0, end - time.monotonic()))
    finally:
        for end_it in ("terminate", "kill"):
            for worker in workers:
                if worker.process.is_alive():
                    getattr(worker.process, end_it)()
            for worker in workers:
                worker.process.join(CHECK_INTERVAL)
        workers.clear()
