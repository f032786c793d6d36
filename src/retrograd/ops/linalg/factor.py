"""Factorisations: Cholesky, QR, eigenvalues, singular values."""

from __future__ import annotations

from typing import Any

from ... import return_types
from ...backend import matrices, systems
from ...backend.interface import kind_of
from ...base.warning import warn
from ...core.op import Array, Index, composite, op, public
from ...core.out_rules import SAFELY, Out
from ...core.tensor import Tensor
from ..checks.common import scalar_type
from ..checks.matrices import check_matrices
from ..elementwise.arithmetic import is_complex_value
from ..elementwise.conjugate import conj
from ..products.matmul import _batched, adjoint_of, matmul
from ..shapes.complex_views import _real, complex_of
from ..shapes.joining import cat
from ..shapes.slicing import _slice
from .common import _identity, columns_of, is_followed, rows_of
from .diagonals import tril, triu
from .solve import _solve, _solve_triangular


@op(node="LinalgCholeskyExBackward0", batches="matrices", outputs=("L", "info"),
    differentiable=(0,), vjp=lambda g, L, upper: _cholesky_gradient(g[0], L, upper))
def _cholesky(A: Array, upper: bool, name: str, quiet: bool = False) -> Any:
    check_matrices(name, A)
    return systems.cholesky(A, upper, name, quiet)


def _cholesky_gradient(g: Any, y: Any, upper: bool) -> Any:
    if upper:
        g, y = adjoint_of(g), adjoint_of(y)
    turned = adjoint_of(y)
    middle = tril(_batched(turned, g))
    middle = middle + tril(middle, -1)  # twice, but for the diagonal
    half = _solve_triangular(turned, middle, True, False)
    found = _solve_triangular(turned, adjoint_of(half), True, False)
    return (found + adjoint_of(found)) * 0.25


@composite(function="linalg", out=Out())
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The triangular factor L of a positive-definite ``A = L @ L.mH``."""
    return _cholesky(A, upper, "linalg.cholesky")[0]


@public("cholesky", out=Out(SAFELY))
def torch_cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The triangular factor of a positive-definite matrix."""
    warn("torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
         "future PyTorch release.\nL = torch.cholesky(A)\nshould be replaced with\n"
         "L = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\nshould be "
         "replaced with\nU = torch.linalg.cholesky(A).mH\nThis transform will produce equivalent "
         "results for all valid (symmetric positive definite) inputs.", once=True)
    return _old_cholesky(input, upper)


@op(node="CholeskyBackward0", batches="matrices",
    vjp=lambda g, y, upper: _cholesky_gradient(g, y, upper))
def _old_cholesky(A: Array, upper: bool) -> Any:
    check_matrices("cholesky", A)
    return systems.cholesky(A, upper, "cholesky")[0]


@composite(function="linalg", out=Out())
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The Cholesky factor, and the order of the first minor that is not positive-definite."""
    name = "linalg.cholesky_ex" if check_errors else "linalg.cholesky"
    return return_types.linalg_cholesky_ex(_cholesky(A, upper, name, not check_errors))


@op(node="LinalgQrBackward0", outputs=("Q", "R"), batches="matrices",
    vjp=lambda g, Q, R, mode: _qr_gradient(g, Q, R, mode))
def _qr(A: Array, mode: str) -> Any:
    check_matrices("linalg.qr", A, square=False, kernel="geqrf_cpu")
    return matrices.qr(A, mode)


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


@composite(function="linalg", out=Out())
def qr(A: Tensor, mode: str = "reduced") -> Any:
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


@public("qr", out=Out())
def torch_qr(input: Tensor, some: bool = True) -> Any:
    """An orthogonal Q and an upper triangular R with ``input = Q @ R``."""
    return return_types.qr(_qr_any(input, "reduced" if some else "complete"))


@op(node="LinalgEighBackward0", outputs=("eigenvalues", "eigenvectors"), batches="matrices",
    vjp=lambda g, eigenvalues, eigenvectors: _eigh_gradient(g, eigenvalues, eigenvectors))
def _eigh(A: Array, UPLO: str) -> Any:
    check_matrices("linalg.eigh", A, kernel="linalg_eigh_cpu", numbers="kernel")
    return matrices.eigh(A, UPLO)


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
    whole = _batched(_batched(vectors, inside), turned)
    return (whole + adjoint_of(whole)) / 2


def _side(A: Tensor, UPLO: str) -> str:
    check_matrices("linalg.eigh", A._data, numbers="any")
    if not UPLO or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@composite(function="linalg", out=Out())
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues (ascending) and eigenvectors of a Hermitian matrix."""
    return return_types.linalg_eigh(_eigh(A, _side(A, UPLO)))


