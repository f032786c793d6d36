"""Modules that are loaded when they are first named, by however many threads at once."""

from __future__ import annotations

import _imp
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

_bootstrap: Any = import_module("importlib._bootstrap")
_PARTS = __name__.split(".")[0] + "."

loaded: Callable[[str], ModuleType] = import_module
"""The module of this name, loaded by one thread at a time: see `share_one_lock`."""


class _Locks(dict[str, Any]):
    """Python's locks of modules by name, of which all parts of this package have the same one."""

    def __init__(self, others: dict[str, Any]):
        super().__init__(others)
        lock = _bootstrap._ModuleLock(_PARTS)
        self[_PARTS] = lambda: lock  # as if it were a weak reference, like the others

    def __missing__(self, name: str) -> Any:
        if str(name).startswith(_PARTS):
            return self[_PARTS]
        raise KeyError(name)


def lock_of_parts() -> Any:
    """The lock of whoever loads a part of this package, or None if Python has no such locks."""
    known = getattr(_bootstrap, "_module_locks", {}).get(_PARTS)
    return None if known is None else known()


def share_one_lock() -> None:
    """Have one thread at a time load parts of this package, whichever they are.

    Python locks single modules, a part before its package: a thread that imports ``nn.functional``
    has it locked and waits for ``nn``, whose beginning, in another thread, waits for
    ``nn.functional``. One of them got an error. To be called when the package itself is loaded.
    """
    _imp.acquire_lock()
    try:
        if hasattr(_bootstrap, "_ModuleLock"):
            _bootstrap._module_locks = _Locks(_bootstrap._module_locks)
    finally:
        _imp.release_lock()
