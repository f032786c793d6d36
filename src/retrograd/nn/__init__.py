"""Building blocks of models: modules, parameters, losses and their initial values."""

from typing import TYPE_CHECKING, Any as _Any

from ..base.loading import loaded as _loaded
from ..base.missing_names import refuse as _refuse, suggest_names as _suggest_names
from . import functional, init, modules, parameter, utils
from .modules import *  # noqa: F403
from .modules.utils import factory_kwargs
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

if TYPE_CHECKING:
    from . import attention, common_types, grad, parallel
    from .parallel import DataParallel

__all__ = [*vars(modules)["__all__"], "Buffer", "DataParallel", "Parameter", "UninitializedBuffer",
           "UninitializedParameter", "attention", "common_types", "factory_kwargs", "functional",
           "grad", "init", "modules", "parallel", "parameter", "utils"]

_LAZY = {"attention", "common_types", "grad", "parallel"}


def _found_later(name: str) -> _Any:
    if name in _LAZY:
        return _loaded(f"{__name__}.{name}")
    if name == "DataParallel":
        return _loaded(f"{__name__}.parallel").DataParallel
    _refuse(__name__, name)


if not TYPE_CHECKING:  # to a checker a module with ``__getattr__`` has every name
    __getattr__ = _found_later


def __dir__() -> list[str]:
    return sorted(__all__)


_suggest_names(__name__)
