"""Matrix products of numbers that are stored in 8 bits and a scale."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ...base import dtypes
from ...core.op import public
from ...core.tensor import Tensor
from .matmul import matmul


class ScalingType(IntEnum):
    """What has a scale of its own: a matrix, its rows or columns, or blocks of it."""

    TensorWise, RowWise, BlockWise1x16, BlockWise1x32, BlockWise1x128, BlockWise128x128 = range(6)


class SwizzleType(IntEnum):
    """How scales of blocks lie in memory."""

    NO_SWIZZLE, SWIZZLE_32_4_4 = range(2)


def _recipe(a: Tensor, b: Tensor, scale_a: Any, scale_b: Any) -> ScalingType:
    if all(t.dtype.is_floating_point and t.dtype.itemsize == 1 for t in (a, b)) \
            and all(isinstance(t, Tensor) and t.dtype is dtypes.float32
                    for t in (scale_a, scale_b)):
        if scale_a.numel() == scale_b.numel() == 1:
            return ScalingType.TensorWise
        if (tuple(scale_a.shape), tuple(scale_b.shape)) == ((len(a), 1), (1, b.shape[1])):
            return ScalingType.RowWise
    raise _refused(a, b)


def _refused(a: Tensor, b: Tensor) -> ValueError:
    return ValueError(
        "Invalid scaling configuration.\n- For TensorWise scaling, a and b should be float8, "
        "scales should be float and singletons.\n- For RowWise scaling, a and b should be float8, "
        f"scales should be float, scale_a should be ({len(a)}, 1) and scale_b should be "
        f"(1, {b.shape[1]})")


@public("_scaled_mm", method=False)
def _scaled_mm(input: Tensor, mat2: Tensor, scale_a: Tensor, scale_b: Tensor,
               bias: Tensor | None = None, scale_result: Tensor | None = None,
               out_dtype: Any = None, use_fast_accum: bool = False) -> Tensor:
    """The product of two matrices of 8 bits times their scales, in ``out_dtype``."""
    for name, matrix in (("mat1", input), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix")
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError("mat_a and mat_b shapes cannot be multiplied "
                           f"({'x'.join(map(str, input.shape))} and "
                           f"{'x'.join(map(str, mat2.shape))})")
    each = _recipe(input, mat2, scale_a, scale_b) is ScalingType.RowWise
    if bias is not None and bias.numel() != mat2.shape[1]:
        raise RuntimeError(f"Bias must be size {mat2.shape[1]} but got {bias.numel()}")
    left, right = (t.float() * (scale if each else scale.reshape(()))
                   for t, scale in ((input, scale_a), (mat2, scale_b)))
    found = matmul(left, right)
    if bias is not None:
        found = found + bias.float()
    if scale_result is not None and out_dtype is not None and out_dtype.itemsize == 1:
        found = found / scale_result
    return found.to(input.dtype if out_dtype is None else out_dtype)  # type: ignore[no-any-return]


@public("scaled_mm", function="nn.functional", method=False)
def scaled_mm(mat_a: Tensor, mat_b: Tensor, scale_a: Any, scale_recipe_a: Any, scale_b: Any,
              scale_recipe_b: Any, swizzle_a: Any = None, swizzle_b: Any = None,
              bias: Tensor | None = None, output_dtype: Any = dtypes.bfloat16,
              contraction_dim: Any = (), use_fast_accum: bool = False) -> Tensor:
    """The product of two matrices of 8 bits, whose scales are as the recipes say."""
    scales = (_single(scale_a), _single(scale_b))
    if mat_a.ndim == mat_b.ndim == 2 and [_single(scale_recipe_a), _single(scale_recipe_b)] \
            != [_recipe(mat_a, mat_b, *scales)] * 2:
        raise _refused(mat_a, mat_b)
    return _scaled_mm(mat_a, mat_b, *scales, bias, None, output_dtype, use_fast_accum)


def _single(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
