"""Questions about a transform's tensors, by the names of PyTorch's compiled module.

Batches lie along the first dimension here, whichever was mapped over.
"""

from __future__ import annotations

from ..base.modes import ACTIVE
from ..core.tensor import Tensor, wrap_any
from ..transforms import Batched, Dual, TracedData


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether a tensor stands for one value of a batch."""
    return isinstance(tensor._data, Batched)


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether a tensor carries a tangent."""
    return isinstance(tensor._data, Dual)


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Whether a tensor belongs to a transform."""
    return isinstance(tensor._data, TracedData)


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor inside: a whole batch, or a value without its tangent."""
    data = tensor._data
    if not isinstance(data, TracedData):
        raise RuntimeError("No wrappers present!")
    return wrap_any(data.value if isinstance(data, Batched) else data.primal)


def maybe_get_bdim(tensor: Tensor) -> int:
    """The dimension of the batch in the tensor inside; -1 of a tensor without."""
    return 0 if is_batchedtensor(tensor) else -1


def maybe_get_level(tensor: Tensor) -> int:
    """How deep in the nest of transforms a tensor's own one is, from 1; -1 of any other tensor."""
    data, around = tensor._data, ACTIVE.get()
    return around.index(data.level) + 1 if isinstance(data, TracedData) and data.level in around \
        else -1


def maybe_current_level() -> int | None:
    """How many transforms are being run; None if there is none."""
    return len(ACTIVE.get()) or None


def reshape_dim_into(source: int, destination: int, tensor: Tensor) -> Tensor:
    """A tensor with one dimension laid in front of another, and both made one."""
    destination %= tensor.dim() - 1
    moved = tensor.movedim(source, destination)
    return moved.flatten(destination, destination + 1)


def reshape_dim_outof(source: int, size: int, tensor: Tensor) -> Tensor:
    """A tensor with one dimension made two, of which the first has the given size."""
    source %= tensor.dim()
    if size == 0 or tensor.shape[source] % size:
        raise RuntimeError(f"a dimension of size {tensor.shape[source]} is no multiple of {size}")
    return tensor.reshape((*tensor.shape[:source], size, tensor.shape[source] // size,
                           *tensor.shape[source + 1:]))


__all__ = ["get_unwrapped", "is_batchedtensor", "is_functorch_wrapped_tensor",
           "is_gradtrackingtensor", "maybe_current_level", "maybe_get_bdim", "maybe_get_level",
           "reshape_dim_into", "reshape_dim_outof"]
