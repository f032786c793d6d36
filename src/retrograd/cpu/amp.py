"""The older names of :mod:`retrograd.amp` for CPUs."""

from __future__ import annotations

from ..amp import GradScaler as _GradScaler, autocast as _autocast
from ..base import dtypes
from ..cuda.amp import _deprecated


class autocast(_autocast):
    """``torch.amp.autocast("cpu", ...)`` under its older name."""

    def __init__(self, enabled: bool = True, dtype: dtypes.dtype = dtypes.bfloat16,
                 cache_enabled: bool = True):
        _deprecated("autocast", "autocast('cpu', args...)", "cpu")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(_GradScaler):
    """``torch.amp.GradScaler("cpu", ...)`` under its older name."""

    def __init__(self, init_scale: float = 65536.0, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True):
        _deprecated("GradScaler", "GradScaler('cpu', args...)", "cpu")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


__all__ = ["GradScaler", "autocast"]
