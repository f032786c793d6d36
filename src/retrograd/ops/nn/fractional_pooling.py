"""Max pooling with windows at random distances, by which a size may shrink by any factor."""

from __future__ import annotations

from typing import Any

from ...backend import pool as pool_kernels
from ...core.op import Array, Flag, Index, Sizes, composite, op
from ...core.tensor import Tensor
from ..checks.common import kinds
from ..checks.pooling import check_fractional, fractional_sizes
from ..creation.random import rand
from ..shapes.reshaping import reshape
from .pooling import _put_in_planes


def _declare_fractional(rank: int) -> Any:
    def kernel(input: Array, samples: Index, kernel: Any, size: Any) -> Any:
        return pool_kernels.fractional_max_pool(input, samples, kernel, size)

    kernel.__name__ = f"_fractional_max_pool{rank}d"
    made = op(node=f"FractionalMaxPool{rank}DBackward0", outputs=("output", "places"),
              differentiable=(0,), batches="planes",
              guard=kinds("f", f"fractional_max_pool{rank}d_out_frame"))(kernel)
    made.vjp(input=lambda g, like, places, size: _put_in_planes(
        g[0], places, like.shape[-len(size):], False))
    return made


_FRACTIONAL = {2: _declare_fractional(2), 3: _declare_fractional(3)}


def _fractional_max_pool(rank: int, input: Tensor, kernel_size: Sizes, output_size: Any,
                         output_ratio: Any, samples: Tensor | None) -> tuple[Tensor, Tensor]:
    kernel, out = fractional_sizes(rank, input, kernel_size, output_size, output_ratio)
    if samples is None:
        batch = 1 if input.ndim == rank + 1 else input.size(0)
        samples = rand(batch, input.size(-rank - 1), rank, dtype=input.dtype, device=input.device)
    check_fractional(rank, input, samples, kernel, out)
    lead = tuple(input.shape[:-rank])
    samples = reshape(samples[:lead[0] if len(lead) == 2 else 1], (*lead, rank))
    return _FRACTIONAL[rank](input, samples, kernel, out)


def _declare_public_fractional(rank: int, thing: str, plane: str) -> None:
    @composite(function="nn.functional", name=f"fractional_max_pool{rank}d_with_indices",
               doc=f":func:`fractional_max_pool{rank}d`, and where in its {plane} each maximum "
                   "lies.")
    def with_indices(input: Tensor, kernel_size: Sizes, output_size: Sizes | None = None,
                     output_ratio: Any = None, return_indices: Flag = False,
                     _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return _fractional_max_pool(rank, input, kernel_size, output_size, output_ratio,
                                    _random_samples)

    @composite(function="nn.functional", name=f"fractional_max_pool{rank}d",
               doc=f"The largest values of windows at random distances in {thing}.")
    def pooled(input: Tensor, kernel_size: Sizes, output_size: Sizes | None = None,
               output_ratio: Any = None, return_indices: Flag = False,
               _random_samples: Tensor | None = None) -> Any:
        found = _fractional_max_pool(rank, input, kernel_size, output_size, output_ratio,
                                     _random_samples)
        return found if return_indices else found[0]


_declare_public_fractional(2, "an image", "plane")
_declare_public_fractional(3, "a volume", "volume")
