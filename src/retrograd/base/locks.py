"""Locks that a forked process does not inherit in the hands of a thread that it does not have."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import Any

_ALL: weakref.WeakSet[Any] = weakref.WeakSet()
_held: list[Any] = []
_PACKAGES = (__name__.split(".")[0], "numpy", "scipy", "ml_dtypes")


def new_lock() -> Any:
    """A re-entrant lock; a fork waits until it is free, so that the child finds it free too.

    What it protects is then whole in the child, as it is for any other thread.
    """
    lock = threading.RLock()
    _ALL.add(lock)
    return lock


def _finish_imports() -> None:
    """Wait for modules that other threads are loading: a child would wait for them forever."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGES) \
                and getattr(getattr(module, "__spec__", None), "_initializing", False):
            __import__(name)


def _hold_all() -> None:
    _finish_imports()
    for lock in list(_ALL):
        lock.acquire()
        _held.append(lock)


def _release_all() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all,
                        after_in_child=_release_all)
