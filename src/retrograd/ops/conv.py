"""Convolution, pooling, padding and resampling of images, signals and volumes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from ..backend import conv as images
from ..backend import norm as norms
from ..backend import pool as pools
from ..backend import xp
from ..base import dtypes
from ..base.errors import dim_out_of_range, no_dims
from ..base.warning import warn
from ..core.op import Array, Index, composite, linear, op, publish
from ..core.tensor import PLAIN, Tensor
from .overloads import kinds, no_kernel
from .parts import _slice
from .pointwise import conj
from .product import scalar_type
from .shape import _squeeze_dim, expand, reshape, sum_to_size_of, unsqueeze

Ints = tuple[int, ...]


def spread(value: Any, rank: int) -> Ints:
    """One number for every dimension, from one number or a sequence."""
    if isinstance(value, int):
        return (value,) * rank
    found = tuple([int(v) for v in value])
    return found * rank if len(found) == 1 else found


# ---------------------------------------------------------------- convolution


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
    from .product import _SPELLED

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


# ---------------------------------------------------------------- the largest of each window


@op(method=False, function=None, node="GatherBackward0")
def _take_from_planes(input: Array, indices: Index, rank: int) -> Any:
    return pools.gather_planes(input, indices, rank)


_take_from_planes.vjp(input=lambda g, indices, rank, like: _put_in_planes(
    g, indices, like.shape[-rank:], False))


@op(method=False, function=None, node="MaxPool2DWithIndicesBackwardBackward0")
def _put_in_planes(input: Array, indices: Index, space: Any, unique: bool) -> Any:
    return pools.scatter_planes(input, indices, space, unique)


_put_in_planes.vjp(input=lambda g, indices, space: _take_from_planes(g, indices, len(space)))


@op(method=False, function=None)
def _max_positions(input: Array, kernel: Any, stride: Any, padding: Any, dilation: Any,
                   size: Any) -> Any:
    _, places = pools.max_pool_with_places(input, kernel, stride, padding, dilation, size)
    return pools.indices_of_places(places, input.shape[-len(kernel):], kernel, stride, padding,
                                   dilation, size)


@op(method=False, function=None, any_dtype=True)
def _plane_indices(input: Index, space: Any, kernel: Any, stride: Any, padding: Any, dilation: Any,
                   size: Any) -> Any:
    return pools.indices_of_places(input, space, kernel, stride, padding, dilation, size)


@op(method=False, function=None, node="MaxPool2DWithIndicesBackwardBackward0")
def _put_at_places(input: Array, places: Index, space: Any, kernel: Any, stride: Any, padding: Any,
                   dilation: Any, size: Any) -> Any:
    return pools.scatter_places(input, places, space, kernel, stride, padding, dilation, size,
                                windows_are_apart(kernel, stride, dilation))


_put_at_places.vjp(
    input=lambda g, places, space, kernel, stride, padding, dilation, size: _take_from_planes(
        g, _plane_indices(places, space, kernel, stride, padding, dilation, size), len(space)))


@_put_at_places.batch
def _(batch: Any, input: Any, places: Any, space: Any, kernel: Any, stride: Any, padding: Any,
      dilation: Any, size: Any) -> Any:
    if not batch["input"]:
        input = expand(unsqueeze(input, 0), (batch.size, *input.shape))
    indices = _plane_indices(places, space, kernel, stride, padding, dilation, size)
    return _put_in_planes(input, expand(indices, input.shape), space,
                          windows_are_apart(kernel, stride, dilation))


@lru_cache(maxsize=256)
def windows_are_apart(kernel: Any, stride: Any, dilation: Any) -> bool:
    """Whether no element lies in two windows."""
    return all(s > d * (k - 1) for k, s, d in zip(kernel, stride, dilation, strict=True))


def _declare_max_pool(rank: int, node: str) -> tuple[Any, Any]:
    """Two ops: the maxima, and the maxima with their places, which make for a quick backward."""
    def kernel(input: Array, kernel: Any, stride: Any, padding: Any, dilation: Any,
               size: Any) -> Any:
        return pools.max_pool(input, kernel, stride, padding, dilation, size)

    def with_places(input: Array, kernel: Any, stride: Any, padding: Any, dilation: Any,
                    size: Any) -> Any:
        return pools.max_pool_with_places(input, kernel, stride, padding, dilation, size)

    kernel.__name__ = f"_max_pool{rank}d"
    with_places.__name__ = f"_max_pool{rank}d_with_places"
    guard = kinds("f", "max_pool1d_impl") if rank == 1 else None
    alone = op(method=False, function=None, node=node, guard=guard)(kernel)
    alone.vjp(input=lambda g, input, kernel, stride, padding, dilation, size: _put_in_planes(
        g, _max_positions(input, kernel, stride, padding, dilation, size),
        input.shape[-len(kernel):], windows_are_apart(kernel, stride, dilation)))
    both = op(method=False, function=None, node=node, guard=guard, differentiable=(0,),
              outputs=("output", "places"))(with_places)
    both.vjp(input=lambda g, like, places, kernel, stride, padding, dilation, size: _put_at_places(
        g[0], places, like.shape[-len(kernel):], kernel, stride, padding, dilation, size))
    return alone, both


_MAX_POOL = {1: _declare_max_pool(1, "SqueezeBackward1"),
             2: _declare_max_pool(2, "MaxPool2DWithIndicesBackward0"),
             3: _declare_max_pool(3, "MaxPool3DWithIndicesBackward0")}
_TIMES = {1: "one int", 2: "two ints", 3: "three ints"}


def _pool_sizes(rank: int, name: str, **sizes: Any) -> list[Ints]:
    found = []
    for label, value in sizes.items():
        size = spread(value, rank)
        if len(size) != rank:
            raise RuntimeError(f"{name}: {label} must either be a single int, or a tuple of "
                               f"{_TIMES[rank]}")
        found.append(size)
    return found


def _each(label: str, values: Ints) -> str:
    """Numbers with the letters of their dimensions: time, height, width."""
    return " ".join([f"{label}{axis}: {n}" for axis, n in zip("THW"[-len(values):], values,
                                                              strict=True)])


def _check_windows(kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> None:
    for s, p, k, d in zip(stride, padding, kernel, dilation, strict=True):
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > int((d * (k - 1) + 1) / 2):
            raise RuntimeError("pad should be at most half of effective kernel size, but got "
                               f"pad={p}, kernel_size={k} and dilation={d}")
    for name, label, values in (("kernel size", "k", kernel), ("stride", "d", stride),
                                ("dilation", "dilation", dilation)):
        if min(values) <= 0:
            raise RuntimeError(f"{name} should be greater than zero, but got "
                               + _each(label, values))


def _check_planes(rank: int, name: str, shape: Ints) -> None:
    empty = 0 in shape[-rank - 1:]
    if rank == 2 and (empty or len(shape) not in (3, 4)):
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size "
                           f"for input, but got:{list(shape)}")
    if empty:
        title = "max_pool3d_with_indices_out_cpu_template" if "max" in name else name
        raise RuntimeError(f"{title}(): Expected input's non-batch dimensions to have positive "
                           f"length, but input has a shape of {list(shape)} and non-batch "
                           "dimension 0 has length zero!")


def _pooled_space(name: str, shape: Ints, kernel: Ints, stride: Ints, padding: Ints,
                  dilation: Ints, ceil_mode: bool) -> Ints:
    """The space of the pooled images or volumes, with everything checked."""
    rank = len(kernel)
    _check_windows(kernel, stride, padding, dilation)
    _check_planes(rank, name, shape)
    space = shape[-rank:]
    if name == "avg_pool3d" and any(n < k for n, k in zip(space, kernel, strict=True)):
        raise RuntimeError(f"input image ({_each('', space)}) smaller than kernel size "
                           f"({_each('k', kernel)})")
    out = pools.pool_space(space, kernel, stride, padding, dilation, ceil_mode)
    if any(n < 1 for n in out):
        plane = shape[-rank - 1]
        before, after = ("x".join(map(str, (plane, *sizes))) for sizes in (space, out))
        raise RuntimeError(f"Given input size: ({before}). Calculated output size: ({after}). "
                           "Output size is too small")
    return out


def _pooled_length(name: str, shape: Ints, kernel: Ints, stride: Ints, padding: Ints,
                   dilation: Ints, ceil_mode: bool) -> Ints:
    """The length of pooled signals, which are checked as images of height one."""
    if len(shape) not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor "
                           f"for argument #1 'self' (while checking arguments for {name})")
    return _pooled_space(name, (*shape[:-1], 1, shape[-1]), (1, *kernel), (1, *stride),
                         (0, *padding), (1, *dilation), ceil_mode)[1:]


def _check_max_pool1d(shape: Ints, kernel: int, stride: int, padding: int, dilation: int) -> None:
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError("max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim "
                           f"batch size for input, but got:{list(shape)}")
    for name, value in (("kernel_size", kernel), ("stride", stride)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError("max_pool1d() padding should be at most half of kernel size, but got "
                           f"padding={padding} and kernel_size={kernel}")
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")


def _max_pooled_space(name: str, shape: Ints, kernel: Ints, stride: Ints, padding: Ints,
                      dilation: Ints, ceil_mode: bool, return_indices: bool) -> Ints:
    rank = len(kernel)
    given = (kernel, stride, padding, dilation)
    if rank == 1 and return_indices:
        return _pooled_length(name, shape, *given, ceil_mode)
    if rank == 1:
        _check_max_pool1d(shape, *[value[0] for value in given])
        out = pools.pool_space(shape[-1:], *given, ceil_mode)
        if out[0] < 1:
            raise RuntimeError(f"{name}() Invalid computed output size: {out[0]}")
        return out
    _check_rank(rank, shape)
    return _pooled_space(name, shape, *given, ceil_mode)


def _check_rank(rank: int, shape: Ints) -> None:
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"non-empty {rank + 1}D or {rank + 2}D (batch mode) tensor expected for "
                           "input")


@lru_cache(maxsize=256, typed=True)
def _max_pool_plan(rank: int, shape: Ints, kernel_size: Any, stride: Any, padding: Any,
                   dilation: Any, ceil_mode: bool, return_indices: bool) -> tuple[Ints, ...]:
    """Kernel, stride, padding, dilation and output size of a call, with everything checked."""
    name = f"max_pool{rank}d"
    sizes = _pool_sizes(
        rank, name, kernel_size=kernel_size,
        stride=kernel_size if stride in (None, [], ()) else stride, padding=padding,
        dilation=dilation)
    kernel, steps, pad, dilate = sizes
    out = _max_pooled_space(name, shape, kernel, steps, pad, dilate, ceil_mode, return_indices)
    return kernel, steps, pad, dilate, out


def _max_pool(rank: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
              ceil_mode: bool, return_indices: bool) -> Any:
    given = [tuple(v) if type(v) is list else v for v in (kernel_size, stride, padding, dilation)]
    plan = _max_pool_plan(rank, tuple(input._data.shape), *given, ceil_mode, return_indices)
    alone, with_places = _MAX_POOL[rank]
    if type(input) in PLAIN and (return_indices or input._edge is not None):
        y, places = with_places(input, *plan)
        return (y, _plane_indices(places, tuple(input.shape[-rank:]), *plan)) if return_indices \
            else y
    y = alone(input, *plan)
    return (y, _max_positions(input.detach(), *plan)) if return_indices else y


@composite(function="nn.functional")
def max_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
               dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """The largest value of every window of a signal."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@composite(function="nn.functional")
