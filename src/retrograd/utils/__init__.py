"""What training needs beside modules and optimizers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..base.missing_names import refuse as _refuse

if TYPE_CHECKING:
    from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    _refuse(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
