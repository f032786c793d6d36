"""Matrix products of groups of rows or columns, each with a matrix of its own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...base import dtypes
from ...core.op import public
from ...core.tensor import Tensor
from ..shapes.joining import cat, stack
from .matmul import matmul


def _check(a: Tensor, b: Tensor, offs: Tensor | None, bias: Any, out_dtype: Any) -> None:
    kinds = (dtypes.float32, dtypes.bfloat16, dtypes.float16)
    for name, matrix in (("mat_a", a), ("mat_b", b)):
        if matrix.dtype not in kinds:
            raise RuntimeError(f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got "
                               f"{matrix.dtype.alias}")
    for name, matrix in (("mat_a", a), ("mat_b", b)):
        if matrix.ndim not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if (a.ndim == 3 or b.ndim == 3) and a.shape[-1] != b.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    if (offs is not None) == (a.ndim == b.ndim == 3):
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both "
                           "matrices are 3d")
    if offs is not None and offs.dtype is not dtypes.int32:
        raise RuntimeError("Offsets have to be int32")
    groups = [len(t) for t in (a, b) if t.ndim == 3] + ([len(offs)] if offs is not None else [])
    if len(set(groups)) > 1:
        raise RuntimeError("matrix batch sizes have to match")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype not in (None, a.dtype):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


def _grouped(a: Tensor, b: Tensor, offs: Tensor | None) -> Any:
    if offs is None:
        return matmul(a, b)
    parts = [slice(first, last) for first, last in pairwise((0, *offs.tolist()))]
    if b.ndim == 3:  # rows of each group, times its own matrix
        rows = [matmul(a[part], one) for part, one in zip(parts, b, strict=True)]
        beyond = a.new_zeros((len(a) - (parts[-1].stop if parts else 0), b.shape[-1]))
        return cat([*rows, beyond])
    if a.ndim == 3:
        columns = [matmul(one, b[:, part]) for part, one in zip(parts, a, strict=True)]
        beyond = b.new_zeros((a.shape[1], b.shape[1] - (parts[-1].stop if parts else 0)))
        return cat([*columns, beyond], 1)
    return stack([matmul(a[:, part], b[part]) for part in parts])


@public("grouped_mm", function="nn.functional", method=False)
def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None,
               bias: Tensor | None = None, out_dtype: Any = None) -> Tensor:
    """The matrix product of each group; ``offs`` says where groups of rows or columns end."""
    _check(mat_a, mat_b, offs, bias, out_dtype)
    return _grouped(mat_a, mat_b, offs)  # type: ignore[no-any-return]
