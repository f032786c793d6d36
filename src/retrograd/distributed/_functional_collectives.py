"""Collectives that return new tensors, which compiled programs call."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .collectives import member
from .groups import ProcessGroup

__all__ = ["AsyncCollectiveTensor", "all_gather_single", "all_gather_tensor", "all_reduce",
           "all_to_all_single", "all_to_all_single_autograd", "broadcast", "reduce_scatter_single",
           "reduce_scatter_tensor", "wait_tensor"]


class AsyncCollectiveTensor(Tensor):
    """A result that is not there yet: there is none, since nothing is waited for."""


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor, which is there."""
    return tensor


def _group(group: Any) -> ProcessGroup:
    return member(group if isinstance(group, ProcessGroup) else None)


def broadcast(self: Tensor, src: int, group: Any, tag: str = "") -> Tensor:
    """A copy of the tensor of process ``src``."""
    _group(group)
    return self.clone()


def all_reduce(self: Tensor, reduceOp: str, group: Any, tag: str = "") -> Tensor:
    """The tensors of all processes, reduced to one."""
    _group(group)
    return self.clone()


def all_gather_single(self: Tensor, gather_dim: int, group: Any, tag: str = "") -> Tensor:
    """The tensors of all processes, one behind the other along ``gather_dim``."""
    _group(group)
    return self.clone()


def reduce_scatter_single(self: Tensor, reduceOp: str, scatter_dim: int, group: Any, tag: str = ""
                          ) -> Tensor:
    """This process's part of what is reduced over all."""
    _group(group)
    return self.clone()


def all_to_all_single(self: Tensor, output_split_sizes: Any, input_split_sizes: Any, group: Any,
                      tag: str = "") -> Tensor:
    """One part of each process's tensor."""
    _group(group)
    return self.clone()


all_to_all_single_autograd = all_to_all_single
all_gather_tensor, reduce_scatter_tensor = all_gather_single, reduce_scatter_single
