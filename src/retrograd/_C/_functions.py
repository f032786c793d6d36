"""Nodes that PyTorch's compiled module lets programs make or recognise."""

from __future__ import annotations

from typing import Any

from ..autograd.function import Error, PassedThrough
from ..core.graph import Node
from ..core.tensor import AccumulateGrad, Tensor


class UndefinedGradBackward(PassedThrough):
    """Sends no gradient on."""

    __slots__ = ()

    def pull(self, g: Any, *wanted: Any) -> Any:
        return (None,) * len(self.origins)

    replay = pull


class UndefinedGrad(Node):
    """A function that returns its arguments, whose gradients end there."""

    def __call__(self, *tensors: Tensor) -> Any:
        return _alone(UndefinedGradBackward().outputs_of(tensors))


class DelayedError(Node):
    """A function that returns its arguments, and raises where a gradient arrives."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message, self.num_inputs = message, num_inputs

    def __call__(self, *tensors: Tensor) -> Any:
        if len(tensors) != self.num_inputs:
            raise TypeError(f"DelayedError expected {self.num_inputs} inputs, got {len(tensors)}")
        return _alone(Error(self.message).outputs_of(tensors))


def _alone(outputs: tuple[Any, ...]) -> Any:
    return outputs[0] if len(outputs) == 1 else outputs


__all__ = ["AccumulateGrad", "DelayedError", "Error", "UndefinedGrad"]
