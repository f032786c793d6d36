"""Linear algebra: triangles and diagonals, factorisations, functions of matrices."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes, return_types
from ..backend import linalg as matrices
from ..backend import numpy as xp
from ..errors import canonical_dim, size_mismatch
from ..notices import warn
from ..op import Array, Index, composite, linear, op, publish
from ..tensor import Tensor, wrap
from . import einsum, product
from .distance import vector_norm
from .join import _cat, cat
from .overloads import no_kernel
from .pointwise import conj, is_complex_value, log, where
from .product import _batched, adjoint_of, matmul, mm, scalar_type
from .reduce import amax, amin
from .reduce import sum as reduce_sum
from .scan import cumprod
from .shape import (
    _imag,
    _permute,
    _real,
    _slice,
    complex_of,
    diagonal,
    expand,
    reshape,
    sum_to_size_of,
    transpose,
    unsqueeze,
    zeros_of,
)

# ---------------------------------------------------------------- triangles and diagonals


def _check_matrix(name: str, input: Any) -> None:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@linear(inplace=True, any_dtype=True)
def tril(input: Array, diagonal: int = 0) -> Any:
    """The lower triangle of matrices; zeros above ``diagonal``."""
    _check_matrix("tril", input)
    return xp.in_rows(matrices.triangle(input, diagonal, upper=False))


tril.vjp(input=lambda g, diagonal: tril(g, diagonal))


@linear(inplace=True, any_dtype=True)
def triu(input: Array, diagonal: int = 0) -> Any:
    """The upper triangle of matrices; zeros below ``diagonal``."""
    _check_matrix("triu", input)
    return xp.in_rows(matrices.triangle(input, diagonal, upper=True))


triu.vjp(input=lambda g, diagonal: triu(g, diagonal))


@linear(any_dtype=True)
def diag_embed(input: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices between ``dim1`` and ``dim2`` with ``input``'s last dimension on a diagonal."""
    input = xp.as_array(input)
    first, second = (canonical_dim(d, input.ndim + 1) for d in (dim1, dim2))
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return xp.in_rows(matrices.embedded_diagonal(input, offset, first, second))


diag_embed.vjp(input=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2))


@linear(method=False, function=None, node="DiagonalBackward0_copy", any_dtype=True)
def _diagonal_copy(input: Array, offset: int) -> Any:
    return input.diagonal(offset).copy()


_diagonal_copy.vjp(input=lambda g, like, offset: _on_diagonal(g, like.shape, offset))


@linear(method=False, function=None)
def _on_diagonal(input: Array, shape: Any, offset: int) -> Any:
    return matrices.on_diagonal(input, shape, offset)


_on_diagonal.vjp(input=lambda g, offset: _diagonal_copy(g, offset))


@composite(method=True)
def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """A vector as a diagonal matrix, or the diagonal of a matrix."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    found = diag_embed(input, diagonal) if input.ndim == 1 else _diagonal_copy(input, diagonal)
    return found if out is None else out.copy_(found)


@composite(method=True)
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """All elements on the diagonal of a matrix."""
    return diag_embed(reshape(input, (-1,)), offset)


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonal of matrices."""
    return diagonal(A, offset, dim1, dim2)


publish(linalg_diagonal, "diagonal", method=False, function="linalg")


# ---------------------------------------------------------------- cross product


@op(method=False, function=None, node="LinalgCrossBackward0", broadcasts=True, promote="same")
def _cross(input: Array, other: Array, dim: int) -> Any:
    return matrices.cross(input, other, dim)


_cross.vjp(input=lambda g, other, dim: _cross(conj(other), g, dim),
           other=lambda g, input, dim: _cross(g, conj(input), dim))
_cross.jvp(input=lambda tangent, other, dim: _cross(tangent, other, dim),
           other=lambda tangent, input, dim: _cross(input, tangent, dim))


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1,
                 out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of length three along ``dim``."""
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = canonical_dim(dim, input.ndim)
    if input.shape[axis] != 3 or other.shape[axis] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got "
                           f"{input.shape[axis]} and {other.shape[axis]}")
    shapes = [tuple(input.shape), tuple(other.shape)]
    try:
        xp.broadcast_shapes(*shapes)
    except ValueError:
        raise size_mismatch(shapes) from None
    return _cross(input, other, axis) if out is None else _cross(input, other, axis, out=out)


publish(linalg_cross, "cross", method=False, function="linalg")


@composite(method=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The cross product along ``dim``, by default the first dimension of length three."""
    if dim is None:
        warn("Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass "
             "the dim explicitly or simply use torch.linalg.cross.\nThe default value of dim will "
             "change to agree with that of linalg.cross in a future release.", once=True)
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim=dim, out=out)


