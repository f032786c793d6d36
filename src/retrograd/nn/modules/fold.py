"""Windows of images as columns, and back."""

from ...core.tensor import Tensor
from .. import functional as F
from ._options import Shown

__all__ = ["Fold", "Unfold"]

Sizes = int | tuple[int, ...]


class Unfold(Shown, options="kernel_size dilation padding stride"):
    """Lay the windows of images out as columns."""

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0,
                 stride: Sizes = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Unfold, options="output_size kernel_size dilation padding stride"):
    """Add columns of windows up to images."""

    def __init__(self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1,
                 padding: Sizes = 0, stride: Sizes = 1) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding,
                      self.stride)