def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
               dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """The largest value of every window of an image."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@composite(function="nn.functional")
def max_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
               dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """The largest value of every window of a volume."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


for _pool in (max_pool1d, max_pool2d, max_pool3d):
    publish(_pool, _pool.__name__, method=False)


# ---------------------------------------------------------------- the mean of each window


@linear(method=False, function=None)
def _spread_average(input: Array, space: Any, kernel: Any, stride: Any, padding: Any,
                    include_pad: bool, divisor: Any) -> Any:
    return pools.average_pool_gradient(input, space, kernel, stride, padding, include_pad, divisor)


def _floats_and_longs(kernel: str) -> Any:
    def guard(given: dict[str, Any], common: dtypes.dtype) -> None:
        if not common.is_floating_point and common is not dtypes.int64:
            raise no_kernel(kernel, common)

    return guard


def _declare_average_pool(rank: int, node: str) -> Any:
    def kernel(input: Array, size: Any, kernel: Any, stride: Any, padding: Any, include_pad: bool,
               divisor: Any) -> Any:
        return pools.average_pool(input, kernel, stride, padding, size, include_pad, divisor)

    kernel.__name__ = f"_average_pool{rank}d"
    made = linear(method=False, function=None, node=node, guard=_floats_and_longs(
        "avg_pool3d_out_frame" if rank == 3 else "avg_pool2d"))(kernel)
    made.vjp(input=lambda g, like, kernel, stride, padding, include_pad, divisor: _spread_average(
        g, like.shape[-len(kernel):], kernel, stride, padding, include_pad, divisor))
    return made


