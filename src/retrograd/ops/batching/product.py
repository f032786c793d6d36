"""Batching rules of products and linear algebra."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...base.errors import canonical_dim
from ..elementwise.conjugate import conj
from ..products.added_products import scaled
from ..products.matmul import _batched, _rows_times_matrix, bmm, mm
from ..reductions.sums import _sum_dims
from ..shapes.dimensions import transpose, unsqueeze
from ..shapes.reshaping import reshape
from .common import (
    RULES,
    aligned,
    all_aligned,
    all_batched,
    as_operands,
    folded,
    inner_rank,
    itself,
    repeated,
    rule,
    run,
    unfolded,
    with_rank,
)

itself("_inv", "_det", "_cofactors", "_slogdet", "_cholesky", "_old_cholesky", "_qr", "_eigh",
       "_eig", "_svd", "_pinv", "_matrix_exp", "_rank", "_bad_minors", "_zero_pivots")


def _product(left: str, right: str, batch: Any, a: Any, b: Any) -> Any:
    """``matmul`` behind the batch, of the arguments called ``left`` and ``right``."""
    left_batched, right_batched = batch[left], batch[right]
    if left_batched and right_batched and a.ndim == 3 == b.ndim:
        # Of a column and a row all products are wanted, and none are added up.
        return a * b if a.shape[2] == 1 == b.shape[1] else bmm(a, b)
    rank_a, rank_b = a.ndim - bool(left_batched), b.ndim - bool(right_batched)
    if not right_batched and rank_b == 2 and rank_a:
        return _rows_times_matrix(a, b)
    if not left_batched and rank_a == 2 and rank_b == 1:
        return mm(b, transpose(a, 0, 1))
    if not left_batched and rank_a == 2 == rank_b:
        return transpose(_rows_times_matrix(transpose(b, 1, 2), transpose(a, 0, 1)), 1, 2)
    a = reshape(a, (*a.shape[:-1], 1, a.shape[-1])) if rank_a == 1 else a
    b = reshape(b, (*b.shape, 1)) if rank_b == 1 else b
    a, b = as_operands(batch, **{left: a, right: b})
    y = a * b if a.shape[-1] == 1 == b.shape[-2] else _batched(a, b)
    if rank_a == 1:
        y = reshape(y, (*y.shape[:-2], *((y.shape[-1],) if rank_b != 1 else ())))
    elif rank_b == 1:
        y = reshape(y, y.shape[:-1])
    return y


RULES["mm"] = RULES["bmm"] = partial(_product, "input", "mat2")
RULES["mv"] = partial(_product, "input", "vec")
RULES["dot"] = partial(_product, "input", "tensor")
rule("_vecmat", "_rows_times_matrix", "_rows_times_vector", "_batched", "_batched_by_one",
     "_vector_times_batch")(partial(_product, "input", "other"))


@rule("vdot")
def _(batch: Any, input: Any, other: Any) -> Any:
    return _product("input", "other", batch, conj(input), other)


def _added(batch: Any, input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta * input + alpha * product``; an input times zero counts as zero."""
    product = scaled(product, alpha)
    if beta == 0:
        return product
    return scaled(aligned(batch, "input", input, inner_rank(product)), beta) + product


def _product_added(left: str, right: str, batch: Any, input: Any, a: Any, b: Any, beta: Any,
                   alpha: Any, summed: bool = False) -> Any:
    if not (batch[left] or batch[right]):
        a = repeated(batch.size, a)
        batch = batch.but(**{**batch.flags, left: True})
    product = _product(left, right, batch, a, b)
    return _added(batch, input, _sum_dims(product, (1,)) if summed else product, beta, alpha)


RULES["addmm"] = partial(_product_added, "mat1", "mat2")
RULES["addmv"] = partial(_product_added, "mat", "vec")
RULES["baddbmm"] = partial(_product_added, "batch1", "batch2")
RULES["addbmm"] = partial(_product_added, "batch1", "batch2", summed=True)


@rule("addr")
def _(batch: Any, input: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    product = unsqueeze(vec1, vec1.ndim) * unsqueeze(vec2, vec2.ndim - 1)
    if not (batch["vec1"] or batch["vec2"]):
        product = repeated(batch.size, product)
    return _added(batch, input, product, beta, alpha)


@rule("_linear_plain")
def _times_weight(batch: Any, input: Any, weight: Any) -> Any:
    return _product("input", "weight", batch, input, transpose(weight, -2, -1))


@rule("_linear", "_linear_rows")
def _(batch: Any, bias: Any, input: Any, weight: Any) -> Any:
    if batch["input"] or batch["weight"]:
        y = _times_weight(batch, input, weight)
    else:
        name = "_rows_times_matrix" if input.ndim > 1 else "_vecmat"
        y = repeated(batch.size, run(name, input, transpose(weight, 0, 1)))
    return y + aligned(batch, "bias", bias, inner_rank(y))


@rule("_bilinear")
def _(batch: Any, input1: Any, input2: Any, weight: Any) -> Any:
    input1, input2 = all_batched(batch, input1=input1, input2=input2)
    if not batch["weight"]:
        return unfolded(batch, run("_bilinear", folded(input1), folded(input2), weight))
    along = _batched(unsqueeze(input1, 1), weight) * unsqueeze(input2, 1)
    return transpose(_sum_dims(along, (3,)), 1, 2)


@rule("sum_rows")
def _(batch: Any, input: Any) -> Any:
    return _sum_dims(input, (1,))


# ---------------------------------------------------------------- linear algebra


@rule("_cross")
def _(batch: Any, input: Any, other: Any, dim: int) -> Any:
    input, other = all_aligned(batch, input=input, other=other)
    return run("_cross", input, other, canonical_dim(dim, inner_rank(input)) + 1)


@rule("_identity")
def _(batch: Any, input: Any) -> Any:
    return repeated(batch.size, run("_identity", input))


def _systems(batch: Any, A: Any, B: Any, columns: int) -> tuple[Any, Any]:
    """Matrices and right-hand sides with the batch in front and leading dims of one rank."""
    A, B = all_batched(batch, A=A, B=B)
    lead = max(A.ndim - 2, B.ndim - columns)
    return with_rank(A, lead - 1 + 2), with_rank(B, lead - 1 + columns)


@rule("_solve")
def _(batch: Any, A: Any, B: Any, vector: bool) -> Any:
    return run("_solve", *_systems(batch, A, B, 1 if vector else 2), vector)


@rule("_solve_triangular")
def _(batch: Any, A: Any, B: Any, upper: bool, unitriangular: bool) -> Any:
    return run("_solve_triangular", *_systems(batch, A, B, 2), upper, unitriangular)
