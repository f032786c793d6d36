"""Automatic differentiation: ``backward``, ``grad`` and what goes with them."""

from __future__ import annotations

from . import anomaly, function, grad_mode, graph
from .anomaly import detect_anomaly, set_detect_anomaly
from .backward import backward, grad
from .function import Function
from .grad_mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)

__all__ = ["Function", "anomaly", "backward", "detect_anomaly", "enable_grad", "function", "grad",
           "grad_mode", "graph", "inference_mode", "no_grad", "set_detect_anomaly",
           "set_grad_enabled"]
