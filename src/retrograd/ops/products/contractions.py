"""Other products: outer, inner, tensordot, kron, chains of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...base.errors import existing_dim
from ...base.warning import warn
from ...core.op import composite
from ...core.out_argument import store_out
from ...core.out_rules import CASTABLE, Out
from ...core.tensor import Tensor
from ..checks.products import check_chain, expect_vectors
from ..elementwise.arithmetic import mul
from ..memory.casts import cast
from ..shapes.dimensions import _permute
from ..shapes.expanding import sum_to_size_of
from ..shapes.reshaping import _reshape_copy, reshape
from .matmul import mm

_OF_TENSORDOT = Out("tensordot: Expected the output tensor to have dtype {result}, but got an "
                    "output tensor with dtype {out}", copies=True)
_OF_CHAIN = Out("multi_dot(): expected out tensor to have dtype {c_result} but got {c_out}")


@composite(method=True, aliases=("ger",))
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix of all products of two vectors' elements."""
    expect_vectors(self=input, vec2=vec2)
    column = reshape(input, (-1, 1))
    return mul(column, vec2) if out is None else mul(column, vec2, out=out)


@composite(method=True, out=_OF_TENSORDOT)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sum of products over the last dimension of both; a scalar multiplies."""
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got "
                           f"shapes {list(input.shape)} and {list(other.shape)}")
    return tensordot(input, other, ([-1], [-1]))


def _contracted_dims(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(-dims, 0)), list(range(dims))
    left, right = dims
    return ([left] if isinstance(left, int) else list(left),
            [right] if isinstance(right, int) else list(right))


@composite()
def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] = 2,
              out: Tensor | None = None) -> Tensor:
    """The sum of products over ``dims`` of ``a`` and ``b``."""
    left, right = _contracted_dims(a, b, dims)
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    pairs = []
    for i, j in zip(left, right, strict=True):
        m, n = existing_dim(i, a.ndim), existing_dim(j, b.ndim)
        if a.shape[m] != b.shape[n] and 1 not in (a.shape[m], b.shape[n]):
            raise RuntimeError("contracted dimensions need to match, but first has size "
                               f"{a.shape[m]} in dim {i} and second has size {b.shape[n]} in dim "
                               f"{j}")
        pairs.append((m, n))
    a, b = _with_equal_lengths(a, b, pairs)
    kept_a = [d for d in range(a.ndim) if d not in {m for m, _ in pairs}]
    kept_b = [d for d in range(b.ndim) if d not in {n for _, n in pairs}]
    inner_size = math.prod(a.shape[m] for m, _ in pairs)
    shape = (*(a.shape[d] for d in kept_a), *(b.shape[d] for d in kept_b))
    rows = reshape(_permute(a, (*kept_a, *(m for m, _ in pairs))),
                   (math.prod(a.shape[d] for d in kept_a), inner_size))
    cols = reshape(_permute(b, (*(n for _, n in pairs), *kept_b)),
                   (inner_size, math.prod(b.shape[d] for d in kept_b)))
    result = reshape(mm(rows, cols), shape)
    return result if out is None else store_out("tensordot", result, out, _OF_TENSORDOT)


def _with_equal_lengths(a: Tensor, b: Tensor, pairs: list[tuple[int, int]]) -> tuple[Any, Any]:
    """Sum a contracted dimension where the other side has length one there."""
    for m, n in pairs:
        if a.shape[m] != b.shape[n]:
            if a.shape[m] == 1:
                b = _summed(b, n)
            else:
                a = _summed(a, m)
    return a, b


def _summed(input: Tensor, dim: int) -> Tensor:
    shape = tuple(1 if d == dim else size for d, size in enumerate(input.shape))
    return cast(sum_to_size_of(input, shape), input.dtype)


@composite(method=True, out=Out(CASTABLE, apart=True))
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every element of ``input`` times the whole of ``other``."""
    rank = max(input.ndim, other.ndim)
    left = (1,) * (rank - input.ndim) + tuple(input.shape)
    right = (1,) * (rank - other.ndim) + tuple(other.shape)
    spread_left = tuple(n for size in left for n in (size, 1))
    spread_right = tuple(n for size in right for n in (1, size))
    product = mul(reshape(input, spread_left), reshape(other, spread_right))
    return _reshape_copy(product, tuple(m * n for m, n in zip(left, right, strict=True)))


def _best_splits(dims: list[int]) -> list[list[int]]:
    """Where to split each chain of matrices for the fewest multiplications."""
    count = len(dims) - 1
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + dims[i] * dims[k + 1] * dims[j + 1], k)
                for k in range(i, j))
    return split


def _multiply_chain(tensors: Any, split: list[list[int]], i: int, j: int) -> Any:
    if i == j:
        return tensors[i]
    k = split[i][j]
    return mm(_multiply_chain(tensors, split, i, k), _multiply_chain(tensors, split, k + 1, j))


@composite(function="linalg", out=_OF_CHAIN)
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of several matrices, in the order that needs the fewest multiplications."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0], tensors[-1]
    for name, tensor in (("first", first), ("last", last)):
        if tensor.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {name} tensor must be 1D or 2D but got "
                               f"{tensor.ndim}D")
    check_chain(tensors)
    if first.ndim == 1:
        tensors[0] = reshape(first, (1, -1))
    if last.ndim == 1:
        tensors[-1] = reshape(last, (-1, 1))
    dims = [tensors[0].shape[0], *(x.shape[1] for x in tensors)]
    result = _multiply_chain(tensors, _best_splits(dims), 0, len(tensors) - 1)
    return reshape(result, (*first.shape[:-1], *last.shape[1:]))


@composite(out=_OF_CHAIN)
def chain_matmul(*matrices_: Tensor) -> Tensor:
    """The product of several matrices; :func:`retrograd.linalg.multi_dot` takes over from it."""
    warn("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
         "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
         "multiple parameters.", once=True)
    if len(matrices_) == 1 and isinstance(matrices_[0], (list, tuple)):
        matrices_ = tuple(matrices_[0])
    for matrix in matrices_:
        if matrix.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.ndim}, expected 2 instead.")
    if not matrices_:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return matrices_[0] if len(matrices_) == 1 else multi_dot(matrices_)