_AVERAGE_POOL = {1: _declare_average_pool(1, "SqueezeBackward1"),
                 2: _declare_average_pool(2, "AvgPool2DBackward0"),
                 3: _declare_average_pool(3, "AvgPool3DBackward0")}
_average_windows = _AVERAGE_POOL[2]
_spread_average.vjp(input=lambda g, like, kernel, stride, padding, include_pad, divisor:
                    _average_windows(g, like.shape[-len(kernel):], kernel, stride, padding,
                                     include_pad, divisor))


@lru_cache(maxsize=256, typed=True)
def _avg_pool_plan(rank: int, shape: Ints, kernel_size: Any, stride: Any, padding: Any,
                   ceil_mode: bool) -> tuple[Ints, ...]:
    """Output size, kernel, stride and padding of a call, with everything checked."""
    name = f"avg_pool{rank}d"
    kernel, steps, pad = _pool_sizes(
        rank, name, kernel_size=kernel_size,
        stride=kernel_size if stride in (None, [], ()) else stride, padding=padding)
    if rank == 2 and not shape:
        raise no_dims(-3)
    if rank == 2 and len(shape) < 3:
        raise dim_out_of_range(-3, len(shape))
    if rank == 3:
        _check_rank(rank, shape)
    measure = _pooled_length if rank == 1 else _pooled_space
    return measure(name, shape, kernel, steps, pad, (1,) * rank, ceil_mode), kernel, steps, pad


