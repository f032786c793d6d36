"""Building blocks of models: modules, parameters, losses and their initial values."""

from ..base.missing_names import suggest_names as _suggest_names
from . import functional, init, modules, utils
from .modules import *  # noqa: F403
from .modules import __all__ as _modules_all
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [*_modules_all, "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter",
           "functional", "init", "modules", "utils"]

_suggest_names(__name__)