# ---------------------------------------------------------------- what all factorisations check


def check_matrices(name: str, input: Any, square: bool = True, kernel: str = "",
                   numbers: str = "precise") -> None:
    """Refuse what is no batch of (square) matrices of a precise floating dtype.

    ``numbers`` may also be "floating" or "any"; ``kernel`` names what PyTorch lacks for others.
    """
    if input.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if square and input.shape[-1] != input.shape[-2]:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are "
                           f"{input.shape[-2]} by {input.shape[-1]} matrices")
    if numbers == "any":
        return
    if input.dtype.kind in "biu":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_type(input)}")
    if matrices.is_low_precision(input.dtype) and numbers == "precise":
        if kernel:
            raise no_kernel(kernel, dtypes.from_numpy_dtype(input.dtype))
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got "
                           f"{scalar_type(input)}")


def columns_of(values: Any) -> Any:
    """A number per matrix column, shaped to multiply columns."""
    return reshape(values, (*values.shape[:-1], 1, values.shape[-1]))


def rows_of(values: Any) -> Any:
    """A number per matrix row, shaped to multiply rows."""
    return reshape(values, (*values.shape, 1))


def per_matrix(values: Any) -> Any:
    """A number per matrix, shaped to multiply it."""
    return reshape(values, (*values.shape, 1, 1))


@op(method=False, function=None)
def _identity(input: Index) -> Any:
    """The identity matrix of ``input``'s last dimension and dtype."""
    return xp.eye(input.shape[-1], dtype=input.dtype)


# ---------------------------------------------------------------- inverses and solutions


@op(method=False, function=None, node="LinalgInvExBackward0")
def _inv(A: Array, name: str, quiet: bool = False) -> Any:
    check_matrices(name, A)
    return matrices.inverse(A, name, quiet)


_inv.vjp(A=lambda g, y: -_batched(adjoint_of(y), _batched(g, adjoint_of(y))))


@composite(function="linalg")
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of square matrices."""
    return _inv(A, "linalg.inv") if out is None else _inv(A, "linalg.inv", out=out)


publish(inv, "inverse")


@composite(function="linalg")
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> Any:
    """The inverse, and a number that is positive where a matrix is singular."""
    name = "linalg.inv_ex" if check_errors else "linalg.inv"
    found = _inv(A, name, not check_errors)
    return return_types.linalg_inv_ex((found, _zero_pivots(A)))


@op(method=False, function=None)
def _zero_pivots(A: Index) -> Any:
    return matrices.first_zero_pivot(A)


@op(method=False, function=None, node="LinalgSolveExBackward0", broadcasts=True)
def _solve(A: Array, B: Array, vector: bool) -> Any:
    return matrices.solve(A, B, vector)


_solve.vjp(
    A=lambda g, A, y, vector: -_times_adjoint(_solve(adjoint_of(A), g, vector), y, vector),
    B=lambda g, A, vector: _solve(adjoint_of(A), g, vector))


def _times_adjoint(left: Any, right: Any, vector: bool) -> Any:
    if vector:
        return rows_of(left) * columns_of(conj(right))
    return _batched(left, adjoint_of(right))


def _is_vector(A: Any, B: Any) -> bool:
    """Whether ``B`` holds one vector for each matrix."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape[:-1]))


def _check_system(name: str, A: Any, B: Any, vector: bool, left: bool, kernel: str) -> None:
    if kernel == "triangular_solve_cpu" and A.dtype.kind in "biu":
        raise no_kernel(kernel, dtypes.from_numpy_dtype(A.dtype))
    check_matrices(name, A, kernel=kernel)
    if A.dtype != B.dtype:
        raise RuntimeError(f"{name}: Expected A and B to have the same dtype, but found A of type "
                           f"{scalar_type(A)} and B of type {scalar_type(B)} instead")
    rows, cols = (B.shape[-1], 1) if vector else B.shape[-2:]
    if A.shape[-1] != (rows if left else cols):
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {equation} "
                           f"({A.shape[-2]}x{A.shape[-1]} and {rows}x{cols})")