def _avg_pool(rank: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any,
              ceil_mode: bool, count_include_pad: bool, divisor_override: int | None) -> Tensor:
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    given = [tuple(v) if type(v) is list else v for v in (kernel_size, stride, padding)]
    plan = _avg_pool_plan(rank, tuple(input._data.shape), *given, ceil_mode)
    return _AVERAGE_POOL[rank](input, *plan, count_include_pad, divisor_override)


@composite()
def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
               ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """The mean of every window of a signal."""
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@composite(function="nn.functional")
def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
               ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None) -> Tensor:
    """The mean of every window of an image."""
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                     divisor_override)


@composite(function="nn.functional")
def avg_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
               ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None) -> Tensor:
    """The mean of every window of a volume."""
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                     divisor_override)


# ---------------------------------------------------------------- copies and mixtures along axes


@linear(method=False, function=None)
def _spread_axes(input: Array, recipe: Any, sizes: Any) -> Any:
    return images.spread_axes(input, recipe, sizes)


def _declare_taking(name: str, node: str, guard: Any = None) -> Any:
    """An op that copies positions along axes; variants differ in the name of their node."""
    def kernel(input: Array, recipe: Any) -> Any:
        return images.take_axes(input, recipe)

    kernel.__name__ = name
    made = linear(method=False, function=None, node=node, guard=guard)(kernel)
    made.vjp(input=lambda g, like, recipe: _spread_axes(g, recipe, like.shape))
    return made


_take_axes = _declare_taking("_take_axes", "IndexSelectBackward0")
_spread_axes.vjp(input=lambda g, recipe: _take_axes(g, recipe))


@linear(method=False, function=None, node="MmBackward0")
def _multiply_axes(input: Array, recipe: Any, transposed: bool) -> Any:
    return images.multiply_axes(input, recipe, transposed)


_multiply_axes.vjp(input=lambda g, recipe, transposed: _multiply_axes(g, recipe, not transposed))


def _declare_mixing(name: str, node: str, lacking: str) -> Any:
    """An op that multiplies matrices onto axes; variants differ in the name of their node."""
    def kernel(input: Array, recipe: Any) -> Any:
        return images.multiply_axes(input, recipe, False)

    kernel.__name__ = name
    made = linear(method=False, function=None, node=node, guard=kinds("f", lacking))(kernel)
    made.vjp(input=lambda g, recipe: _multiply_axes(g, recipe, True))
    return made


# ---------------------------------------------------------------- adaptive pooling

_ADAPTIVE = {
    1: _declare_mixing("_adaptive_average1d", "SqueezeBackward1", "adaptive_avg_pool2d"),
    2: _declare_mixing("_adaptive_average2d", "AdaptiveAvgPool2DBackward0", "adaptive_avg_pool2d"),
    3: _declare_mixing("_adaptive_average3d", "AdaptiveAvgPool3DBackward0",
                       "adaptive_avg_pool3d_cpu")}


def _target_size(rank: int, name: str, input: Tensor, output_size: Any) -> Ints:
    wanted = (output_size,) * rank if output_size is None or isinstance(output_size, int) \
        else tuple(output_size)
    space = input.shape[-rank:]
    if len(wanted) != rank:
        raise RuntimeError(_wrong_length(rank, name, len(wanted)))
    out = tuple([space[i] if n is None else int(n) for i, n in enumerate(wanted)])
    if any(n < 0 for n in out):
        raise RuntimeError(_negative_size(rank, name, input, out))
    return out


def _wrong_length(rank: int, name: str, length: int) -> str:
    if rank == 1:
        return f"{name}() argument 'output_size' should contain one int (got {length})"
    if "avg" in name:
        return f"{name}: output_size must be {rank}"
    return f"{name}(): internal error: output_size.size() must be {rank}"


def _negative_size(rank: int, name: str, input: Tensor, out: Ints) -> str:
    planes = (1, *out) if rank == 1 else out
    if "avg" in name:
        # The last comma has no space after it in three dimensions.
        shown = f"{planes[0]}, " + ",".join([str(n) for n in planes[1:]])
        return (f"{name.replace('1d', '2d')}: elements of output_size must be greater than or "
                f"equal to 0 but received {{{shown}}}")
    whole = [*input.shape[:-rank], *planes]
    return (f"Trying to create tensor with negative dimension {min(planes)}: {whole}")


def _refuse_empty_planes(rank: int, name: str, shape: Ints) -> None:
    first = 1
    if "avg" in name and rank < 3:
        # A signal is averaged as an image of height one.
        shape, name = (*shape[:-rank], *_as_planes(shape[-rank:])), "adaptive_avg_pool2d"
        first = len(shape) - 2
    if 0 in shape[first:]:
        raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch "
                           f"dimensions, but input has sizes {list(shape)} with dimension "
                           f"{shape.index(0, first)} being empty")


