"""Automatic differentiation: ``backward``, ``grad`` and what goes with them."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..base.loading import loaded as _loaded
from ..base.missing_names import refuse as _refuse
from ..base.modes import MODE as _MODE
from . import anomaly, anomaly as anomaly_mode, grad_mode, graph
from .anomaly import detect_anomaly, set_detect_anomaly
from .backward import backward, grad
from .grad_mode import (
    _force_original_view_tracking,
    _unsafe_preserve_version_counter,
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    safe_where,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .variable import Variable

if TYPE_CHECKING:
    from . import forward_ad, function, functional, profiler, profiler_util
    from .function import Function
    from .gradcheck import GradcheckError, gradcheck, gradgradcheck
    from .growth import GrowingGraphWarning, warn_of_growth
    from .saved_bytes import ledger

__all__ = ["Function", "GradcheckError", "GrowingGraphWarning", "Variable",
           "_force_original_view_tracking", "_unsafe_preserve_version_counter", "anomaly",
           "anomaly_mode", "backward",
           "detect_anomaly", "enable_grad", "enforce_grad_layout_policy", "forward_ad", "function",
           "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph",
           "inference_mode", "is_multithreading_enabled", "is_view_replay_enabled", "ledger",
           "no_grad", "profiler", "profiler_util", "safe_where", "set_detect_anomaly",
           "set_grad_enabled", "set_multithreading_enabled", "warn_of_growth"]

_OF_GRADCHECK = ("gradcheck", "gradgradcheck", "GradcheckError")
_ELSEWHERE = {"SavedTensor": "retrograd.core.saved_values",
              "ledger": "retrograd.autograd.saved_bytes",
              **dict.fromkeys(("GrowingGraphWarning", "warn_of_growth"),
                              "retrograd.autograd.growth"),
              "_calculate_shape": "retrograd.autograd.backward"}


def kineto_available() -> bool:
    """Whether PyTorch's tracing library is there, which it is not."""
    return False


def _profiler_enabled() -> bool:
    """Whether a profiler is on."""
    return _MODE.get().profile is not None


def __getattr__(name: str) -> Any:
    """Parts that most programs never use are loaded when they are first named."""
    if name in ("forward_ad", "function", "functional", "_functions", "profiler", "profiler_util"):
        return _loaded(f"{__name__}.{name}")
    if name in _ELSEWHERE:
        return getattr(_loaded(_ELSEWHERE[name]), name)
    if name == "torch":  # which programs reach by way of any of its modules
        return sys.modules[__package__.partition(".")[0]]
    if name == "Function":
        return _loaded(f"{__name__}.function").Function
    if name in _OF_GRADCHECK:
        _loaded(f"{__name__}.gradcheck")
        return globals()[name]
    _refuse(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """This package: the module ``gradcheck`` does not take the name of its function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "gradcheck" and isinstance(value, ModuleType):
            self.__dict__.update({n: getattr(value, n) for n in _OF_GRADCHECK})
        else:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
