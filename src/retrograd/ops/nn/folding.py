"""Windows as columns: unfold and fold."""

from __future__ import annotations

import math
from typing import Any

from ...backend import conv as conv_kernels, xp
from ...core.op import Array, Sizes, composite, linear
from ...core.tensor import Tensor
from ..checks.common import kinds
from ..checks.images import check_blocks, check_planes_to_unfold
from .sizes import Ints, is_whole, spread


@linear(node="Im2ColBackward0", guard=kinds("bfc", "im2col_out_cpu"), batches="leading",
        vjp=lambda g, like, kernel, dilation, padding, stride:
        _col2im(g, like.shape[-2:], kernel, dilation, padding, stride))
def _im2col(input: Array, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    out = conv_kernels.output_space(input.shape[-2:], kernel, stride, padding, dilation)
    *lead, channels, height, width = input.shape
    whole = conv_kernels.padded(input.reshape(-1, channels, height, width), padding)
    view = conv_kernels.windows(whole, kernel, stride, dilation, out)
    return view.reshape(*lead, channels * math.prod(kernel), math.prod(out))


@linear(node="Col2ImBackward0", guard=kinds("fc", "col2im_out_cpu"), batches="leading",
        vjp=lambda g, kernel, dilation, padding, stride:
        _im2col(g, kernel, dilation, padding, stride))
def _col2im(input: Array, space: Any, kernel: Any, dilation: Any, padding: Any,
            stride: Any) -> Any:
    out = conv_kernels.output_space(space, kernel, stride, padding, dilation)
    channels = input.shape[-2] // math.prod(kernel)
    parts = input.reshape(-1, channels, *kernel, *out)
    padded = tuple(n + 2 * p for n, p in zip(space, padding, strict=True))
    whole = xp.zeros((parts.shape[0], channels, *padded), input.dtype)
    conv_kernels.add_windows(parts, whole, stride, dilation)
    return whole[conv_kernels.inner_part(padding, space)].reshape(
        *input.shape[:-2], channels, *space)


def _pairs(*sizes: Any, **named: Any) -> list[Ints]:
    """Each size for both dimensions of an image."""
    found = named or dict(zip(("kernel_size", "dilation", "padding", "stride"), sizes, strict=True))
    for name, value in found.items():
        if not is_whole(value) and len(value) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(value)}")
    return [spread(value, 2) for value in found.values()]


@composite(function="nn.functional")
def unfold(input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0,
           stride: Sizes = 1) -> Tensor:
    """Every window of a batch of images as a column."""
    kernel, dilate, pad, steps = _pairs(kernel_size, dilation, padding, stride)
    check_planes_to_unfold(tuple(input.shape), kernel, dilate, pad, steps)
    out = conv_kernels.output_space(input.shape[-2:], kernel, steps, pad, dilate)
    if min(out) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(input.shape[-2:])}, kernel_size={kernel}, "
            f"dilation={dilate}, padding={pad}, calculated shape of the array of sliding blocks "
            f"as {out}, but its components must be at least one.")
    return _im2col(input, kernel, dilate, pad, steps)


@composite(function="nn.functional")
def fold(input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1,
         padding: Sizes = 0, stride: Sizes = 1) -> Tensor:
    """Add columns up into images, each where :func:`unfold` would take it from."""
    (space,) = _pairs(output_size=output_size)
    kernel, dilate, pad, steps = _pairs(kernel_size, dilation, padding, stride)
    check_blocks(kernel, dilate, pad, steps)
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch "
                           "size and non-zero dimensions for input, but got: "
                           f"{list(input.shape)}")
    rows, count = input.shape[-2:]
    if rows % math.prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={rows} and kernel_size={kernel}.")
    out = conv_kernels.output_space(space, kernel, steps, pad, dilate)
    if count != math.prod(out):
        raise RuntimeError(
            f"Given output_size={space}, kernel_size={kernel}, dilation={dilate}, padding={pad}, "
            f"stride={steps}, expected size of input's dimension 2 to match the calculated number "
            f"of sliding blocks {' * '.join(map(str, out))} = {math.prod(out)}, but got "
            f"input.size(2)={count}.")
    return _col2im(input, space, kernel, dilate, pad, steps)
