"""Undoing max pooling: each value goes where the maximum came from, among zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import pool as pool_kernels, xp
from ...core.op import Array, Index, Sizes, composite, linear
from ...core.tensor import Tensor
from ..checks.pooling import check_places, check_unpooling, unpooled_space
from ..shapes.dimensions import squeeze, unsqueeze
from .pooling import _take_from_planes


def _declare_unpool(rank: int) -> Any:
    def kernel(input: Array, indices: Index, space: Any) -> Any:
        check_places(indices, space)
        if 0 in space:
            return xp.zeros((*input.shape[:-len(space)], *space), input.dtype)
        return pool_kernels.scatter_planes(input, indices, space, True)

    kernel.__name__ = f"_max_unpool{rank}d"
    made = linear(node=f"MaxUnpool{rank}DBackward0", batches="planes")(kernel)
    made.vjp(input=lambda g, indices, space: _take_from_planes(g, indices, len(space)))
    return made


_MAX_UNPOOL = {2: _declare_unpool(2), 3: _declare_unpool(3)}


def _max_unpool(input: Tensor, indices: Tensor, space: Any, stride: Any) -> Tensor:
    check_unpooling(input, indices, space, stride)
    return _MAX_UNPOOL[len(space)](input, indices, tuple(space))


@composite(function="nn.functional")
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
                 padding: Sizes = 0, output_size: Sequence[int] | None = None) -> Tensor:
    """The values of a max pooling of signals where they came from, among zeros."""
    space, steps = unpooled_space(1, input, kernel_size, stride, padding, output_size)
    return squeeze(_max_unpool(unsqueeze(input, -1), unsqueeze(indices, -1), (*space, 1), steps),
                   -1)


def _declare_public_unpool(rank: int, things: str) -> None:
    @composite(function="nn.functional", name=f"max_unpool{rank}d", doc="The values of a max "
               f"pooling of {things} where they came from, among zeros.")
    def unpooled(input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
                 padding: Sizes = 0, output_size: Sequence[int] | None = None) -> Tensor:
        return _max_unpool(input, indices, *unpooled_space(rank, input, kernel_size, stride,
                                                           padding, output_size))


_declare_public_unpool(2, "images")
_declare_public_unpool(3, "volumes")
