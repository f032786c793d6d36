"""Modules that are loaded when they are first named, by however many threads at once."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from .locks import new_lock

_loading = new_lock()


def loaded(name: str) -> ModuleType:
    """The module of this name, loaded by one thread at a time.

    Python locks single modules: of two threads that load packages which need each other's parts,
    one gets an error, or a module without its names. For the same reason a module imports another
    package, as ``retrograd.nn`` is one, whole before its parts.
    """
    if _is_importing():  # what others wait for: it may not wait for them
        return import_module(name)
    with _loading:
        return import_module(name)


def _is_importing() -> bool:
    """Whether this thread is at the beginning of a module, which it has locked."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
