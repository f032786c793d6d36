"""Linear algebra: the functions of ``torch.linalg``."""

# Written by `make stubs` from the declared functions and docs/stub_types.py.
# ruff: noqa

from . import return_types
from .base.dtypes import dtype
from .core.tensor import Tensor
from collections.abc import Sequence
from .base.errors import LinAlgError as LinAlgError

def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """The triangular factor L of a positive-definite ``A = L @ L.mH``.

    The lower triangle ``L`` with ``A = L Lᴴ``.

    >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    ...
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False,
                out: Sequence[Tensor] | None = None) -> return_types.linalg_cholesky_ex:
    """The Cholesky factor, and the order of the first minor that is not positive-definite."""
    ...
def cond(A: Tensor, p: float | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number."""
    ...
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of length three along ``dim``."""
    ...
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant of square matrices.

    The gradient is ``g · det(A) · A⁻ᵀ``, by cofactors where the matrix is singular.

    >>> torch.linalg.det(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(-2.)
    """
    ...
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonal of matrices."""
    ...
def eig(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eig:
    """The eigenvalues and eigenvectors of square matrices, complex."""
    ...
def eigh(A: Tensor, UPLO: str = 'L', *,
         out: Sequence[Tensor] | None = None) -> return_types.linalg_eigh:
    """The eigenvalues (ascending) and eigenvectors of a Hermitian matrix.

    Of a symmetric matrix ``A = Q diag(L) Qᴴ``, the eigenvalues in ascending order.

    >>> torch.linalg.eigh(torch.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([1., 2.])
    """
    ...
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of square matrices, complex."""
    ...
def eigvalsh(A: Tensor, UPLO: str = 'L', *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of a Hermitian matrix, ascending."""
    ...
def householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections that ``geqrf`` gives."""
    ...
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of square matrices.

    ``Y = A⁻¹``; the gradient is ``-Yᵀ g Yᵀ``.

    >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    ...
def inv_ex(A: Tensor, *, check_errors: bool = False,
           out: Sequence[Tensor] | None = None) -> return_types.linalg_inv_ex:
    """The inverse, and a number that is positive where a matrix is singular."""
    ...
def ldl_factor(A: Tensor, *, hermitian: bool = False,
               out: Sequence[Tensor] | None = None) -> return_types.linalg_ldl_factor:
    """L and D of a symmetric ``A = L @ D @ L.mT`` in one matrix, and pivots."""
    ...
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False,
                  out: Sequence[Tensor] | None = None) -> return_types.linalg_ldl_factor_ex:
    """L and D of a symmetric matrix, pivots, and where the first singular block of D is."""
    ...
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False,
              out: Tensor | None = None) -> Tensor:
    """The solution X of ``A @ X = B`` from the LDL factors of A."""
    ...
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None,
          out: Sequence[Tensor] | None = None) -> return_types.linalg_lstsq:
    """The X that makes ``A @ X - B`` shortest, with residuals, rank and singular values."""
    ...
def lu(A: Tensor, *, pivot: bool = True,
       out: Sequence[Tensor] | None = None) -> return_types.linalg_lu:
    """A permutation P, a lower triangular L and an upper triangular U with ``A = P @ L @ U``."""
    ...
def lu_factor(A: Tensor, *, pivot: bool = True,
              out: Sequence[Tensor] | None = None) -> return_types.linalg_lu_factor:
    """The factors L and U in one matrix, and the row that each step of pivoting swapped."""
    ...
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False,
                 out: Sequence[Tensor] | None = None) -> return_types.linalg_lu_factor_ex:
    """The factors L and U in one matrix, pivots, and where the first zero on U's diagonal is."""
    ...
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False,
             out: Tensor | None = None) -> Tensor:
    """The solution X of ``A @ X = B`` from the LU factors of A."""
    ...
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of vectors, matrices or batches of matrices, by their numbers of dimensions.

    ``y = A B`` for the last two dims, over all others broadcast; the gradients are ``g Bᵀ`` and
    ``Aᵀ g``.

    >>> torch.matmul(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    ...
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices."""
    ...
def matrix_norm(A: Tensor, ord: float | str | None = 'fro', dim: Sequence[int] = ...,
                keepdim: bool = False, *, dtype: dtype | None = None,
                out: Tensor | None = None) -> Tensor:
    """The norm of matrices: "fro", "nuc", or a number (2 the largest singular value)."""
    ...
def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th power of square matrices, by repeated squaring."""
    ...
def matrix_rank(A: Tensor, tol: Tensor | float | None = None, hermitian: bool = False, *,
                atol: Tensor | float | None = None, rtol: Tensor | float | None = None,
                out: Tensor | None = None) -> Tensor:
    """The number of singular values that are not negligible."""
    ...
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the order that needs the fewest multiplications."""
    ...
def norm(A: Tensor, ord: float | str | None = None, dim: int | Sequence[int] | None = None,
         keepdim: bool = False, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The norm of vectors (one ``dim``) or matrices (two).

    Of a vector ``(Σ |x|^p)^(1/p)``, of a matrix one of its norms.

    >>> torch.linalg.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    ...
def pinv(A: Tensor, rcond: Tensor | float | None = None, hermitian: bool = False, *,
         atol: Tensor | float | None = None, rtol: Tensor | float | None = None,
         out: Tensor | None = None) -> Tensor:
    """The pseudo-inverse."""
    ...
def qr(A: Tensor, mode: str = 'reduced', *,
       out: Sequence[Tensor] | None = None) -> return_types.linalg_qr:
    """An orthogonal Q and an upper triangular R with ``A = Q @ R``.

    ``A = Q R`` with orthonormal columns in ``Q`` and a triangle ``R``.

    >>> torch.linalg.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]])).R.shape
    torch.Size([2, 2])
    """
    ...
def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_slogdet:
    """The sign of the determinant and the logarithm of its absolute value."""
    ...
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """The solution X of ``A @ X = B`` (of ``X @ A = B`` with ``left=False``).

    ``X`` with ``A X = B``; the gradient of ``B`` is ``A⁻ᵀ g``, that of ``A`` is ``-A⁻ᵀ g Xᵀ``.

    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    ...
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False,
             out: Sequence[Tensor] | None = None) -> return_types.linalg_solve_ex:
    """The solution X of ``A @ X = B``, and a number that is positive where A is singular."""
    ...
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True,
                     unitriangular: bool = False, out: Tensor | None = None) -> Tensor:
    """The solution X of ``A @ X = B`` for triangular ``A``."""
    ...
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None,
        out: Sequence[Tensor] | None = None) -> return_types.linalg_svd:
    """The singular value decomposition ``A = U @ diag(S) @ Vh``.

    ``A = U diag(S) Vh``, the singular values in descending order.

    >>> torch.linalg.svd(torch.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])
    """
    ...
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """The singular values, descending."""
    ...
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of a tensor seen as a matrix whose rows are its first ``ind`` dimensions."""
    ...
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *,
                out: Tensor | None = None) -> Tensor:
    """The X of ``tensordot(A, X, X.ndim) = B``."""
    ...
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers 0 to N-1 of ``x``, along a new last dimension."""
    ...
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The dot products of vectors along ``dim``, the first ones conjugated."""
    ...
def vector_norm(x: Tensor, ord: float | str | None = 2, dim: int | Sequence[int] | None = None,
                keepdim: bool = False, *, dtype: dtype | None = None,
                out: Tensor | None = None) -> Tensor:
    """The ``ord``-norm of the vectors along ``dim``, or of all elements."""
    ...
