"""Building blocks of models: modules, parameters, losses and their initial values."""

from retrograd.nn import functional, init, modules, utils
from retrograd.nn.modules import *  # noqa: F403
from retrograd.nn.modules import __all__ as _modules_all
from retrograd.nn.parameter import Parameter

__all__ = [*_modules_all, "Parameter", "functional", "init", "modules", "utils"]
