"""What elementwise ops share: numbers beside tensors, and what is refused."""

from __future__ import annotations

import builtins
from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...base import dtypes
from ...base.errors import no_overload, refuse_pytorch_operand
from ...core.op import Number, publish
from ...core.operands import NUMBERS
from ...core.signatures import named
from ...core.tensor import Tensor
from ..memory.casts import cast

BOTH = ("input", "other")
_REAL = (int, float)


def is_number(value: Any) -> bool:
    """Whether ``value`` is a Python or backend number."""
    return isinstance(value, NUMBERS) or xp.is_scalar(value)


def plain_number(value: Any) -> Any:
    return value.item() if xp.is_scalar(value) else value


def widened(input: Any, number: Any) -> Any:
    """Raw ``input`` in the dtype that it and a Python number have in common."""
    if number.__class__ in _REAL and (input.dtype is xp.FLOAT32 or input.dtype is xp.FLOAT64):
        return input
    return pointwise_kernels.widened(input, number, dtypes.get_default_dtype().np)


def with_room_for(input: Tensor, number: Any) -> Tensor:
    """A real tensor as a complex one where it meets a complex number."""
    if isinstance(number, builtins.complex) and not input.is_complex():
        kind = input.dtype if input.is_floating_point() else dtypes.get_default_dtype()
        return cast(input, kind.to_complex())
    return input


def in_place(made: Any) -> Any:
    """The in-place function of a declared op."""
    return made.op.inplace_function


def tensor_or_number(name: str, with_tensor: Any, with_number: Any, of_number: Any = None) -> Any:
    """The public function of an op whose second operand is a tensor or a number."""
    forms = ["Tensor input, Tensor other, *, Tensor out = None",
             "Tensor input, Number other, *, Tensor out = None"]
    if of_number is not None:
        forms.insert(1, "Number self, Tensor other, *, Tensor out = None")

    @named(name, with_tensor.__doc__)
    def function(input: Any, other: Tensor | Number, *, out: Any = None) -> Any:
        if isinstance(other, Tensor):
            if isinstance(input, Tensor):
                return with_tensor(input, other, out=out)
            if of_number is not None and is_number(input):
                return of_number(input, other, out=out)
        elif isinstance(input, Tensor) and is_number(other):
            other = plain_number(other)
            return with_number(with_room_for(input, other), other, out=out)
        raise no_overload(name, (input, other), *forms)

    return function


def tensor_or_number_(name: str, with_tensor: Any, with_number: Any) -> Any:
    """The in-place method beside :func:`tensor_or_number`."""

    @named(name, f"In-place version of :func:`{name[:-1]}`.")
    def function(input: Any, other: Tensor | Number) -> Any:
        if isinstance(other, Tensor):
            return in_place(with_tensor)(input, other)
        if is_number(other):
            return in_place(with_number)(input, plain_number(other))
        raise no_overload(name, (other,), "Tensor other", "Number other")

    return function


def publish_pair(name: str, with_tensor: Any, with_number: Any, of_number: Any = None) -> Any:
    made = tensor_or_number(name, with_tensor, with_number, of_number)
    publish(made, name)
    publish(tensor_or_number_(name + "_", with_tensor, with_number), name + "_", function=None)
    return made


def is_operand(value: Any) -> bool:
    return isinstance(value, Tensor) or is_number(value) or refuse_pytorch_operand(value)
