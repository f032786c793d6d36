"""Dropout layers."""

from ...core.tensor import Tensor
from ._options import Applying

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Applying):
    """While training, zero something with probability ``p``."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd, function="dropout"):
    """While training, zero each element with probability ``p`` and scale the rest by 1/(1-p)."""


class Dropout1d(_DropoutNd, function="dropout1d"):
    """While training, zero whole channels of sequences."""


class Dropout2d(_DropoutNd, function="dropout2d"):
    """While training, zero whole channels of images."""


class Dropout3d(_DropoutNd, function="dropout3d"):
    """While training, zero whole channels of volumes."""


class _NeverInPlace(_DropoutNd):
    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.p, self.training)


class AlphaDropout(_NeverInPlace, function="alpha_dropout"):
    """While training, drop elements in a way that keeps mean and variance of SELU units."""


class FeatureAlphaDropout(_NeverInPlace, function="feature_alpha_dropout"):
    """:class:`AlphaDropout` of whole channels."""
