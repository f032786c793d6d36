"""Pseudo-inverses, least squares and rank."""

from __future__ import annotations

from typing import Any

from ... import return_types
from ...backend import matrices, systems, xp
from ...backend.interface import kind_of
from ...core.op import Array, Index, composite, op
from ...core.out_rules import SAFELY, Out
from ...core.tensor import Tensor, wrap
from ..batching import run
from ..checks.matrices import check_matrices
from ..elementwise.conjugate import conj
from ..products.matmul import _batched, adjoint_of, matmul
from ..reductions.sums import sum as reduce_sum
from ..shapes.dimensions import unsqueeze
from ..shapes.reshaping import reshape
from .factor import svdvals
from .solve import systems_of


@op(node="LinalgPinvBackward0", batches="matrices", vjp=lambda g, A, y: _pinv_gradient(g, A, y))
def _pinv(A: Array, atol: Any, rtol: Any, hermitian: bool) -> Any:
    return systems.pseudo_inverse(A, atol, rtol, hermitian)


def _pinv_gradient(g: Any, A: Any, inverse: Any) -> Any:
    turned, backward = adjoint_of(inverse), adjoint_of(g)
    found = -_batched(turned, _batched(g, turned))
    left = _batched(backward, _batched(inverse, turned))
    found = found + left - _batched(A, _batched(inverse, left))
    right = _batched(_batched(turned, inverse), backward)
    return found + right - _batched(_batched(right, inverse), A)


def _refuse_imprecise(A: Tensor) -> None:
    if kind_of(A._data.dtype) in "biu" or matrices.is_low_precision(A._data.dtype):
        raise RuntimeError("This function doesn't handle types other than float and double")


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


@composite(function="linalg", out=Out(SAFELY, function="linalg.pinv"))
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None,
         rtol: Any = None) -> Tensor:
    """The pseudo-inverse."""
    if A.ndim < 2 or kind_of(A._data.dtype) not in "fc" or matrices.is_low_precision(A._data.dtype):
        raise RuntimeError(f"linalg.pinv({A.dtype.alias}{{{list(A.shape)}}}): expected a tensor "
                           "with 2 or more dimensions of float, double, cfloat or cdouble types")
    if hermitian:
        check_matrices("linalg.eigh", A._data)
    rtol = rcond if rcond is not None else rtol
    return _pinv(A, _number(atol), _number(rtol), hermitian)


@composite(method=True)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse."""
    return pinv(input, rcond=rcond)


@op(node="LinalgLstsqBackward0", outputs=("solution", "rank"), differentiable=(0,),
    broadcasts=True, batches=lambda batch, A, B, rcond, by_values:
    run("_least_squares", *systems_of(batch, A, B, 2), rcond, by_values))
def _least_squares(A: Array, B: Array, rcond: float | None, by_values: bool) -> Any:
    """The solution and the rank; ``by_values``, small singular values are left out.

    Otherwise columns are left out that depend on others, nearly so if ``rcond`` is large.
    """
    if by_values:
        return (xp.matmul(systems.inverse_of_least_squares(A, rcond), B),
                systems.rank(A, None, rcond, False))
    return systems.least_squares(A, B, rcond)


_least_squares.vjp(
    A=lambda g, A, B, rcond, wanted: _pinv_gradient(
        _batched(g[0], adjoint_of(B)), A, _inverse_of_least_squares(A, rcond, wanted)),
    B=lambda g, A, rcond: _batched(adjoint_of(_inverse_of_least_squares(A, rcond, None)), g[0]))


@op(node="LinalgPinvBackward0", batches="matrices", vjp=lambda g, A, y: _pinv_gradient(g, A, y))
def _inverse_of_least_squares(A: Array, rcond: float | None, asked: Any) -> Any:
    """The pseudo-inverse, whose product with B the solution is; both rules ask for it."""
    return systems.inverse_of_least_squares(A, rcond, asked)


@composite(function="linalg", out=Out(SAFELY, function="torch.linalg.lstsq", names=(
    "solution", "residuals", "rank", "singular_values")))
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
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, "
                           "gelsd, gelss)")
    vector = A.ndim - 1 == B.ndim and tuple(A.shape[:-1]) == tuple(B.shape)
    right = unsqueeze(B, -1) if vector else B
    if A.shape[-2] != right.shape[-2]:
        raise RuntimeError("linalg.lstsq: A.size(-2) should match " + (
            "b.size(-1)" if vector else "b.size(-2)"))
    by_values = rcond is not None and driver in ("gelsd", "gelss")
    found, rank = _least_squares(A, right, None if rcond is None else float(rcond), by_values)
    rows, cols = A.shape[-2:]
    empty = A.new_empty((0,), dtype=A.dtype.to_real())
    residuals = empty
    if rows > cols and driver not in (None, "gelsy") and bool((rank == cols).all()):
        apart = matmul(A, found) - right
        residuals = reduce_sum((apart * conj(apart)).real, -2)
    solution = reshape(found, tuple(found.shape[:-1])) if vector else found
    values = svdvals(A.detach()) if driver in ("gelsd", "gelss") else empty
    if driver == "gels":
        # This method takes full rank for granted.
        rank = A.new_empty((0,), dtype=rank.dtype)
    return return_types.linalg_lstsq((solution, residuals, rank, values))


@composite(function="linalg", out=Out(SAFELY, function="torch.linalg.matrix_rank"))
def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None,
                rtol: Any = None) -> Tensor:
    """The number of singular values that are not negligible."""
    _refuse_imprecise(A)
    if A.ndim < 2:
        raise RuntimeError("torch.linalg.matrix_rank: The input tensor input must have at least 2 "
                           "dimensions.")
    check_matrices("linalg.eigh", A._data, square=hermitian)
    atol = tol if tol is not None else atol
    return _rank(A, _tolerance(atol), _tolerance(rtol), hermitian)


def _tolerance(value: Any) -> Any:
    """A tolerance for each matrix, or one for all."""
    return value if value is None or isinstance(value, Tensor) else wrap(xp.asarray(float(value)))


@op(batches="matrices")
def _rank(A: Index, atol: Index | None, rtol: Index | None, hermitian: bool) -> Any:
    return systems.rank(A, atol, rtol, hermitian)
