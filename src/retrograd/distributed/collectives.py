"""What the processes of a group do together: with one process, keeping or copying its own data."""

from __future__ import annotations

import copy
import enum
from typing import Any

from ..autograd.grad_mode import no_grad
from ..base.warning import warn
from ..core.tensor import Tensor
from .groups import GroupMember, ProcessGroup, default_group

__all__ = ["ReduceOp", "Work", "all_gather", "all_gather_into_tensor", "all_gather_object",
           "all_gather_single", "all_reduce", "all_to_all", "all_to_all_single", "barrier",
           "broadcast", "broadcast_object_list", "gather", "gather_object", "irecv", "isend",
           "monitored_barrier", "recv", "reduce", "reduce_scatter", "reduce_scatter_single",
           "reduce_scatter_tensor", "scatter", "scatter_object_list", "send"]


class RedOpType(enum.IntEnum):
    """How the values of several processes become one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"


class ReduceOp:
    """How the values of several processes become one, by name."""

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = RedOpType


_OF_COMPLEX_NUMBERS = (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, ReduceOp.PREMUL_SUM)


class Work:
    """What ``async_op=True`` returns: something that is done already."""

    def wait(self, timeout: Any = None) -> bool:
        """Return at once."""
        return True

    def is_completed(self) -> bool:
        """Whether it is done: yes."""
        return True

    is_success = is_completed


def _done(group: ProcessGroup | None, async_op: bool = False) -> Work | None:
    """The end of every collective; the first question is whether there is a world."""
    member(group)
    return Work() if async_op else None


def member(group: ProcessGroup | None) -> ProcessGroup:
    """The group, of which this process must be a member."""
    if group is GroupMember.NON_GROUP_MEMBER:
        raise ValueError("Invalid process group specified")
    return group or default_group()


# ---------------------------------------------------------------- checks


def _check_tensor(value: Any, name: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type "
                        f"torch.Tensor\n             but got {type(value)} instead.")


def _check_tensors(values: Any, name: str) -> None:
    start = f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]"
    if not isinstance(values, list):
        raise TypeError(f"{start}\n             but got {type(values)} instead.")
    if not all(isinstance(value, Tensor) for value in values):
        raise TypeError(f"{start}\n             but got {type(values)} with elements of type "
                        f"{[type(value) for value in values]}.")


def check_root(group: ProcessGroup | None, function: str, rank: int | None,
                group_rank: int | None, default: int | None = None) -> None:
    member(group)
    if rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    root = rank if rank is not None else group_rank if group_rank is not None else default
    if root is None:
        raise ValueError("Must specify global_rank or group_rank")
    if root != 0:
        raise RuntimeError(f"ProcessGroupGloo::{function}: invalid root rank: {root}")


def check_complex(function: str, tensor: Tensor, op: Any) -> None:
    if tensor.is_complex() and op not in _OF_COMPLEX_NUMBERS:
        raise ValueError(f"{function} does not support {op} on complex tensors")


def _hand_over(function: str, source: Tensor, target: Tensor) -> None:
    """Copy this process's data to where the data of all processes is wanted."""
    if source.dtype != target.dtype:
        raise RuntimeError(f"ProcessGroupGloo::{function}: invalid tensor type at index 0 "
                           f"(expected {source.dtype}, got {target.dtype})")
    if source.numel() != target.numel():
        raise RuntimeError(f"ProcessGroupGloo::{function}: invalid tensor size at index 0 "
                           f"(expected {_size(source)}, got {_size(target)})")
    with no_grad():
        target.copy_(source.detach().reshape(target.shape))


def _size(tensor: Tensor) -> str:
    return f"({', '.join(map(str, tensor.shape))})"


def only(function: str, name: str, tensors: list[Tensor]) -> Tensor:
    """The one tensor of a list with one for each process."""
    if len(tensors) != 1:
        raise RuntimeError(f"ProcessGroupGloo::{function}: invalid {name} at index 0 (expected "
                           f"length 1, got {len(tensors)})")
    return tensors[0]


# ---------------------------------------------------------------- tensors


def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None
            ) -> Work | None:
    """Wait until all processes are here: they are."""
    return _done(group, async_op)


def monitored_barrier(group: ProcessGroup | None = None, timeout: Any = None,
                      wait_all_ranks: bool = False) -> None:
    """Wait until all processes are here: they are."""
    member(group)


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Reduce over all processes, in place: with one, the tensor is the result."""
    _check_tensor(tensor, "tensor")
    check_complex("all_reduce", tensor, op)
    return _done(group, async_op)


def reduce(tensor: Tensor, dst: int | None = None, op: Any = ReduceOp.SUM,
           group: ProcessGroup | None = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:
    """Reduce to one process, in place."""
    _check_tensor(tensor, "tensor")
    check_root(group, "reduce", dst, group_dst)
    return _done(group, async_op)


def broadcast(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None,
              async_op: bool = False, group_src: int | None = None) -> Work | None:
    """Send a tensor to all processes, of which this is the one that has it."""
    _check_tensor(tensor, "tensor")
    check_root(group, "broadcast", src, group_src)
    return _done(group, async_op)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Copy the tensor of each process to a list of tensors."""
    _check_tensors(tensor_list, "tensor_list")
    _check_tensor(tensor, "tensor")
    member(group)
    _hand_over("allgather", tensor, only("allgather", "output tensor list", tensor_list))
    return _done(group, async_op)


