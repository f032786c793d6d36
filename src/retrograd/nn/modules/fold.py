"""Windows of images as columns, and back."""

from ._options import Handing

__all__ = ["Fold", "Unfold"]

Sizes = int | tuple[int, ...]


class Unfold(Handing, function="unfold", options="kernel_size dilation padding stride"):
    """Lay the windows of images out as columns."""

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0,
                 stride: Sizes = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride


class Fold(Unfold, function="fold", options="output_size kernel_size dilation padding stride"):
    """Add columns of windows up to images."""

    def __init__(self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1,
                 padding: Sizes = 0, stride: Sizes = 1) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size
