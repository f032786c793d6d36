"""Singular values and principal components of low rank, by random projections."""

from __future__ import annotations

from ...core.op import composite
from ...core.tensor import Tensor
from ..creation.random import randn_like
from ..products.matmul import adjoint_of, matmul
from .factor import qr, svd


def _basis(A: Tensor, count: int, rounds: int) -> Tensor:
    """An orthonormal basis of what ``A`` makes of random vectors; each round sharpens it."""
    found = qr(matmul(A, randn_like(A.detach().new_empty((A.shape[-1], count))))).Q
    for _ in range(rounds):
        across = qr(matmul(adjoint_of(A), found)).Q
        found = qr(matmul(A, across)).Q
    return found  # type: ignore[no-any-return]


@composite()
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
                ) -> tuple[Tensor, Tensor, Tensor]:
    """The ``q`` largest singular values of ``A``, or of ``A - M``, and their vectors."""
    if M is not None:
        A = A - M.expand(A.shape)
    is_wide = A.shape[-2] < A.shape[-1]
    tall = adjoint_of(A) if is_wide else A
    basis = _basis(tall, 6 if q is None else q, 2 if niter is None else niter)
    left, values, right = svd(matmul(adjoint_of(basis), tall), full_matrices=False)
    U, V = matmul(basis, left), adjoint_of(right)
    return (V, values, U) if is_wide else (U, values, V)


@composite()
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
                ) -> tuple[Tensor, Tensor, Tensor]:
    """The ``q`` largest principal components of the rows of ``A``, centred unless told not to."""
    most = min(A.shape[-2:])
    if q is None:
        q = min(6, most)
    elif not 0 <= q <= most:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)="
                         f"{most}")
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter)
