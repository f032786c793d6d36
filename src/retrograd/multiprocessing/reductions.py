"""How tensors are pickled for another process: their memory is shared, not copied."""

from __future__ import annotations

import multiprocessing.resource_sharer  # before a fork, since queues pickle in threads
from multiprocessing.reduction import ForkingPickler, register
from typing import Any

from ..backend import xp
from ..backend.shared_memory import block_of, byte_strides, known_block, lend, view_of
from ..base import dtypes
from ..core.graph import LEAF, Version
from ..core.tensor import Tensor, fill
from ..nn import Parameter
from ..ops.memory.sharing import share
from ..storage import TypedStorage, UntypedStorage

__all__ = ["ForkingPickler", "init_reductions", "rebuild_storage", "rebuild_tensor",
           "rebuild_view", "reduce_storage", "reduce_tensor"]


def reduce_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """A tensor as a view of shared memory, to which it is moved if it is not there."""
    refuse_history(tensor)
    share([tensor])
    array = tensor._array()
    block = block_of(array)
    assert block is not None
    return rebuild_tensor, (multiprocessing.reduction.DupFd(lend(block)),
                            *description(tensor, array, block.address))


def rebuild_tensor(handle: Any, *description: Any) -> Tensor:
    """The tensor that another process has sent, on the same memory."""
    return rebuild_view(known_block(handle.detach()).array(), *description)


def reduce_storage(storage: UntypedStorage) -> tuple[Any, ...]:
    """A storage as shared memory, to which it is moved if it is not there."""
    share([storage])
    block = block_of(storage._owner)
    assert block is not None
    return rebuild_storage, (multiprocessing.reduction.DupFd(lend(block)),)


def rebuild_storage(handle: Any) -> UntypedStorage:
    """The storage that another process has sent."""
    return UntypedStorage(known_block(handle.detach()).array())


def description(tensor: Tensor, array: Any, start: int) -> tuple[Any, ...]:
    """What :func:`rebuild_view` must know of a tensor in memory that begins at ``start``."""
    return (xp.address(array) - start, array.shape, byte_strides(array), tensor.dtype.name,
            type(tensor), tensor.requires_grad)


def rebuild_view(memory: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...],
                 dtype: str, cls: type, requires_grad: bool) -> Tensor:
    """A tensor in a flat memory of bytes."""
    array = view_of(memory, offset, shape, strides, getattr(dtypes, dtype).np)
    found = fill(object.__new__(cls), array, LEAF if requires_grad else None)
    found._vc = Version(1)  # PyTorch counts that the memory was set
    return found


def refuse_history(tensor: Tensor) -> None:
    """Raise if a tensor belongs to a graph, which cannot be sent."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries.  If you just want to transfer the data, "
            "call detach() on the tensor before serializing (e.g., putting it on the queue).")


def init_reductions() -> None:
    """Let :mod:`multiprocessing` share the memory of tensors."""
    for kind in (Tensor, Parameter):
        register(kind, reduce_tensor)
    register(UntypedStorage, reduce_storage)
    register(TypedStorage, lambda storage: (TypedStorage, (storage.untyped(), storage.dtype)))
