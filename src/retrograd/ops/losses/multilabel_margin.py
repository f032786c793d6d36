"""A margin between the classes that are meant and the others."""

from __future__ import annotations

import math
from typing import Any

from ...backend import loss as loss_kernels
from ...base import dtypes
from ...base.errors import no_kernel
from ...core.op import Array, Index, composite, op
from ...core.tensor import Tensor
from ..batching import all_batched
from ..shapes.reshaping import reshape
from .margin import per_sample
from .reduction import NONE, _reduced, reduction_code


@op()
def _multilabel_slopes(input: Index, target: Index) -> Any:
    return loss_kernels.multilabel_slopes(input, target)


@op(node="MultilabelMarginLossBackward0")
def _multilabel_margin_loss(input: Array, target: Index, reduction: int) -> Any:
    return loss_kernels.reduced(loss_kernels.multilabel_margins(input, target), reduction)


_multilabel_margin_loss.vjp(input=lambda g, input, target, reduction: _multilabel_slopes(
    input, target) * (per_sample(g, input.shape[0], reduction) if len(input.shape) == 2 else g))


def _matrix(values: Any) -> Any:
    """A batch of matrices, vectors or numbers as one matrix."""
    return reshape(values, (math.prod(values.shape[:-1]), values.shape[-1])) \
        if values.ndim > 1 else reshape(values, (values.shape[0], 1))


@_multilabel_slopes.batch
def _(batch: Any, input: Any, target: Any) -> Any:
    input, target = all_batched(batch, input=input, target=target)
    found = _multilabel_slopes(*[_matrix(t) for t in (input, target)])
    return reshape(found, input.shape)


@_multilabel_margin_loss.batch
def _(batch: Any, input: Any, target: Any, reduction: int) -> Any:
    input, target = all_batched(batch, input=input, target=target)
    values = _multilabel_margin_loss(_matrix(input), _matrix(target), NONE)
    return _reduced(reshape(values, input.shape[:-1] if input.ndim > 1 else input.shape), reduction)


@composite(function="nn.functional")
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                           reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """How far the classes that are not meant are from being 1 below each of those that are.

    Each row of ``target`` lists the classes that are meant, up to the first -1.
    """
    code = reduction_code(reduction, size_average, reduce)
    shape = tuple(input.shape)
    if len(shape) > 2 or 0 in shape[-1:]:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, "
                           f"but got: {list(shape)}")
    if tuple(target.shape) != shape and (len(shape) == 2 or target.numel() != input.numel()
                                         or target.ndim > 1):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: "
                           f"{list(shape)}")
    if target.dtype is not dtypes.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.alias}")
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise no_kernel("multilabel_margin_loss_forward_out_frame", input.dtype)
    return _multilabel_margin_loss(input, target, code)