@composite(function="linalg")
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """The solution X of ``A @ X = B`` (of ``X @ A = B`` with ``left=False``)."""
    vector = _is_vector(A, B)
    _check_system("linalg.solve", A._data, B._data, vector, left, "lu_cpu")
    if left:
        found = _solve(A, B, vector)
    elif vector:
        raise RuntimeError("linalg.solve: Vector broadcasting of the left hand side is not "
                           "supported for left=False. In this case linalg.solve is equivalent to "
                           "B / A.squeeze(-1)")
    else:
        found = transpose(_solve(transpose(A, -2, -1), transpose(B, -2, -1), False), -2, -1)
    return found if out is None else out.copy_(found)


@op(method=False, function=None, node="LinalgSolveTriangularBackward0", broadcasts=True)
def _solve_triangular(A: Array, B: Array, upper: bool, unitriangular: bool) -> Any:
    return matrices.solve_triangular(A, B, upper, unitriangular)


def _in_triangle(matrix: Any, upper: bool, unitriangular: bool) -> Any:
    """The part of a gradient that belongs to the triangle that was read."""
    offset = 1 if unitriangular else 0
    return triu(matrix, offset) if upper else tril(matrix, -offset)


_solve_triangular.vjp(
    A=lambda g, A, y, upper, unitriangular: -_in_triangle(_batched(
        _solve_triangular(adjoint_of(A), g, not upper, unitriangular), adjoint_of(y)), upper,
        unitriangular),
    B=lambda g, A, upper, unitriangular: _solve_triangular(
        adjoint_of(A), g, not upper, unitriangular))


@composite(function="linalg")
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True,
                     unitriangular: bool = False, out: Tensor | None = None) -> Tensor:
    """The solution X of ``A @ X = B`` for triangular ``A``."""
    _check_system("linalg.solve_triangular", A._data, B._data, False, left,
                  "triangular_solve_cpu")
    if left:
        found = _solve_triangular(A, B, upper, unitriangular)
    else:
        turned = _solve_triangular(transpose(A, -2, -1), transpose(B, -2, -1), not upper,
                                   unitriangular)
        found = transpose(turned, -2, -1)
    return found if out is None else out.copy_(found)


@composite(method=True)
def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution X of ``A @ X = input``, from the Cholesky factor ``L`` of A."""
    first, second = (adjoint_of(L), L) if upper else (L, adjoint_of(L))
    return _solve_triangular(second, _solve_triangular(first, input, False, False), True, False)


@composite(method=True)
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of a matrix from its Cholesky factor ``L``."""
    size = L.shape[-1]
    return cholesky_solve(wrap(xp.eye(size, dtype=L._data.dtype)), L, upper)


# ---------------------------------------------------------------- determinants


@op(method=False, function=None, node="LinalgDetBackward0")
def _det(A: Array) -> Any:
    check_matrices("linalg.det", A, kernel="lu_cpu")
    return xp.linalg.det(A)


@op(method=False, function=None)
def _cofactors(A: Array) -> Any:
    """The determinants of all minors, with their signs; singular matrices have them too."""
    return matrices.cofactors(A)


_det.vjp(A=lambda g, A: per_matrix(g) * conj(_cofactors(A)))
_cofactors.vjp(A=lambda g, A: _cofactor_gradient(g, A))


def _cofactor_gradient(g: Any, A: Any) -> Any:
    inverse = adjoint_of(_inv(A, "linalg.det"))
    along = _sum_matrix(g * conj(transpose(_inv(A, "linalg.det"), -2, -1)))
    turned = transpose(g, -2, -1)
    return per_matrix(conj(_det(A))) * (
        per_matrix(along) * inverse - _batched(inverse, _batched(turned, inverse)))


def _sum_matrix(input: Any) -> Any:
    """The sum of each matrix's elements."""
    lead = input.shape[:-2]
    return reshape(sum_to_size_of(input, (*lead, 1, 1)), lead)


