"""The accelerator of this machine, of whatever kind: there is none."""

from __future__ import annotations

from typing import Any

from .base.missing_names import suggest_names as _suggest_names
from .compat.accelerators import absent as _absent

_NAMES = _absent(__name__, "accelerator", RuntimeError,
                 "Cannot access accelerator device when none is available.")
globals().update({name: _NAMES[name] for name in ("is_available", "device_count", "current_stream",
                                                  "set_stream", "synchronize")})
Event, Stream = _NAMES["Event"], _NAMES["Stream"]
current_device_index = current_device_idx = _NAMES["current_device"]
set_device_index = set_device_idx = _NAMES["current_device"]
empty_cache = memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = \
    memory_stats = reset_peak_memory_stats = _NAMES["current_device"]


def current_accelerator(check_available: bool = False) -> Any:
    """The kind of accelerator: None."""
    return None


_suggest_names(__name__)
