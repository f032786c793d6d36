"""Triangles and diagonals of matrices."""

from __future__ import annotations

from typing import Any

from ...backend import matrices, xp
from ...base.errors import canonical_dim
from ...core.op import Array, composite, linear, public
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import inner_rank, run
from ..memory.casts import clone
from ..shapes.reshaping import reshape
from ..shapes.slicing import diagonal, diagonal_backward


def _check_matrix(name: str, input: Any) -> None:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@linear(inplace=True, any_dtype=True, vjp=lambda g, diagonal: tril(g, diagonal))
def tril(input: Array, diagonal: int = 0) -> Any:
    """The lower triangle of matrices; zeros above ``diagonal``."""
    _check_matrix("tril", input)
    return xp.in_rows(matrices.triangle(input, diagonal, upper=False))


@linear(inplace=True, any_dtype=True, vjp=lambda g, diagonal: triu(g, diagonal))
def triu(input: Array, diagonal: int = 0) -> Any:
    """The upper triangle of matrices; zeros below ``diagonal``."""
    _check_matrix("triu", input)
    return xp.in_rows(matrices.triangle(input, diagonal, upper=True))


@tril.batch
@triu.batch
def _(batch: Any, input: Any, diagonal: int) -> Any:
    if inner_rank(input) < 2:
        raise RuntimeError(f"{batch.name}: input tensor must have at least 2 dimensions")
    return run(batch.name, input, diagonal)


@linear(any_dtype=True, vjp=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2))
def diag_embed(input: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices between ``dim1`` and ``dim2`` with ``input``'s last dimension on a diagonal."""
    input = xp.as_array(input)
    first, second = (canonical_dim(d, input.ndim + 1) for d in (dim1, dim2))
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return xp.in_rows(matrices.embedded_diagonal(input, offset, first, second))


@diag_embed.batch
def _(batch: Any, input: Any, offset: int, dim1: int, dim2: int) -> Any:
    first, second = (canonical_dim(d, input.ndim) + 1 for d in (dim1, dim2))
    shape = list(input.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, input.shape[-1] + abs(offset))
    return diagonal_backward(input, tuple(shape), offset, first, second)


@linear(node="DiagonalBackward0_copy", any_dtype=True,
        vjp=lambda g, like, offset: _on_diagonal(g, like.shape, offset),
        batches=lambda batch, input, offset: clone(diagonal(input, offset, 1, 2)))
def _diagonal_copy(input: Array, offset: int) -> Any:
    return input.diagonal(offset).copy()


@linear(vjp=lambda g, offset: _diagonal_copy(g, offset), batches=lambda batch, input, shape, offset:
        diagonal_backward(input, (batch.size, *shape), offset, 1, 2))
def _on_diagonal(input: Array, shape: Any, offset: int) -> Any:
    return matrices.on_diagonal(input, shape, offset)


@composite(method=True, out=Out(copies=True))
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as a diagonal matrix, or the diagonal of a matrix."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return diag_embed(input, diagonal) if input.ndim == 1 else _diagonal_copy(input, diagonal)


@composite(method=True)
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """All elements on the diagonal of a matrix."""
    return diag_embed(reshape(input, (-1,)), offset)


@public("diagonal", method=False, function="linalg")
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonal of matrices."""
    return diagonal(A, offset, dim1, dim2)