def _check_target(rank: int, name: str, input: Tensor, output_size: Any) -> None:
    if rank == 1:
        if isinstance(output_size, (list, tuple)) and None in output_size:
            raise TypeError(f"{name}(): argument 'output_size' (position 2) must be tuple of ints, "
                            "but found element of type NoneType at pos 0")
        if input.ndim not in (2, 3):
            raise RuntimeError(f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional "
                               "tensor for argument #1 'self' (while checking arguments for "
                               f"{name})")
    elif not isinstance(output_size, int) and input.ndim <= rank:
        raise ValueError(f"Input dimension should be at least {rank + 1}")


def _check_adaptive(rank: int, name: str, input: Tensor) -> None:
    if input.ndim not in (rank + 1, rank + 2):
        colon = ":" if "max" in name else ""
        raise RuntimeError(f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got{colon} "
                           f"{list(input.shape)}")
    _refuse_empty_planes(rank, name, tuple(input.shape))


def _adaptive_avg_pool(rank: int, input: Tensor, output_size: Any) -> Tensor:
    from .reduce import mean

    name = f"adaptive_avg_pool{rank}d"
    _check_target(rank, name, input, output_size)
    out = _target_size(rank, name, input, output_size)
    if all(n == 1 for n in out):
        return mean(input, tuple(range(-1, -rank - 1, -1)), keepdim=True)
    _check_adaptive(rank, name, input)
    dtype = xp.FLOAT64 if input._data.dtype == xp.FLOAT64 else xp.FLOAT32
    recipe = tuple([(i - rank, pools.adaptive_matrix(n, m, dtype))
                    for i, (n, m) in enumerate(zip(input.shape[-rank:], out, strict=True))])
    return _ADAPTIVE[rank](input, recipe)


