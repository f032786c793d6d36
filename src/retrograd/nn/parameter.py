"""Parameter: a tensor that a module registers as its own."""

from __future__ import annotations

from typing import Any

import retrograd
from retrograd.graph import LEAF
from retrograd.tensor import PLAIN, Tensor, twin


class Parameter(Tensor):
    """A tensor that becomes a parameter of the module it is assigned to.

    It requires grad unless told otherwise, shares the memory of ``data``, and operations on it
    return plain tensors.
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = retrograd.empty(0)
        elif not isinstance(data, Tensor):
            raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach'")
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        parameter: Any = twin(data, data._counter(), cls)
        parameter._edge = LEAF if requires_grad else None
        return parameter

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """Nothing is left to do: ``__new__`` has built the parameter."""

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:
            data = self.data.clone(memory_format=retrograd.preserve_format)
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()


# Recording takes the fast path for parameters too.
PLAIN.add(Parameter)
