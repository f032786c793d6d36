"""Copies with repetition: repeat, tile, repeat_interleave."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...backend.interface import library_of
from ...base import layouts
from ...base.errors import canonical_dim, dim_out_of_range, existing_dim, no_kernel
from ...core.op import Array, Ints, Sizes, linear, public
from ...core.tensor import Tensor, wrap
from ..indexing.index_select import index_select
from ..memory.casts import clone
from .dimensions import unsqueeze
from .expanding import expand, sum_to_size_of
from .reshaping import reshape, sizes, spread_method, with_rank


@linear(any_dtype=True, node="RepeatBackward0",
        vjp=lambda g, like, repeats: summed_repeats(g, like.shape, repeats),
        batches=lambda batch, input, repeats:
        _repeat(with_rank(input, len(repeats)), (1, *repeats)))
def _repeat(input: Array, repeats: Ints) -> Any:
    return xp.in_rows(xp.tile(input, repeats))


def summed_repeats(g: Any, shape: Any, repeats: Any) -> Any:
    """The sum over all copies that :func:`repeat` made."""
    lead = len(repeats) - len(shape)
    split: list[int] = []
    ones: list[int] = []
    for i, times in enumerate(repeats):
        n = shape[i - lead] if i >= lead else 1
        split += [times, n]
        ones += [1, n]
    return reshape(sum_to_size_of(reshape(g, tuple(split)), tuple(ones)), tuple(shape))


@spread_method("repeats")
def repeat(input: Tensor, repeats: Any) -> Tensor:
    """``input`` copied ``repeats`` times along each dimension."""
    times = sizes((repeats,))
    if len(times) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of "
                           "dimensions of tensor")
    own = (1,) * (len(times) - input.ndim) + tuple(input.shape)
    whole = [n * t for n, t in zip(own, times, strict=True)]
    if any(t < 0 for t in times):
        wrong = next(n for n, t in zip(whole, times, strict=True) if t < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {wrong}: {whole}")
    return _repeat(input, times)


@public("tile", method=False)
@spread_method("dims")
def tile(input: Tensor, dims: Sizes) -> Tensor:
    """``input`` copied ``dims`` times, counted from the last dimension."""
    times = sizes((dims,))
    return repeat(input, (1,) * (input.ndim - len(times)) + times)


def _positions(repeats: Tensor, output_size: Any) -> Tensor:
    """Which element each place of the result takes."""
    library = library_of(repeats._data)
    data = library.as_array(repeats._data)
    if data.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if data.dtype not in (xp.INT64, xp.int32):
        raise no_kernel("repeat_interleave_cpu", repeats.dtype)
    if data.size and data.min() < 0:
        raise RuntimeError("repeats can not be negative")
    made = library.repeat(library.arange(data.size, dtype=data.dtype), data)
    if output_size is not None and made.size != output_size:
        raise RuntimeError("allocated size does not match required size")
    return wrap(made)


@public("repeat_interleave")
def repeat_interleave(input: Tensor, repeats: Any = None, dim: int | None = None, *,
                      output_size: int | None = None) -> Tensor:
    """``input`` with each element (or each slice along ``dim``) repeated in place."""
    if repeats is None:
        return _positions(input, output_size)
    if isinstance(repeats, Tensor):
        return _repeated_unevenly(input, repeats, dim, output_size)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    axis = canonical_dim(dim, input.ndim)
    shape = tuple(input.shape)
    if not shape:
        raise dim_out_of_range(axis + 1, 0)
    wide = expand(unsqueeze(input, axis + 1), (*shape[:axis + 1], repeats, *shape[axis + 1:]))
    return reshape(clone(wide, memory_format=layouts.contiguous_format),
                   (*shape[:axis], shape[axis] * repeats, *shape[axis + 1:]))


def _repeated_unevenly(input: Tensor, repeats: Tensor, dim: int | None,
                       output_size: int | None) -> Tensor:
    if dim is None:
        input, dim = reshape(input, (-1,)) if input.ndim != 1 else input, 0
    axis = existing_dim(dim, input.ndim)
    length = input.shape[axis]
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.numel() == 1:
        repeats = wrap(library_of(repeats._data).broadcast_to(repeats._data, (length,)))
    elif repeats.shape[0] != length:
        raise RuntimeError("repeats must have the same size as input along dim, but got "
                           f"repeats.size(0) = {repeats.shape[0]} and input.size({axis}) = "
                           f"{length}")
    return index_select(input, axis, _positions(repeats, output_size))
