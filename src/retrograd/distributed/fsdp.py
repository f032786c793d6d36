"""Modules whose parameters are spread over processes: the one process has them whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..base.missing_names import suggest_names as _suggest_names
from ..nn.modules.module import Module
from .tensor import refuse_to_spread

__all__ = ["CPUOffloadPolicy", "FSDPModule", "FullyShardedDataParallel", "MixedPrecisionPolicy",
           "OffloadPolicy", "fully_shard"]


class FullyShardedDataParallel(Module):
    """A module that is spread over processes: refused."""

    def __init__(self, module: Module, *args: Any, **options: Any) -> None:
        refuse_to_spread("module")


class FSDPModule:
    """What spread modules are instances of: none is one."""


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes that a spread module computes with."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Where a spread module keeps its parameters: on their device."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Where a spread module keeps its parameters: on the CPU."""

    pin_memory: bool = True


def fully_shard(module: Module, **options: Any) -> Module:
    """Spread a module over processes: refused."""
    refuse_to_spread("module")


_suggest_names(__name__)
