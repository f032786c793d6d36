"""The CPU, asked as accelerators are: it is there, it is one, and it is never behind."""

from __future__ import annotations

from typing import Any

from ..base.missing_names import suggest_names as _suggest_names
from . import amp


def is_available() -> bool:
    """Whether there is a CPU: yes."""
    return True


def is_initialized() -> bool:
    """Whether it is ready: yes."""
    return True


def device_count() -> int:
    """The number of CPU devices: one."""
    return 1


def current_device() -> str:
    """The device in use."""
    return "cpu"


def set_device(device: Any) -> None:
    """Choose the one device there is."""


def synchronize(device: Any = None) -> None:
    """Wait for work to be done: it is."""


__all__ = ["amp", "current_device", "device_count", "is_available", "is_initialized", "set_device",
           "synchronize"]

_suggest_names(__name__)
