"""Pooling by the norm of each window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.op import composite
from ...core.tensor import Tensor
from .activations import relu
from .pooling import avg_pool1d, avg_pool2d, avg_pool3d


def _per_dim(value: Any, dims: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,) * dims


def _norm_pool(input: Tensor, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool,
               dims: int) -> Tensor:
    """The ``norm_type`` norm of each window; a mean of odd powers keeps its sign."""
    pool = (avg_pool1d, avg_pool2d, avg_pool3d)[dims - 1]
    kernel = _per_dim(kernel_size, dims)
    count = 1
    for n in kernel:
        count *= n
    steps = kernel if stride is None else _per_dim(stride, dims)
    mean = pool(input.pow(norm_type), kernel, steps, 0, ceil_mode)
    return (mean.sign() * relu(mean.abs())).mul(count).pow(1.0 / norm_type)


@composite(function="nn.functional")
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int | Sequence[int],
              stride: int | Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """The norm of each window of the last dimension."""
    return _norm_pool(input, norm_type, kernel_size, stride, ceil_mode, 1)


@composite(function="nn.functional")
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: int | Sequence[int],
              stride: int | Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """The norm of each window of the last two dimensions."""
    return _norm_pool(input, norm_type, kernel_size, stride, ceil_mode, 2)


@composite(function="nn.functional")
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: int | Sequence[int],
              stride: int | Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """The norm of each window of the last three dimensions."""
    return _norm_pool(input, norm_type, kernel_size, stride, ceil_mode, 3)
