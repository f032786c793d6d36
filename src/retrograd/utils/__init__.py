"""What training needs beside modules and optimizers."""

from importlib import import_module
from typing import Any

_SUBMODULES = ("checkpoint", "data", "dlpack", "hooks")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
