"""There is no CUDA here; programs that ask are told so."""

from __future__ import annotations

from typing import Any

from .base.missing_names import suggest_names as _suggest_names


def is_available() -> bool:
    """Whether CUDA can be used: no."""
    return False


def device_count() -> int:
    """The number of CUDA devices: none."""
    return 0


def is_initialized() -> bool:
    """Whether CUDA was started: no."""
    return False


def manual_seed(seed: int) -> None:
    """Seed the CUDA generator, of which there is none."""


manual_seed_all = manual_seed


def synchronize(device: Any = None) -> None:
    raise AssertionError("Torch not compiled with CUDA enabled")


current_device = synchronize

_suggest_names(__name__)
