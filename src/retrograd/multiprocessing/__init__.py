"""Python's :mod:`multiprocessing`, with tensors that travel in shared memory.

Everything that it offers is offered here; once this module is imported, a tensor that is sent to
another process is moved to shared memory, and both see what either writes to it.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403

from ..base.missing_names import suggest_names as _suggest_names
from . import reductions
from .spawn import (
    ENV_VAR_PARALLEL_START,
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = ["ENV_VAR_PARALLEL_START", "ProcessContext", "ProcessExitedException",
           "ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies",
           "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes"]
__all__ += multiprocessing.__all__  # type: ignore[attr-defined]

_strategies = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names that :func:`set_sharing_strategy` takes."""
    return set(_strategies)


def get_sharing_strategy() -> str:
    """What :func:`set_sharing_strategy` was last told."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Name a strategy of sharing memory between processes.

    PyTorch's ``file_system`` is for programs that hold many batches and would run out of file
    descriptors. Here batches hold none, and shared memory has no name in the file system that would
    have to be cleaned up, so both strategies work alike.
    """
    global _strategy
    if new_strategy not in _strategies:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of "
                             f"{_strategies}")
    _strategy = new_strategy


reductions.init_reductions()
_suggest_names(__name__)
