"""Images and volumes sampled at given places, and the places of affine maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import grids as grid_kernels, xp
from ...base.warning import warn
from ...core.op import Array, composite, linear, op, publish
from ...core.tensor import Tensor
from ..checks.grids import check_affine, check_grid
from ..reductions.sums import _sum_dims
from ..shapes.joining import _stack

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@op(batches="planes")
def _grid_spread(output: Array, grid: Array, space: Any, orders: Any, mode: str, padding: str,
                 align: bool) -> Any:
    return grid_kernels.spread(output, grid, space, orders, mode, padding, align)


def _slopes(g: Any, input: Any, grid: Any, orders: Any, mode: str, padding: str,
            align: bool) -> Any:
    """How the sum of ``g`` times the samples changes with the places: x comes before y."""
    rank = len(orders)
    raised = [tuple([n + (d == k) for d, n in enumerate(orders)]) for k in range(rank)]
    return _stack([_sum_dims(g * _grid_values(input, grid, raised[rank - 1 - k], mode, padding,
                                             align), (1,)) for k in range(rank)], rank + 1)


def _declare_sampler(name: str, node: str) -> Any:
    @op(name=name, node=node, batches="planes")
    def sampled(input: Array, grid: Array, orders: Any, mode: str, padding: str,
                align: bool) -> Any:
        return xp.in_rows(grid_kernels.sample(input, grid, orders, mode, padding, align))

    sampled.vjp(
        input=lambda g, grid, like, orders, mode, padding, align: _grid_spread(
            g, grid, like.shape[2:], orders, mode, padding, align),
        grid=_slopes)
    return sampled


_grid_values = _declare_sampler("_grid_values", "GridValuesBackward0")
_grid_spread.vjp(
    output=lambda g, grid, orders, mode, padding, align: _grid_values(
        g, grid, orders, mode, padding, align),
    grid=lambda g, output, grid, orders, mode, padding, align: _slopes(
        output, g, grid, orders, mode, padding, align))
_SAMPLERS = {rank: _declare_sampler(f"_grid_sampler{rank}d", f"GridSampler{rank}DBackward0")
             for rank in (2, 3)}


def _grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int,
                  align_corners: bool) -> Tensor:
    """:func:`grid_sample` with numbers of modes, as ``torch.grid_sampler`` takes them."""
    mode, padding = _MODES[interpolation_mode], _PADDINGS[padding_mode]
    check_grid(input, grid, mode)
    rank = input.ndim - 2
    return _SAMPLERS[rank](input, grid, (0,) * rank, mode, padding, bool(align_corners))


for _name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"):
    publish(_grid_sampler, _name, method=False)


def _aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warn("Default grid_sample and affine_grid behavior has changed to align_corners=False "
             "since 1.3.0. Please specify align_corners=True if the old behavior is desired. See "
             "the documentation of grid_sample for details.")
    return bool(align_corners)


@composite(function="nn.functional")
def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: bool | None = None) -> Tensor:
    """``input`` at the places of ``grid``, whose edges are -1 and 1, x before y."""
    if mode not in _MODES:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' "
                         f"or 'bicubic', but got: '{mode}'")
    if padding_mode not in _PADDINGS:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', "
                         f"'border', or 'reflection', but got: '{padding_mode}'")
    return _grid_sampler(input, grid, _MODES.index(mode), _PADDINGS.index(padding_mode),
                         _aligned(align_corners))


# ---------------------------------------------------------------- affine maps


@linear(node="AffineGridGeneratorBackward0", batches="planes")
def _affine_grid(theta: Array, space: Any, align: bool) -> Any:
    return grid_kernels.mapped(theta, space, align)


@linear(batches="planes")
def _affine_grid_gradient(output: Array, align: bool) -> Any:
    return grid_kernels.mapped_gradient(output, align)


_affine_grid.vjp(theta=lambda g, align: _affine_grid_gradient(g, align))
_affine_grid_gradient.vjp(output=lambda g, like, align: _affine_grid(g, like.shape[1:-1], align))


def _affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """:func:`affine_grid` without its checks, as ``torch.affine_grid_generator``."""
    if size[0] != theta.shape[0]:
        rank = theta.shape[-1]
        raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                           f"[{size[0]}, {rank}] but got: [{theta.shape[0]}, {rank}].")
    return _affine_grid(theta, tuple(size[2:]), bool(align_corners))


publish(_affine_grid_generator, "affine_grid_generator", method=False)


@composite(function="nn.functional")
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Where each map of ``theta`` takes the elements of images or volumes of ``size``."""
    align = _aligned(align_corners)
    check_affine(theta, size, align)
    return _affine_grid_generator(theta, size, align)
