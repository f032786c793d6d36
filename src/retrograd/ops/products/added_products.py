"""Products added to something."""

from __future__ import annotations

from typing import Any

from ...backend import matrices, xp
from ...base import dtypes
from ...core.op import Array, Number, op
from ...core.out_rules import CASTABLE, Out
from ..batching import aligned, inner_rank, repeated
from ..checks.common import check_factor
from ..checks.products import (
    check_addition,
    check_addmv,
    check_batches,
    check_inner_ranks,
    check_vector,
    check_vectors,
)
from ..elementwise.conjugate import conj
from ..reductions.sums import _sum_dims
from ..shapes.dimensions import t, unsqueeze
from ..shapes.expanding import expand
from .matmul import (
    _batched,
    _mm_transposed,
    _product,
    _transposed_mm,
    adjoint_of,
    bmm,
    mm,
    mv,
    outer_product,
)


def scaled(input: Any, factor: Any) -> Any:
    return input if factor == 1 else input * factor


def conj_number(factor: Any) -> Any:
    return factor.conjugate() if isinstance(factor, complex) else factor


@op(broadcasts=True, inplace=True, former=True)
def addmm(input: Array, mat1: Array, mat2: Array, *, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)``."""
    check_addition(input, mat1, mat2)
    return matrices.scaled_sum(input, matrices.dot(mat1, mat2), beta, alpha)


addmm.vjp(input=lambda g, beta: scaled(g, conj_number(beta)),
          mat1=lambda g, mat2, alpha: scaled(_mm_transposed(g, conj(mat2)), conj_number(alpha)),
          mat2=lambda g, mat1, alpha: scaled(_transposed_mm(conj(mat1), g), conj_number(alpha)))
addmm.jvp(input=lambda tangent, beta, y: expand(scaled(tangent, beta), y.shape),
          mat1=lambda tangent, mat2, alpha: scaled(mm(tangent, mat2), alpha),
          mat2=lambda tangent, mat1, alpha: scaled(mm(mat1, tangent), alpha))


@op(broadcasts=True, inplace=True, former=True)
def addmv(input: Array, mat: Array, vec: Array, *, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * input + alpha * (mat @ vec)``."""
    check_addmv(input, mat, vec)
    return matrices.scaled_sum(input, matrices.dot(mat, vec), beta, alpha)


addmv.vjp(input=lambda g, beta: scaled(g, conj_number(beta)),
          mat=lambda g, vec, alpha: scaled(outer_product(g, conj(vec)), conj_number(alpha)),
          vec=lambda g, mat, alpha: scaled(mv(conj(t(mat)), g), conj_number(alpha)))
addmv.jvp(input=lambda tangent, beta, y: expand(scaled(tangent, beta), y.shape),
          mat=lambda tangent, vec, alpha: scaled(mv(tangent, vec), alpha),
          vec=lambda tangent, mat, alpha: scaled(mv(mat, tangent), alpha))


@op(broadcasts=True, inplace=True, former=True, promote="same", out=Out(CASTABLE))
def addr(input: Array, vec1: Array, vec2: Array, *, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * input + alpha * (vec1 ⊗ vec2)``."""
    check_vectors(input, vec1, vec2)
    common = dtypes.from_numpy_dtype(input.dtype)
    check_factor("beta", beta, common)
    check_factor("alpha", alpha, common)
    return matrices.scaled_sum(input, vec1[:, None] * vec2, beta, alpha)


addr.vjp(input=lambda g, beta: scaled(g, conj_number(beta)),
         vec1=lambda g, vec2, alpha: scaled(mv(g, conj(vec2)), conj_number(alpha)),
         vec2=lambda g, vec1, alpha: scaled(mv(t(g), conj(vec1)), conj_number(alpha)))
addr.jvp(input=lambda tangent, beta, y: expand(scaled(tangent, beta), y.shape),
         vec1=lambda tangent, vec2, alpha: scaled(outer_product(tangent, vec2), alpha),
         vec2=lambda tangent, vec1, alpha: scaled(outer_product(vec1, tangent), alpha))


def _inner_product(batch: Any, a: Any, b: Any) -> Any:
    """The batched product of the second and third argument."""
    check_inner_ranks(batch, a, b)
    _, left, right, *_ = batch.flags
    if not (batch[left] or batch[right]):
        return _product(batch.but(left=True, right=False), repeated(batch.size, a), b)
    return _product(batch.but(left=batch[left], right=batch[right]), a, b)


@addr.batch
def _(batch: Any, input: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        check_vector(name, vector.ndim - bool(batch[name]))
    product = unsqueeze(vec1, vec1.ndim) * unsqueeze(vec2, vec2.ndim - 1)
    if not (batch["vec1"] or batch["vec2"]):
        product = repeated(batch.size, product)
    return _added(batch, input, product, beta, alpha)


@op(broadcasts=True, inplace=True, former=True)
def baddbmm(input: Array, batch1: Array, batch2: Array, *, beta: Number = 1,
            alpha: Number = 1) -> Any:
    """``beta * input + alpha * (batch1 @ batch2)``, for each pair of matrices."""
    check_batches(input, batch1, batch2, summed=False)
    return matrices.scaled_sum(input, matrices.product(batch1, batch2), beta, alpha)


baddbmm.vjp(
    input=lambda g, beta: scaled(g, conj_number(beta)),
    batch1=lambda g, batch2, alpha: scaled(bmm(g, adjoint_of(batch2)), conj_number(alpha)),
    batch2=lambda g, batch1, alpha: scaled(bmm(adjoint_of(batch1), g), conj_number(alpha)))
baddbmm.jvp(input=lambda tangent, beta, y: expand(scaled(tangent, beta), y.shape),
            batch1=lambda tangent, batch2, alpha: scaled(bmm(tangent, batch2), alpha),
            batch2=lambda tangent, batch1, alpha: scaled(bmm(batch1, tangent), alpha))


def _added(batch: Any, input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta * input + alpha * product``; an input times zero counts as zero."""
    product = scaled(product, alpha)
    if beta == 0:
        return product
    return scaled(aligned(batch, "input", input, inner_rank(product)), beta) + product


@addmm.batch
@addmv.batch
@baddbmm.batch
def _product_added(batch: Any, input: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    return _added(batch, input, _inner_product(batch, a, b), beta, alpha)


@op(broadcasts=True, inplace=True, former=True,
    out=Out("self and mat2 must have the same dtype, but got {out} and {result}", silent=True),
    batches=lambda batch, input, a, b, beta, alpha:
    _added(batch, input, _sum_dims(_inner_product(batch, a, b), (1,)), beta, alpha))
def addbmm(input: Array, batch1: Array, batch2: Array, *, beta: Number = 1,
           alpha: Number = 1) -> Any:
    """``beta * input + alpha * Σ(batch1 @ batch2)``, summed over the batch."""
    check_batches(input, batch1, batch2, summed=True)
    total = xp.sum(matrices.product(batch1, batch2), axis=0, dtype=batch1.dtype)
    return matrices.scaled_sum(input, total, beta, alpha)


addbmm.vjp(
    input=lambda g, beta: scaled(g, conj_number(beta)),
    batch1=lambda g, batch2, alpha: scaled(_batched(g, adjoint_of(batch2)), conj_number(alpha)),
    batch2=lambda g, batch1, alpha: scaled(_batched(adjoint_of(batch1), g), conj_number(alpha)))
