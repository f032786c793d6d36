"""Normalisation over a batch, with running statistics for evaluation."""

from typing import Any, ClassVar

from ...core.tensor import Tensor
from .. import functional as F
from ..parameter import UninitializedBuffer
from .lazy import WaitsForOneSize
from .module import Module
from .normalization import AffineNorm

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d",
           "LazyBatchNorm3d", "SyncBatchNorm"]


class _NormBase(AffineNorm):
    """Weight, bias and running statistics, each of which may be absent."""

    _version = 2  # since then the number of batches is part of the state
    ranks: ClassVar[tuple[int, ...]]  # of the inputs that are taken
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
                 affine: bool = True, track_running_stats: bool = True, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._add_parameters(num_features, device, dtype, weight=affine, bias=affine and bias)
        statistics = _statistics(num_features, device, dtype) if track_running_stats else {}
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            self.register_buffer(name, statistics.get(name))
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget what was seen: mean 0, variance 1, no batches."""
        for statistic, start in ((self.running_mean, 0), (self.running_var, 1),
                                 (self.num_batches_tracked, 0)):
            if statistic is not None:
                statistic.fill_(start)

    def reset_parameters(self) -> None:
        """Set the weight to one, the bias to zero, and the statistics to nothing seen."""
        self.reset_running_stats()
        super().reset_parameters()

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("weight", "bias", "running_mean", "running_var"),
                             (self.num_features,))

    def _check_input_dim(self, input: Tensor) -> None:
        check_rank(input, self.ranks)

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
                f"affine={self.affine}, bias={self.bias is not None}, "
                f"track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str,
                              local_metadata: dict[str, Any], strict: bool,
                              missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:
        version = local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats:
            key = prefix + "num_batches_tracked"
            known = self.num_batches_tracked
            if key not in state_dict:
                state_dict[key] = known if known is not None else _no_batches(None)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys,
                                      unexpected_keys, error_msgs)


def _statistics(count: int, device: Any, dtype: Any) -> dict[str, Tensor]:
    from ... import ones, zeros

    return {"running_mean": zeros(count, device=device, dtype=dtype),
            "running_var": ones(count, device=device, dtype=dtype),
            "num_batches_tracked": _no_batches(device)}


def _no_batches(device: Any) -> Tensor:
    from ... import long, tensor

    return tensor(0, dtype=long, device=device)


class _BatchNorm(_NormBase):
    """Normalises each channel by the statistics of the batch, or by running ones."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # a mean over all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        keeps = not self.training or self.track_running_stats
        return F.batch_norm(input, self.running_mean if keeps else None,
                            self.running_var if keeps else None, self.weight, self.bias, by_batch,
                            momentum, self.eps)


def check_rank(input: Tensor, allowed: tuple[int, ...]) -> None:
    if input.dim() not in allowed:
        wanted = " or ".join(f"{n}D" for n in allowed)
        raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")


class BatchNorm1d(_BatchNorm):
    """Normalises each feature over a batch of vectors or sequences."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises each channel over a batch of images."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel over a batch of volumes."""

    ranks = (5,)


class _LazyNorm(WaitsForOneSize):
    """A normalisation of as many channels as the first input has."""

    inferred = "num_features"
    num_batches_tracked: Tensor | None

    def __init__(self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: Any = None, dtype: Any = None, *,
                 bias: bool = True) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        self._wait(device, dtype, weight=affine, bias=affine and bias)
        if track_running_stats:
            for name in ("running_mean", "running_var"):
                setattr(self, name, UninitializedBuffer(device=device, dtype=dtype))
            self.num_batches_tracked = _no_batches(device)


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """:class:`BatchNorm1d` of as many channels as the first input has."""


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """:class:`BatchNorm2d` of as many channels as the first input has."""


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """:class:`BatchNorm3d` of as many channels as the first input has."""


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over several processes; over the one there is, it is the ordinary one."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
                 affine: bool = True, track_running_stats: bool = True,
                 process_group: Any = None, device: Any = None, dtype: Any = None, *,
                 bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """``module`` with each batch normalisation in it replaced by one of this class."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(module.num_features, module.eps, module.momentum, module.affine,
                       module.track_running_stats, process_group)
            for name in ("weight", "bias"):
                if module.affine:
                    made.register_parameter(name, getattr(module, name))
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(made, name, getattr(module, name))
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
