"""Modules for several devices or processes, in a world of one of each."""

from typing import Any

from ...core.signatures import named
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel, DistributedDataParallelCPU

__all__ = ["DataParallel", "DistributedDataParallel", "DistributedDataParallelCPU",
           "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]


def _needs_devices(name: str) -> Any:
    @named(name, "Refuse: there are no devices to spread work over.")
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{name}() spreads work over accelerators, and there is none: only the "
                           "CPU has arrays here")

    return refuse


gather, parallel_apply, replicate, scatter, _scatter_kwargs = map(
    _needs_devices, ("gather", "parallel_apply", "replicate", "scatter", "scatter_kwargs"))
