"""Tensors whose dims lie in memory in a given order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.op import publish
from ...core.tensor import Tensor
from .filled import empty


def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], *, dtype: Any = None,
                   layout: Any = None, device: Any = None, pin_memory: bool = False,
                   requires_grad: bool = False) -> Tensor:
    """A tensor whose values are not set and whose dims lie in memory in the order that is given."""
    rank = len(size)
    if rank != len(physical_layout):
        raise RuntimeError("Number of dimensions in size does not match the length of the "
                           f"physical_layout; i.e. len(size) = {rank} is not equal to "
                           f"len(physical_layout) = {len(physical_layout)}")
    for i, dim in enumerate(physical_layout):
        if not 0 <= dim < rank:
            raise RuntimeError(f"Dimension out of range (expected to be between 0 and {rank - 1}, "
                               f"but got {dim} at index {i}).  NB: negative dims not currently "
                               "supported; file an issue if you want it.")
        if dim in physical_layout[:i]:
            raise RuntimeError("Duplicate dim not allowed")
    made = empty([size[dim] for dim in physical_layout], dtype=dtype, layout=layout, device=device)
    back = [list(physical_layout).index(dim) for dim in range(rank)]
    return made.permute(back).detach().requires_grad_(requires_grad)


publish(empty_permuted, "empty_permuted", method=False)