@composite(function="linalg", out=Out())
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of a Hermitian matrix, ascending."""
    side = _side(A, UPLO)
    return _eigh(A, side)[0] if is_followed(A) else _eigvalsh(A, side)


@op(batches="matrices")
def _eigvalsh(A: Index, UPLO: str) -> Any:
    check_matrices("linalg.eigh", A, kernel="linalg_eigh_cpu", numbers="kernel")
    return matrices.eigvalsh(A, UPLO)


@op(node="LinalgEigBackward0", outputs=("eigenvalues", "eigenvectors"), batches="matrices",
    of_complex=True,  # as its results are: real matrices take the general path at once
    vjp=lambda g, A, eigenvalues, eigenvectors: _eig_gradient(g, A, eigenvalues, eigenvectors))
def _eig(A: Array) -> Any:
    _check_general("linalg.eig", A)
    return matrices.eig(A, True)


def _check_general(name: str, A: Any) -> None:
    if kind_of(A.dtype) in "biu":
        raise RuntimeError(f"Unknown Complex ScalarType for {scalar_type(A)}")
    check_matrices(name, A, kernel="linalg_eig_out_cpu")


def _eig_gradient(g: Any, A: Any, values: Any, vectors: Any) -> Any:
    of_values, of_vectors = g
    turned = adjoint_of(vectors)
    one = _identity(values)
    inside = None
    if of_vectors is not None:
        along = _batched(turned, of_vectors)
        # The length of an eigenvector is fixed, so the part of its gradient along it is none.
        held = _batched(_batched(turned, vectors), one * complex_of(_real(along * one)))
        inside = (along - held) / (conj(columns_of(values) - rows_of(values)) + one) * (1 - one)
    if of_values is not None:
        own = one * columns_of(of_values)
        inside = own if inside is None else inside + own
    found = _solve(turned, _batched(inside, turned), False)[0]
    return found if is_complex_value(A) else _real(found)


@composite(function="linalg", out=Out(
    SAFELY, function="torch.linalg.eig", names=("eigenvalues", "eigenvectors")))
def eig(A: Tensor) -> Any:
    """The eigenvalues and eigenvectors of square matrices, complex."""
    return return_types.linalg_eig(_eig(A))


@composite(function="linalg", out=Out(
    SAFELY, function="torch.linalg.eigvals", names=("eigenvalues",), copies=True))
def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices, complex."""
    return _eig(A)[0] if is_followed(A) else _eigvals(A)


@op(batches="matrices")
def _eigvals(A: Index) -> Any:
    _check_general("linalg.eigvals", A)
    return matrices.eigvals(A, False)


@op(node="LinalgSvdBackward0", outputs=("U", "S", "Vh"), batches="matrices",
    vjp=lambda g, U, S, Vh: _svd_gradient(g, U, S, Vh))
def _svd(A: Array, full_matrices: bool) -> Any:
    check_matrices("linalg.svd", A, square=False, kernel="linalg_svd_cpu")
    return systems.svd(A, full_matrices)


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
        term = turn / gaps * columns_of(S) * (1 - one)
        if is_complex_value(U):
            # Real vectors cannot turn by themselves, and a singular value may be zero.
            term = term + one * turn / (2 * columns_of(S))
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


@composite(function="linalg", out=Out())
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """The singular value decomposition ``A = U @ diag(S) @ Vh``."""
    return return_types.linalg_svd(_svd(A, full_matrices))


@composite(function="linalg", out=Out())
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values, descending."""
    return _svd(A, False)[1] if is_followed(A) else _svdvals(A)


@op(batches="matrices")
def _svdvals(A: Index) -> Any:
    check_matrices("linalg.svd", A, square=False, kernel="linalg_svd_cpu")
    return systems.svdvals(A)


@public("svd", out=Out())
def torch_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """The singular value decomposition ``input = U @ diag(S) @ V.mH``."""
    if input.ndim < 2:
        raise RuntimeError("linalg.svd: input should have at least 2 dimensions, but has "
                           f"{input.ndim} dimensions instead")
    if not compute_uv:
        *lead, m, n = input.shape
        return return_types.svd((input.new_zeros((*lead, m, m)), svdvals(input),
                                 input.new_zeros((*lead, n, n))))
    U, S, Vh = _svd(input, not some)
    return return_types.svd((U, S, adjoint_of(Vh)))
