"""What losses share: reductions, and pairs of input and target."""

from __future__ import annotations

import math
from typing import Any

from ...backend.interface import MEAN, NONE, SUM
from ...base import dtypes
from ...base.warning import warn
from ...core.op import REGISTRY
from ...core.tensor import Tensor
from ..batching import all_aligned, run
from ..reductions.sums import _mean_dims, _sum_dims, mean, sum
from ..shapes.expanding import expand, joint_shape

_REDUCTIONS = {"none": NONE, "mean": MEAN, "sum": SUM}


def reduction_code(reduction: str, size_average: bool | None = None,
                   reduce: bool | None = None) -> int:
    """The number of a reduction, from its name or the older pair of flags."""
    if size_average is not None or reduce is not None:
        reduction = former_reduction(size_average, reduce)
    try:
        return _REDUCTIONS[reduction]
    except (KeyError, TypeError):
        raise ValueError(f"{reduction} is not a valid value for reduction") from None


def former_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """The reduction that the older pair of flags asks for, with PyTorch's warning."""
    average = size_average is None or size_average
    reduction = "mean" if average else "sum"
    if reduce is not None and not reduce:
        reduction = "none"
    warn("size_average and reduce args will be deprecated, please use "
         f"reduction='{reduction}' instead.")
    return reduction


def reduced(values: Tensor, reduction: int) -> Tensor:
    """All values, their mean or their sum."""
    return values if reduction == NONE else mean(values) if reduction == MEAN else sum(values)


def share(g: Any, count: int, reduction: int, factor: float = 1.0) -> Any:
    """An output's gradient as it reaches each of ``count`` values, times ``factor``."""
    if reduction == MEAN:
        factor = factor / (count or 1)
    return g if factor == 1 else g * factor


def element_count(input: Any) -> int:
    return math.prod(input.shape)


def _broadcast_pair(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The pair in one shape, with PyTorch's warning that this is probably a mistake."""
    warn(
        f"Using a target size ({target.shape}) that is different to the input size ({input.shape})"
        ". This will likely lead to incorrect results due to broadcasting. Please ensure they have "
        "the same size.", UserWarning)
    return _expanded_pair(input, target)


def _expanded_pair(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    shape = joint_shape(tuple(input.shape), tuple(target.shape))
    return expand(input, shape), expand(target, shape)


def _pair(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """``input`` and ``target`` in one shape and dtype."""
    if input._data.shape != target._data.shape:
        input, target = _broadcast_pair(input, target)
    if input._data.dtype is not target._data.dtype and input.dtype is not target.dtype:
        kind = dtypes.promote_types(input.dtype, target.dtype)
        input, target = input.to(kind), target.to(kind)
    return input, target


def _reduced(values: Any, reduction: int) -> Any:
    """The losses of each value of the batch, summed up or averaged."""
    if reduction == NONE or values.ndim == 1:
        return values
    return (_mean_dims if reduction == MEAN else _sum_dims)(values, tuple(range(1, values.ndim)))


def of_each(batch: Any, *values: Any) -> Any:
    """The batching rule of losses that are computed element by element."""
    op = REGISTRY[batch.name]
    given = dict(zip(op.by_name, values, strict=True))
    tensors = {n: v for n, v in given.items() if n in op.arrays or n in op.indices}
    given.update(zip(tensors, all_aligned(batch, **tensors), strict=True))
    reduction = given["reduction"]
    given["reduction"] = NONE
    return _reduced(run(batch.name, *given.values()), reduction)
