"""Starting several processes of one function, and waiting for them together."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..base.warning import warn

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"
"""The environment variable that lets processes of a fork server start side by side."""

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException",
           "ProcessRaisedException", "SpawnContext", "spawn", "start_processes"]

_log = logging.getLogger(__name__)
_PATIENCE = 30.0  # seconds between asking a process to end and ending it


class ProcessException(Exception):
    """One of the processes has failed."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function has raised in one of the processes."""


class ProcessExitedException(ProcessException):
    """One of the processes was ended by a signal or has exited with an error code."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int,
                 signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code,
                            self.signal_name)


def _run(function: Callable[..., Any], index: int, args: tuple[Any, ...], report: str) -> None:
    """The whole life of a process: what the function raises is left in the file ``report``."""
    _interrupt_with_parent()
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass  # the parent has been interrupted too, or is ending us
    except Exception:
        with open(report, "w", encoding="utf-8") as file:
            file.write(traceback.format_exc())
        sys.exit(1)


def _interrupt_with_parent() -> None:
    """Let this process be interrupted when the one that started it dies, where Linux offers it."""
    if sys.platform == "linux":
        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGINT)


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends; True once all have ended well.

        If one has failed, the others are ended, after ``grace_period`` if one is given, and the
        failure is raised.
        """
        if not self.sentinels:
            return True
        for sentinel in multiprocessing.connection.wait(list(self.sentinels), timeout):
            index = self.sentinels.pop(sentinel)  # type: ignore[index]
            self.processes[index].join()
            if self.processes[index].exitcode:
                self._end_all(grace_period)
                raise self._failure(index)
        return not self.sentinels

    def _end_all(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._wait(grace_period)
        self._signal("SIGTERM", "terminate")
        self._wait(_PATIENCE if grace_period is None else grace_period)
        self._signal("SIGKILL", "kill")
        self._wait(None)

    def _signal(self, name: str, method: str) -> None:
        for process in self.processes:
            if process.is_alive():
                _log.warning("Terminating process %s via signal %s", process.pid, name)
                getattr(process, method)()

    def _wait(self, seconds: float | None) -> None:
        end = None if seconds is None else time.monotonic() + seconds
        for process in self.processes:
            process.join(None if end is None else max(0.0, end - time.monotonic()))

    def _failure(self, index: int) -> ProcessException:
        process, report = self.processes[index], self.error_files[index]
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                raised = file.read()
            os.unlink(report)
            return ProcessRaisedException(
                f"\n\n-- Process {index:d} terminated with the following error:\n{raised}", index,
                process.pid)
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(f"process {index:d} terminated with exit code {code:d}",
                                          index, process.pid, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        return ProcessExitedException(f"process {index:d} terminated with signal {name}", index,
                                      process.pid, code, name)


class SpawnContext(ProcessContext):
    """An earlier name of :class:`ProcessContext`."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        warn("SpawnContext is renamed to ProcessContext since 1.4 release.")
        super().__init__(processes, error_files)


def start_processes(fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1,
                    join: bool = True, daemon: bool = False, start_method: str = "spawn"
                    ) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in ``nprocs`` processes; wait for them, or return their context."""
    made: Any = multiprocessing.get_context(start_method)

    def start(index: int) -> tuple[Any, str]:
        descriptor, report = tempfile.mkstemp(prefix="retrograd-error-")
        os.close(descriptor)
        os.unlink(report)  # it is there again if the function raises
        process = made.Process(target=_run, args=(fn, index, args, report), daemon=daemon)
        process.start()
        return process, report

    side_by_side = start_method == "forkserver" and os.environ.get(ENV_VAR_PARALLEL_START) == "1"
    if side_by_side and nprocs:
        with ThreadPoolExecutor(nprocs) as pool:
            started = list(pool.map(start, range(nprocs)))
    else:
        started = [start(index) for index in range(nprocs)]
    context = ProcessContext([process for process, _ in started], [path for _, path in started])
    if not join:
        return context
    while not context.join():
        pass
    return None


def spawn(fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True,
          daemon: bool = False, start_method: str = "spawn") -> ProcessContext | None:
    """Run ``fn(i, *args)`` in fresh processes; wait for them, or return their context."""
    if start_method != "spawn":
        warn(f"This method only supports start_method=spawn (got: {start_method}).\nTo "
             "use a different start_method use:\n\t\t "
             "torch.multiprocessing.start_processes(...)", FutureWarning)
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
