"""Pooling by the norm of each window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.op import composite
from ...core.tensor import Tensor
from .activations import relu
from .pooling import avg_pool1d, avg_pool2d, avg_pool3d
from .sizes import spread


def _declare_norm_pool(dims: int, pool: Any, which: str) -> Any:
    @composite(function="nn.functional", name=f"lp_pool{dims}d",
               doc=f"The norm of each window of the last {which}.")
    def norm_pool(input: Tensor, norm_type: float, kernel_size: int | Sequence[int],
                  stride: int | Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
        kernel = spread(kernel_size, dims)
        steps = kernel if stride is None else spread(stride, dims)
        mean = pool(input.pow(norm_type), kernel, steps, 0, ceil_mode)
        # A mean of odd powers keeps its sign.
        return (mean.sign() * relu(mean.abs())).mul(math.prod(kernel)).pow(1.0 / norm_type)

    return norm_pool


lp_pool1d = _declare_norm_pool(1, avg_pool1d, "dimension")
lp_pool2d = _declare_norm_pool(2, avg_pool2d, "two dimensions")
lp_pool3d = _declare_norm_pool(3, avg_pool3d, "three dimensions")
