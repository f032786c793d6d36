"""Bags of embeddings: rows of a table that are summed, averaged or compared in groups."""

from __future__ import annotations

from typing import Any

from ...backend import bags as bag_kernels
from ...base import dtypes
from ...base.modes import switched
from ...base.warning import warn
from ...core.op import Array, Index, composite, op, publish
from ...core.tensor import Tensor
from ..checks.embeddings import check_bags, checked_offsets, padding_within
from ..creation.ranges import arange
from ..elementwise.clamping import _clamp_min_number
from ..elementwise.comparison import eq
from ..elementwise.where import zeroed
from ..indexing.gather_scatter import scatter_add
from ..indexing.index_select import index_select
from ..memory.casts import in_dtype_of
from ..reductions.sums import _sum_dims
from ..shapes.dimensions import unsqueeze
from ..shapes.reshaping import reshape, zeros_of
from .embedding import _embedding, _embedding_gradient, shorten_rows

_MODES = {"sum": 0, "mean": 1, "max": 2}


@op(any_dtype=True)
def _bag_of_each(offsets: Index, count: int) -> Any:
    return bag_kernels.bag_of_each(offsets, count)


@op(node="EmbeddingBagBackward0", outputs=("output", "sizes", "largest"), differentiable=(0,))
def _embedding_bag(weight: Array, scale: Array | None, indices: Index, bags: Index, count: int,
                   mode: int, scale_grad_by_freq: bool, padding_idx: int) -> Any:
    return bag_kernels.embedding_bag(weight, scale, indices, bags, count, mode, padding_idx)


def _weight_gradient(g: Any, scale: Any, indices: Any, bags: Any, sizes: Any, largest: Any,
                     rows: int, mode: int, scale_grad_by_freq: bool, padding_idx: int) -> Any:
    if mode == _MODES["max"]:
        g = zeroed(g, unsqueeze(eq(sizes, 0), 1))
        return scatter_add(zeros_of(g, (rows, g.shape[1])), 0, largest, g)
    if mode == _MODES["mean"]:
        g = g / unsqueeze(in_dtype_of(g, _clamp_min_number(sizes, 1)), 1)
    of_rows = index_select(g, 0, bags)
    return _embedding_gradient(of_rows if scale is None else of_rows * unsqueeze(scale, 1),
                               indices, rows, padding_idx, scale_grad_by_freq)


_embedding_bag.vjp(
    weight=lambda g, like, scale, indices, bags, sizes, largest, mode, scale_grad_by_freq,
    padding_idx: _weight_gradient(g[0], scale, indices, bags, sizes, largest, like.shape[0], mode,
                                  scale_grad_by_freq, padding_idx),
    scale=lambda g, weight, indices, bags, padding_idx: zeroed(_sum_dims(
        index_select(g[0], 0, bags) * _embedding(weight, indices, -1, False), (1,)),
        eq(indices, padding_idx)))


def _bags(weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool, mode: int,
          sparse: bool, scale: Tensor | None, include_last_offset: bool, padding_idx: int | None
          ) -> tuple[Tensor, ...]:
    """The bags, the bag of each index, the sizes of bags, and the rows of their maxima."""
    padding = padding_within(padding_idx, weight)
    check_bags(weight, indices, offsets, scale)
    begins = offsets.tolist()
    checked_offsets(begins, indices.shape[0], include_last_offset)
    if include_last_offset:
        offsets, indices = offsets[:-1], indices[:begins[-1]]
        scale = None if scale is None else scale[:begins[-1]]
    indices, offsets = indices.to(dtypes.int64), offsets.to(dtypes.int64)
    bags = _bag_of_each(offsets, indices.shape[0])
    if sparse:
        with switched(grad=False):
            _, sizes, largest = _embedding_bag(weight, scale, indices, bags, offsets.shape[0], mode,
                                               False, padding)
        return _sums_of_rows(weight, scale, indices, bags, sizes, mode, scale_grad_by_freq,
                             padding), bags, sizes, largest
    found, sizes, largest = _embedding_bag(weight, scale, indices, bags, offsets.shape[0], mode,
                                           scale_grad_by_freq, padding)
    return found, bags, sizes, largest


def _sums_of_rows(weight: Tensor, scale: Tensor | None, indices: Tensor, bags: Tensor,
                  sizes: Tensor, mode: int, scale_grad_by_freq: bool, padding: int) -> Tensor:
    """The bags as sums of rows that are looked up one by one: so their gradient is sparse."""
    from ..sparse.rows import look_up

    rows = look_up(weight, indices, padding, scale_grad_by_freq)
    if padding >= 0:
        rows = zeroed(rows, unsqueeze(eq(indices, padding), 1))
    if scale is not None:
        rows = rows * unsqueeze(scale, 1)
    found = zeros_of(weight, (sizes.shape[0], weight.shape[1])).index_add(0, bags, rows)
    return found / unsqueeze(in_dtype_of(found, _clamp_min_number(sizes, 1)), 1) \
        if mode == _MODES["mean"] else found


def _torch_embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor,
                         scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
                         per_sample_weights: Tensor | None = None,
                         include_last_offset: bool = False, padding_idx: int | None = None
                         ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """:func:`embedding_bag` as ``torch.embedding_bag`` has it, with what it found on the way.

    That is the bag of each index, the size of each bag unless they are summed, and the row that
    each element of a maximum is from.
    """
    found, bags, sizes, largest = _bags(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                                        per_sample_weights, include_last_offset, padding_idx)
    sizes = largest.clone() if mode == _MODES["sum"] else sizes
    return found, bags, sizes, sizes.clone() if mode == _MODES["mean"] else largest


publish(_torch_embedding_bag, "embedding_bag", method=False)


def _as_bags(input: Tensor, offsets: Tensor | None, scale: Tensor | None
             ) -> tuple[Tensor, Tensor, Tensor | None]:
    """Indices in a row and where bags of them begin: each row of a matrix is one."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is "
                             "a mini-batch of fixed length sequences. However, found offsets of "
                             f"type {type(offsets)}")
        offsets = arange(0, input.numel(), input.shape[1], dtype=input.dtype)
        return reshape(input, (-1,)), offsets, None if scale is None else reshape(scale, (-1,))
    if input.ndim != 1:
        raise ValueError("input has to be 1D or 2D Tensor, but got Tensor of dimension "
                         f"{input.ndim}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets, scale


@composite(function="nn.functional")
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None,
                  max_norm: float | None = None, norm_type: float = 2,
                  scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> Tensor:
    """The sum, mean or maximum of the rows of ``weight`` that each bag of indices lists."""
    if weight.dtype is dtypes.int64 and input.dtype.is_floating_point:
        warn("Argument order of nn.functional.embedding_bag was changed. Usage "
             "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
             "`embedding_bag(input, weight, ...)`.")
        weight, input = input, weight
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is "
                         f"not None, then it must have the same shape as the input ({input.shape})")
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    is_matrix = input.ndim == 2
    input, offsets, scale = _as_bags(input, offsets, per_sample_weights)
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if scale is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'). Please open a feature request on GitHub.")
    if max_norm is not None:
        shorten_rows(weight, input, max_norm, norm_type)
    return _bags(weight, input, offsets, scale_grad_by_freq, _MODES[mode], sparse, scale,
                 include_last_offset and not is_matrix, padding_idx)[0]