@composite(function="linalg")
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant of square matrices."""
    return _det(A) if out is None else _det(A, out=out)


publish(det, "det")


@op(method=False, function=None, node="LinalgSlogdetBackward0", outputs=("sign", "logabsdet"))
def _slogdet(A: Array, name: str) -> Any:
    check_matrices(name, A)
    return tuple(xp.linalg.slogdet(A))


_slogdet.vjp(A=lambda g, A, sign: _slogdet_gradient(g, A, sign))


def _slogdet_gradient(g: Any, A: Any, sign: Any) -> Any:
    size = g[1]
    if is_complex_value(sign) and g[0] is not None:
        turn = complex_of(_imag(as_array_or_tensor(g[0] * conj(sign)))) * 1j
        size = turn if size is None else turn + size
    if size is None:
        size = as_array_or_tensor(g[0]) * 0
    return per_matrix(size) * adjoint_of(_inv(A, "linalg.slogdet"))


def as_array_or_tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else xp.as_array(value)


@composite(function="linalg")
def slogdet(A: Tensor, *, out: Any = None) -> Any:
    """The sign of the determinant and the logarithm of its absolute value."""
    return return_types.linalg_slogdet(_slogdet(A, "linalg.slogdet"))


def torch_slogdet(input: Tensor) -> Any:
    """The sign of the determinant and the logarithm of its absolute value."""
    return return_types.slogdet(_slogdet(input, "linalg.slogdet"))


publish(torch_slogdet, "slogdet")


@composite(method=True)
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; nan where that is negative."""
    check_matrices("logdet", input._data)
    sign, size = _slogdet(input, "logdet")
    if is_complex_value(input):
        return size + log(sign)
    return where(sign == -1, size.new_full((), math.nan), size)


# ---------------------------------------------------------------- factorisations


@op(method=False, function=None, node="LinalgCholeskyExBackward0")
def _cholesky(A: Array, upper: bool, name: str, quiet: bool = False) -> Any:
    check_matrices(name, A)
    return matrices.cholesky(A, upper, name, quiet)


_cholesky.vjp(A=lambda g, y, upper: _cholesky_gradient(g, y, upper))


def _cholesky_gradient(g: Any, y: Any, upper: bool) -> Any:
    if upper:
        g, y = adjoint_of(g), adjoint_of(y)
    middle = tril(_batched(adjoint_of(y), g))
    middle = (middle + adjoint_of(tril(middle, -1))) * 0.5
    turned = adjoint_of(y)
    half = _solve_triangular(turned, middle, True, False)
    found = adjoint_of(_solve_triangular(turned, adjoint_of(half), True, False))
    return (found + adjoint_of(found)) * 0.5


@composite(function="linalg")
def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """The triangular factor L of a positive-definite ``A = L @ L.mH``."""
    found = _cholesky(A, upper, "linalg.cholesky")
    return found if out is None else out.copy_(found)


