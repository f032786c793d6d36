"""Copies in another order: flip, roll, rot90."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import xp
from ...base.errors import canonical_dim, canonical_dims, no_dims, wrong_type
from ...core.op import Array, Ints, Sizes, composite, linear, public
from ...core.tensor import Tensor
from ..batching import flat, shifted
from .reshaping import reshape, sizes, spread_method

_BACKWARDS, _WHOLE = slice(None, None, -1), slice(None)


@linear(any_dtype=True, node="FlipBackward0", batches="dims", vjp=lambda g, dims: _flip(g, dims))
def _flip(input: Array, dims: Ints) -> Any:
    return xp.copied(input[tuple([_BACKWARDS if d in dims else _WHOLE for d in range(input.ndim)])])


@public("flip", method=False)
@spread_method("dims")
def flip(input: Tensor, dims: Sizes) -> Tensor:
    """``input`` with the order along ``dims`` reversed."""
    if not isinstance(dims, (tuple, list)):
        raise wrong_type("flip", "dims", 2, "tuple of ints", dims)
    found = canonical_dims(tuple(dims), input.ndim)
    return _flip(input, found if input.ndim else ())


@composite(method=True)
def fliplr(input: Tensor) -> Any:
    """``input`` with its columns in reverse order."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return _flip(input, (1,))


@composite(method=True)
def flipud(input: Tensor) -> Any:
    """``input`` with its rows in reverse order."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return _flip(input, (0,))


@linear(any_dtype=True, node="RollBackward0",
        vjp=lambda g, shifts, dims: _roll(g, negated(shifts), dims))
def _roll(input: Array, shifts: Ints, dims: Ints) -> Any:
    return xp.in_rows(xp.roll(input, shifts, dims) if dims else xp.roll(input, shifts[0]))


@_roll.batch
def _(batch: Any, input: Any, shifts: Any, dims: Any) -> Any:
    if dims:
        return _roll(input, shifts, shifted(dims))
    return reshape(_roll(flat(input), shifts, (1,)), input.shape)


def negated(shifts: Any) -> tuple[int, ...]:
    return tuple([-n for n in shifts])


@public("roll")
def roll(input: Tensor, shifts: Sizes, dims: Sizes = ()) -> Tensor:
    """``input`` shifted along ``dims``; what leaves at the end enters at the front."""
    steps = sizes((shifts,))
    axes = tuple(dims) if isinstance(dims, (tuple, list)) else () if dims is None else (dims,)
    if not steps:
        raise RuntimeError("`shifts` required")
    if len(steps) != len(axes) and (axes or len(steps) != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(steps)}, dims:"
                           f"{len(axes)}")
    if axes and not input.ndim:
        raise no_dims(axes[0])
    return _roll(input, steps, tuple([canonical_dim(d, input.ndim) for d in axes]))


@linear(any_dtype=True, node="Rot90Backward0", batches="dims",
        vjp=lambda g, k, dims: _rot90(g, -k, dims))
def _rot90(input: Array, k: int, dims: Ints) -> Any:
    return xp.copied(xp.rot90(input, k, dims)) if k % 4 else input.copy()


@public("rot90")
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
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
