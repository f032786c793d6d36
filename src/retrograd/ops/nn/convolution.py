"""Convolution and its transpose."""

from __future__ import annotations

from typing import Any

from ...backend import conv as conv_kernels, norm as norm_kernels
from ...base.warning import warn
from ...core.op import Array, Sizes, composite, linear, op
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import all_batched, batched, folded, merged, repeated, unfolded, unmerged
from ..checks import convolution as checks
from ..elementwise.conjugate import conj
from ..shapes.dimensions import _squeeze_dim, unsqueeze
from ..shapes.expanding import expand, sum_to_size_of
from ..shapes.reshaping import reshape
from ..shapes.slicing import _slice
from .padding import constant_pad_nd, pad
from .sizes import Ints, spread


@op(node="ConvolutionBackward0", check=checks.check_convolution, guard=checks.refuse_bool)
def _convolution(input: Array, weight: Array, bias: Array | None, stride: Any, padding: Any,
                 dilation: Any, groups: int) -> Any:
    return conv_kernels.convolve(input, weight, bias, stride, padding, dilation, groups)


@op(node="ConvolutionBackward0")
def _convolution_input(output: Array, weight: Array, shape: Any, stride: Any, padding: Any,
                       dilation: Any, groups: int) -> Any:
    return conv_kernels.convolve_input_gradient(output, weight, shape, stride, padding, dilation,
                                                groups)


@op(node="ConvolutionBackward0")
def _convolution_weight(output: Array, input: Array, shape: Any, stride: Any, padding: Any,
                        dilation: Any, groups: int) -> Any:
    return conv_kernels.convolve_weight_gradient(output, input, shape, stride, padding, dilation,
                                                 groups)


@linear(method=False, function=None, node="SumBackward1", any_dtype=True,
        vjp=lambda g, like: channels_expanded(g, like.shape))
def channel_sums(input: Array) -> Any:
    """The sum over everything but the channels."""
    return norm_kernels.channel_sums(input)


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


def _plus_bias(batch: Any, y: Any, bias: Any) -> Any:
    """``y`` (batch, samples, channels, *space) plus a number for each channel."""
    return y if bias is None else y + channel_operand(batch, "bias", bias, y)


@_convolution.batch
def _(batch: Any, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
      groups: int) -> Any:
    settings = (stride, padding, dilation)
    if not batch["weight"]:
        if not batch["input"]:
            y = repeated(batch.size, _convolution(input, weight, None, *settings, groups))
        else:
            y = unfolded(batch, _convolution(folded(input), weight, None, *settings, groups))
    elif not batch["input"] and groups == 1:
        y = unmerged(batch, _convolution(input, folded(weight), None, *settings, 1), 1)
    else:
        y = _convolution(merged(batched(batch, "input", input), 1), folded(weight), None, *settings,
                         groups * batch.size)
        y = unmerged(batch, y, 1)
    return _plus_bias(batch, y, bias)


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


@_convolution_input.batch
def _to_input(batch: Any, output: Any, weight: Any, shape: Any, stride: Any, padding: Any,
              dilation: Any, groups: int) -> Any:
    settings = (stride, padding, dilation)
    if not batch["weight"]:
        whole = (batch.size * shape[0], *shape[1:])
        return unfolded(batch, _convolution_input(folded(output), weight, whole, *settings, groups))
    whole = (shape[0], batch.size * shape[1], *shape[2:])
    found = _convolution_input(merged(batched(batch, "output", output), 1), folded(weight), whole,
                               *settings, groups * batch.size)
    return unmerged(batch, found, 1)


_convolution_weight.vjp(
    output=lambda g, input, like, stride, padding, dilation, groups: first_windows(_convolution(
        conj(input), g, None, stride, padding, dilation, groups), like.shape),
    input=lambda g, output, like, stride, padding, dilation, groups: _convolution_input(
        conj(output), g, like.shape, stride, padding, dilation, groups))


@_convolution_weight.batch
def _(batch: Any, output: Any, input: Any, shape: Any, stride: Any, padding: Any, dilation: Any,
      groups: int) -> Any:
    output, input = all_batched(batch, output=output, input=input)
    whole = (batch.size * shape[0], *shape[1:])
    found = _convolution_weight(merged(output, 1), merged(input, 1), whole, stride, padding,
                                dilation, groups * batch.size)
    return unfolded(batch, found)


@op(node="ConvolutionBackward0", guard=checks.refuse_short)
def _transposed(input: Array, weight: Array, bias: Array | None, shape: Any, stride: Any,
                padding: Any, dilation: Any, groups: int) -> Any:
    y = conv_kernels.convolve_input_gradient(input, weight, shape, stride, padding, dilation,
                                             groups)
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


