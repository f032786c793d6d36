"""What training needs beside modules and optimizers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..base.missing_names import refuse as _refuse

if TYPE_CHECKING:
    from ..nn.modules._swapping import swap_tensors
    from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks", "swap_tensors"]


def __getattr__(name: str) -> Any:
    if name == "swap_tensors":
        return import_module("..nn.modules._swapping", __name__).swap_tensors
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    _refuse(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
