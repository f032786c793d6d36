"""Automatic differentiation: ``backward``, ``grad`` and what goes with them."""

from __future__ import annotations

from . import anomaly, function, grad_mode, graph
from . import anomaly as anomaly_mode
from .anomaly import detect_anomaly, set_detect_anomaly
from .backward import backward, grad
from .function import Function
from .grad_mode import (
    _unsafe_preserve_version_counter,
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .variable import Variable

__all__ = ["Function", "Variable", "_unsafe_preserve_version_counter", "anomaly", "anomaly_mode",
           "backward", "detect_anomaly", "enable_grad", "function", "grad", "grad_mode", "graph",
           "inference_mode", "is_multithreading_enabled", "no_grad", "set_detect_anomaly",
           "set_grad_enabled", "set_multithreading_enabled"]


def __getattr__(name: str) -> object:
    """Parts that most programs never use are loaded when they are first named."""
    import importlib

    if name in ("functional", "forward_ad"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in ("gradcheck", "gradgradcheck", "GradcheckError"):
        module = importlib.import_module(f"{__name__}.gradcheck")
        # Importing it bound the module to the name that is the function's.
        globals().update({n: getattr(module, n)
                          for n in ("gradcheck", "gradgradcheck", "GradcheckError")})
        return globals()[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
