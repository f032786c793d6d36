"""Parameter: a tensor that a module registers as its own."""

from __future__ import annotations

from typing import Any, Self

from ..base.errors import is_pytorch_tensor, not_a_tensor
from ..base.layouts import preserve_format
from ..core.overriding import DISABLED
from ..core.tensor import NATIVE, PLAIN, Tensor, twin
from ..ops.creation.filled import empty


class _ParameterMeta(type):
    """Lets a parameter made from an instance of a Tensor subclass keep that class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and "_is_param" in vars(instance)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that becomes a parameter of the module it is assigned to.

    It requires grad unless told otherwise, shares the memory of ``data``, and operations on it
    return plain tensors.
    """

    __torch_function__ = DISABLED
    _is_param = True

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = empty(0)
        if type(data) not in PLAIN:
            if is_pytorch_tensor(data):
                raise not_a_tensor("Parameter", "data", 1, data)
            marked: Any = data.detach().requires_grad_(requires_grad)
            marked._is_param = True
            return marked
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients")
        parameter: Any = twin(data, data._counter(), cls)
        parameter._edge = None
        return parameter.requires_grad_(requires_grad)

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """Nothing is left to do: ``__new__`` has built the parameter."""

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:
            data = self.data.clone(memory_format=preserve_format)
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()


def empty_parameter(shape: int | tuple[int, ...], device: Any, dtype: Any) -> Parameter:
    """Return a parameter whose values are still to be set."""
    return Parameter(empty(shape, device=device, dtype=dtype))


# Parameters take the fast path of recording, as plain tensors do.
PLAIN.add(Parameter)
NATIVE.add(Parameter)
