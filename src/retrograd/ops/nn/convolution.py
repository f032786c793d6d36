"""Convolution and its transpose."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ...backend import conv as images
from ...backend import norm as norms
from ...base.warning import warn
from ...core.op import Array, composite, linear, op
from ...core.tensor import Tensor
from ..elementwise.conjugate import conj
from ..products.matmul import scalar_type
from ..shapes.dimensions import _squeeze_dim, unsqueeze
from ..shapes.expanding import expand, sum_to_size_of
from ..shapes.reshaping import reshape
from ..shapes.slicing import _slice
from .padding import constant_pad_nd, pad
from .sizes import Ints, spread


def _check_types(input: Any, weight: Any, bias: Any) -> None:
    if input.dtype != weight.dtype:
        raise RuntimeError(
            f"Input type (torch.{scalar_type(input)}Tensor) and weight type "
            f"(torch.{scalar_type(weight)}Tensor) should be the same or input should be a MKLDNN "
            "tensor and weight is a dense tensor")
    if bias is not None and bias.dtype != input.dtype:
        raise RuntimeError(f"Input type ({_spelled(input)}) and bias type ({_spelled(bias)}) "
                           "should be the same")


def _spelled(array: Any) -> str:
    from ..products.matmul import _SPELLED

    return _SPELLED.get(array.dtype.name, "bool")


def _check_sizes(shape: Ints, kernels: Ints, stride: Ints, padding: Ints, dilation: Ints,
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


def _as_planes(sizes: Ints) -> Ints:
    """The space of a signal as that of an image of height one."""
    return (1, *sizes) if len(sizes) == 1 else sizes


def _times(sizes: Any) -> str:
    return " x ".join([str(n) for n in sizes])


def _refuse_empty_space(shape: Ints, kernels: Ints) -> None:
    """Nothing can be convolved if there is no batch or no channel, but not without a plane."""
    space, kernel = _as_planes(shape[2:]), _as_planes(kernels[2:])
    if 0 in space and shape[0] and shape[1]:
        raise RuntimeError("Only zero batch or zero channel inputs are supported, but got input "
                           f"shape: {[*shape[:2], *space]}")
    if 0 in kernel and len(kernel) == 3:
        raise RuntimeError("kernel size should be greater than zero, but got: "
                           f"{_times(kernel)} (TxHxW)")
    if 0 in kernel:
        raise RuntimeError("kernel size should be greater than zero, but got kernel_height: "
                           f"{kernel[0]} kernel_width: {kernel[1]}")


def _check_convolution(input: Any, weight: Any, bias: Any, stride: Ints, padding: Ints,
                       dilation: Ints, groups: int) -> None:
    if input.dtype is not weight.dtype or (bias is not None and bias.dtype is not input.dtype):
        _check_types(input, weight, bias)
    _check_shapes(input.shape, weight.shape, None if bias is None else bias.shape, stride, padding,
                  dilation, groups)


@lru_cache(maxsize=256)
def _check_shapes(shape: Ints, kernels: Ints, biases: Ints | None, stride: Ints, padding: Ints,
                  dilation: Ints, groups: int) -> None:
    _check_sizes(shape, kernels, stride, padding, dilation, groups)
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
            f"Calculated padded input size per channel: ({_times(padded)}). Kernel size: "
            f"({_times(reach)}). Kernel size can't be greater than actual input size")
    if 0 in shape or 0 in kernels:
        _refuse_empty_space(shape, kernels)
    if 0 in dilation and shape[0]:
        raise RuntimeError("dilation should be greater than zero, but got "
                           f"{list(_as_planes(dilation))}")


@op(method=False, function=None, node="ConvolutionBackward0", check=_check_convolution)
def _convolution(input: Array, weight: Array, bias: Array | None, stride: Any, padding: Any,
                 dilation: Any, groups: int) -> Any:
    return images.convolve(input, weight, bias, stride, padding, dilation, groups)


@op(method=False, function=None, node="ConvolutionBackward0")
def _convolution_input(output: Array, weight: Array, shape: Any, stride: Any, padding: Any,
                       dilation: Any, groups: int) -> Any:
    return images.convolve_input_gradient(output, weight, shape, stride, padding, dilation, groups)


@op(method=False, function=None, node="ConvolutionBackward0")
def _convolution_weight(output: Array, input: Array, shape: Any, stride: Any, padding: Any,
                        dilation: Any, groups: int) -> Any:
    return images.convolve_weight_gradient(output, input, shape, stride, padding, dilation, groups)


@linear(method=False, function=None, node="SumBackward1", any_dtype=True)
def channel_sums(input: Array) -> Any:
    """The sum over everything but the channels."""
    return norms.channel_sums(input)


channel_sums.vjp(input=lambda g, like: channels_expanded(g, like.shape))


@channel_sums.batch
def _(batch: Any, input: Any) -> Any:
    whole = sum_to_size_of(input, (batch.size, 1, input.shape[2], *(1,) * (input.ndim - 3)))
    return reshape(whole, (batch.size, input.shape[2]))


def channels_expanded(values: Any, shape: Any) -> Any:
    """A number per channel, repeated over (batch, channels, *space)."""
    return expand(reshape(values, (1, shape[1]) + (1,) * (len(shape) - 2)), shape)


def kernel_sums(g: Any, count: int) -> Any:
    """The sum for each of ``count`` kernels, which make no channel from input without any."""
    return channel_sums(g) if g.shape[1] else constant_pad_nd(channel_sums(g), (0, count))


_convolution.vjp(
    input=lambda g, weight, like, stride, padding, dilation, groups: _convolution_input(
        g, conj(weight), like.shape, stride, padding, dilation, groups),
    weight=lambda g, input, like, stride, padding, dilation, groups: _convolution_weight(
        g, conj(input), like.shape, stride, padding, dilation, groups),
    bias=lambda g, like: kernel_sums(g, like.shape[0]))
_convolution.jvp(
    input=lambda tangent, weight, stride, padding, dilation, groups: _convolution(
        tangent, weight, None, stride, padding, dilation, groups),
    weight=lambda tangent, input, stride, padding, dilation, groups: _convolution(
        input, tangent, None, stride, padding, dilation, groups),
    bias=lambda tangent, y: channels_expanded(tangent, y.shape))


def first_windows(y: Any, shape: Any) -> Any:
    """As many windows as ``shape`` has; output padding may have made room for more."""
    for d in range(2, len(shape)):
        if y.shape[d] > shape[d]:
            y = _slice(y, d, 0, shape[d], 1)
    return y


_convolution_input.vjp(
    output=lambda g, weight, like, stride, padding, dilation, groups: first_windows(_convolution(
        g, conj(weight), None, stride, padding, dilation, groups), like.shape),
    weight=lambda g, output, like, stride, padding, dilation, groups: _convolution_weight(
        conj(output), g, like.shape, stride, padding, dilation, groups))
_convolution_weight.vjp(
    output=lambda g, input, like, stride, padding, dilation, groups: first_windows(_convolution(
        conj(input), g, None, stride, padding, dilation, groups), like.shape),
    input=lambda g, output, like, stride, padding, dilation, groups: _convolution_input(
        conj(output), g, like.shape, stride, padding, dilation, groups))


@op(method=False, function=None, node="ConvolutionBackward0")
def _transposed(input: Array, weight: Array, bias: Array | None, shape: Any, stride: Any,
                padding: Any, dilation: Any, groups: int) -> Any:
    y = images.convolve_input_gradient(input, weight, shape, stride, padding, dilation, groups)
    return y if bias is None else y + bias.reshape((-1,) + (1,) * len(stride))


_transposed.vjp(
    input=lambda g, weight, like, stride, padding, dilation, groups: first_windows(_convolution(
        g, conj(weight), None, stride, padding, dilation, groups), like.shape),
    weight=lambda g, input, like, stride, padding, dilation, groups: _convolution_weight(
        conj(input), g, like.shape, stride, padding, dilation, groups),
    bias=lambda g: channel_sums(g))
_transposed.jvp(
    input=lambda tangent, weight, shape, stride, padding, dilation, groups: _convolution_input(
        tangent, weight, shape, stride, padding, dilation, groups),
    weight=lambda tangent, input, shape, stride, padding, dilation, groups: _convolution_input(
        input, tangent, shape, stride, padding, dilation, groups),
    bias=lambda tangent, y: channels_expanded(tangent, y.shape))


def _spread_checked(value: Any, rank: int, name: str) -> Ints:
    found = spread(value, rank)
    if len(found) != rank:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {rank} values to match "
            f"the convolution dimensions, but got {name}={list(found)}")
    return found


def _batched(input: Tensor, rank: int, name: str) -> tuple[Tensor, bool]:
    """``input`` with a batch dimension, and whether it had none."""
    if input.ndim == rank + 2:
        return input, False
    if input.ndim == rank + 1:
        return unsqueeze(input, 0), True
    raise RuntimeError(f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to "
                       f"{name}, but got input of size: {list(input.shape)}")


def _kernel_rank(weight: Tensor) -> int:
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    return weight.ndim - 2


def _same_padding(input: Tensor, kernel: Ints, stride: Ints, dilation: Ints) -> tuple[Any, Ints]:
    """The padding that keeps the size; what cannot be split evenly is padded beforehand."""
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    half = tuple([int(n / 2) for n in total])
    odd = [n - 2 * side for n, side in zip(total, half, strict=True)]
    if any(odd):
        warn("Using padding='same' with even kernel lengths and odd dilation may require a "
             "zero-padded copy of the input be created", once=True)
        input = pad(input, [side for n in reversed(odd) for side in (0, n)])
    return input, half


def _convolve(rank: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
              padding: Any, dilation: Any, groups: int) -> Tensor:
    input, unbatched = _batched(input, rank, f"conv{rank}d")
    space = _kernel_rank(weight)
    stride = _spread_checked(spread(stride, rank), space, "stride")
    dilation = _spread_checked(spread(dilation, rank), space, "dilation")
    if isinstance(padding, str):
        if padding == "same":
            input, padding = _same_padding(input, tuple(weight.shape[2:]), stride, dilation)
        elif padding == "valid":
            padding = (0,) * rank
        else:
            raise RuntimeError(f"Invalid padding string: '{padding}'")
    padding = _spread_checked(spread(padding, rank), space, "padding")
    y = _convolution(input, weight, bias, stride, padding, dilation, groups)
    return _squeeze_dim(y, 0) if unbatched else y


@composite()
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
           padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """The cross-correlation of a batch of signals with ``weight``."""
    return _convolve(1, input, weight, bias, stride, padding, dilation, groups)


@composite()
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
           padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """The cross-correlation of a batch of images with ``weight``."""
    return _convolve(2, input, weight, bias, stride, padding, dilation, groups)


@composite()
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
           padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """The cross-correlation of a batch of volumes with ``weight``."""
    return _convolve(3, input, weight, bias, stride, padding, dilation, groups)


_AXES = {1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}


def _check_output_padding(rank: int, extra: Ints, stride: Ints, dilation: Ints) -> None:
    if all(e < max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        return
    described = " ".join(f"{label}_{axis}: {value}" for label, values in (
        ("output_padding", extra), ("stride", stride), ("dilation", dilation))
        for axis, value in zip(_AXES[rank], values, strict=True))
    raise RuntimeError("output padding must be smaller than either stride or dilation, but got "
                       + described)


def _check_transposed(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints,
                      padding: Ints, extra: Ints, dilation: Ints, groups: int) -> None:
    shape, kernels = tuple(input.shape), tuple(weight.shape)
    _check_sizes(shape, kernels, stride, padding, dilation, groups, extra)
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
    _check_types(input._data, weight._data, None if bias is None else bias._data)
    if 0 in shape or 0 in kernels:
        _refuse_empty_space(shape, kernels)
    rank = len(shape) - 2
    if 0 in dilation and shape[0]:
        raise RuntimeError("dilation should be greater than zero, but got " + ", ".join(
            [f"dilation_{axis}: {n}" for axis, n in zip(
                _AXES[max(rank, 2)], _as_planes(dilation), strict=True)]))
    if not channels:
        expected = "5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x " \
            "kernel_width) tensor expected for weight" if rank == 3 \
            else "2D or 4D weight tensor expected"
        raise RuntimeError(f"non-empty {expected}, but got: "
                           f"{[kernels[0] // groups, 0, *_as_planes(kernels[2:])]}")
    _check_output_padding(rank, extra, stride, dilation)


def _transpose_convolve(rank: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
                        padding: Any, output_padding: Any, groups: int, dilation: Any) -> Tensor:
    input, unbatched = _batched(input, rank, f"conv_transpose{rank}d")
    wanted = _kernel_rank(weight)
    stride, padding, dilation, extra = [
        _spread_checked(spread(value, rank), wanted, name) for name, value in (
            ("stride", stride), ("padding", padding), ("dilation", dilation),
            ("output_padding", output_padding))]
    _check_transposed(input, weight, bias, stride, padding, extra, dilation, groups)
    space = tuple([(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, s, p, d, k, e in zip(
        input.shape[2:], stride, padding, dilation, weight.shape[2:], extra, strict=True)])
    if min(space) < 1:
        raise RuntimeError(
            f"Given input size per channel: ({_times(_as_planes(tuple(input.shape[2:])))}). "
            f"Calculated output size per channel: ({_times(_as_planes(space))}). Output size is "
            "too small")
    shape = (input.shape[0], weight.shape[1] * groups, *space)
    y = _transposed(input, weight, bias, shape, stride, padding, dilation, groups)
    return _squeeze_dim(y, 0) if unbatched else y


@composite()
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
                     padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                     dilation: Any = 1) -> Tensor:
    """The transpose of :func:`conv1d` as a map of its input."""
    return _transpose_convolve(1, input, weight, bias, stride, padding, output_padding, groups,
                               dilation)


@composite()
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
                     padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                     dilation: Any = 1) -> Tensor:
    """The transpose of :func:`conv2d` as a map of its input."""
    return _transpose_convolve(2, input, weight, bias, stride, padding, output_padding, groups,
                               dilation)


@composite()
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
                     padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                     dilation: Any = 1) -> Tensor:
    """The transpose of :func:`conv3d` as a map of its input."""
    return _transpose_convolve(3, input, weight, bias, stride, padding, output_padding, groups,
                               dilation)