def all_gather_single(output_tensor: Tensor, input_tensor: Tensor,
                      group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Copy the tensors of all processes to one tensor."""
    _check_tensor(input_tensor, "input_tensor")
    _check_tensor(output_tensor, "output_tensor")
    member(group)
    _hand_over("allgather", input_tensor, output_tensor)
    return _done(group, async_op)


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM,
                   group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Reduce a list of tensors and give one to each process."""
    _check_tensor(output, "output")
    _check_tensors(input_list, "input_list")
    member(group)
    _hand_over("reduce_scatter", only("reduce_scatter", "input tensor list", input_list), output)
    return _done(group, async_op)


def reduce_scatter_single(output: Tensor, input: Tensor, op: Any = ReduceOp.SUM,
                          group: ProcessGroup | None = None, async_op: bool = False
                          ) -> Work | None:
    """Reduce a tensor and give a part of it to each process."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    member(group)
    _hand_over("reduce_scatter", input, output)
    return _done(group, async_op)


def all_gather_into_tensor(output_tensor: Tensor, input_tensor: Tensor,
                           group: ProcessGroup | None = None, async_op: bool = False
                           ) -> Work | None:
    """The older name of :func:`all_gather_single`."""
    _deprecated("all_gather_into_tensor", "all_gather_single")
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def reduce_scatter_tensor(output: Tensor, input: Tensor, op: Any = ReduceOp.SUM,
                          group: ProcessGroup | None = None, async_op: bool = False
                          ) -> Work | None:
    """The older name of :func:`reduce_scatter_single`."""
    _deprecated("reduce_scatter_tensor", "reduce_scatter_single")
    return reduce_scatter_single(output, input, op, group, async_op)


def _deprecated(old: str, new: str) -> None:
    warn(f"`torch.distributed.{old}` is deprecated. Please use `torch.distributed.{new}` instead.",
         FutureWarning)


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int | None = None,
           group: ProcessGroup | None = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:
    """Copy the tensor of each process to a list of one process."""
    _check_tensor(tensor, "tensor")
    check_root(group, "gather", dst, group_dst, 0)
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _check_tensors(gather_list, "gather_list")
    _hand_over("gather", tensor, only("gather", "output tensor list", gather_list))
    return _done(group, async_op)


def scatter(tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int | None = None,
            group: ProcessGroup | None = None, async_op: bool = False,
            group_src: int | None = None) -> Work | None:
    """Give each process one tensor of a list."""
    _check_tensor(tensor, "tensor")
    check_root(group, "scatter", src, group_src, 0)
    if not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    _check_tensors(scatter_list, "scatter_list")
    _hand_over("scatter", only("scatter", "input tensor list", scatter_list), tensor)
    return _done(group, async_op)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor],
               group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Give each process one tensor of each process's list."""
    _check_tensors(output_tensor_list, "output_tensor_list")
    _check_tensors(input_tensor_list, "input_tensor_list")
    member(group)
    _hand_over("alltoall", only("alltoall", "input tensor list", input_tensor_list),
               only("alltoall", "output tensor list", output_tensor_list))
    return _done(group, async_op)


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: Any = None,
                      input_split_sizes: Any = None, group: ProcessGroup | None = None,
                      async_op: bool = False) -> Work | None:
    """Give each process one part of each process's tensor."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    member(group)
    for sizes, tensor in ((output_split_sizes, output), (input_split_sizes, input)):
        if sizes and list(sizes) != [tensor.size(0)]:
            raise RuntimeError("Split sizes doesn't match total dim 0 size")
    _hand_over("alltoall_base", input, output)
    return _done(group, async_op)


def _send_or_receive(tensor: Tensor, other: int | None = None, group: ProcessGroup | None = None,
                     tag: int = 0, group_other: int | None = None) -> None:
    """Refuse: there is no other process to exchange data with."""
    _check_tensor(tensor, "tensor")
    member(group)
    raise ValueError("there is no other process to send to or to receive from in a world of one "
                     "process")


def send(tensor: Tensor, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_dst: int | None = None) -> None:
    """Refuse: there is no process to send to."""
    _send_or_receive(tensor, dst, group, tag, group_dst)


def recv(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_src: int | None = None) -> int:
    """Refuse: there is no process to receive from."""
    _send_or_receive(tensor, src, group, tag, group_src)
    return -1


isend, irecv = send, recv


# ---------------------------------------------------------------- objects


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """Copy the object of each process to a list."""
    member(group)
    object_list[0] = copy.deepcopy(obj)


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None,
                  group: ProcessGroup | None = None, group_dst: int | None = None) -> None:
    """Copy the object of each process to a list of one process."""
    check_root(group, "gather", dst, group_dst, 0)
    if not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    object_gather_list[0] = copy.deepcopy(obj)


def broadcast_object_list(object_list: list[Any], src: int | None = None,
                          group: ProcessGroup | None = None, device: Any = None,
                          group_src: int | None = None) -> None:
    """Send a list of objects to all processes, of which this is the one that has it."""
    check_root(group, "broadcast", src, group_src, 0)


def scatter_object_list(scatter_object_output_list: list[Any],
                        scatter_object_input_list: list[Any] | None = None,
                        src: int | None = None, group: ProcessGroup | None = None,
                        group_src: int | None = None) -> None:
    """Give each process one object of a list."""
    check_root(group, "scatter", src, group_src, 0)
    if not scatter_object_input_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    scatter_object_output_list[0] = copy.deepcopy(scatter_object_input_list[0])
