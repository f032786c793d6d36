"""Triangles and diagonals of matrices, as copies."""

from __future__ import annotations

from typing import Any

from ..backend import numpy as xp
from ..errors import canonical_dim
from ..op import Array, composite, linear, publish
from ..tensor import Tensor
from .join import stack
from .rearrange import _flip
from .shape import diagonal, diagonal_backward, reshape


def _check_matrix(name: str, input: Any) -> None:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@linear(any_dtype=True, inplace=True, quiet=True)
def tril(input: Array, diagonal: int = 0) -> Any:
    """The lower triangle of a matrix (or of each of a batch), zeros above ``diagonal``."""
    _check_matrix("tril", input)
    return xp.tril(input, diagonal)


tril.vjp(input=lambda g, diagonal: tril(g, diagonal))


@linear(any_dtype=True, inplace=True, quiet=True)
def triu(input: Array, diagonal: int = 0) -> Any:
    """The upper triangle of a matrix (or of each of a batch), zeros below ``diagonal``."""
    _check_matrix("triu", input)
    return xp.triu(input, diagonal)


triu.vjp(input=lambda g, diagonal: triu(g, diagonal))


@linear(function=None, method=False, any_dtype=True, node="DiagEmbedBackward0")
def _diag_embed(input: Array, offset: int, dim1: int, dim2: int) -> Any:
    length = input.shape[-1] + abs(offset)
    shape = list(input.shape[:-1])
    for dim in sorted((dim1, dim2)):
        shape.insert(dim, length)
    whole = xp.zeros(tuple(shape), input.dtype)
    xp.writable_diagonal(whole, offset, dim1, dim2)[...] = input
    return whole


_diag_embed.vjp(input=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2))


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last dimension of ``input`` on a diagonal, and zeros elsewhere."""
    rank = input.ndim + 1
    first, second = canonical_dim(dim1, rank), canonical_dim(dim2, rank)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return _diag_embed(input, offset, first, second)


publish(diag_embed, "diag_embed")


@linear(function=None, method=False, any_dtype=True, node="DiagonalBackward0_copy")
def _diagonal_copy(input: Array, offset: int) -> Any:
    return xp.array(input.diagonal(offset))


_diagonal_copy.vjp(input=lambda g, like, offset: diagonal_backward(g, like.shape, offset, 0, 1))


@composite(method=True)
def diag(input: Any, diagonal: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    if input.ndim == 1:
        return _diag_embed(input, diagonal, 0, 1)
    return _diagonal_copy(input, diagonal)


@composite(method=True)
def diagflat(input: Any, offset: int = 0) -> Any:
    """The matrix with all elements of ``input`` on a diagonal."""
    return _diag_embed(reshape(input, (-1,)), offset, 0, 1)


@composite()
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The matrix whose columns are the powers of a vector, the highest first."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    if not count:
        return x.new_empty((x.shape[0], 0))
    powers = stack([x ** i for i in range(count)], 1)
    return powers if increasing else _flip(powers, (1,))