def torch_cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The triangular factor of a positive-definite matrix."""
    warn("torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
         "future PyTorch release.\nL = torch.cholesky(A)\nshould be replaced with\n"
         "L = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\nshould be "
         "replaced with\nU = torch.linalg.cholesky(A).mH\nThis transform will produce equivalent "
         "results for all valid (symmetric positive definite) inputs.", once=True)
    found = _old_cholesky(input, upper)
    return found if out is None else out.copy_(found)


@op(method=False, function=None, node="CholeskyBackward0")
def _old_cholesky(A: Array, upper: bool) -> Any:
    check_matrices("cholesky", A)
    return matrices.cholesky(A, upper, "cholesky")


_old_cholesky.vjp(A=lambda g, y, upper: _cholesky_gradient(g, y, upper))
publish(torch_cholesky, "cholesky")


@composite(function="linalg")
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False,
                out: Any = None) -> Any:
    """The Cholesky factor, and the order of the first minor that is not positive-definite."""
    name = "linalg.cholesky_ex" if check_errors else "linalg.cholesky"
    found = _cholesky(A, upper, name, not check_errors)
    return return_types.linalg_cholesky_ex((found, _bad_minors(A)))


@op(method=False, function=None)
def _bad_minors(A: Index) -> Any:
    return matrices.first_bad_minor(A)


@op(method=False, function=None, node="LinalgQrBackward0", outputs=("Q", "R"))
def _qr(A: Array, mode: str) -> Any:
    check_matrices("linalg.qr", A, square=False, kernel="geqrf_cpu")
    return matrices.qr(A, mode)


_qr.vjp(A=lambda g, Q, R, mode: _qr_gradient(g, Q, R, mode))


def _qr_gradient(g: Any, Q: Any, R: Any, mode: str) -> Any:
    if mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when "
                           "mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to "
                           "differentiate through linalg.qr.")
    if mode == "complete" and Q.shape[-1] > R.shape[-1]:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and "
                           "nrows > ncols.")
    of_q, of_r = g
    middle = None if of_r is None else _batched(of_r, adjoint_of(R))
    if of_q is not None:
        turned = _batched(adjoint_of(Q), of_q)
        middle = -turned if middle is None else middle - turned
    # X + X^H above and below the diagonal, and the real part of X on it.
    strict = triu(middle, 1)
    on_it = triu(middle) - strict
    both = strict + adjoint_of(strict) + (on_it + adjoint_of(on_it)) * 0.5
    inside = _batched(Q, both)
    inside = inside if of_q is None else inside + of_q
    return adjoint_of(_solve_triangular(R, adjoint_of(inside), True, False))


@composite(function="linalg")
def qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> Any:
    """An orthogonal Q and an upper triangular R with ``A = Q @ R``."""
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' "
                           "(default), 'r', or 'complete'")
    return return_types.linalg_qr(_qr_any(A, mode))


def _qr_any(A: Tensor, mode: str) -> Any:
    if A.ndim < 2 or mode == "r" or A.shape[-2] >= A.shape[-1]:
        return _qr(A, mode)
    # A wide matrix: its first columns determine Q, and the others follow.
    rows, axis = A.shape[-2], A.ndim - 1
    Q, R = _qr(_slice(A, axis, 0, rows, 1), mode)
    rest = _slice(A, axis, rows, A.shape[-1], 1)
    return Q, cat([R, matmul(adjoint_of(Q), rest)], -1)


def torch_qr(input: Tensor, some: bool = True) -> Any:
    """An orthogonal Q and an upper triangular R with ``input = Q @ R``."""
    return return_types.qr(_qr_any(input, "reduced" if some else "complete"))


publish(torch_qr, "qr")


@op(method=False, function=None, node="LinalgEighBackward0",
    outputs=("eigenvalues", "eigenvectors"))
def _eigh(A: Array, UPLO: str, name: str) -> Any:
    check_matrices(name, A)
    return tuple(xp.linalg.eigh(A, UPLO))


_eigh.vjp(A=lambda g, eigenvalues, eigenvectors: _eigh_gradient(g, eigenvalues, eigenvectors))


def _eigh_gradient(g: Any, values: Any, vectors: Any) -> Any:
    of_values, of_vectors = g
    turned = adjoint_of(vectors)
    if of_vectors is None:
        return _batched(vectors * columns_of(of_values), turned)
    one = _identity(values)
    gaps = columns_of(values) - rows_of(values) + one
    inside = _batched(turned, of_vectors) / gaps * (1 - one)
    if of_values is not None:
        inside = inside + one * columns_of(of_values)
    return _batched(_batched(vectors, inside), turned)


def _check_side(UPLO: str) -> str:
    if not UPLO or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@composite(function="linalg")
def eigh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Any:
    """The eigenvalues (ascending) and eigenvectors of a Hermitian matrix."""
    check_matrices("linalg.eigh", A._data)
    return return_types.linalg_eigh(_eigh(A, _check_side(UPLO), "linalg.eigh"))


@composite(function="linalg")
def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of a Hermitian matrix, ascending."""
    check_matrices("linalg.eigvalsh", A._data)
    found = _eigh(A, _check_side(UPLO), "linalg.eigvalsh")[0]
    return found if out is None else out.copy_(found)


@op(method=False, function=None, node="LinalgEigBackward0",
    outputs=("eigenvalues", "eigenvectors"))
def _eig(A: Array, name: str) -> Any:
    check_matrices(name, A)
    return matrices.eig(A)


_eig.vjp(A=lambda g, A, eigenvalues, eigenvectors: _eig_gradient(
    g, A, eigenvalues, eigenvectors))


def _eig_gradient(g: Any, A: Any, values: Any, vectors: Any) -> Any:
    of_values, of_vectors = g
    turned = adjoint_of(vectors)
    one = _identity(values)
    inside = None
    if of_vectors is not None:
        along = _batched(turned, of_vectors)
        # The length of an eigenvector is fixed, so the part of its gradient along it is none.
        held = _batched(_batched(turned, vectors), one * _real_diagonal(along, one))
        inside = (along - held) / (conj(columns_of(values) - rows_of(values)) + one) * (1 - one)
    if of_values is not None:
        own = one * columns_of(of_values)
        inside = own if inside is None else inside + own
    found = _solve(turned, _batched(inside, turned), False)
    return found if is_complex_value(A) else _real(found)


def _real_diagonal(matrix: Any, one: Any) -> Any:
    return complex_of(_real(matrix * one))


@composite(function="linalg")
def eig(A: Tensor, *, out: Any = None) -> Any:
    """The eigenvalues and eigenvectors of square matrices, complex."""
    return return_types.linalg_eig(_eig(A, "linalg.eig"))


