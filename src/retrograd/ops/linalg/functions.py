"""Functions of matrices: exponential, powers, norms, condition."""

from __future__ import annotations

import math
from typing import Any

from ...backend import matrices, xp
from ...base.errors import LinAlgError, canonical_dim
from ...core.op import Array, composite, op, public
from ...core.out_rules import SAFELY, Out
from ...core.tensor import Tensor, wrap
from ..checks.matrices import check_matrices
from ..elementwise.where import where
from ..products.matmul import adjoint_of, matmul, mm
from ..reductions.extremes import amax, amin
from ..reductions.norms import vector_norm
from ..reductions.sums import sum as reduce_sum
from ..shapes.dimensions import _permute
from ..shapes.joining import _cat
from ..shapes.reshaping import reshape, zeros_of
from ..shapes.slicing import _slice
from .common import _identity, per_matrix
from .factor import svdvals
from .solve import _zero_pivots, inv


@op(node="LinalgMatrixExpBackward0", batches="matrices",
    vjp=lambda g, A: _exponential_gradient(g, A))
def _matrix_exp(A: Array) -> Any:
    check_matrices("linalg.matrix_exp", A, numbers="floating")
    return matrices.exponential(A)


def _exponential_gradient(g: Any, A: Any) -> Any:
    """The derivative is a corner of the exponential of a matrix twice as large."""
    turned, rank, size = adjoint_of(A), len(A.shape), A.shape[-1]
    upper = _cat([turned, g], rank - 1)
    lower = _cat([zeros_of(turned, turned.shape), turned], rank - 1)
    whole = _matrix_exp(_cat([upper, lower], rank - 2))
    return _slice(_slice(whole, rank - 2, 0, size, 1), rank - 1, size, 2 * size, 1)


@public("matrix_exp")
@composite(function="linalg")
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices."""
    return _matrix_exp(A)


@public("matrix_power")
@composite(function="linalg", out=Out())
def matrix_power(A: Tensor, n: int) -> Tensor:
    """The ``n``-th power of square matrices, by repeated squaring."""
    check_matrices("linalg.matrix_power", A._data, numbers="any")
    if n == 0:
        return A.clone().copy_(_identity(A))
    base = inv(A) if n < 0 else A
    times = mm if A.ndim == 2 else matmul
    found: Any = None
    left = -n if n < 0 else n
    while left:
        if left % 2:
            found = base if found is None else times(found, base)
        left //= 2
        base = times(base, base) if left else base
    return found.clone() if found is A else found


# ---------------------------------------------------------------- norms


def _refuse_order(ord: Any) -> RuntimeError:
    return RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")


@composite(function="linalg", out=Out(
    "linalg.matrix_norm expected out tensor dtype {result} but got: {out}", copies=True))
def matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *,
                dtype: Any = None) -> Tensor:
    """The norm of matrices: "fro", "nuc", or a number (2 the largest singular value)."""
    if A.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 "
                           "dimensions.")
    if not (A.dtype.is_floating_point or A.dtype.is_complex):
        raise RuntimeError("linalg.matrix_norm: Expected a floating point or complex tensor as "
                           f"input. Got {A.dtype.alias}")
    dims = tuple(dim)
    if len(dims) != 2:
        raise RuntimeError("linalg.matrix_norm: dim must be a 2-tuple. Got "
                           + " ".join(map(str, dims)))
    first, second = (canonical_dim(d, A.ndim) for d in dims)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({first}, "
                           f"{second})")
    if dtype is not None:
        A = A.to(dtype)
    return _matrix_norm(A, ord, first, second, keepdim)


def _matrix_norm(A: Tensor, ord: Any, first: int, second: int, keepdim: bool) -> Tensor:
    if ord == "fro":
        return vector_norm(A, 2, (first, second), keepdim)
    if isinstance(ord, str) and ord != "nuc":
        raise _refuse_order(ord)
    if ord in (1, -1, math.inf, -math.inf):
        inner, outer = (first, second) if ord in (1, -1) else (second, first)
        if not keepdim and outer > inner:
            outer -= 1
        lengths = vector_norm(A, 1, inner, keepdim)
        return _extreme(lengths, ord, outer, keepdim)
    if ord not in (2, -2, "nuc"):
        raise _refuse_order(ord)
    check_matrices("linalg.matrix_norm", A._data, square=False)
    rest = [d for d in range(A.ndim) if d not in (first, second)]
    values = svdvals(_permute(A, (*rest, first, second)))
    found = reduce_sum(values, -1) if ord == "nuc" else _extreme(values, ord, -1, False)
    if not keepdim:
        return found
    return reshape(found, tuple(1 if d in (first, second) else n for d, n in enumerate(A.shape)))


def _extreme(values: Tensor, ord: float, dim: int, keepdim: bool) -> Tensor:
    """The largest of non-negative values, which is zero where there are none, or the smallest."""
    if values.shape[dim]:
        return (amax if ord > 0 else amin)(values, dim, keepdim)
    if ord < 0:
        raise IndexError(f"amin(): Expected reduction dim {dim} to have non-zero size.")
    axis = canonical_dim(dim, values.ndim)
    return zeros_of(values, (*values.shape[:axis], *((1,) if keepdim else ()),
                             *values.shape[axis + 1:]))


@public("norm", method=False, function="linalg", out=Out(
    "linalg.norm expected out tensor dtype {result} but got: {out}", copies=True))
def linalg_norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *,
                dtype: Any = None) -> Tensor:
    """The norm of vectors (one ``dim``) or matrices (two)."""
    if dim is not None and not isinstance(dim, int) and len(dim) not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is specified, it must be of length 1 or 2. Got "
                           f"[{', '.join(map(str, dim))}]")
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.ndim not in (1, 2):
            raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be "
                               f"1D or 2D. Got {A.ndim}D.")
        dim = 0 if A.ndim == 1 else (0, 1)
    if isinstance(dim, int) or len(dim) == 1:
        if isinstance(ord, str):
            raise _refuse_order(ord)
        return vector_norm(A, ord, dim, keepdim, dtype=dtype)
    return matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def _check_condition(p: Any) -> None:
    if p not in (None, 2, -2, 1, -1, math.inf, -math.inf, "fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")


@composite(function="linalg", out=Out(SAFELY, copies=True, function="linalg.cond"))
def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number."""
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if not A.numel():
        if isinstance(p, str):
            check_matrices(f"linalg.cond(ord={p})", A._data, numbers="any")
        _check_condition(p)
        return wrap(xp.zeros(tuple(A.shape[:-2]), A.dtype.to_real().np))
    _check_condition(p)
    if p is None or p in (2, -2):
        values = svdvals(A)
        last = values.ndim - 1
        count = values.shape[last]
        big, small = _slice(values, last, 0, 1, 1), _slice(values, last, count - 1, count, 1)
        ratio = big / small if p != -2 else small / big
        return ratio.squeeze(-1)
    check_matrices(f"linalg.cond(ord={p})", A._data, numbers="any")
    try:
        inverse = inv(A)
        return matrix_norm(A, p) * matrix_norm(inverse, p)
    except LinAlgError:
        singular = _zero_pivots(A) > 0
        regular = where(per_matrix(singular), _identity(A), A)
        return where(singular, math.inf, cond(regular, p))
