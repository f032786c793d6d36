"""Resampling of signals, images and volumes."""

from __future__ import annotations

import math
from typing import Any

from ...backend import conv as conv_kernels, xp
from ...base import dtypes
from ...base.warning import warn
from ...core.op import Array, Flag, Sizes, composite, op
from ...core.tensor import Tensor
from ..checks.images import check_resampling, floats_and_bytes
from .adaptive_pooling import _adaptive_avg_pool
from .along_axes import _behind_batch, _declare_mixing, _declare_taking
from .sizes import Ints

_NEAREST = {rank: _declare_taking(f"_upsample_nearest{rank}d", f"UpsampleNearest{rank}DBackward0",
                                  floats_and_bytes) for rank in (1, 2, 3)}
_NEAREST_EXACT = {rank: _declare_taking(f"_upsample_nearest_exact{rank}d",
                                        f"UpsampleNearestExact{rank}DBackward0",
                                        floats_and_bytes) for rank in (1, 2, 3)}
_KERNELS = {"linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic",
            "lanczos": "lanczos"}
"""How each mode weights the points around a position."""
_SMOOTH = {(mode, rank): _declare_mixing(
    f"_upsample_{mode}{rank}d", f"Upsample{mode.capitalize()}{rank}DBackward0",
    f"compute_indices_weights_{_KERNELS[mode]}")
    for mode, rank in (("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3))}
_AVERAGING = {mode: _declare_mixing(
    f"_upsample_{mode}2d_aa", f"Upsample{mode.capitalize()}2DAaBackward0",
    "compute_index_ranges_weights") for mode in ("bilinear", "bicubic", "lanczos")}


@op(batches=_behind_batch)
def _resampled_bytes(input: Array, recipe: Any) -> Any:
    return conv_kernels.multiply_axes_of_bytes(input, recipe)


def _resampled_size(input: Tensor, size: Any, scale_factor: Any,
                    recompute: bool | None) -> tuple[Ints, list[float | None]]:
    """The output size, and the scale along each dimension where it is to be used as given."""
    rank = input.ndim - 2
    space = tuple(input.shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        several = isinstance(size, (tuple, list))
        given = tuple(size) if several else (size,) * rank
        if several and len(given) != rank:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(space)} and output size of {size}. Please "
                "provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, "
                "...,oK) format.")
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return given, [None] * rank
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    several = isinstance(scale_factor, (tuple, list))
    scales = tuple(scale_factor) if several else (scale_factor,) * rank
    if several and len(scales) != rank:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got "
            f"input with spatial dimensions of {list(space)} and scale_factor of shape "
            f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format.")
    out = tuple([math.floor(n * float(s)) for n, s in zip(space, scales, strict=True)])
    return out, [None if recompute else float(s) for s in scales]


@composite(function="nn.functional")
def interpolate(input: Tensor, size: Sizes | None = None, scale_factor: Any = None,
                mode: str = "nearest", align_corners: bool | None = None,
                recompute_scale_factor: Flag | None = None, antialias: bool = False) -> Tensor:
    """``input`` resampled to another size."""
    rank = input.ndim - 2
    if antialias and (mode not in _AVERAGING or rank != 2):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes "
                         "and requires a 4-D tensor as input")
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError("align_corners option can only be set with the interpolating modes: "
                         "linear | bilinear | bicubic | trilinear")
    out, scales = _resampled_size(input, size, scale_factor, recompute_scale_factor)
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    known = ("nearest", "area", "nearest-exact", *_KERNELS)
    if rank not in (1, 2, 3) or mode not in known or (mode == "bicubic" and rank != 2):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the "
            "modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area | "
            f"nearest-exact (got {mode})")
    if mode == "area":
        return _adaptive_avg_pool(rank, input, out)
    if mode in _KERNELS and not antialias and (mode, rank) not in _SMOOTH:
        needed = {"linear": 3, "bilinear": 4, "trilinear": 5}[mode]
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {needed}D input")
    if min(out) < 1 or not input.numel():
        check_resampling(tuple(input.shape), out)
    if mode in _KERNELS:
        return _mixed(input, out, scales, mode, bool(align_corners), antialias)
    exact = mode == "nearest-exact"
    indexes = tuple([(2 + i, conv_kernels.nearest_index(n, m, s, exact))
                     for i, (n, m, s) in enumerate(zip(input.shape[2:], out, scales, strict=True))])
    return (_NEAREST_EXACT if exact else _NEAREST)[rank](input, indexes)


def _mixed(input: Tensor, out: Ints, scales: list[float | None], mode: str, align_corners: bool,
           antialias: bool) -> Any:
    """``input`` resampled by means of neighbours, or of all that an output point covers."""
    in_bytes = input.dtype is dtypes.uint8 and input.ndim == 4
    dtype = xp.FLOAT64 if in_bytes or input.dtype is dtypes.float64 else xp.FLOAT32
    recipe = tuple([
        (2 + i, conv_kernels.interpolation_matrix(n, m, align_corners, s, dtype, _KERNELS[mode],
                                                  antialias))
        for i, (n, m, s) in enumerate(zip(input.shape[2:], out, scales, strict=True))])
    if in_bytes:
        return _resampled_bytes(input, recipe)
    return (_AVERAGING[mode] if antialias else _SMOOTH[mode, input.ndim - 2])(input, recipe)


@composite(function="nn.functional")
def upsample(input: Tensor, size: Sizes | None = None, scale_factor: Any = None,
             mode: str = "nearest", align_corners: bool | None = None) -> Tensor:
    """:func:`interpolate` under its older name."""
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite(function="nn.functional")
def upsample_nearest(input: Tensor, size: Sizes | None = None, scale_factor: Any = None) -> Tensor:
    """:func:`interpolate` by the nearest elements, under its older name."""
    warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, "nearest")


@composite(function="nn.functional")
def upsample_bilinear(input: Tensor, size: Sizes | None = None, scale_factor: Any = None) -> Tensor:
    """:func:`interpolate` by straight lines between corners, under its older name."""
    warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` "
         "instead.")
    return interpolate(input, size, scale_factor, "bilinear", True)