@composite(function="linalg")
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of square matrices, complex."""
    if A._data.dtype.kind in "biu":
        raise RuntimeError(f"Unknown Complex ScalarType for {A.dtype.alias}")
    found = _eig(A, "linalg.eigvals")[0]
    return found if out is None else out.copy_(found)


@op(method=False, function=None, node="LinalgSvdBackward0", outputs=("U", "S", "Vh"))
def _svd(A: Array, full_matrices: bool) -> Any:
    check_matrices("linalg.svd", A, square=False, kernel="linalg_svd_cpu")
    return tuple(xp.linalg.svd(A, full_matrices))


_svd.vjp(A=lambda g, U, S, Vh: _svd_gradient(g, U, S, Vh))


def _first(input: Any, axis: int, count: int) -> Any:
    """The first ``count`` positions along an axis counted from the right."""
    if input is None or input.shape[axis] == count:
        return input
    return _slice(input, len(input.shape) + axis, 0, count, 1)


def _skew(input: Any) -> Any:
    return input - adjoint_of(input)


def _svd_gradient(g: Any, U: Any, S: Any, Vh: Any) -> Any:
    rank = S.shape[-1]
    of_u, of_s, of_vh = _first(g[0], -1, rank), g[1], _first(g[2], -2, rank)
    U, Vh = _first(U, -1, rank), _first(Vh, -2, rank)
    if of_u is None and of_vh is None:
        return _batched(U * columns_of(of_s), Vh)
    one = _identity(S)
    squares = S * S
    gaps = columns_of(squares) - rows_of(squares) + one
    inside: Any = None if of_s is None else one * columns_of(of_s)
    outside: Any = None
    if of_u is not None:
        along = _batched(adjoint_of(U), of_u)
        turn = _skew(along)
        term = turn / gaps * columns_of(S) * (1 - one) + one * turn / (2 * columns_of(S))
        inside = term if inside is None else inside + term
        if U.shape[-2] > rank:
            outside = _batched((of_u - _batched(U, along)) / columns_of(S), Vh)
    if of_vh is not None:
        along = _batched(Vh, adjoint_of(of_vh))
        term = rows_of(S) * (_skew(along) / gaps * (1 - one))
        inside = term if inside is None else inside + term
        if Vh.shape[-1] > rank:
            rest = _batched(U, (of_vh - _batched(adjoint_of(along), Vh)) / rows_of(S))
            outside = rest if outside is None else outside + rest
    found = _batched(_batched(U, inside), Vh)
    return found if outside is None else found + outside


@composite(function="linalg")
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None,
        out: Any = None) -> Any:
    """The singular value decomposition ``A = U @ diag(S) @ Vh``."""
    return return_types.linalg_svd(_svd(A, full_matrices))


@composite(function="linalg")
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """The singular values, descending."""
    found = _svd(A, False)[1]
    return found if out is None else out.copy_(found)


def torch_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """The singular value decomposition ``input = U @ diag(S) @ V.mH``."""
    U, S, Vh = _svd(input, not some)
    return return_types.svd((U, S, adjoint_of(Vh)))


publish(torch_svd, "svd")


# ---------------------------------------------------------------- least squares


@op(method=False, function=None, node="LinalgPinvBackward0")
def _pinv(A: Array, atol: Any, rtol: Any, hermitian: bool) -> Any:
    return matrices.pseudo_inverse(A, atol, rtol, hermitian)


_pinv.vjp(A=lambda g, A, y: _pinv_gradient(g, A, y))


def _pinv_gradient(g: Any, A: Any, inverse: Any) -> Any:
    turned, backward = adjoint_of(inverse), adjoint_of(g)
    found = -_batched(turned, _batched(g, turned))
    left = _batched(backward, _batched(inverse, turned))
    found = found + left - _batched(A, _batched(inverse, left))
    right = _batched(_batched(turned, inverse), backward)
    return found + right - _batched(_batched(right, inverse), A)


def _refuse_imprecise(A: Tensor) -> None:
    if A._data.dtype.kind in "biu" or matrices.is_low_precision(A._data.dtype):
        raise RuntimeError("This function doesn't handle types other than float and double")


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


@composite(function="linalg")
def pinv(A: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False,
         rcond: Any = None, out: Tensor | None = None) -> Tensor:
    """The pseudo-inverse."""
    if A.ndim < 2 or A._data.dtype.kind not in "fc" or matrices.is_low_precision(A._data.dtype):
        raise RuntimeError(f"linalg.pinv({A.dtype.alias}{{{list(A.shape)}}}): expected a tensor "
                           "with 2 or more dimensions of float, double, cfloat or cdouble types")
    rtol = rcond if rcond is not None else rtol
    found = _pinv(A, _number(atol), _number(rtol), hermitian)
    return found if out is None else out.copy_(found)


@composite(method=True)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse."""
    return pinv(input, rcond=rcond)


