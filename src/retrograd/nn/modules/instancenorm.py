"""Normalisation of each sample by itself."""

from typing import Any, ClassVar

from ...base.warning import warn
from ...core.tensor import Tensor
from .. import functional as F
from .batchnorm import _NormBase, check_rank


class _InstanceNorm(_NormBase):
    """Normalises each channel of each sample by itself."""

    dims: ClassVar[int]

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
                 affine: bool = False, track_running_stats: bool = False, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        check_rank(input, (self.dims + 1, self.dims + 2))

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channels = input.dim() - self.dims - 1
        if input.size(channels) != self.num_features:
            self._refuse_channels(input.size(channels))
        if input.dim() == self.dims + 1:  # one sample
            return self._normalised(input.unsqueeze(0)).squeeze(0)
        return self._normalised(input)

    def _refuse_channels(self, count: int) -> None:
        if self.affine:
            raise ValueError(f"expected input's size at dim=1 to match num_features "
                             f"({self.num_features}), but got: {count}.")
        warn("input's size at dim=1 does not match num_features. You can silence this warning by "
             "not passing in num_features, which is not used because affine=False")

    def _normalised(self, input: Tensor) -> Tensor:
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               0.0 if self.momentum is None else self.momentum, self.eps)


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sequence."""

    dims = 1


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each image."""

    dims = 2


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each volume."""

    dims = 3
