"""The names that programs take from PyTorch's compiled module."""

from __future__ import annotations

import importlib
import weakref
from typing import Any

from ..autograd.grad_mode import is_grad_enabled, is_inference_mode_enabled
from ..base.modes import MODE
from ..core.overriding import DISABLED as _disabled_torch_function_impl
from ..core.tensor import Tensor
from ..overrides import DisableTorchFunctionSubclass
from ._graph_task import (
    _current_autograd_node,
    _current_graph_task_execution_order,
    _current_graph_task_id,
    _will_engine_execute_node,
)

DisableTorchFunction = DisableTorchFunctionSubclass
has_lapack = True
_TensorMeta = type(Tensor)


class _WeakTensorRef:
    """Tells whether a tensor has died."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = weakref.ref(tensor)

    def expired(self) -> bool:
        return self._tensor() is None


def _set_grad_enabled(enabled: bool) -> None:
    MODE.set(MODE.get().but(grad=enabled))


def _is_fwd_grad_enabled() -> bool:
    return MODE.get().forward_grad


def _set_fwd_grad_enabled(enabled: bool) -> None:
    MODE.set(MODE.get().but(forward_grad=enabled))


def _log_api_usage_once(event: str) -> None:
    """Count nothing: nobody is told which functions a program calls."""


def _get_tracing_state() -> None:
    """What traces this program: nothing does."""


def __getattr__(name: str) -> Any:
    if name in ("_autograd", "_functions", "_functorch", "_nn"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "_TensorMeta", "_WeakTensorRef",
           "_current_autograd_node", "_current_graph_task_execution_order",
           "_current_graph_task_id", "_disabled_torch_function_impl", "_get_tracing_state",
           "_is_fwd_grad_enabled", "_log_api_usage_once",
           "_set_fwd_grad_enabled", "_set_grad_enabled", "_will_engine_execute_node", "has_lapack",
           "is_grad_enabled", "is_inference_mode_enabled"]