@composite(function="linalg")
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The X that makes ``A @ X - B`` shortest, with residuals, rank and singular values."""
    _refuse_imprecise(A)
    if A.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if B.ndim < 1:
        raise RuntimeError("linalg.lstsq: input tensor b must have at least 1 dimension")
    if A.dtype != B.dtype:
        raise RuntimeError("torch.linalg.lstsq: Expected input and other to have the same dtype, "
                           f"but got input's dtype {A.dtype.alias} and other's dtype "
                           f"{B.dtype.alias}")
    vector = A.ndim - 1 == B.ndim and tuple(A.shape[:-1]) == tuple(B.shape)
    right = unsqueeze(B, -1) if vector else B
    if A.shape[-2] != right.shape[-2]:
        raise RuntimeError("linalg.lstsq: A.size(-2) should match " + (
            "b.size(-1)" if vector else "b.size(-2)"))
    found = matmul(pinv(A, rtol=rcond), right)
    rank = matrix_rank(A.detach(), rtol=rcond)
    rows, cols = A.shape[-2:]
    empty = wrap(xp.empty((0,), A.dtype.to_real().np))
    residuals = empty
    if rows > cols and driver not in (None, "gelsy") and bool((rank == cols).all()):
        apart = matmul(A, found) - right
        residuals = reduce_sum((apart * conj(apart)).real, -2)
    solution = reshape(found, tuple(found.shape[:-1])) if vector else found
    values = svdvals(A.detach()) if driver in ("gelsd", "gelss") else empty
    if driver == "gels":
        # This method takes full rank for granted.
        rank = wrap(xp.empty((0,), xp.INT64))
    return return_types.linalg_lstsq((solution, residuals, rank, values))


@composite(function="linalg")
def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None,
                rtol: Any = None, out: Any = None) -> Tensor:
    """The number of singular values that are not negligible."""
    _refuse_imprecise(A)
    check_matrices("linalg.matrix_rank", A._data, square=hermitian)
    atol = tol if tol is not None else atol
    return _rank(A, _tolerance(atol), _tolerance(rtol), hermitian)


def _tolerance(value: Any) -> Any:
    """A tolerance for each matrix, or one for all."""
    return value if value is None or isinstance(value, Tensor) else wrap(xp.asarray(float(value)))


@op(method=False, function=None)
def _rank(A: Index, atol: Index | None, rtol: Index | None, hermitian: bool) -> Any:
    return matrices.rank(A, atol, rtol, hermitian)


# ---------------------------------------------------------------- functions of matrices


@op(method=False, function=None, node="LinalgMatrixExpBackward0")
def _matrix_exp(A: Array) -> Any:
    check_matrices("linalg.matrix_exp", A, numbers="floating")
    return matrices.exponential(A)


_matrix_exp.vjp(A=lambda g, A: _exponential_gradient(g, A))


def _exponential_gradient(g: Any, A: Any) -> Any:
    """The derivative is a corner of the exponential of a matrix twice as large."""
    turned, rank, size = adjoint_of(A), len(A.shape), A.shape[-1]
    upper = _cat([turned, g], rank - 1)
    lower = _cat([zeros_of(turned, turned.shape), turned], rank - 1)
    whole = _matrix_exp(_cat([upper, lower], rank - 2))
    return _slice(_slice(whole, rank - 2, 0, size, 1), rank - 1, size, 2 * size, 1)


@composite(function="linalg")
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices."""
    return _matrix_exp(A)


publish(matrix_exp, "matrix_exp")


