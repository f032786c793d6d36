"""Convolution layers."""

import math
from typing import Any, ClassVar

from ...core.tensor import Tensor
from .. import functional as F, init
from ..parameter import Parameter, add_parameters
from ._options import OfDims, shown_if
from .lazy import WaitsForOneSize
from .utils import tuple_of

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
           "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
           "LazyConvTranspose3d"]

Sizes = int | tuple[int, ...]
_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(OfDims):
    """What convolutions of any number of dimensions share."""

    transposed = False
    weight: Parameter
    bias: Parameter | None

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes,
                 padding: str | Sizes, dilation: Sizes, output_padding: Sizes, groups: int,
                 bias: bool, padding_mode: str, device: Any, dtype: Any) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = tuple_of(kernel_size, self.dims)
        self.stride = tuple_of(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else tuple_of(padding, self.dims)
        self.dilation = tuple_of(dilation, self.dims)
        self.output_padding = tuple_of(output_padding, self.dims)
        self.groups, self.padding_mode = groups, padding_mode
        self._check_arguments()
        add_parameters(self, self._shapes(), device, dtype, bias=bias)
        self.reset_parameters()

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        into, out = self.in_channels, self.out_channels
        channels = (into, out // self.groups) if self.transposed else (out, into // self.groups)
        return {"weight": (*channels, *self.kernel_size), "bias": (out,)}

    def _check_arguments(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if self.out_channels % self.groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {self.padding!r}, should be one of "
                                 "{'same', 'valid'}")
            if self.padding == "same" and any(step != 1 for step in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in _PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {set(_PADDING_MODES)}, "
                             f"but got padding_mode='{self.padding_mode}'")

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from ±1/√fan_in."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        shown = f"{self.in_channels}, {self.out_channels}" + shown_if(
            self, kernel_size=True, stride=True, padding=self.padding != (0,) * len(self.padding),
            dilation=self.dilation != (1,) * len(self.dilation),
            output_padding=self.output_padding != (0,) * len(self.output_padding),
            groups=self.groups != 1)
        return (shown + ", bias=False" * (self.bias is None)
                + shown_if(self, padding_mode=self.padding_mode != "zeros"))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd, function="conv"):
    """A convolution (cross-correlation) with learned kernels."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: str | Sizes = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: Any = None, dtype: Any = None) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, 0,
                         groups, bias, padding_mode, device, dtype)

    def _padding_per_side(self) -> list[int]:
        """The padding as ``F.pad`` takes it: last dimension first, both sides."""
        sides = []
        for axis in reversed(range(self.dims)):
            if self.padding == "same":
                total = self.dilation[axis] * (self.kernel_size[axis] - 1)
                sides += [total // 2, total - total // 2]
            elif self.padding == "valid":
                sides += [0, 0]
            else:
                sides += [self.padding[axis]] * 2
        return sides

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._padding_per_side(), mode=self.padding_mode)
            padding = (0,) * self.dims
        return self._function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv, dims=1):
    """Convolve (cross-correlate) a batch of sequences with learned kernels."""


class Conv2d(_Conv, dims=2):
    """Convolve (cross-correlate) a batch of images with learned kernels."""


class Conv3d(_Conv, dims=3):
    """Convolve (cross-correlate) a batch of volumes with learned kernels."""


class _ConvTranspose(_ConvNd, function="conv_transpose"):
    """The gradient of a convolution as a layer, which enlarges its input."""

    transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
                 dilation: Sizes = 1, padding_mode: str = "zeros", device: Any = None,
                 dtype: Any = None) -> None:
        if padding_mode != "zeros":
            raise ValueError('Only "zeros" padding mode is supported for '
                             f"{type(self).__name__}")
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation,
                         output_padding, groups, bias, padding_mode, device, dtype)

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """The padding that gives the output this size."""
        if output_size is None:
            return self.output_padding
        extra = input.dim() - self.dims
        if len(output_size) == extra + self.dims:
            output_size = output_size[extra:]
        if len(output_size) != self.dims:
            raise ValueError(
                f"ConvTranspose{self.dims}D: for {input.dim()}D input, output_size must have "
                f"{self.dims} or {extra + self.dims} elements (got {len(output_size)})")
        smallest = [(input.size(d + extra) - 1) * self.stride[d] - 2 * self.padding[d]
                    + self.dilation[d] * (self.kernel_size[d] - 1) + 1 for d in range(self.dims)]
        largest = [low + self.stride[d] - 1 for d, low in enumerate(smallest)]
        for size, low, high in zip(output_size, smallest, largest, strict=True):
            if not low <= size <= high:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from "
                    f"{smallest} to {largest} (for an input of {input.size()[2:]})")
        return tuple(size - low for size, low in zip(output_size, smallest, strict=True))

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        padding = self._output_padding(input, output_size)
        assert not isinstance(self.padding, str)
        return self._function(input, self.weight, self.bias, self.stride, self.padding, padding,
                              self.groups, self.dilation)


class ConvTranspose1d(_ConvTranspose, dims=1):
    """The gradient of :class:`Conv1d` as a layer."""


class ConvTranspose2d(_ConvTranspose, dims=2):
    """The gradient of :class:`Conv2d` as a layer."""


class ConvTranspose3d(_ConvTranspose, dims=3):
    """The gradient of :class:`Conv3d` as a layer."""


class _LazyConvNd(WaitsForOneSize):
    """A convolution for inputs whose number of channels the first one decides."""

    inferred = "in_channels"
    dims: ClassVar[int]

    def _size_in(self: Any, input: Tensor) -> int:
        if input.dim() not in (self.dims + 1, self.dims + 2):
            raise RuntimeError(
                f"Expected {self.dims + 1}D (unbatched) or {self.dims + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}")
        channels = input.shape[-self.dims - 1]
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        return channels


class _LazyConv(_LazyConvNd):
    def __init__(self, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: str | Sizes = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode,
                         device, dtype)
        self._wait(device, dtype, weight=True, bias=bias)
        self.out_channels = out_channels


class _LazyConvTranspose(_LazyConvNd):
    def __init__(self, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
                 dilation: Sizes = 1, padding_mode: str = "zeros", device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False,
                         dilation, padding_mode, device, dtype)
        self._wait(device, dtype, weight=True, bias=bias)
        self.out_channels = out_channels


class LazyConv1d(_LazyConv, Conv1d):
    """:class:`Conv1d` whose number of input channels the first input decides."""


class LazyConv2d(_LazyConv, Conv2d):
    """:class:`Conv2d` whose number of input channels the first input decides."""


class LazyConv3d(_LazyConv, Conv3d):
    """:class:`Conv3d` whose number of input channels the first input decides."""


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """:class:`ConvTranspose1d` whose number of input channels the first input decides."""


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """:class:`ConvTranspose2d` whose number of input channels the first input decides."""


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """:class:`ConvTranspose3d` whose number of input channels the first input decides."""
