"""Views of positions, slices, diagonals and windows."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...backend.interface import kind_of
from ...base.errors import as_int, canonical_dim
from ...core.op import Array, Dim, composite, linear, view
from ...core.tensor import Tensor
from .dimensions import unsqueeze
from .reshaping import reshape


@view(quiet=True, slices=True, batches="dims",
      vjp=lambda g, like, dim, index: select_backward(g, like.shape, dim, index))
def _select(input: Array, dim: int, index: int) -> Any:
    return input[index, ...] if not dim else input[(slice(None),) * dim + (index, ...)]


@linear(function=None, method=False, any_dtype=True, batches="dims",
        vjp=lambda g, dim, index: _select(g, dim, index))
def select_backward(input: Array, input_sizes: Any, dim: int, index: int) -> Any:
    """A selected part's gradient, in zeros of the whole's shape."""
    whole = xp.zeros(input_sizes, input.dtype)
    whole[index if not dim else (slice(None),) * dim + (index,)] = input
    return whole


@composite(method=True)
def select(input: Tensor, dim: int, index: int) -> Any:
    """A view of one position along ``dim``, which disappears."""
    rank = input.ndim
    if not rank:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = canonical_dim(dim, rank)
    n = input.shape[d]
    index = index.__index__()
    if not -n <= index < n:
        raise IndexError(f"select(): index {index} out of range for tensor of size "
                         f"{list(input.shape)} at dimension {d}")
    return _select(input, d, index % n if n else index)


@view(quiet=True, slices=True, node="SliceBackward0", batches="dims",
      vjp=lambda g, like, dim, start, end, step:
      slice_backward(g, like.shape, dim, start, end, step))
def _slice(input: Array, dim: int, start: int, end: int, step: int = 1) -> Any:
    return input[start:end:step] if not dim else input[:, start:end:step] if dim == 1 else \
        input[(slice(None),) * dim + (slice(start, end, step),)]


@linear(function=None, method=False, any_dtype=True, batches="dims",
        vjp=lambda g, dim, start, end, step: _slice(g, dim, start, end, step))
def slice_backward(input: Array, input_sizes: Any, dim: int, start: int, end: int,
                   step: int) -> Any:
    """A slice's gradient, in zeros of the whole's shape."""
    whole = xp.zeros(input_sizes, input.dtype)
    whole[(slice(None),) * dim + (slice(start, end, step),)] = input
    return whole


@composite(method=True)
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Any:
    """A view of ``length`` positions along ``dim``, from ``start``."""
    rank = input.ndim
    if not rank:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    d = canonical_dim(dim, rank)
    n = input.shape[d]
    if isinstance(start, Tensor) and (start.ndim or kind_of(start._data.dtype) not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start = as_int(start, "narrow(): argument 'start' (position 3)")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got "
                         f"{start})")
    if start < 0:
        start += n
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return _slice(input, d, start, start + length, 1)


@view(quiet=True, aliases=(),
      vjp=lambda g, like, offset, dim1, dim2: diagonal_backward(g, like.shape, offset, dim1, dim2))
def diagonal(input: Array, offset: int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Any:
    """A view of a diagonal, as the last dimension."""
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return xp.writable_diagonal(input, offset, dim1, dim2)


@linear(function=None, method=False, any_dtype=True, batches="dims",
        vjp=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2))
def diagonal_backward(input: Array, input_sizes: Any, offset: int, dim1: int, dim2: int) -> Any:
    """A diagonal's gradient, in zeros of the whole's shape."""
    whole = xp.zeros(input_sizes, input.dtype)
    xp.writable_diagonal(whole, offset, dim1, dim2)[...] = input
    return whole


@view(quiet=True, function=None, vjp=lambda g, like, dimension, size, step:
      unfold_backward(g, like.shape, dimension, size, step))
def unfold(input: Array, dimension: Dim, size: int, step: int) -> Any:
    """A view of sliding windows along ``dimension``, as a new last dimension."""
    length = input.shape[dimension] if input.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dimension} is {length} but size "
                           f"is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return xp.windows(input, dimension, size, step)


@unfold.batch
def _(batch: Any, input: Any, dimension: int, size: int, step: int) -> Any:
    if input.ndim == 1:
        return unsqueeze(input, 1)
    return unfold(input, dimension + 1, size, step)


@linear(function=None, method=False, vjp=lambda g, dim, size, step: unfold(g, dim, size, step))
def unfold_backward(input: Array, input_sizes: Any, dim: int, size: int, step: int) -> Any:
    """Overlapping windows' gradients, added up where they overlap."""
    wide = xp.cast(input, xp.dtype("complex64")) if xp.is_stored_only(input.dtype) else input
    return xp.cast(xp.add_windows(wide, input_sizes, dim, size, step), input.dtype)


@unfold_backward.batch
def _(batch: Any, input: Any, input_sizes: Any, dim: int, size: int, step: int) -> Any:
    if not input_sizes:
        return reshape(input, (batch.size,))
    return unfold_backward(input, (batch.size, *input_sizes), dim + 1, size, step)
