"""Padding layers."""

from typing import ClassVar

from ...core.tensor import Tensor
from .. import functional as F
from ._options import OfDims
from .utils import tuple_of

__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
           "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d",
           "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
           "ZeroPad3d"]

Sizes = int | tuple[int, ...]


class _Pad(OfDims):
    """Adds to both sides of the last dimensions."""

    mode: ClassVar[str]

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = tuple_of(padding, 2 * self.dims)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPad(_Pad):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        allowed = (self.dims + 1, self.dims + 2)
        if input.dim() not in allowed:
            raise ValueError(f"expected {allowed[0]}D or {allowed[1]}D input (got {input.dim()}D "
                             "input)")
        return super().forward(input)


class CircularPad1d(_CircularPad, dims=1):
    """Goes on with the other end of a sequence."""


class CircularPad2d(_CircularPad, dims=2):
    """Goes on with the other side of an image."""


class CircularPad3d(_CircularPad, dims=3):
    """Goes on with the other side of a volume."""


class _ReflectionPad(_Pad):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPad, dims=1):
    """Mirrors a sequence at its ends."""


class ReflectionPad2d(_ReflectionPad, dims=2):
    """Mirrors an image at its borders."""


class ReflectionPad3d(_ReflectionPad, dims=3):
    """Mirrors a volume at its borders."""


class _ReplicationPad(_Pad):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPad, dims=1):
    """Repeats the values at the ends of a sequence."""


class ReplicationPad2d(_ReplicationPad, dims=2):
    """Repeats the values at the borders of an image."""


class ReplicationPad3d(_ReplicationPad, dims=3):
    """Repeats the values at the borders of a volume."""


class _ConstantPad(_Pad):
    mode = "constant"

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad, dims=1):
    """Adds one value at the ends of a sequence."""


class ConstantPad2d(_ConstantPad, dims=2):
    """Adds one value around an image."""


class ConstantPad3d(_ConstantPad, dims=3):
    """Adds one value around a volume."""


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Adds zeros at the ends of a sequence."""


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Adds zeros around an image."""


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Adds zeros around a volume."""
