"""What normalisation refuses, and in which words."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...backend.interface import kind_of
from ...core.tensor import Tensor
from .common import unsupported


def check_parameter_type(input: Any, *parameters: Any) -> None:
    """Parameters share the input's dtype; half precision may have float32 ones."""
    for parameter in parameters:
        if parameter is None or parameter.dtype == input.dtype:
            continue
        if input.dtype.itemsize == 2 and parameter.dtype == xp.FLOAT32:
            continue
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")


def check_types(input: Any, weight: Any, bias: Any, kernel: str) -> None:
    dtype = input.dtype
    if kind_of(dtype) != "f" or (weight is not None and weight.dtype is not dtype) or (
            bias is not None and bias.dtype is not dtype):
        unsupported(kernel, input.dtype, "biuc")
        check_parameter_type(input, weight, bias)


def check_normalized(input: Tensor, shape: tuple[int, ...], separator: str,
                     **parameters: Tensor | None) -> None:
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []")
    for name, parameter in parameters.items():
        if parameter is not None and tuple(parameter.shape) != shape:
            raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got "
                               f"{name} of shape {list(parameter.shape)} and normalized_shape = "
                               f"{list(shape)}")
    if tuple(input.shape[-len(shape):]) != shape:
        if not separator and input.ndim < len(shape):
            raise ValueError(f"Input tensor must have at least {len(shape)} dimensions, but got "
                             f"{input.ndim}")
        sizes = ", ".join(map(str, shape))
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape "
                           f"[*{separator}{sizes}], but got input of size{list(input.shape)}")


def check_channels(input: Tensor, **parameters: Tensor | None) -> None:
    shape = input._data.shape
    channels = shape[1] if len(shape) > 1 else 0
    for name, parameter in parameters.items():
        if parameter is not None and parameter._data.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not "
                               f"{parameter.numel()}")


def check_vectors(input: Tensor, channels: int, **parameters: Tensor | None) -> None:
    for name, parameter in parameters.items():
        if parameter is not None and tuple(parameter.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(parameter.shape)} and input of shape "
                f"{list(input.shape)}")
