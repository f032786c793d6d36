"""What elementwise ops refuse: kinds of dtypes, numbers and options."""

from __future__ import annotations

import builtins
from typing import Any

from ...base import dtypes
from ...base.errors import no_kernel, no_overload
from ...core.tensor import Tensor
from ..elementwise.number_operands import BOTH
from .common import c_name, check_factor, check_half, kinds, with_number


def check_alpha(given: dict[str, Any], common: dtypes.dtype) -> None:
    alpha = given["alpha"]
    check_factor("alpha", alpha, common)
    if isinstance(alpha, builtins.complex) and not common.is_complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex "
                           "number.")


NO_BOOL_SUB = ("Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
               "trying to invert a mask, use the `~` or `logical_not()` operator instead.")


def check_sub(given: dict[str, Any], common: dtypes.dtype) -> None:
    if common is dtypes.bool:
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. "
                           "Use the `^` or `logical_xor()` operator instead.")
    if any(isinstance(given[n], Tensor) and given[n].dtype is dtypes.bool for n in BOTH):
        raise RuntimeError(NO_BOOL_SUB)
    check_alpha(given, common)


def check_rsub(given: dict[str, Any], common: dtypes.dtype) -> None:
    other = given["other"]
    if isinstance(other, bool) and common is not dtypes.bool:
        raise RuntimeError(NO_BOOL_SUB)
    check_sub(given, with_number(common, other))


def refuse_bool_neg(given: dict[str, Any], common: dtypes.dtype) -> None:
    if common is dtypes.bool:
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you "
                           "are trying to invert a mask, use the `~` or `logical_not()` operator "
                           "instead.")


def check_addcdiv(given: dict[str, Any], common: dtypes.dtype) -> None:
    if all(dtypes.category(given[n].dtype) < 2 for n in ("tensor1", "tensor2")):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2))"
            ".to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
            "float inputs. The future addcdiv behavior is just the latter implementation: (input + "
            "value * tensor1 / tensor2), for all dtypes.")


def check_lerp(given: dict[str, Any], common: dtypes.dtype) -> None:
    start = given["input"].dtype
    for name in ("end", "weight"):
        other = given[name]
        if isinstance(other, Tensor) and other.dtype is not start and \
                (name == "end" or other.ndim):
            raise RuntimeError(f"expected dtype {c_name(given['input'])} for `{name}` but "
                               f"got dtype {c_name(other)}")
    if dtypes.category(common) < 2:
        kernel = "lerp_kernel_tensor" if isinstance(given["weight"], Tensor) else \
            "lerp_kernel_scalar"
        raise no_kernel(kernel, common)


def check_pow(given: dict[str, Any], common: dtypes.dtype) -> None:
    exponent = given["exponent"]
    if isinstance(exponent, Tensor):
        if common is dtypes.bool:
            raise no_kernel("pow", common)
        return
    if isinstance(exponent, int) and exponent < 0 and dtypes.category(common) < 2:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    check_half(common, exponent)


def check_base(given: dict[str, Any], common: dtypes.dtype) -> None:
    if common is dtypes.bool and isinstance(given["self"], bool):
        raise no_kernel("pow", common)


def check_parts(given: dict[str, Any], common: dtypes.dtype) -> None:
    first, second = (v for v in given.values() if isinstance(v, Tensor))
    allowed = (dtypes.float16, dtypes.float32, dtypes.float64)
    if first.dtype not in allowed or second.dtype not in allowed:
        raise RuntimeError("Expected both inputs to be Half, Float or Double tensors but got "
                           f"{first.dtype.alias} and {second.dtype.alias}")
    if first.dtype is not second.dtype:
        raise RuntimeError(f"Expected object of scalar type {first.dtype.alias} but got scalar "
                           f"type {second.dtype.alias} for second argument")


def check_heaviside(given: dict[str, Any], common: dtypes.dtype) -> None:
    first, second = given["input"].dtype, given["values"].dtype
    if first.is_complex or second.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if first is not second:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


def check_frexp(given: dict[str, Any], common: dtypes.dtype) -> None:
    if dtypes.category(common) != 2:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")


CLAMP = kinds("if", "clamp_scalar_cpu",
              c=(NotImplementedError, "clamp is not supported for complex types"))


CLAMP_ONE_SIDE = kinds("bif", "clamp_scalar_cpu",
                       c=(NotImplementedError, "clamp is not supported for complex types"))


def check_clamp(given: dict[str, Any], common: dtypes.dtype) -> None:
    bounds = [given[n] for n in ("min", "max") if n in given and given[n] is not None]
    if common is dtypes.bool and any(not isinstance(b, bool) for b in bounds):
        return
    CLAMP(given, common)
    check_half(common, *bounds)


def check_bounded(name: str, input: Any, bound: Any) -> None:
    if not isinstance(input, Tensor):
        raise no_overload(name, (input, bound), *[
            f"Tensor input, {kind} {name[-3:]}, *, Tensor out = None"
            for kind in ("Tensor", "Number")])
