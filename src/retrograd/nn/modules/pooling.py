"""Pooling layers."""

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from ._options import OfDims, Shown
from .utils import tuple_of

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
           "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
           "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d",
           "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]

Sizes = int | tuple[int, ...]
OptionalSizes = int | None | tuple[int | None, ...]


class _MaxPool(OfDims, Shown, function="max_pool",
               options="kernel_size stride padding dilation ceil_mode"):
    """The largest value of every window."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
                 dilation: Sizes = 1, return_indices: bool = False,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return self._function(input, self.kernel_size, self.stride, self.padding, self.dilation,
                              ceil_mode=self.ceil_mode, return_indices=self.return_indices)


class MaxPool1d(_MaxPool, dims=1):
    """The largest value of every window of the last dimension."""


class MaxPool2d(_MaxPool, dims=2):
    """The largest value of every window of the last two dimensions."""


class MaxPool3d(_MaxPool, dims=3):
    """The largest value of every window of the last three dimensions."""


class AvgPool1d(Shown, options="kernel_size stride padding"):
    """The mean of every window of the last dimension."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        super().__init__()
        self.kernel_size = tuple_of(kernel_size, 1)
        self.stride = tuple_of(kernel_size if stride is None else stride, 1)
        self.padding = tuple_of(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                            self.count_include_pad)


class _AvgPool(OfDims, Shown, function="avg_pool", options="kernel_size stride padding"):
    """The mean of every window."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                              self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPool, dims=2):
    """The mean of every window of the last two dimensions."""


class AvgPool3d(_AvgPool, dims=3):
    """The mean of every window of the last three dimensions."""


class _LPPool(OfDims, Shown, function="lp_pool", options="norm_type kernel_size stride ceil_mode"):
    """The norm of every window."""

    def __init__(self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, float(self.norm_type), self.kernel_size, self.stride,
                              self.ceil_mode)


class LPPool1d(_LPPool, dims=1):
    """The norm of every window of the last dimension."""


class LPPool2d(_LPPool, dims=2):
    """The norm of every window of the last two dimensions."""


class LPPool3d(_LPPool, dims=3):
    """The norm of every window of the last three dimensions."""


class _AdaptiveAvgPool(OfDims, Shown, function="adaptive_avg_pool", options="output_size"):
    """Means of as many windows as are asked for."""

    def __init__(self, output_size: OptionalSizes) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool, dims=1):
    """Means of as many windows of the last dimension as are asked for."""


class AdaptiveAvgPool2d(_AdaptiveAvgPool, dims=2):
    """Means of as many windows of the last two dimensions as are asked for."""


class AdaptiveAvgPool3d(_AdaptiveAvgPool, dims=3):
    """Means of as many windows of the last three dimensions as are asked for."""


class _AdaptiveMaxPool(OfDims, Shown, function="adaptive_max_pool", options="output_size"):
    """The largest values of as many windows as are asked for."""

    def __init__(self, output_size: OptionalSizes, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        return self._function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool, dims=1):
    """The largest values of as many windows of the last dimension as are asked for."""


class AdaptiveMaxPool2d(_AdaptiveMaxPool, dims=2):
    """The largest values of as many windows of the last two dimensions as are asked for."""


class AdaptiveMaxPool3d(_AdaptiveMaxPool, dims=3):
    """The largest values of as many windows of the last three dimensions as are asked for."""


class _MaxUnpool(OfDims, Shown, function="max_unpool", options="kernel_size stride padding"):
    """The values of a max pooling where they came from, among zeros."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = tuple_of(kernel_size, self.dims)
        self.stride = tuple_of(kernel_size if stride is None else stride, self.dims)
        self.padding = tuple_of(padding, self.dims)

    def forward(self, input: Tensor, indices: Tensor,
                output_size: Sequence[int] | None = None) -> Tensor:
        return self._function(input, indices, self.kernel_size, self.stride, self.padding,
                              output_size)


class MaxUnpool1d(_MaxUnpool, dims=1):
    """Undo :class:`MaxPool1d`, with its indices."""


class MaxUnpool2d(_MaxUnpool, dims=2):
    """Undo :class:`MaxPool2d`, with its indices."""


class MaxUnpool3d(_MaxUnpool, dims=3):
    """Undo :class:`MaxPool3d`, with its indices."""


class _FractionalMaxPool(OfDims, function="fractional_max_pool"):
    """The largest values of windows at random distances."""

    def __init__(self, kernel_size: Sizes, output_size: Sizes | None = None,
                 output_ratio: float | tuple[float, ...] | None = None,
                 return_indices: bool = False, _random_samples: Tensor | None = None) -> None:
        super().__init__()
        self.kernel_size = tuple_of(kernel_size, self.dims)
        if self.dims == 3 and min(self.kernel_size) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else tuple_of(output_size, self.dims)
        self.output_ratio = None if output_ratio is None else tuple_of(output_ratio, self.dims)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or "
                             "a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return self._function(input, self.kernel_size, self.output_size, self.output_ratio,
                              self.return_indices, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool, dims=2):
    """The largest values of windows at random distances in images."""


class FractionalMaxPool3d(_FractionalMaxPool, dims=3):
    """The largest values of windows at random distances in volumes."""
