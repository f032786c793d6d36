"""Collectives that gradients pass through: with one process, each is a copy of its own data.

They return what the plain ones write, so that autograd sees where it comes from.
"""

from __future__ import annotations

from typing import Any

from ...base.warning import warn
from ...core.tensor import Tensor
from ..collectives import ReduceOp, check_complex, check_root, member, only
from ..groups import ProcessGroup

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather",
           "reduce", "reduce_scatter", "scatter"]


def _deprecated(name: str, instead: str = "") -> None:
    warn(f"torch.distributed.nn.functional.{name} is deprecated, use "
         f"torch.distributed._functional_collectives.{instead or name} instead.", FutureWarning)


def broadcast(tensor: Tensor, src: int, group: ProcessGroup | None = None) -> Tensor:
    """The tensor of process ``src``."""
    _deprecated("broadcast")
    check_root(group, "broadcast", src, None)
    return tensor.clone()


def gather(tensor: Tensor, dst: int = 0, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """The tensors of all processes."""
    check_root(group, "gather", dst, None)
    return (tensor.clone(),)


def scatter(tensors: list[Tensor], src: int = 0, group: ProcessGroup | None = None) -> Tensor:
    """This process's tensor of those that process ``src`` has."""
    check_root(group, "scatter", src, None)
    return only("scatter", "input tensor list", tensors).clone()


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None
           ) -> Tensor:
    """The tensors of all processes, reduced to one on process ``dst``."""
    check_root(group, "reduce", dst, None)
    return tensor.clone()


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM,
                   group: ProcessGroup | None = None) -> Tensor:
    """This process's tensor of a list that is reduced over all; ``output`` says its shape."""
    _deprecated("reduce_scatter", "reduce_scatter_single")
    member(group)
    return only("reduce_scatter", "input tensor list", input_list).reshape(output.shape).clone()


def all_gather(tensor: Tensor, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """The tensors of all processes."""
    _deprecated("all_gather", "all_gather_single")
    member(group)
    return (tensor.clone(),)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor],
               group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """One tensor of each process's list; the first list says their shapes."""
    member(group)
    output = only("alltoall", "output tensor list", output_tensor_list)
    return (only("alltoall", "input tensor list", input_tensor_list).reshape(output.shape).clone(),)


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: Any = None,
                      input_split_sizes: Any = None, group: ProcessGroup | None = None) -> Tensor:
    """One part of each process's tensor; ``output`` says the shape."""
    _deprecated("all_to_all_single")
    member(group)
    return input.reshape(output.shape).clone()


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None
               ) -> Tensor:
    """The tensors of all processes, reduced to one."""
    _deprecated("all_reduce")
    check_complex("all_reduce", tensor, op)
    member(group)
    return tensor.clone()
