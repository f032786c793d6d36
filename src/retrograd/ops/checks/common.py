"""What all families refuse: dtypes by their kind, derivatives that do not exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import c_name as c_name, no_kernel
from ...core.operands import fitted


def scalar_type(array: Any) -> str:
    """PyTorch's name for an array's dtype in error messages: Float, Long."""
    return dtypes.from_numpy_dtype(array.dtype).alias


def kinds(allowed: str, kernel: str, **worded: tuple[type[Exception], str]) -> Callable[..., None]:
    """A guard that admits dtypes by kind: bool, integer, floating, complex."""

    def guard(given: dict[str, Any], common: dtypes.dtype) -> None:
        kind = "bifc"[dtypes.category(common)]
        if kind in allowed:
            return
        if kind in worded:
            error, message = worded[kind]
            raise error(message)
        raise no_kernel(kernel, common)

    return guard


def check_factor(name: str, factor: Any, common: dtypes.dtype) -> None:
    """Refuse a factor that does not fit tensors of dtype ``common``."""
    if isinstance(factor, bool) and common is not dtypes.bool:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if not isinstance(factor, int) and dtypes.category(common) < 2:
        raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating "
                           "point number.")


def check_half(common: dtypes.dtype, *numbers: Any) -> None:
    """Refuse numbers that half precision, in which the tensors are, cannot hold."""
    if common is dtypes.float16 or common is dtypes.bfloat16:
        for number in numbers:
            if number is not None:
                fitted(number, common.np)


def with_number(common: dtypes.dtype, number: Any) -> dtypes.dtype:
    """The dtype that tensors of dtype ``common`` and a Python number have in common."""
    kind = dtypes.of_scalar(number)
    if dtypes.category(kind) <= dtypes.category(common):
        return common
    return common.to_complex() if kind.is_complex and common.is_floating_point else kind


def kinds_with_number(allowed: str, kernel: str) -> Callable[..., None]:
    """:func:`kinds` of the dtype that the tensor and the number ``other`` have in common."""
    guard = kinds(allowed, kernel)
    return lambda given, common: guard(given, with_number(common, given["other"]))


def no_complex(kernel: str) -> Callable[..., None]:
    return kinds("bif", kernel)


def no_derivative(name: str) -> Any:
    """The rule of an op that PyTorch refuses to differentiate."""
    raise RuntimeError(f"derivative for {name} is not implemented")


def no_derivative_of(what: str) -> Any:
    """The rule of an op that PyTorch records and cannot differentiate."""
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")


def unsupported(kernel: str, dtype: Any, kinds: str) -> None:
    """Raise if ``dtype`` is of one of ``kinds``, for which PyTorch has no such kernel."""
    if kind_of(dtype) in kinds:
        raise no_kernel(kernel, dtypes.from_numpy_dtype(dtype))
