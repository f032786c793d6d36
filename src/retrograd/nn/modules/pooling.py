"""Pooling layers."""

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from ._options import Shown
from .module import Module
from .utils import tuple_of

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
           "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
           "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d",
           "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]

Sizes = int | tuple[int, ...]
OptionalSizes = int | None | tuple[int | None, ...]


class _MaxPool(Shown, options="kernel_size stride padding dilation ceil_mode"):
    """The largest value of every window."""

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
        return self._pool(input, self.kernel_size, self.stride, self.padding, self.dilation,
                          ceil_mode=self.ceil_mode, return_indices=self.return_indices)


class MaxPool1d(_MaxPool):
    """The largest value of every window of the last dimension."""

    _pool = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest value of every window of the last two dimensions."""

    _pool = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest value of every window of the last three dimensions."""

    _pool = staticmethod(F.max_pool3d)


class AvgPool1d(Shown, options="kernel_size stride padding"):
    """The mean of every window of the last dimension."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        super().__init__()
        self.kernel_size = tuple_of(kernel_size, 1)
        self.stride = tuple_of(kernel_size if stride is None else stride, 1)
        self.padding = tuple_of(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                            self.count_include_pad)


class _AvgPool(Shown, options="kernel_size stride padding"):
    """The mean of every window."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                          self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPool):
    """The mean of every window of the last two dimensions."""

    _pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of every window of the last three dimensions."""

    _pool = staticmethod(F.avg_pool3d)


class _LPPool(Shown, options="norm_type kernel_size stride ceil_mode"):
    """The norm of every window."""

    def __init__(self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, float(self.norm_type), self.kernel_size, self.stride,
                          self.ceil_mode)


class LPPool1d(_LPPool):
    """The norm of every window of the last dimension."""

    _pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """The norm of every window of the last two dimensions."""

    _pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """The norm of every window of the last three dimensions."""

    _pool = staticmethod(F.lp_pool3d)


class _AdaptiveAvgPool(Shown, options="output_size"):
    """Means of as many windows as are asked for."""

    def __init__(self, output_size: OptionalSizes) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means of as many windows of the last dimension as are asked for."""

    _pool = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means of as many windows of the last two dimensions as are asked for."""

    _pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means of as many windows of the last three dimensions as are asked for."""

    _pool = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPool(Shown, options="output_size"):
    """The largest values of as many windows as are asked for."""

    def __init__(self, output_size: OptionalSizes, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return self._pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest values of as many windows of the last dimension as are asked for."""

    _pool = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest values of as many windows of the last two dimensions as are asked for."""

    _pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest values of as many windows of the last three dimensions as are asked for."""

    _pool = staticmethod(F.adaptive_max_pool3d)


class _MaxUnpool(Shown, options="kernel_size stride padding"):
    """The values of a max pooling where they came from, among zeros."""

    _rank: int

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = tuple_of(kernel_size, self._rank)
        self.stride = tuple_of(kernel_size if stride is None else stride, self._rank)
        self.padding = tuple_of(padding, self._rank)

    def forward(self, input: Tensor, indices: Tensor,
                output_size: Sequence[int] | None = None) -> Tensor:
        return self._unpool(input, indices, self.kernel_size, self.stride, self.padding,
                            output_size)


class MaxUnpool1d(_MaxUnpool):
    """Undo :class:`MaxPool1d`, with its indices."""

    _rank, _unpool = 1, staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Undo :class:`MaxPool2d`, with its indices."""

    _rank, _unpool = 2, staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Undo :class:`MaxPool3d`, with its indices."""

    _rank, _unpool = 3, staticmethod(F.max_unpool3d)


class _FractionalMaxPool(Module):
    """The largest values of windows at random distances."""

    _rank: int

    def __init__(self, kernel_size: Sizes, output_size: Sizes | None = None,
                 output_ratio: float | tuple[float, ...] | None = None,
                 return_indices: bool = False, _random_samples: Tensor | None = None) -> None:
        super().__init__()
        self.kernel_size = tuple_of(kernel_size, self._rank)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else tuple_of(output_size, self._rank)
        self.output_ratio = None if output_ratio is None else tuple_of(output_ratio, self._rank)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or "
                             "a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return self._pool(input, self.kernel_size, self.output_size, self.output_ratio,
                          self.return_indices, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest values of windows at random distances in images."""

    _rank, _pool = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest values of windows at random distances in volumes."""

    _rank, _pool = 3, staticmethod(F.fractional_max_pool3d)
