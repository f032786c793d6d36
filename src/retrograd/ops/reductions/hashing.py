"""A number of 64 bits that tells tensors of other elements apart."""

from __future__ import annotations

from typing import Any

from ...backend import reduce as reduce_kernels
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import no_kernel
from ...core.op import Array, Dims, composite, op
from ...core.out_rules import Out
from ...core.tensor import Tensor
from .arguments import UNSET


@op(title="hash_tensor", node="NotImplemented", differentiable=())
def _hash_tensor(input: Array, dim: Dims, keepdim: bool) -> Any:
    if not input.size and not dim:
        raise RuntimeError("hash_tensor: Expected reduction dim to be specified for "
                           "input.numel() == 0. Specify the reduction dim with the 'dim' "
                           "argument.")
    for axis in dim or ():
        if input.ndim and not input.shape[axis]:
            raise IndexError(f"hash_tensor: Expected reduction dim {axis} to have non-zero size.")
    if kind_of(input.dtype) == "c":
        raise no_kernel("xor_sum_cpu", dtypes.from_numpy_dtype(input.dtype))
    return reduce_kernels.combined_bits(input, dim, keepdim)


@composite(method=True, out=Out("Expected result to be of dtype uint64, but got {out}"))
def hash_tensor(input: Tensor, dim: Any = UNSET, *, keepdim: bool = False, mode: int = 0
                ) -> Tensor:
    """The exclusive or of the bits of all elements, each widened to 64 of them."""
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    return _hash_tensor(input.detach(), () if dim is UNSET else dim, keepdim)
