"""What training needs beside modules and optimizers."""

from typing import TYPE_CHECKING, Any

from ..base.loading import loaded as _loaded
from ..base.missing_names import refuse as _refuse

if TYPE_CHECKING:
    from ..nn.modules._swapping import swap_tensors
    from . import (
        _device,
        _pytree,
        benchmark,
        checkpoint,
        collect_env,
        data,
        deterministic,
        dlpack,
        hooks,
        model_zoo,
        tensorboard,
        weak,
    )

__all__ = ["benchmark", "checkpoint", "collect_env", "data", "deterministic", "dlpack", "hooks",
           "model_zoo", "set_module", "swap_tensors", "tensorboard", "weak", "_device",
           "_pytree"]


def set_module(obj: Any, mod: str) -> None:
    """Say that an object is defined in another module, for its printing."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def __getattr__(name: str) -> Any:
    if name == "swap_tensors":
        return _loaded("retrograd.nn").modules._swapping.swap_tensors
    if name in __all__:
        return _loaded(f"{__name__}.{name}")
    _refuse(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
