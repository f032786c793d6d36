"""Grids, combinations and matrices made of vectors or blocks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...backend import xp
from ...backend.interface import library_of
from ...base.dtypes import get_default_dtype
from ...base.warning import warn
from ...core.op import Arrays, composite, linear
from ...core.operands import as_operands
from ...core.tensor import Tensor, wrap
from ..batching import each_batched
from ..indexing.masked_select import masked_select
from .expanding import expand
from .flipping import _flip
from .joining import _cat, check_not_empty, fitted_part, stack
from .reshaping import _view, reshape, with_rank
from .slicing import _slice, slice_backward


def _as_list(tensors: tuple[Any, ...]) -> list[Any]:
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        return list(tensors[0])
    return list(tensors)


@composite()
def meshgrid(*tensors: Tensor, indexing: str | None = None) -> Any:
    """The coordinates of every point of the grid that vectors span, one tensor per vector."""
    parts = as_operands("meshgrid", "tensors", 1, _as_list(tensors))
    check_not_empty("meshgrid", parts)
    if indexing is None:
        warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
             "argument.", once=True)
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError('torch.meshgrid: indexing must be one of "xy" or "ij", but received: '
                           f"{indexing}")
    for part in parts:
        if part.ndim > 1:
            raise RuntimeError("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but "
                               f"got: {part}")
        if part.dtype != parts[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    axes = list(range(len(parts)))
    if indexing == "xy" and len(parts) > 1:
        axes[:2] = [1, 0]
    shape = [0] * len(parts)
    for part, axis in zip(parts, axes, strict=True):
        shape[axis] = part.numel()
    return tuple([expand(_view(part, (1,) * axis + (-1,) + (1,) * (len(parts) - axis - 1)),
                         tuple(shape)) for part, axis in zip(parts, axes, strict=True)])


def _check_vectors(tensors: Any) -> None:
    for tensor in tensors:
        if tensor.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")


@composite()
def cartesian_prod(*tensors: Tensor) -> Any:
    """Every combination of one element of each vector, one per row."""
    parts = as_operands("cartesian_prod", "tensors", 1, tensors)
    _check_vectors(parts)
    if len(parts) == 1:
        return parts[0]
    return stack([reshape(grid, (-1,)) for grid in meshgrid(*parts, indexing="ij")], 1)


@composite()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """Every way to choose ``r`` elements of a vector, one per row."""
    _check_vectors([input])
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty((0,))
    library = library_of(input._data)
    positions = library.indices((input.numel(),) * r)
    chosen = library.ones((input.numel(),) * r, bool)
    for a, b in pairwise(positions[i] for i in range(r)):
        chosen &= (a <= b) if with_replacement else (a < b)
    mask = wrap(chosen)
    return stack([masked_select(grid, mask)
                  for grid in meshgrid(*[input] * r, indexing="ij")], 1)


@linear(promote="same", node="BlockDiagBackward0", vjp=lambda g, like: blocks_of(g, like))
def _block_diag(tensors: Arrays) -> Any:
    blocks = [t.reshape((1,) * (2 - t.ndim) + t.shape) for t in map(xp.as_array, tensors)]
    whole = xp.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)),
                     blocks[0].dtype)
    row = col = 0
    for block in blocks:
        whole[row:row + block.shape[0], col:col + block.shape[1]] = block
        row, col = row + block.shape[0], col + block.shape[1]
    return whole


@_block_diag.batch
def _(batch: Any, tensors: Any) -> Any:
    blocks = [with_rank(block, 2) for block in each_batched(batch, tensors)]
    width = sum(block.shape[2] for block in blocks)
    rows, start = [], 0
    for block in blocks:
        _, height, own = block.shape
        rows.append(slice_backward(block, (batch.size, height, width), 2, start, start + own, 1))
        start += own
    return _cat(rows, 1)


def blocks_of(g: Any, like: Any) -> list[Any]:
    """The blocks along the diagonal, each in the shape of the tensor it came from."""
    found = []
    row = col = 0
    for one in like:
        rows, cols = ((1, 1) + tuple(one.shape))[-2:]
        block = _slice(_slice(g, 0, row, row + rows, 1), 1, col, col + cols, 1)
        found.append(fitted_part(reshape(block, one.shape), one))
        row, col = row + rows, col + cols
    return found


@composite()
def block_diag(*tensors: Tensor) -> Any:
    """A matrix with the tensors as blocks along its diagonal."""
    for i, tensor in enumerate(as_operands("block_diag", "tensors", 1, tensors)):
        if tensor.ndim > 2:
            raise RuntimeError("torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                               f"Input {i} has {tensor.ndim} dimensions")
    return _block_diag(list(tensors)) if tensors else wrap(xp.empty((1, 0), get_default_dtype().np))


@composite()
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Any:
    """The matrix whose columns are the powers of a vector, the highest first."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    if not (x.is_floating_point() or x.is_complex()):
        x = x.long()
    if not count:
        return x.new_empty((x.shape[0], 0))
    powers = stack([x ** i for i in range(count)], 1)
    return powers if increasing else _flip(powers, (1,))