@_transposed.batch
def _(batch: Any, input: Any, weight: Any, bias: Any, shape: Any, stride: Any, padding: Any,
      dilation: Any, groups: int) -> Any:
    if not (batch["input"] or batch["weight"]):
        y = repeated(batch.size, _convolution_input(input, weight, shape, stride, padding, dilation,
                                                    groups))
    else:
        own = batch.but(output=batch["input"], weight=batch["weight"])
        y = _to_input(own, input, weight, shape, stride, padding, dilation, groups)
    return _plus_bias(batch, y, bias)


def channel_operand(batch: Any, name: str, parameter: Any, like: Any) -> Any:
    """A number per channel, shaped to meet ``like`` of (batch, samples, channels, *space)."""
    shape = (batch.size, 1) if batch[name] else (1, 1)
    return reshape(parameter, (*shape, parameter.shape[-1], *(1,) * (like.ndim - 3)))


def _batched(input: Tensor, rank: int, name: str) -> tuple[Tensor, bool]:
    """``input`` with a batch dimension, and whether it had none."""
    if input.ndim == rank + 2:
        return input, False
    if input.ndim == rank + 1:
        return unsqueeze(input, 0), True
    raise RuntimeError(f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to "
                       f"{name}, but got input of size: {list(input.shape)}")


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


def _declare_convolution(rank: int, things: str) -> Any:
    @composite(name=f"conv{rank}d",
               doc=f"The cross-correlation of a batch of {things} with ``weight``.")
    def convolve(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
                 padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1) -> Tensor:
        input, unbatched = _batched(input, rank, f"conv{rank}d")
        space = checks.kernel_rank(weight)
        if isinstance(padding, str) and input.ndim != weight.ndim:
            raise RuntimeError(
                f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight"
                f"{list(weight.shape)}, but got {input.ndim}-dimensional input of size "
                f"{list(input.shape)} instead")
        stride = checks.spread_checked(spread(stride, rank), space, "stride")
        dilation = checks.spread_checked(spread(dilation, rank), space, "dilation")
        if isinstance(padding, str):
            if padding == "same":
                input, padding = _same_padding(input, tuple(weight.shape[2:]), stride, dilation)
            elif padding == "valid":
                padding = (0,) * rank
            else:
                raise RuntimeError(f"Invalid padding string: '{padding}'")
        padding = checks.spread_checked(spread(padding, rank), space, "padding")
        y = _convolution(input, weight, bias, stride, padding, dilation, groups)
        return _squeeze_dim(y, 0) if unbatched else y

    return convolve


conv1d, conv2d, conv3d = [_declare_convolution(rank, things) for rank, things in (
    (1, "signals"), (2, "images"), (3, "volumes"))]


def _declare_transpose(rank: int) -> Any:
    @composite(name=f"conv_transpose{rank}d",
               doc=f"The transpose of :func:`conv{rank}d` as a map of its input.")
    def convolve(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
                 padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1,
                 dilation: Sizes = 1) -> Tensor:
        input, unbatched = _batched(input, rank, f"conv_transpose{rank}d")
        wanted = checks.kernel_rank(weight)
        steps, sides, apart, extra = [
            checks.spread_checked(spread(value, rank), wanted, name) for name, value in (
                ("stride", stride), ("padding", padding), ("dilation", dilation),
                ("output_padding", output_padding))]
        checks.check_transposed(input, weight, bias, steps, sides, extra, apart, groups)
        space = tuple([(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, s, p, d, k, e in zip(
            input.shape[2:], steps, sides, apart, weight.shape[2:], extra, strict=True)])
        checks.need_space(tuple(input.shape[2:]), space)
        shape = (input.shape[0], weight.shape[1] * groups, *space)
        y = _transposed(input, weight, bias, shape, steps, sides, apart, groups)
        return _squeeze_dim(y, 0) if unbatched else y

    return convolve


conv_transpose1d, conv_transpose2d, conv_transpose3d = map(_declare_transpose, (1, 2, 3))


@composite(out=Out())
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """:func:`conv1d` of signals of (time, batch, channels) with kernels of (time, in, out)."""
    if input.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, "
                           "out_channels.")
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if bias.shape[0] != weight.shape[2]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    found = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return found.permute(2, 0, 1)  # type: ignore[no-any-return]


@composite(out=Out())
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes,
                dilation: Sizes, transposed: bool, output_padding: Sizes, groups: int) -> Tensor:
    """The convolution that fits the kernel's rank, or its transpose."""
    rank = weight.ndim - 2
    if not 1 <= rank <= 3:
        raise RuntimeError("weight should have at least three dimensions")
    if transposed:
        return (conv_transpose1d, conv_transpose2d, conv_transpose3d)[rank - 1](
            input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (conv1d, conv2d, conv3d)[rank - 1](input, weight, bias, stride, padding, dilation,
                                              groups)
