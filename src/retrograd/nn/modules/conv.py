"""Convolution layers."""

import math
from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import empty_parameter
from ._sizes import pair
from .module import Module

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class Conv2d(Module):
    """Convolve (cross-correlate) a batch of images with learned kernels."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, int],
                 stride: int | tuple[int, int] = 1, padding: str | int | tuple[int, int] = 0,
                 dilation: int | tuple[int, int] = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = pair(kernel_size)
        self.stride = pair(stride)
        self.padding = padding if isinstance(padding, str) else pair(padding)
        self.dilation = pair(dilation)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check_arguments()
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = empty_parameter(shape, device, dtype)
        if bias:
            self.bias = empty_parameter(out_channels, device, dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

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

    def _padding_per_side(self) -> list[int]:
        """Return the padding as ``F.pad`` takes it: last dimension first, both sides."""
        sides = []
        for axis in reversed(range(len(self.kernel_size))):
            if self.padding == "same":
                total = self.dilation[axis] * (self.kernel_size[axis] - 1)
                sides += [total // 2, total - total // 2]
            elif self.padding == "valid":
                sides += [0, 0]
            else:
                sides += [self.padding[axis]] * 2
        return sides

    def forward(self, input: Tensor) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._padding_per_side(), mode=self.padding_mode)
            padding = (0, 0)
        return F.conv2d(input, self.weight, self.bias, self.stride, padding, self.dilation,
                        self.groups)

    def extra_repr(self) -> str:
        shown = (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
                 f"stride={self.stride}")
        if self.padding != (0,) * len(self.padding):
            shown += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            shown += f", dilation={self.dilation}"
        if self.groups != 1:
            shown += f", groups={self.groups}"
        if self.bias is None:
            shown += ", bias=False"
        if self.padding_mode != "zeros":
            shown += f", padding_mode={self.padding_mode}"
        return shown
