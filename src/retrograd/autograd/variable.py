"""The old name of tensors, kept for programs that still use it."""

from __future__ import annotations

from typing import Any

from ..core.engine import queue_callback
from ..core.tensor import Tensor, twin


class _Engine:
    """What programs reach through ``Variable._execution_engine``."""

    queue_callback = staticmethod(queue_callback)


class _VariableMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """Today every tensor is one: ``Variable(x)`` is ``x``'s data, outside the graph."""

    _execution_engine = _Engine()

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        made = twin(data, None, Tensor)
        return made.requires_grad_() if requires_grad else made


__all__ = ["Variable"]
