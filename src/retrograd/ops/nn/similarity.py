"""Lengths and similarity of vectors."""

from __future__ import annotations

from typing import Any

from ...backend import distance as distance_kernels
from ...base import dtypes
from ...base.errors import no_kernel
from ...core.op import Array, Index, composite, op
from ...core.tensor import Tensor
from ..batching import folded, unfolded
from ..creation.ranges import arange
from ..elementwise.arithmetic import div
from ..elementwise.clamping import clamp_min
from ..indexing.index_select import index_add, index_select
from ..indexing.nonzero import triu_indices
from ..reductions.distances import difference_backward
from ..reductions.norms import norm, vector_norm
from ..reductions.sums import sum
from ..shapes.expanding import expand, joint_shape
from ..shapes.reshaping import reshape, zeros_of


@composite(function="nn.functional")
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12,
              out: Tensor | None = None) -> Tensor:
    """``input`` divided by its ``p``-norm over ``dim``."""
    length = clamp_min(vector_norm(input, p, dim, keepdim=True), eps)
    if out is None:
        return input / expand(length, tuple(input.shape))
    return div(input, length, out=out)


@composite()
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between ``x1`` and ``x2`` along ``dim``."""
    kind = dtypes.promote_types(x1.dtype, x2.dtype)
    if not kind.is_floating_point:
        raise RuntimeError("expected common dtype to be floating point, yet common dtype is "
                           f"{kind.alias}")
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    shape = joint_shape(tuple(x1.shape), tuple(x2.shape))
    left, right = (_unit(x if x.is_floating_point() else x.to(kind), shape, dim, eps)
                   for x in (x1, x2))
    return sum(left * right, dim)


def _unit(x: Tensor, shape: tuple[int, ...], dim: int, eps: float) -> Tensor:
    """``x`` of length one, in its own precision."""
    spread = x if tuple(x.shape) == shape else expand(x, shape)
    return spread / clamp_min(vector_norm(spread, 2, dim, keepdim=True), eps)


@composite()
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6,
                      keepdim: bool = False) -> Tensor:
    """The ``p``-norm of the differences along the last dimension."""
    return norm(x1 - x2 + eps, p, -1, keepdim)


@op(node="PdistBackward0",
    vjp=lambda g, input, first, second, y, p: _pdist_backward(g, input, first, second, y, p))
def _pdist(input: Array, first: Index, second: Index, p: float) -> Any:
    return distance_kernels.norm_of_rows(input[first] - input[second], p)


@_pdist.batch
def _(batch: Any, input: Any, first: Any, second: Any, p: float) -> Any:
    starts = reshape(arange(batch.size) * input.shape[1], (batch.size, 1))
    pairs = [reshape(starts + index, (batch.size * index.shape[0],)) for index in (first, second)]
    return unfolded(batch, _pdist(folded(input), *pairs, p))


def _pdist_backward(g: Any, input: Any, first: Any, second: Any, y: Any, p: float) -> Any:
    apart = index_select(input, 0, first) - index_select(input, 0, second)
    slope = difference_backward(g, apart, y, p)
    whole = index_add(zeros_of(g, input.shape), 0, first, slope)
    return index_add(whole, 0, second, -slope)


@composite()
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The ``p``-norm distance between each two rows, without doubles and without zeros."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if input.dtype.itemsize == 2:
        raise no_kernel("pdist", input.dtype)
    first, second = triu_indices(input.shape[0], input.shape[0], 1)
    return _pdist(input, first, second, float(p))
