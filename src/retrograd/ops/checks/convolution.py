"""What convolution refuses, and in which words."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ...base import dtypes
from ...base.errors import no_kernel
from ...core.tensor import Tensor
from ..nn.sizes import Ints, spread
from .common import c_name, scalar_type


def check_types(input: Any, weight: Any, bias: Any) -> None:
    if input.dtype != weight.dtype:
        raise RuntimeError(
            f"Input type (torch.{scalar_type(input)}Tensor) and weight type "
            f"(torch.{scalar_type(weight)}Tensor) should be the same or input should be a MKLDNN "
            "tensor and weight is a dense tensor")
    if bias is not None and bias.dtype != input.dtype:
        raise RuntimeError(f"Input type ({c_name(input)}) and bias type ({c_name(bias)}) "
                           "should be the same")


def check_sizes(shape: Ints, kernels: Ints, stride: Ints, padding: Ints, dilation: Ints,
                groups: int, extra: Ints = ()) -> None:
    """What holds for convolutions and for transposed ones."""
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(e < 0 for e in extra):
        raise RuntimeError("negative output_padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d < 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if len(shape) != len(kernels):
        rank = len(kernels)
        raise RuntimeError(f"Expected {rank}-dimensional input for {rank}-dimensional weight "
                           f"{list(kernels)}, but got {len(shape)}-dimensional input of size "
                           f"{list(shape)} instead")
    if kernels[0] < groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at "
                           f"dimension 0, but got weight of size {list(kernels)} instead")
    if kernels[0] % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at "
                           f"dimension 0, but got weight of size [{list(kernels)}] instead")


def as_planes(sizes: Ints) -> Ints:
    """The space of a signal as that of an image of height one."""
    return (1, *sizes) if len(sizes) == 1 else sizes


def times(sizes: Any) -> str:
    return " x ".join([str(n) for n in sizes])


def need_space(given: Ints, found: Ints) -> None:
    """Refuse a transposed convolution of which nothing is left."""
    if min(found) < 1:
        raise RuntimeError(
            f"Given input size per channel: ({times(as_planes(given))}). Calculated output size "
            f"per channel: ({times(as_planes(found))}). Output size is too small")


def refuse_empty_space(shape: Ints, kernels: Ints) -> None:
    """Nothing can be convolved if there is no batch or no channel, but not without a plane."""
    space, kernel = as_planes(shape[2:]), as_planes(kernels[2:])
    if 0 in space and shape[0] and shape[1]:
        raise RuntimeError("Only zero batch or zero channel inputs are supported, but got input "
                           f"shape: {[*shape[:2], *space]}")
    if 0 in kernel and len(kernel) == 3:
        raise RuntimeError("kernel size should be greater than zero, but got: "
                           f"{times(kernel)} (TxHxW)")
    if 0 in kernel:
        raise RuntimeError("kernel size should be greater than zero, but got kernel_height: "
                           f"{kernel[0]} kernel_width: {kernel[1]}")


def refuse_bool(given: dict[str, Any], common: dtypes.dtype) -> None:
    if common is dtypes.bool:
        raise no_kernel("compute_columns3d" if given["input"].ndim == 5 else "slow_conv2d_cpu",
                        common)


def refuse_short(given: dict[str, Any], common: dtypes.dtype) -> None:
    """Raise for the dtypes that transposed convolutions are not computed in."""
    if dtypes.category(common) < 2 and common is not dtypes.int64:
        rank = 3 if given["input"].ndim == 5 else 2
        raise no_kernel(f"slow_conv_transpose{rank}d_out_cpu", common)


def check_convolution(input: Any, weight: Any, bias: Any, stride: Ints, padding: Ints,
                      dilation: Ints, groups: int) -> None:
    if input.dtype is not weight.dtype or (bias is not None and bias.dtype is not input.dtype):
        check_types(input, weight, bias)
    check_shapes(input.shape, weight.shape, None if bias is None else bias.shape, stride, padding,
                 dilation, groups)


@lru_cache(maxsize=256)
def check_shapes(shape: Ints, kernels: Ints, biases: Ints | None, stride: Ints, padding: Ints,
                 dilation: Ints, groups: int) -> None:
    check_sizes(shape, kernels, stride, padding, dilation, groups)
    if shape[1] != kernels[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(kernels)}, expected input{list(shape)} "
            f"to have {kernels[1] * groups} channels, but got {shape[1]} channels instead")
    if biases is not None and biases != kernels[:1]:
        raise RuntimeError(
            f"Given weight of size {list(kernels)}, expected bias to be 1-dimensional with "
            f"{kernels[0]} elements, but got bias of size {list(biases)} instead")
    padded = [n + 2 * p for n, p in zip(shape[2:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernels[2:], strict=True)]
    if any(n < k for n, k in zip(padded, reach, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({times(padded)}). Kernel size: "
            f"({times(reach)}). Kernel size can't be greater than actual input size")
    if 0 in shape or 0 in kernels:
        refuse_empty_space(shape, kernels)
    if 0 in dilation and shape[0]:
        raise RuntimeError("dilation should be greater than zero, but got "
                           f"{list(as_planes(dilation))}")


def spread_checked(value: Any, rank: int, name: str) -> Ints:
    found = spread(value, rank)
    if len(found) != rank:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {rank} values to match "
            f"the convolution dimensions, but got {name}={list(found)}")
    return found


def kernel_rank(weight: Tensor) -> int:
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    return weight.ndim - 2


AXES = {1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}


def check_output_padding(rank: int, extra: Ints, stride: Ints, dilation: Ints) -> None:
    if all(e < max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        return
    described = " ".join(f"{label}_{axis}: {value}" for label, values in (
        ("output_padding", extra), ("stride", stride), ("dilation", dilation))
        for axis, value in zip(AXES[rank], values, strict=True))
    raise RuntimeError("output padding must be smaller than either stride or dilation, but got "
                       + described)


def check_transposed(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints,
                     padding: Ints, extra: Ints, dilation: Ints, groups: int) -> None:
    shape, kernels = tuple(input.shape), tuple(weight.shape)
    check_sizes(shape, kernels, stride, padding, dilation, groups, extra)
    if shape[1] != kernels[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(kernels)}, expected input{list(shape)} to "
            f"have {kernels[0]} channels, but got {shape[1]} channels instead")
    channels = kernels[1] * groups
    if bias is not None and tuple(bias.shape) != (channels,):
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(kernels)}, expected bias to be "
            f"1-dimensional with {channels} elements, but got bias of size {list(bias.shape)} "
            "instead")
    check_types(input._data, weight._data, None if bias is None else bias._data)
    if 0 in shape or 0 in kernels:
        refuse_empty_space(shape, kernels)
    rank = len(shape) - 2
    if 0 in dilation and shape[0]:
        raise RuntimeError("dilation should be greater than zero, but got " + ", ".join(
            [f"dilation_{axis}: {n}" for axis, n in zip(
                AXES[max(rank, 2)], as_planes(dilation), strict=True)]))
    if not channels:
        expected = "5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x " \
            "kernel_width) tensor expected for weight" if rank == 3 \
            else "2D or 4D weight tensor expected"
        raise RuntimeError(f"non-empty {expected}, but got: "
                           f"{[kernels[0] // groups, 0, *as_planes(kernels[2:])]}")
    check_output_padding(rank, extra, stride, dilation)
