"""What the ops on matrices share: checks, and shapes that meet matrices."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...base.modes import MODE
from ...core.op import Index, op
from ...core.tensor import PLAIN, Tensor
from ..batching import repeated, run
from ..shapes.reshaping import reshape


def is_followed(input: Tensor) -> bool:
    """Whether derivatives may be asked for: then factors are found, else values alone."""
    return (input.requires_grad and MODE.get().records) or type(input) not in PLAIN


def columns_of(values: Any) -> Any:
    """A number per matrix column, shaped to multiply columns."""
    return reshape(values, (*values.shape[:-1], 1, values.shape[-1]))


def rows_of(values: Any) -> Any:
    """A number per matrix row, shaped to multiply rows."""
    return reshape(values, (*values.shape, 1))


def per_matrix(values: Any) -> Any:
    """A number per matrix, shaped to multiply it."""
    return reshape(values, (*values.shape, 1, 1))


@op(batches=lambda batch, input: repeated(batch.size, run("_identity", input)))
def _identity(input: Index) -> Any:
    """The identity matrix of ``input``'s last dimension and dtype."""
    return xp.eye(input.shape[-1], dtype=input.dtype)
