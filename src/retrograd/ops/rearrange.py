"""Copies in another order: flip, roll, rot90, repeat, tile, repeat_interleave."""

from __future__ import annotations

from typing import Any

from ..backend import xp
from ..base.errors import canonical_dim, canonical_dims, dim_out_of_range, existing_dim, no_dims
from ..core.op import Array, Ints, composite, linear, publish
from ..core.tensor import Tensor, wrap
from .join import stack
from .scatter import index_select
from .shape import reshape, sizes, spread_method, sum_to_size_of, unsqueeze

# ---------------------------------------------------------------- turning


@linear(function=None, method=False, any_dtype=True, node="FlipBackward0")
def _flip(input: Array, dims: Ints) -> Any:
    return xp.array(xp.flip(input, dims), order="C") if input.ndim else input[()]


_flip.vjp(input=lambda g, dims: _flip(g, dims))


def flip(input: Tensor, dims: Any) -> Tensor:
    """``input`` with the order along ``dims`` reversed."""
    if not isinstance(dims, (tuple, list)):
        raise TypeError("flip(): argument 'dims' (position 2) must be tuple of ints, not "
                        f"{type(dims).__name__}")
    return _flip(input, canonical_dims(tuple(dims), input.ndim))


publish(flip, "flip", method=False)
spread_method(flip, "flip", "dims")


@composite(method=True)
def fliplr(input: Any) -> Any:
    """``input`` with its columns in reverse order."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return _flip(input, (1,))


@composite(method=True)
def flipud(input: Any) -> Any:
    """``input`` with its rows in reverse order."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return _flip(input, (0,))


@linear(function=None, method=False, any_dtype=True, node="RollBackward0")
def _roll(input: Array, shifts: Ints, dims: Ints) -> Any:
    return xp.in_rows(xp.roll(input, shifts, dims) if dims else xp.roll(input, shifts[0]))


_roll.vjp(input=lambda g, shifts, dims: _roll(g, negated(shifts), dims))


def negated(shifts: Any) -> tuple[int, ...]:
    return tuple([-n for n in shifts])


def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """``input`` shifted along ``dims``; what leaves at the end enters at the front."""
    steps = tuple(shifts) if isinstance(shifts, (tuple, list)) else (shifts,)
    axes = tuple(dims) if isinstance(dims, (tuple, list)) else () if dims is None else (dims,)
    if not steps:
        raise RuntimeError("`shifts` required")
    if len(steps) != len(axes) and (axes or len(steps) != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(steps)}, dims:"
                           f"{len(axes)}")
    if axes and not input.ndim:
        raise no_dims(axes[0])
    return _roll(input, steps, tuple([canonical_dim(d, input.ndim) for d in axes]))


publish(roll, "roll")


@linear(function=None, method=False, any_dtype=True, node="Rot90Backward0")
def _rot90(input: Array, k: int, dims: Ints) -> Any:
    return xp.copied(xp.rot90(input, k, dims))


_rot90.vjp(input=lambda g, k, dims: _rot90(g, -k, dims))


def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """``input`` turned by ``k`` times 90 degrees in the plane of ``dims``."""
    plane = tuple(dims)
    if len(plane) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(plane)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    axes = tuple([canonical_dim(d, input.ndim) for d in plane])
    if axes[0] == axes[1]:
        raise RuntimeError("expected rotation dims to be different, but got dim0 = "
                           f"{plane[0]} and dim1 = {plane[1]}")
    return _rot90(input, k, axes)


publish(rot90, "rot90")


# ---------------------------------------------------------------- repeating


@linear(function=None, method=False, any_dtype=True, node="RepeatBackward0")
def _repeat(input: Array, repeats: Ints) -> Any:
    return xp.tile(input, repeats)


_repeat.vjp(input=lambda g, like, repeats: summed_repeats(g, like.shape, repeats))


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


spread_method(repeat, "repeat", "repeats")


def tile(input: Tensor, dims: Any) -> Tensor:
    """``input`` copied ``dims`` times, counted from the last dimension."""
    times = sizes((dims,))
    return repeat(input, (1,) * (input.ndim - len(times)) + times)


publish(tile, "tile", method=False)
spread_method(tile, "tile", "dims")


def _positions(repeats: Tensor, output_size: Any) -> Tensor:
    """Which element each place of the result takes."""
    data = xp.as_array(repeats._data)
    if data.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if data.dtype not in (xp.INT64, xp.int32):
        raise NotImplementedError(
            f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.alias}'")
    if data.size and data.min() < 0:
        raise RuntimeError("repeats can not be negative")
    made = xp.repeat(xp.arange(data.size, dtype=data.dtype), data)
    if output_size is not None and made.size != output_size:
        raise RuntimeError("allocated size does not match required size")
    return wrap(made)


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
    from .convert import clone
    from .shape import expand

    wide = expand(unsqueeze(input, axis + 1), (*shape[:axis + 1], repeats, *shape[axis + 1:]))
    from ..base import layouts

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
        repeats = wrap(xp.broadcast_to(repeats._data, (length,)))
    elif repeats.shape[0] != length:
        raise RuntimeError("repeats must have the same size as input along dim, but got "
                           f"repeats.size(0) = {repeats.shape[0]} and input.size({axis}) = "
                           f"{length}")
    return index_select(input, axis, _positions(repeats, output_size))


publish(repeat_interleave, "repeat_interleave")


@composite()
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The matrix whose columns are the powers of a vector, the highest first."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    if not count:
        return x.new_empty((x.shape[0], 0))
    powers = stack([x ** i for i in range(count)], 1)
    return powers if increasing else _flip(powers, (1,))
