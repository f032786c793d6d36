"""What sampling at given places refuses, and in which words."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.errors import length_of, no_kernel
from ...base.warning import warn
from ...core.tensor import Tensor


def check_grid(input: Tensor, grid: Tensor, mode: str) -> None:
    shape, places = tuple(input.shape), tuple(grid.shape)
    if length_of(shape, 0) != length_of(places, 0):
        raise RuntimeError("grid_sampler(): expected grid and input to have same batch size, but "
                           f"got input with sizes {list(shape)} and grid with sizes "
                           f"{list(places)}")
    if places[-1] != len(shape) - 2:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {len(shape) - 2} in last "
                           f"dimension, but got grid with sizes {list(places)}")
    for d in range(2, len(shape)):
        if not shape[d]:
            raise RuntimeError("grid_sampler(): expected input to have non-empty spatial "
                               f"dimensions, but input has sizes {list(shape)} with dimension {d} "
                               "being empty")
    if len(shape) not in (4, 5) or len(places) != len(shape):
        raise RuntimeError("grid_sampler(): expected 4D or 5D input and grid with same number of "
                           f"dimensions, but got input with sizes {list(shape)} and grid with "
                           f"sizes {list(places)}")
    if mode == "bicubic" and len(shape) == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype is not grid.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.alias} but found "
                           f"{grid.dtype.alias}")
    if not input.dtype.is_floating_point:
        raise no_kernel(f"grid_sampler_{len(shape) - 2}d_cpu_kernel_impl", input.dtype)


def check_affine(theta: Tensor, size: Sequence[int], align: bool) -> None:
    if not theta.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine "
                                  f"transforms, respectively. Got size {size}.")
    rank = len(size) - 2
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (rank, rank + 1):
        raise ValueError(f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1}"
                         f" for size {size}. Got {theta.shape}.")
    if align and min(size[2:]) == 1:
        warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
             "align_corners=True. This is not an intended use case of affine_grid. See the "
             "documentation of affine_grid for details.")
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
