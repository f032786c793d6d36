"""Pooling layers."""

from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module

Sizes = int | tuple[int, ...]


class MaxPool2d(Module):
    """The largest value of every window of the last two dimensions."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
                 dilation: Sizes = 1, return_indices: bool = False,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation,
                            ceil_mode=self.ceil_mode, return_indices=self.return_indices)

    def extra_repr(self) -> str:
        return (f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
                f"dilation={self.dilation}, ceil_mode={self.ceil_mode}")
