"""Transforms where they were before they were public; programs still take some from here."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("apis", "deprecated", "eager_transforms", "make_functional", "vmap"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
