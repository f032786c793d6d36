"""Pooling to a given size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import pool as pool_kernels, xp
from ...core.op import Array, Flag, Sizes, composite, op
from ...core.tensor import Tensor
from ..checks.common import kinds
from ..checks.pooling import check_adaptive, check_target, target_size
from ..reductions.sums import mean
from .along_axes import _declare_mixing
from .pooling import _put_in_planes

_ADAPTIVE = {
    1: _declare_mixing("_adaptive_average1d", "SqueezeBackward1", "adaptive_avg_pool2d"),
    2: _declare_mixing("_adaptive_average2d", "AdaptiveAvgPool2DBackward0", "adaptive_avg_pool2d"),
    3: _declare_mixing("_adaptive_average3d", "AdaptiveAvgPool3DBackward0",
                       "adaptive_avg_pool3d_cpu")}


def _adaptive_avg_pool(rank: int, input: Tensor, output_size: Any) -> Tensor:
    name = f"adaptive_avg_pool{rank}d"
    check_target(rank, name, input, output_size)
    out = target_size(rank, name, input, output_size)
    if all(n == 1 for n in out):
        return mean(input, tuple(range(-1, -rank - 1, -1)), keepdim=True)
    check_adaptive(rank, name, input)
    dtype = xp.FLOAT64 if input._data.dtype == xp.FLOAT64 else xp.FLOAT32
    recipe = tuple([(i - rank, pool_kernels.adaptive_matrix(n, m, dtype))
                    for i, (n, m) in enumerate(zip(input.shape[-rank:], out, strict=True))])
    return _ADAPTIVE[rank](input, recipe)


@composite()
def adaptive_avg_pool1d(input: Tensor, output_size: Sizes) -> Tensor:
    """The means of ``output_size`` nearly equal parts of a signal."""
    return _adaptive_avg_pool(1, input, output_size)


def _declare_average(rank: int, thing: str) -> None:
    @composite(function="nn.functional", name=f"adaptive_avg_pool{rank}d",
               doc=f"The means of a grid of ``output_size`` nearly equal parts of {thing}.")
    def average(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
        return _adaptive_avg_pool(rank, input, output_size)


_declare_average(2, "an image")
_declare_average(3, "a volume")


@op(batches="planes")
def _adaptive_positions(input: Array, size: Any) -> Any:
    return pool_kernels.adaptive_max_indices(input, size)


def _declare_adaptive_max(rank: int, node: str) -> Any:
    @op(name=f"_adaptive_max{rank}d", node=node, batches="planes", guard=kinds(
        "f", "adaptive_max_pool3d_cpu" if rank == 3 else "adaptive_max_pool2d"))
    def largest(input: Array, size: Any) -> Any:
        return pool_kernels.gather_planes(
            input, pool_kernels.adaptive_max_indices(input, size), rank)

    largest.vjp(input=lambda g, input, size: _put_in_planes(
        g, _adaptive_positions(input, size), input.shape[-len(size):], False))
    return largest


_ADAPTIVE_MAX = {1: _declare_adaptive_max(1, "SqueezeBackward1"),
                 2: _declare_adaptive_max(2, "AdaptiveMaxPool2DBackward0"),
                 3: _declare_adaptive_max(3, "AdaptiveMaxPool3DBackward0")}


def _adaptive_max_pool(rank: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    name = f"adaptive_max_pool{rank}d"
    check_target(rank, name, input, output_size)
    check_adaptive(rank, name, input)
    out = target_size(rank, name, input, output_size)
    y = _ADAPTIVE_MAX[rank](input, out)
    return (y, _adaptive_positions(input.detach(), out)) if return_indices else y


@composite(function="nn.functional")
def adaptive_max_pool1d(input: Tensor, output_size: Sizes, return_indices: Flag = False) -> Any:
    """The largest values of ``output_size`` nearly equal parts of a signal."""
    return _adaptive_max_pool(1, input, output_size, return_indices)


def _declare_public_max(rank: int, thing: str) -> None:
    if rank > 1:
        @composite(function="nn.functional", name=f"adaptive_max_pool{rank}d", doc="The largest "
                   f"values of a grid of ``output_size`` nearly equal parts of {thing}.")
        def largest(input: Tensor, output_size: Sizes | None, return_indices: Flag = False) -> Any:
            return _adaptive_max_pool(rank, input, output_size, return_indices)

    @composite(function="nn.functional", name=f"adaptive_max_pool{rank}d_with_indices",
               doc=f":func:`adaptive_max_pool{rank}d`, and where in {thing} each maximum lies.")
    def with_indices(input: Tensor, output_size: Sizes | None,
                     return_indices: Flag = False) -> tuple[Tensor, Tensor]:
        return _adaptive_max_pool(rank, input, output_size, True)


for _rank, _thing in ((1, "a signal"), (2, "an image"), (3, "a volume")):
    _declare_public_max(_rank, _thing)
