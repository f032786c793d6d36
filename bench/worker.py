"""A process that runs the lines in one library, one round at a time when it is asked to."""

from __future__ import annotations

import importlib
import os
import resource
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

AWAKE = 0.01
"""Seconds of steps before those that count."""
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Worker:
    """The near end: calls are carried out by ``_Served`` in a process of its own."""

    def __init__(self, library: str, threads: int, clock: str = "wall") -> None:
        self.library = library
        # A process counts its threads when it loads the libraries.
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = str(threads)
        for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # OpenBLAS knows the processor
            os.environ.pop(name, None)
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=" + str(threads > 1).lower()
        context = get_context("spawn")
        self._connection, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(far, library, threads, clock))
        self._process.start()
        far.close()

    def call(self, method: str, *args: Any) -> Any:
        self._connection.send((method, args))
        succeeded, found = self._connection.recv()
        if not succeeded:
            raise RuntimeError(f"{self.library}: {found}")
        return found

    def close(self) -> None:
        self._connection.close()
        self._process.join()


def _serve(connection: Connection, *settings: Any) -> None:
    served = _Served(*settings)
    while True:
        try:
            method, args = connection.recv()
        except EOFError:
            return
        try:
            reply = True, getattr(served, method)(*args)
        except Exception as error:
            reply = False, f"{type(error).__name__}: {error}"
        connection.send(reply)


class _Served:
    """The far end."""

    def __init__(self, library: str, threads: int, clock: str) -> None:
        self.library, self.threads = library, threads
        self.clock = time.perf_counter if clock == "wall" else time.process_time
        self.step: Any = None

    def version(self) -> str | None:
        """The version of the library; None where it is not installed."""
        try:
            module = importlib.import_module(self.library)
        except ImportError:
            return None
        if self.library in ("torch", "retrograd"):
            module.set_num_threads(self.threads)
        return str(getattr(module, "__version__", None)
                   or importlib.import_module("importlib.metadata").version(self.library))

    def lines(self) -> list[str]:
        """The lines that this library has a program for."""
        from . import declaring, lines  # noqa: F401

        return list(declaring.LINES if self.library in ("torch", "retrograd")
                    else declaring.OTHERS.get(self.library, ()))

    def make(self, name: str, dtype: str) -> None:
        """Prepare the step of a line, in the dtype of that name where it names none itself."""
        from . import declaring, lines  # noqa: F401

        self.step = None
        if self.library in ("torch", "retrograd"):
            lib = sys.modules[self.library]
            lib.set_default_dtype(getattr(lib, dtype))
            self.step = declaring.LINES[name].make(lib)
        else:
            self.step = declaring.OTHERS[self.library][name](dtype)

    def results(self, steps: int) -> list[np.ndarray]:
        """What the next steps return."""
        return [np.array(value) for _ in range(steps) for value in _numbers(self.step())]

    def time(self, repeats: int) -> float:
        """Seconds that a step takes, of several after some that wake threads and processors."""
        step, clock = self.step, self.clock
        awake = time.perf_counter() + AWAKE
        while repeats > 1 and time.perf_counter() < awake:
            step()
        start = clock()
        for _ in range(repeats):
            step()
        return (clock() - start) / repeats

    def memory(self, name: str, steps: int) -> tuple[float, float, float]:
        """Megabytes that a line adds at most and in all, and page faults of a later step."""
        before = _status("VmRSS")
        CLEAR.write_text("5")  # forgets the peak of loading the library
        self.make(name, "float32")
        for _ in range(steps):
            self.step()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(steps):
            self.step()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
        peak = _status("VmHWM")
        return peak - before, peak, faults / steps


def _status(field: str) -> float:
    found = next(row for row in STATUS.read_text().splitlines() if row.startswith(field + ":"))
    return int(found.split()[1]) / 1024


def _numbers(found: Any) -> Iterator[Any]:
    if isinstance(found, list | tuple):
        for part in found:
            yield from _numbers(part)
    elif isinstance(found, dict):
        yield from _numbers(list(found.values()))
    elif found is not None:
        yield found.detach().numpy() if hasattr(found, "detach") else (
            found.numpy() if hasattr(found, "numpy") else found)
