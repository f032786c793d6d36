"""Rows that are looked up in a table: its gradient is a sparse tensor."""

from __future__ import annotations

from typing import Any

from ...backend import coordinates, norm as norm_kernels, xp
from ...core.op import Array, Index, op
from .parts import SPARSE_OPS
from .tensor import SparseTensor  # noqa: F401 - the class of the gradients


@op(function=None, method=False, node="EmbeddingBackward0")
def look_up(weight: Array, indices: Index, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The rows of a table at given indices, whose gradient is sparse."""
    return norm_kernels.look_up(weight, xp.as_array(indices))


@op(function=None, method=False, is_plain=False)
def row_gradient(output: Array, indices: Index, size: Any, padding_idx: int) -> Any:
    """The gradient of a table whose rows were looked up: a row for each look-up."""
    return coordinates.row_gradient(output, xp.as_array(indices), size, padding_idx)


@op(function=None, method=False)
def rows_at(input: Array, indices: Index, padding_idx: int) -> Any:
    """The rows that a sparse or strided gradient of a table has for each look-up."""
    return coordinates.rows_at(input, xp.as_array(indices), padding_idx)


look_up.vjp(weight=lambda g, indices, like, padding_idx, scale_grad_by_freq: _rows_of(
    g, indices, like.shape, padding_idx, scale_grad_by_freq))
row_gradient.vjp(output=lambda g, indices, padding_idx: rows_at(g, indices, padding_idx))
SPARSE_OPS.update((row_gradient.op, rows_at.op))


def _rows_of(g: Any, indices: Any, size: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse "
                           "gradients")
    return row_gradient(g, indices, size, padding_idx)
