"""Orthogonal matrices as products of reflections, which is how QR factors are first found."""

from __future__ import annotations

from typing import Any

from ... import return_types
from ...backend import systems, xp
from ...core.op import Array, Index, composite, op
from ...core.out_rules import SAFELY, Out
from ...core.tensor import Tensor
from ..batching import all_batched, run
from ..checks.common import no_derivative_of
from ..checks.matrices import check_geqrf, check_ormqr, check_reflections
from ..elementwise.conjugate import conj
from ..products.matmul import _batched, adjoint_of
from ..shapes.expanding import sum_to_size_of
from ..shapes.flipping import _flip
from ..shapes.reshaping import reshape
from ..shapes.slicing import _slice
from .common import rows_of
from .diagonals import tril, triu
from .solve import _solve_triangular


@op(outputs=("packed", "factors"), node="GeqrfBackward0", batches="leading",
    vjp=lambda g: no_derivative_of("geqrf"))
def _geqrf(input: Array) -> Any:
    check_geqrf(input)
    return systems.packed_qr(input)


@composite(method=True, out=Out(SAFELY, function="torch.geqrf", names=("a", "tau")))
def geqrf(input: Tensor) -> Any:
    """R with the vectors of the reflections that make Q below it, and their factors."""
    return return_types.geqrf(_geqrf(input))


def _reflecting(name: str, node: str) -> Any:
    """An op that applies reflections; the graph names the function that was called."""

    def kernel(vectors: Array, tau: Array, other: Array, adjoint: bool) -> Any:
        return systems.reflected(vectors, tau, other, adjoint)

    made = op(name=name, node=node, batches=lambda batch, vectors, tau, other, adjoint: run(
        batch.name, *all_batched(batch, vectors=vectors, tau=tau, other=other), adjoint))(kernel)
    made.vjp(vectors=lambda g, vectors, tau, other, adjoint:
             _reflections_gradient(g, vectors, tau, other, adjoint)[0],
             tau=lambda g, vectors, tau, other, adjoint:
             _reflections_gradient(g, vectors, tau, other, adjoint)[1],
             other=lambda g, vectors, tau, adjoint: _ormqr(vectors, tau, g, not adjoint))
    return made


def _backwards(vectors: Any, tau: Any) -> tuple[Any, Any]:
    """The reflections whose product is the adjoint."""
    return _flip(vectors, (vectors.ndim - 1,)), conj(_flip(tau, (tau.ndim - 1,)))


def _reflections_gradient(g: Any, vectors: Any, tau: Any, other: Any, adjoint: bool) -> Any:
    """The gradients of the vectors and of tau; there are none of nothing, as in PyTorch."""
    if 0 in vectors.shape or 0 in tau.shape:
        return None, None
    if adjoint:
        return _backwards(*_reflected_gradient(g, *_backwards(vectors, tau), other))
    return _reflected_gradient(g, vectors, tau, other)


def _reflected_gradient(g: Any, vectors: Any, tau: Any, other: Any) -> tuple[Any, Any]:
    """The gradients of V and tau in ``C - V @ Z``, where ``(1 + tau * S) @ Z = tau * V.mH @ C``.

    S is what lies above the diagonal of ``V.mH @ V``.
    """
    turned, factors = adjoint_of(vectors), rows_of(tau)
    overlap, along = triu(_batched(turned, vectors), 1), _batched(turned, other)
    mixed = factors * overlap
    inside = _solve_triangular(mixed, factors * along, True, True)
    of_right = _solve_triangular(adjoint_of(mixed), -_batched(turned, g), False, True)
    of_mixed = -triu(_batched(of_right, adjoint_of(inside)), 1)
    of_along, of_overlap = conj(factors) * of_right, conj(factors) * of_mixed
    of_vectors = (_batched(other, adjoint_of(of_along)) - _batched(g, adjoint_of(inside))
                  + _batched(vectors, of_overlap + adjoint_of(of_overlap)))
    of_tau = _row_sums(of_right * conj(along)) + _row_sums(of_mixed * conj(overlap))
    return of_vectors, of_tau


def _row_sums(matrix: Any) -> Any:
    lead = matrix.shape[:-1]
    return reshape(sum_to_size_of(matrix, (*lead, 1)), lead)


_householder_product = _reflecting("_householder_product", "LinalgHouseholderProductBackward0")
_ormqr = _reflecting("_ormqr", "OrmqrBackward0")


@op(batches="leading")
def _leading_identity(input: Index, columns: int) -> Any:
    """The first columns of the identity, for each matrix."""
    one = xp.eye(input.shape[-2], dtype=input.dtype)[:, :columns]
    return xp.broadcast_to(one, (*input.shape[:-2], *one.shape)).copy()


def _vectors(A: Tensor, count: int) -> Tensor:
    """What the reflections turn over: ones on the diagonal, and A below it."""
    A = A if count == A.shape[-1] else _slice(A, A.ndim - 1, 0, count)
    return tril(A, -1) + _leading_identity(A, count)


@composite(function="linalg", out=Out(SAFELY, function="torch.linalg.householder_product"))
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of the reflections that ``geqrf`` gives."""
    check_reflections(A._data, tau._data)
    return _householder_product(_vectors(A, tau.shape[-1]), tau,
                                _leading_identity(A, A.shape[-1]), False)


@composite(method=True)
def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections that ``geqrf`` gives."""
    return householder_product(input, tau, out=out)


@composite(method=True, out=Out("torch.ormqr: Expected input and result to have the same dtype, "
                               "but input has dtype{result} and result has dtype {out}"))
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True,
          transpose: bool = False) -> Tensor:
    """``Q @ input3``, or ``input3 @ Q``, of the Q that the reflections of ``geqrf`` make."""
    check_ormqr(input._data, input2._data, input3._data, left)
    if not left:  # X @ Q is (Q.mH @ X.mH).mH
        input3, transpose = adjoint_of(input3), not transpose
    found = _ormqr(_vectors(input, input2.shape[-1]), input2, input3, transpose)
    return found if left else adjoint_of(found)