@composite()
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` nearly equal parts of a signal."""
    return _adaptive_avg_pool(1, input, output_size)


@composite(function="nn.functional")
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means of a grid of ``output_size`` nearly equal parts of an image."""
    return _adaptive_avg_pool(2, input, output_size)


@composite(function="nn.functional")
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of a grid of ``output_size`` nearly equal parts of a volume."""
    return _adaptive_avg_pool(3, input, output_size)


@op(method=False, function=None)
def _adaptive_positions(input: Array, size: Any) -> Any:
    return pools.adaptive_max_indices(input, size)


def _declare_adaptive_max(rank: int, node: str) -> Any:
    def kernel(input: Array, size: Any) -> Any:
        return pools.gather_planes(input, pools.adaptive_max_indices(input, size), rank)

    kernel.__name__ = f"_adaptive_max{rank}d"
    guard = kinds("f", "adaptive_max_pool3d_cpu" if rank == 3 else "adaptive_max_pool2d")
    made = op(method=False, function=None, node=node, guard=guard)(kernel)
    made.vjp(input=lambda g, input, size: _put_in_planes(
        g, _adaptive_positions(input, size), input.shape[-len(size):], False))
    return made


_ADAPTIVE_MAX = {1: _declare_adaptive_max(1, "SqueezeBackward1"),
                 2: _declare_adaptive_max(2, "AdaptiveMaxPool2DBackward0"),
                 3: _declare_adaptive_max(3, "AdaptiveMaxPool3DBackward0")}


def _adaptive_max_pool(rank: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    name = f"adaptive_max_pool{rank}d"
    _check_target(rank, name, input, output_size)
    _check_adaptive(rank, name, input)
    out = _target_size(rank, name, input, output_size)
    y = _ADAPTIVE_MAX[rank](input, out)
    return (y, _adaptive_positions(input.detach(), out)) if return_indices else y


@composite(function="nn.functional")
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of ``output_size`` nearly equal parts of a signal."""
    return _adaptive_max_pool(1, input, output_size, return_indices)


@composite(function="nn.functional")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of a grid of ``output_size`` nearly equal parts of an image."""
    return _adaptive_max_pool(2, input, output_size, return_indices)


@composite(function="nn.functional")
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of a grid of ``output_size`` nearly equal parts of a volume."""
    return _adaptive_max_pool(3, input, output_size, return_indices)


# ---------------------------------------------------------------- windows as columns


@linear(method=False, function=None, node="Im2ColBackward0", guard=kinds("fc", "im2col_out_cpu"))
def _im2col(input: Array, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    out = images.output_space(input.shape[-2:], kernel, stride, padding, dilation)
    *lead, channels, height, width = input.shape
    whole = images.padded(input.reshape(-1, channels, height, width), padding)
    view = images.windows(whole, kernel, stride, dilation, out)
    return view.reshape(*lead, channels * math.prod(kernel), math.prod(out))


@linear(method=False, function=None, node="Col2ImBackward0", guard=kinds("fc", "col2im_out_cpu"))
def _col2im(input: Array, space: Any, kernel: Any, dilation: Any, padding: Any,
            stride: Any) -> Any:
    out = images.output_space(space, kernel, stride, padding, dilation)
    channels = input.shape[-2] // math.prod(kernel)
    parts = input.reshape(-1, channels, *kernel, *out)
    padded = tuple(n + 2 * p for n, p in zip(space, padding, strict=True))
    whole = xp.zeros((parts.shape[0], channels, *padded), input.dtype)
    images.add_windows(parts, whole, stride, dilation)
    return whole[images.inner_part(padding, space)].reshape(*input.shape[:-2], channels, *space)


_im2col.vjp(input=lambda g, like, kernel, dilation, padding, stride: _col2im(
    g, like.shape[-2:], kernel, dilation, padding, stride))
_col2im.vjp(input=lambda g, kernel, dilation, padding, stride: _im2col(
    g, kernel, dilation, padding, stride))


def _check_blocks(kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> None:
    for name, label, sizes in (
            ("kernel size", "kernel", kernel), ("dilation", "dilation", dilation),
            ("padding", "pad", padding), ("stride", "stride", stride)):
        needed = "non-negative" if name == "padding" else "greater than zero"
        if min(sizes) < (name != "padding"):
            raise RuntimeError(f"{name} should be {needed}, but got {label}_height: {sizes[0]} "
                               f"{label}_width: {sizes[1]}")


def _check_planes_to_unfold(shape: Ints, kernel: Ints, dilation: Ints, padding: Ints,
                            stride: Ints) -> None:
    rank = len(shape)
    if not rank:
        raise no_dims(-1)
    if rank == 1:
        raise dim_out_of_range(-2, rank)
    _check_blocks(kernel, dilation, padding, stride)
    if rank == 2 and shape[1]:
        raise dim_out_of_range(2, rank)
    if rank not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and "
                           f"other non-zero dimensions for input, but got: {list(shape)}")


@composite(function="nn.functional")
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
           stride: Any = 1) -> Tensor:
    """Every window of a batch of images as a column."""
    kernel, dilate = spread(kernel_size, 2), spread(dilation, 2)
    pad, steps = spread(padding, 2), spread(stride, 2)
    _check_planes_to_unfold(tuple(input.shape), kernel, dilate, pad, steps)
    out = images.output_space(input.shape[-2:], kernel, steps, pad, dilate)
    if min(out) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(input.shape[-2:])}, kernel_size={kernel}, "
            f"dilation={dilate}, padding={pad}, calculated shape of the array of sliding blocks "
            f"as {out}, but its components must be at least one.")
    return _im2col(input, kernel, dilate, pad, steps)


@composite(function="nn.functional")
def fold(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
         stride: Any = 1) -> Tensor:
    """Add columns up into images, each where :func:`unfold` would take it from."""
    kernel, dilate = spread(kernel_size, 2), spread(dilation, 2)
    pad, steps, space = spread(padding, 2), spread(stride, 2), spread(output_size, 2)
    if len(space) != 2:
        raise RuntimeError(f"It is expected output_size equals to 2, but got size {len(space)}")
    _check_blocks(kernel, dilate, pad, steps)
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch "
                           "size and non-zero dimensions for input, but got: "
                           f"{list(input.shape)}")
    rows, count = input.shape[-2:]
    if rows % math.prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={rows} and kernel_size={kernel}.")
    out = images.output_space(space, kernel, steps, pad, dilate)
    if count != math.prod(out):
        raise RuntimeError(
            f"Given output_size={space}, kernel_size={kernel}, dilation={dilate}, padding={pad}, "
            f"stride={steps}, expected size of input's dimension 2 to match the calculated number "
            f"of sliding blocks {' * '.join(map(str, out))} = {math.prod(out)}, but got "
            f"input.size(2)={count}.")
    return _col2im(input, space, kernel, dilate, pad, steps)


# ---------------------------------------------------------------- padding


def _check_sides(shape: Ints, pad: Any) -> None:
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * len(shape):
        raise RuntimeError("Length of pad should be no more than twice the number of dimensions of "
                           f"the input. Pad length is {len(pad)}while the input has {len(shape)}"
                           "dimensions.")
    for i in range(len(pad) // 2):
        n, before, after = shape[-1 - i], pad[2 * i], pad[2 * i + 1]
        if min(n + before, n + after, n + before + after) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")


@op(method=False)
def constant_pad_nd(input: Array, pad: Any, value: Any = 0) -> Any:
    """``input`` with ``value`` around it; a negative ``pad`` cuts off."""
    _check_sides(input.shape, pad)
    return images.padded_by(input, pad, value)


constant_pad_nd.vjp(input=lambda g, pad: constant_pad_nd(g, negated(pad)))
constant_pad_nd.jvp(input=lambda tangent, pad: constant_pad_nd(tangent, pad))


def negated(numbers: Any) -> Ints:
    return tuple([-n for n in numbers])


_PADDING = {("reflect", 1): "ReflectionPad1DBackward0", ("reflect", 2): "ReflectionPad2DBackward0",
            ("reflect", 3): "ReflectionPad3DBackward0",
            ("replicate", 1): "ReplicationPad1DBackward0",
            ("replicate", 2): "ReplicationPad2DBackward0",
            ("replicate", 3): "ReplicationPad3DBackward0",
            ("circular", 1): "CopySlices", ("circular", 2): "CopySlices",
            ("circular", 3): "CopySlices"}
_PAD = {key: _declare_taking(f"_pad_{key[0]}{key[1]}d", node) for key, node in _PADDING.items()}


def _check_pad(input: Tensor, pad: Ints, mode: str) -> None:
    rank = len(pad) // 2
    if input.ndim not in (rank + 1, rank + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)")
    if mode != "circular" and 0 in input.shape[-rank - 1:]:
        raise RuntimeError(f"Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with possibly "
                           "0 batch size and other non-zero dimensions for input, but got: "
                           f"{list(input.shape)}")
    for i in range(rank):
        axis = input.ndim - 1 - i
        n, before, after = input.shape[axis], pad[2 * i], pad[2 * i + 1]
        if mode == "reflect" and (before >= n or after >= n):
            raise RuntimeError(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({before}, {after}) at dimension {axis} of input "
                f"{list(input.shape)}")
        if mode == "circular" and (before > n or after > n):
            raise RuntimeError("Padding value causes wrapping around more than once.")
    if min(pad) < 0:
        _check_cut(tuple(input.shape), pad, mode)


def _check_cut(shape: Ints, pad: Ints, mode: str) -> None:
    """Negative padding must leave something."""
    rank = len(pad) // 2
    space, cuts = shape[-rank:], list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    out = tuple([n + before + after for n, (before, after) in zip(space, cuts, strict=True)])
    if mode == "circular":
        kept = [n + min(before, 0) + min(after, 0)
                for n, (before, after) in zip(space, cuts, strict=True)]
        # Of a dimension of which nothing is kept nothing can come round.
        if min(out) < 0 or any(k <= 0 < n for k, n in zip(kept, out, strict=True)):
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        return
    axes = "DHW"[-rank:]
    if max(out) < 1:
        before = ", ".join([f"{axis}: {n}" for axis, n in zip(axes, space, strict=True)])
        before = before.replace(", H", " H")
        after = " ".join([f"{axis}: {n}" for axis, n in zip(axes, out, strict=True)])
        # Only images that are replicated have a space before the bracket.
        gap = " " if mode == "replicate" and rank == 2 else ""
        raise RuntimeError(f"input ({before}{gap}) is too small. Calculated output {after}")
    if min(out) < 0:
        raise RuntimeError("Trying to create tensor with negative dimension "
                           f"{min(out)}: {[*shape[:-rank], *out]}")


@composite(function="nn.functional")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """``input`` with its last dimensions lengthened (last one first, both sides)."""
    sides = tuple([int(n) for n in pad])
    if len(sides) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(sides) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(sides)} and input of dimension {input.ndim}")
    if mode == "constant":
        return constant_pad_nd(input, sides, 0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    _check_pad(input, sides, mode)
    recipe = tuple([(input.ndim - 1 - i, images.take_sides(
        sides[2 * i], sides[2 * i + 1], input.shape[input.ndim - 1 - i], mode))
        for i in range(len(sides) // 2)])
    return _PAD[mode, len(sides) // 2](input, recipe)


# ---------------------------------------------------------------- resampling


def _floats_and_bytes(given: dict[str, Any], common: dtypes.dtype) -> None:
    if not common.is_floating_point and common is not dtypes.uint8:
        two = given["input"].ndim == 4
        raise no_kernel("upsample_nearest2d_channels_last" if two
                        else "compute_indices_weights_nearest", common)


_NEAREST = {rank: _declare_taking(f"_upsample_nearest{rank}d", f"UpsampleNearest{rank}DBackward0",
                                  _floats_and_bytes) for rank in (1, 2, 3)}
_NEAREST_EXACT = {rank: _declare_taking(f"_upsample_nearest_exact{rank}d",
                                        f"UpsampleNearestExact{rank}DBackward0",
                                        _floats_and_bytes) for rank in (1, 2, 3)}
_SMOOTH = {(mode, rank): _declare_mixing(
    f"_upsample_{mode}{rank}d", f"Upsample{mode.capitalize()}{rank}DBackward0",
    f"compute_indices_weights_{'cubic' if mode == 'bicubic' else 'linear'}")
    for mode, rank in (("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3))}


def _resampled_size(input: Tensor, size: Any, scale_factor: Any,
                    recompute: bool | None) -> tuple[Ints, list[float | None]]:
    """The output size, and the scale along each dimension where it is to be used as given."""
    rank = input.ndim - 2
    space = tuple(input.shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        several = isinstance(size, (tuple, list))
        given = tuple(size) if several else (size,) * rank
        if several and len(given) != rank:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(space)} and output size of {size}. Please "
                "provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, "
                "...,oK) format.")
        return given, [None] * rank
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    several = isinstance(scale_factor, (tuple, list))
    scales = tuple(scale_factor) if several else (scale_factor,) * rank
    if several and len(scales) != rank:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got "
            f"input with spatial dimensions of {list(space)} and scale_factor of shape "
            f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format.")
    out = tuple([math.floor(n * float(s)) for n, s in zip(space, scales, strict=True)])
    return out, [None if recompute else float(s) for s in scales]


def _check_resampling(shape: Ints, out: Ints) -> None:
    space = shape[2:]
    if min(space) < 1 or min(out) < 1:
        axes = "DHW"[-len(space):]
        before, after = (", ".join([f"{axis}: {n}" for axis, n in zip(axes, sizes, strict=True)])
                         for sizes in (space, out))
        link = "and output" if len(space) == 1 else "output"
        raise RuntimeError("Input and output sizes should be greater than 0, but got input "
                           f"({before}) {link} ({after})")
    if not shape[1]:
        raise RuntimeError(f"Non-empty {len(shape)}D data tensor expected but got a tensor with "
                           f"sizes {list(shape)}")


@composite(function="nn.functional")
def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
                antialias: bool = False) -> Tensor:
    """``input`` resampled to another size."""
    if antialias:
        raise NotImplementedError("interpolate has no antialiasing")
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError("align_corners option can only be set with the interpolating modes: "
                         "linear | bilinear | bicubic | trilinear")
    rank = input.ndim - 2
    out, scales = _resampled_size(input, size, scale_factor, recompute_scale_factor)
    known = ("nearest", "area", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear")
    if rank not in (1, 2, 3) or mode not in known or (mode == "bicubic" and rank != 2):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the "
            "modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area | "
            f"nearest-exact (got {mode})")
    space = tuple(input.shape[2:])
    if mode == "area":
        return _adaptive_avg_pool(rank, input, out)
    if (mode, rank) not in _SMOOTH and not mode.startswith("nearest"):
        needed = {"linear": 3, "bilinear": 4, "trilinear": 5}[mode]
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {needed}D input")
    if min(out) < 1 or not input.numel():
        _check_resampling(tuple(input.shape), out)
    if mode in ("nearest", "nearest-exact"):
        exact = mode == "nearest-exact"
        indexes = tuple([(2 + i, images.nearest_index(n, m, s, exact))
                         for i, (n, m, s) in enumerate(zip(space, out, scales, strict=True))])
        return (_NEAREST_EXACT if exact else _NEAREST)[rank](input, indexes)
    dtype = xp.FLOAT64 if input._data.dtype == xp.FLOAT64 else xp.FLOAT32
    mixtures = tuple([(2 + i, images.interpolation_matrix(
        n, m, bool(align_corners), s, dtype, mode == "bicubic"))
        for i, (n, m, s) in enumerate(zip(space, out, scales, strict=True))])
    return _SMOOTH[mode, rank](input, mixtures)


@composite(function="nn.functional")
def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
             align_corners: bool | None = None) -> Tensor:
    """:func:`interpolate` under its older name."""
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def _check_shuffle(name: str, factor_name: str, rank: int, factor: int) -> None:
    if rank < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input "
                           f"with {rank} dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {factor_name}, but got {factor}")


@linear(method=False)
def pixel_shuffle(input: Array, upscale_factor: int) -> Any:
    """Channels rearranged into blocks of ``upscale_factor`` squared pixels."""
    r = upscale_factor
    _check_shuffle("pixel_shuffle", "upscale_factor", input.ndim, r)
    *lead, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}")
    n = len(lead)
    parts = input.reshape(*lead, channels // (r * r), r, r, height, width)
    moved = parts.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return moved.reshape(*lead, channels // (r * r), height * r, width * r)


@linear(method=False)
def pixel_unshuffle(input: Array, downscale_factor: int) -> Any:
    """Blocks of pixels rearranged into channels: undoes :func:`pixel_shuffle`."""
    r = downscale_factor
    _check_shuffle("pixel_unshuffle", "downscale_factor", input.ndim, r)
    *lead, channels, height, width = input.shape
    if height % r or width % r:
        axis, n = ("height", height) if height % r else ("width", width)
        raise RuntimeError(f"pixel_unshuffle expects {axis} to be divisible by downscale_factor, "
                           f"but input.size({-2 if axis == 'height' else -1})={n} is not "
                           f"divisible by {r}")
    n = len(lead)
    parts = input.reshape(*lead, channels, height // r, r, width // r, r)
    moved = parts.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return moved.reshape(*lead, channels * r * r, height // r, width // r)


pixel_shuffle.vjp(input=lambda g, upscale_factor: pixel_unshuffle(g, upscale_factor))
pixel_unshuffle.vjp(input=lambda g, downscale_factor: pixel_shuffle(g, downscale_factor))
