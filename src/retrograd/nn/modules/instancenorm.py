"""Normalisation of each sample by itself."""

from typing import Any

from ...base.warning import warn
from ...core.tensor import Tensor
from .. import functional as F
from .batchnorm import _LazyNorm, _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d",
           "LazyInstanceNorm2d", "LazyInstanceNorm3d"]


class _InstanceNorm(_NormBase):
    """Normalises each channel of each sample by itself."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
                 affine: bool = False, track_running_stats: bool = False, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        unbatched = input.dim() == self.ranks[0]
        channels = 0 if unbatched else 1
        if input.size(channels) != self.num_features:
            self._refuse_channels(channels, input.size(channels))
        if unbatched:
            return self._normalised(input.unsqueeze(0)).squeeze(0)
        return self._normalised(input)

    def _refuse_channels(self, dim: int, count: int) -> None:
        if self.affine:
            raise ValueError(f"expected input's size at dim={dim} to match num_features "
                             f"({self.num_features}), but got: {count}.")
        warn(f"input's size at dim={dim} does not match num_features. You can silence this warning "
             "by not passing in num_features, which is not used because affine=False")

    def _normalised(self, input: Tensor) -> Tensor:
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               0.0 if self.momentum is None else self.momentum, self.eps)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str,
                              local_metadata: dict[str, Any], strict: bool,
                              missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:
        if local_metadata.get("version") is None and not self.track_running_stats:
            found = [key for name in ("running_mean", "running_var")
                     if (key := prefix + name) in state_dict]
            if found:
                error_msgs.append(self._unexpected_statistics(found))
                for key in found:
                    del state_dict[key]
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys,
                                      unexpected_keys, error_msgs)

    def _unexpected_statistics(self, keys: list[str]) -> str:
        kind = type(self).__name__
        names = " and ".join(f'"{key}"' for key in keys)
        return (f"Unexpected running stats buffer(s) {names} for {kind} with "
                "track_running_stats=False. If state_dict is a checkpoint saved before 0.4.0, this "
                f"may be expected because {kind} does not track running stats by default since "
                "0.4.0. Please remove these keys from state_dict. If the running stats are "
                f"actually needed, instead set track_running_stats=True in {kind} to enable them. "
                f"See the documentation of {kind} for details.")


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sequence."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each image."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each volume."""

    ranks = (4, 5)


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """:class:`InstanceNorm1d` of as many channels as the first input has."""


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """:class:`InstanceNorm2d` of as many channels as the first input has."""


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """:class:`InstanceNorm3d` of as many channels as the first input has."""
