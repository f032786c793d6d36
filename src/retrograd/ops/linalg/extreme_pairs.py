"""A few eigenvalues of large symmetric matrices, searched for in small subspaces."""

from __future__ import annotations

from typing import Any

from ...base import dtypes
from ...base.modes import switched
from ...core.op import composite
from ...core.tensor import Tensor
from ..creation.random import randn
from ..products.matmul import matmul
from ..shapes.joining import cat, stack
from .factor import eigh


@composite()
def lobpcg(A: Tensor, k: int | None = None, B: Tensor | None = None, X: Tensor | None = None,
           n: int | None = None, iK: Tensor | None = None, niter: int | None = None,
           tol: float | None = None, largest: bool | None = None, method: str | None = None,
           tracker: None = None, ortho_iparams: dict[str, int] | None = None,
           ortho_fparams: dict[str, float] | None = None,
           ortho_bparams: dict[str, bool] | None = None) -> tuple[Tensor, Tensor]:
    """The ``k`` largest or smallest eigenvalues of ``A x = e B x``, and their vectors.

    The subspace of the vectors, what they lack and the last steps is searched until nothing is
    missing; ``iK`` tells what to make of what is missing. Gradients are those of ``eigh``.
    """
    if A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if tracker is not None:
        raise NotImplementedError("lobpcg calls no tracker here: call it with few iterations, and "
                                  "again with the X that it found")
    many = A.shape[-1]
    count = k if k is not None else 1 if X is None else X.shape[-1]
    width = X.shape[-1] if X is not None else count if n is None else n
    if many < 3 * width:
        raise ValueError(f"LOBPCG algorithm is not applicable when the number of A rows (={many}) "
                         "is smaller than 3 x the number of requested eigenpairs "
                         f"(={width})")
    order = True if largest is None else largest
    if A.requires_grad:
        if B is not None:
            raise ValueError("lobpcg.backward does not support generalized eigenproblems: "
                             "expected B to be None")
        return _by_all_pairs(A, count, order)
    tolerance = tol if tol is not None else {dtypes.float32: 1.2e-07, dtypes.float64: 2.23e-16}[
        A.dtype] ** 0.5
    steps = 1000 if niter is None else niter
    with switched(grad=False):
        if A.ndim == 2:
            return _search(A, B, X, iK, count, width, steps, tolerance, order)
        batch, parts = tuple(A.shape[:-2]), []
        for i in range(A.shape[:-2].numel()):
            a, b, x, ik = [None if t is None else t.reshape(-1, *t.shape[-2:])[i]
                           for t in (A, B, X, iK)]
            parts.append(_search(a, b, x, ik, count, width, steps, tolerance, order))
        values, vectors = (stack(found) for found in zip(*parts, strict=True))
        return values.reshape(*batch, -1), vectors.reshape(*batch, many, -1)


def _by_all_pairs(A: Tensor, count: int, largest: bool) -> tuple[Tensor, Tensor]:
    """Of all pairs, which have gradients."""
    values, vectors = eigh((A + A.mT) / 2)
    if not largest:
        return values[..., :count], vectors[..., :count]
    return values.flip(-1)[..., :count], vectors.flip(-1)[..., :count]


def _search(A: Any, B: Any, X: Any, iK: Any, count: int, width: int, steps: int, tolerance: float,
            largest: bool) -> tuple[Tensor, Tensor]:
    found = randn((A.shape[0], width), dtype=A.dtype) if X is None else X
    values, found = _best_of(found, A, B, width, largest)
    last, scale = None, None
    while steps:
        steps -= 1
        missing = matmul(A, found) - _weighted(B, found) * values
        if scale is None:  # the size of A, as far as it shows
            scale = matmul(A, found).norm() / found.norm() + values.abs().max()
        if bool((missing.norm(dim=0) <= tolerance * scale * found.norm(dim=0))[:count].all()):
            break
        better = missing if iK is None else matmul(iK, missing)
        basis = [found, better] if last is None else [found, better, last]
        values, improved = _best_of(cat(basis, 1), A, B, width, largest)
        last, found = improved - matmul(found, matmul(found.T, _weighted(B, improved))), improved
    return values[:count], found[:, :count]


def _weighted(B: Any, vectors: Tensor) -> Tensor:
    return vectors if B is None else matmul(B, vectors)  # type: ignore[no-any-return]


def _best_of(basis: Tensor, A: Any, B: Any, width: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The extreme eigenpairs among the vectors that a basis spans, without its idle directions."""
    basis = basis / basis.norm(dim=0).clamp(min=1e-30)
    # Twice, since the first time leaves what was lost to rounding.
    for _ in range(2):
        sizes, turned = eigh(matmul(basis.T, _weighted(B, basis)))
        kept = sizes > sizes.max() * basis.shape[1] * 10 * dtypes.finfo(basis.dtype).eps
        basis = matmul(basis, turned[:, kept]) / sizes[kept].sqrt()
    values, turned = eigh(matmul(basis.T, matmul(A, basis)))
    if largest:
        values, turned = values.flip(0), turned.flip(1)
    return values[:width], matmul(basis, turned[:, :width])
