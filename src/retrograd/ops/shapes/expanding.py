"""Expanding and broadcasting, and summing back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import size_mismatch
from ...core.op import Array, Ints, composite, linear, public, view
from ...core.operands import as_operands
from ...core.tensor import Size, Tensor, method
from ..memory.casts import cast_gradient
from .reshaping import _view, reshape, sizes, spread_method, with_rank


def _check_expand(input: Any, size: tuple[int, ...]) -> tuple[int, ...]:
    lead = len(size) - input.ndim
    if lead < 0:
        raise RuntimeError(f"expand(torch.FloatTensor{{{list(input.shape)}}}, size={list(size)}): "
                           f"the number of sizes provided ({len(size)}) must be greater or equal "
                           f"to the number of dimensions in the tensor ({input.ndim})")
    full = list(size)
    for i in range(len(size) - 1, -1, -1):
        n = size[i]
        own = input.shape[i - lead] if i >= lead else None
        if n == -1 and input.ndim:
            if own is None:
                raise RuntimeError(f"The expanded size of the tensor (-1) isn't allowed in a "
                                   f"leading, non-existing dimension {i}")
            full[i] = own
        elif own is not None and own not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({own}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: "
                f"{list(input.shape)}")
    if full and min(full) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    return tuple(full)


@spread_method("size")
@view(quiet=True, method=False, function=None, vjp=lambda g, like: sum_to_size_of(g, like.shape),
      batches=lambda batch, input, size: expand(with_rank(input, len(size)), (batch.size, *size)))
def expand(input: Array, size: Ints) -> Any:
    """A view with length-one dimensions repeated to ``size``, without copying."""
    return xp.expanded(input, _check_expand(input, tuple(size)))


def joint_shape(first: Any, second: Any) -> tuple[int, ...]:
    """The shape that two shapes broadcast to."""
    if first == second:
        return tuple(first)
    try:
        return xp.broadcast_shapes(first, second)
    except ValueError:
        raise size_mismatch([tuple(first), tuple(second)]) from None


@composite(method=True)
def expand_as(input: Tensor, other: Tensor) -> Any:
    """``input`` expanded to ``other``'s shape."""
    return expand(input, tuple(other.shape))


@composite()
def broadcast_tensors(*tensors: Tensor) -> Any:
    """The tensors, all expanded to the shape they broadcast to."""
    joint: tuple[int, ...] = ()
    for t in as_operands("broadcast_tensors", "tensors", 1, tensors):
        joint = joint_shape(joint, tuple(t.shape))
    return tuple([t if tuple(t.shape) == joint else expand(t, joint) for t in tensors])


@public("broadcast_shapes", method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to."""
    given = [(s,) if isinstance(s, int) else s for s in shapes]
    joint = [1] * max([len(s) for s in given], default=0)
    for position, shape in enumerate(given):
        for i in range(-1, -1 - len(shape), -1):
            if shape[i] < 0 or (shape[i] != 1 and joint[i] not in (1, shape[i])):
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching "
                    f"argument at index {position} had {shape}; but expected shape should be "
                    f"broadcastable to {joint}")
            if shape[i] != 1:
                joint[i] = shape[i]
    return Size(joint)


@spread_method("size")
@composite()
def broadcast_to(input: Tensor, size: Sequence[int]) -> Any:
    """``input`` expanded to ``size``."""
    return expand(input, tuple(size))


@linear(function=None, method=False, node="SumBackward1", any_dtype=True,
        vjp=lambda g, like: expand(g, like.shape))
def sum_to_size_of(input: Array, size: Ints) -> Any:
    """Sum a broadcast array back down to ``size``."""
    return xp.unbroadcast(input, tuple(size))


def fitted(g: Any, like: Any) -> Any:
    """``g`` summed to the shape of what it is the gradient of, and in its dtype."""
    if g.shape != like.shape:
        g = sum_to_size_of(g, like.shape)
    return cast_gradient(g, like.dtype)


@sum_to_size_of.batch
def _(batch: Any, input: Any, size: Any) -> Any:
    lead = input.ndim - 1 - len(size)
    total = sum_to_size_of(input, (batch.size, *(1,) * lead, *size))
    return reshape(total, (batch.size, *size))


def expands_to(size: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a tensor of ``size`` can be expanded to ``shape``."""
    lead = len(shape) - len(size)
    return lead >= 0 and all(n in (1, shape[i + lead]) for i, n in enumerate(size))


@method("sum_to_size")
def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Sum ``input`` down to ``size``, which must broadcast to its shape."""
    target = sizes(size)
    shape = tuple(input.shape)
    lead = len(shape) - len(target)
    if not expands_to(target, shape):
        raise RuntimeError(f"size {{{list(target)}}} is not expandable to size {{{list(shape)}}}.")
    if not target and kind_of(input._data.dtype) in "biu":
        return input.sum()  # a sum of integers, as PyTorch has it, is of int64
    if target == shape:
        return input
    if input.dtype is dtypes.uint8:  # whose sums are signed
        input = input.to(dtypes.int64)
    summed = sum_to_size_of(input, (1,) * lead + target)
    return _view(summed, target) if lead else summed


def restore_dims(g: Any, like: Any, dim: Any, keepdim: bool) -> Any:
    """Give a reduction's gradient back the dimensions it lost, with length one."""
    shape = like.shape
    if keepdim or not shape:
        return g
    if dim is None or dim == ():
        return reshape(g, (1,) * len(shape))
    first, *others = dim if isinstance(dim, tuple) else (dim,)
    if not others:
        return reshape(g, (*shape[:first], 1, *shape[first + 1:]))
    return reshape(g, tuple([1 if i in dim else n for i, n in enumerate(shape)]))
