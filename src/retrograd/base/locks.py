"""Locks that a forked process does not inherit in the hands of a thread that it does not have."""

from __future__ import annotations

import _imp
import os
import threading
import time
import weakref
from importlib import _bootstrap  # type: ignore[attr-defined]
from typing import Any

from .loading import lock_of_parts

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


def _are_importing(packages: str | tuple[str, ...], about_to: bool) -> bool:
    """Whether another thread is loading such a module, or is about to: it has the module's lock.

    A child would wait for it forever.
    """
    own = threading.get_ident()
    for name, reference in getattr(_bootstrap, "_module_locks", {}).copy().items():
        if str(name).startswith(packages):
            lock = reference()
            owner = getattr(lock, "owner", None)
            if lock is not None and owner != own and (owner is not None or about_to):
                return True
    return False


def _hold_all() -> None:
    """Wait until every lock is free and no module is being loaded, and keep it so.

    Nothing is waited for long while locks are held: whoever has one may be waiting for another.
    Modules of others are waited for no longer than a while, since one of them may be a program that
    runs from its beginning to its end.
    """
    patience = time.monotonic() + 2.0
    while True:
        _hold_parts()
        if all(map(_hold, list(_ALL))):
            _imp.acquire_lock()  # without it nobody begins to load a module
            waits = time.monotonic() < patience
            if not _are_importing("" if waits else _PACKAGES, waits):
                return
            _imp.release_lock()
        _release()
        time.sleep(0.0005)


def _hold_parts() -> None:
    """Have nobody else load a part of this package."""
    lock = lock_of_parts()
    if lock is not None:
        try:
            lock.acquire()
        except RuntimeError:  # whoever has it waits for this thread, which loads something itself
            return
        _held.append(lock)


def _hold(lock: Any) -> bool:
    if lock.acquire(timeout=0.1):
        _held.append(lock)
        return True
    return False


def _release() -> None:
    while _held:
        _held.pop().release()


def _release_all() -> None:
    _release()
    _imp.release_lock()


def _release_all_in_child() -> None:
    """Release what was held, of which a thread that is no more may have been asking for a part.

    The lock of a module is made of others, which whoever asks for it has for a moment.
    """
    parts = lock_of_parts()
    for lock in _held:
        if lock is parts:
            fresh = type(lock)(lock.name)
            lock.lock, lock.wakeup, lock.waiters = fresh.lock, fresh.wakeup, fresh.waiters
    _release_all()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all,
                        after_in_child=_release_all_in_child)