@composite(function="linalg")
def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th power of square matrices, by repeated squaring."""
    check_matrices("linalg.matrix_power", A._data, numbers="any")
    if n == 0:
        return A.clone().copy_(wrap(xp.eye(A.shape[-1], dtype=A._data.dtype)))
    base = inv(A) if n < 0 else A
    times = mm if A.ndim == 2 else matmul
    found: Any = None
    left = abs_int(n)
    while left:
        if left % 2:
            found = base if found is None else times(found, base)
        left //= 2
        base = times(base, base) if left else base
    found = found.clone() if found is A else found
    return found if out is None else out.copy_(found)


def abs_int(n: int) -> int:
    return -n if n < 0 else n


publish(matrix_power, "matrix_power")


# ---------------------------------------------------------------- norms of matrices

def _refuse_order(ord: Any) -> RuntimeError:
    return RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")


@composite(function="linalg")
def matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *,
                dtype: Any = None, out: Tensor | None = None) -> Tensor:
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
                           + ", ".join(map(str, dims)))
    first, second = (canonical_dim(d, A.ndim) for d in dims)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dims[0]}, "
                           f"{dims[1]})")
    if dtype is not None:
        A = A.to(dtype)
    found = _matrix_norm(A, ord, first, second, keepdim)
    return found if out is None else out.copy_(found)


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
        return (amax if ord > 0 else amin)(lengths, outer, keepdim)
    if ord not in (2, -2, "nuc"):
        raise _refuse_order(ord)
    check_matrices("linalg.matrix_norm", A._data, square=False)
    rest = [d for d in range(A.ndim) if d not in (first, second)]
    values = svdvals(_permute(A, (*rest, first, second)))
    found = reduce_sum(values, -1) if ord == "nuc" else (amax if ord > 0 else amin)(values, -1)
    if not keepdim:
        return found
    return reshape(found, tuple(1 if d in (first, second) else n for d, n in enumerate(A.shape)))


def linalg_norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *,
                out: Tensor | None = None, dtype: Any = None) -> Tensor:
    """The norm of vectors (one ``dim``) or matrices (two)."""
    if dim is not None and not isinstance(dim, int) and len(dim) not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is specified, it must be of length 1 or 2. Got "
                           f"[{', '.join(map(str, dim))}]")
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype, out=out)
    if dim is None:
        if A.ndim not in (1, 2):
            raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be "
                               f"1D or 2D. Got {A.ndim}D.")
        dim = 0 if A.ndim == 1 else (0, 1)
    if isinstance(dim, int) or len(dim) == 1:
        if isinstance(ord, str):
            raise _refuse_order(ord)
        return vector_norm(A, ord, dim, keepdim, dtype=dtype, out=out)
    return matrix_norm(A, ord, dim, keepdim, dtype=dtype, out=out)


publish(linalg_norm, "norm", method=False, function="linalg")


@composite(function="linalg")
def cond(A: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number."""
    if p is None or p in (2, -2):
        values = svdvals(A)
        last = values.ndim - 1
        count = values.shape[last]
        big, small = _slice(values, last, 0, 1, 1), _slice(values, last, count - 1, count, 1)
        ratio = big / small if p != -2 else small / big
        return ratio.squeeze(-1)
    check_matrices(f"linalg.cond({p})", A._data)
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


# ---------------------------------------------------------------- other products


@composite(function="linalg")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The dot products of vectors along ``dim``, the first ones conjugated."""
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        raise RuntimeError("linalg.vecdot: Expected a floating point or complex tensor as input. "
                           f"Got {x.dtype.alias}")
    found = reduce_sum((conj(x) if is_complex_value(x) else x) * y, dim)
    return found if out is None else out.copy_(found)


@composite(function="linalg")
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of a tensor seen as a matrix whose rows are its first ``ind`` dimensions."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    front, back = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if math.prod(front) != math.prod(back):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                           f"prod(self.shape[:ind]), but got {math.prod(back)} != "
                           f"{math.prod(front)}")
    size = math.prod(front)
    return reshape(inv(reshape(A, (size, size))), (*back, *front))


@composite(function="linalg")
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The X of ``tensordot(A, X, X.ndim) = B``."""
    if dims is not None:
        moved = [canonical_dim(d, A.ndim) for d in dims]
        A = _permute(A, (*(d for d in range(A.ndim) if d not in moved), *moved))
    shape = tuple(A.shape[B.ndim:])
    size = math.prod(shape)
    if size != math.prod(B.shape):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:])"
                           f" == prod(self.shape[:other.ndim]), but got {size} != "
                           f"{math.prod(B.shape)}")
    return reshape(solve(reshape(A, (size, size)), reshape(B, (size,))), shape)


@composite(function="linalg")
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers 0 to N-1 of ``x``, along a new last dimension."""
    x = x if x.ndim else unsqueeze(x, 0)
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    spread = expand(unsqueeze(x, -1), (*x.shape, count - 1))
    powers = cumprod(spread, -1)
    return cat([powers.new_ones((*x.shape, 1)), powers], -1)


__all__ = ["dtypes", "einsum", "product"]
