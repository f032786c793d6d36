"""Parameter: a tensor that a module registers as its own."""

import retrograd
from retrograd.tensor import Tensor


class Parameter(Tensor):
    """A tensor that becomes a parameter of the module it is assigned to.

    It requires grad unless told otherwise, and operations on it return plain tensors.
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> "Parameter":
        if data is None:
            data = retrograd.empty(0)
        if type(data) in (Tensor, Parameter):
            return Tensor._make_subclass(cls, data, requires_grad)
        return data.detach().requires_grad_(requires_grad)

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """Nothing is left to do: ``__new__`` has built the parameter."""

    def __deepcopy__(self, memo: dict) -> "Parameter":
        if id(self) not in memo:
            data = self.data.clone(memory_format=retrograd.preserve_format)
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: object) -> tuple:
        return _rebuild_parameter, (self.data, self.requires_grad, dict(self.__dict__))


def _rebuild_parameter(data: Tensor, requires_grad: bool, attributes: dict) -> Parameter:
    parameter = Parameter(data, requires_grad)
    parameter.__dict__.update(attributes)
    return parameter
