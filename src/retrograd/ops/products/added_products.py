"""Products added to something."""

from __future__ import annotations

from typing import Any

from ...backend import linalg as matrices
from ...backend import xp
from ...base.errors import length_of
from ...core.op import Array, Number, op
from ..elementwise.conjugate import conj
from ..shapes.dimensions import t
from ..shapes.expanding import expand
from .matmul import (
    _batched,
    _check_bmm,
    _check_expanded,
    _check_same_type,
    adjoint_of,
    bmm,
    mm,
    mv,
    outer_product,
    refuse_bool,
    scalar_type,
    sizes_text,
)


def _check_addition(input: Any, mat1: Any, mat2: Any) -> None:
    if mat1.ndim != 2:
        raise RuntimeError(f"mat1 must be a matrix, got {mat1.ndim}-D tensor")
    if mat2.ndim != 2:
        raise RuntimeError(f"mat2 must be a matrix, got {mat2.ndim}-D tensor")
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied "
                           f"({sizes_text(mat1.shape)} and {sizes_text(mat2.shape)})")
    _check_expanded(input, (mat1.shape[0], mat2.shape[1]))
    if input.dtype != mat2.dtype:
        raise RuntimeError("self and mat2 must have the same dtype, but got "
                           f"{scalar_type(input)} and {scalar_type(mat2)}")
    if mat1.dtype != mat2.dtype:
        raise RuntimeError("mat1 and mat2 must have the same dtype, but got "
                           f"{scalar_type(mat1)} and {scalar_type(mat2)}")
    refuse_bool(mat1, "addmm_impl_cpu_")


def scaled(input: Any, factor: Any) -> Any:
    return input if factor == 1 else input * factor


def conj_number(factor: Any) -> Any:
    return factor.conjugate() if isinstance(factor, complex) else factor


@op(broadcasts=True, inplace=True)
def addmm(input: Array, mat1: Array, mat2: Array, *, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)``."""
    _check_addition(input, mat1, mat2)
    return matrices.scaled_sum(input, matrices.dot(mat1, mat2), beta, alpha)


addmm.vjp(input=lambda g, beta: scaled(g, conj_number(beta)),
          mat1=lambda g, mat2, alpha: scaled(mm(g, conj(t(mat2))), conj_number(alpha)),
          mat2=lambda g, mat1, alpha: scaled(mm(conj(t(mat1)), g), conj_number(alpha)))
addmm.jvp(input=lambda tangent, beta, y: expand(scaled(tangent, beta), y.shape),
          mat1=lambda tangent, mat2, alpha: scaled(mm(tangent, mat2), alpha),
          mat2=lambda tangent, mat1, alpha: scaled(mm(mat1, tangent), alpha))


def _check_addmv(input: Any, mat: Any, vec: Any) -> None:
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError("vector + matrix @ vector expected, got "
                           f"{input.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0] or input.size not in (1, mat.shape[0]):
        raise RuntimeError(f"size mismatch, got input ({input.size}), mat "
                           f"({sizes_text(mat.shape)}), vec ({vec.shape[0]})")
    if not input.dtype == mat.dtype == vec.dtype:
        raise RuntimeError("addmv input tensors must have the same dtype, but got "
                           f"{scalar_type(input)}, {scalar_type(mat)}, and {scalar_type(vec)}")
    refuse_bool(mat, "addmv_impl_cpu")


@op(broadcasts=True, inplace=True)
def addmv(input: Array, mat: Array, vec: Array, *, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * input + alpha * (mat @ vec)``."""
    _check_addmv(input, mat, vec)
    return matrices.scaled_sum(input, matrices.dot(mat, vec), beta, alpha)


addmv.vjp(input=lambda g, beta: scaled(g, conj_number(beta)),
          mat=lambda g, vec, alpha: scaled(outer_product(g, conj(vec)), conj_number(alpha)),
          vec=lambda g, mat, alpha: scaled(mv(conj(t(mat)), g), conj_number(alpha)))
addmv.jvp(input=lambda tangent, beta, y: expand(scaled(tangent, beta), y.shape),
          mat=lambda tangent, vec, alpha: scaled(mv(tangent, vec), alpha),
          vec=lambda tangent, mat, alpha: scaled(mv(mat, tangent), alpha))


def _check_vectors(input: Any, vec1: Any, vec2: Any) -> None:
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D")
    _check_expanded(input, (vec1.shape[0], vec2.shape[0]))


@op(broadcasts=True, inplace=True, promote="same")
def addr(input: Array, vec1: Array, vec2: Array, *, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * input + alpha * (vec1 ⊗ vec2)``."""
    _check_vectors(input, vec1, vec2)
    if input.dtype.kind in "iu":
        for name, factor in (("beta", beta), ("alpha", alpha)):
            if isinstance(factor, float):
                raise RuntimeError(f"For integral input tensors, argument {name} must not be a "
                                   "floating point number.")
    return matrices.scaled_sum(input, vec1[:, None] * vec2, beta, alpha)


addr.vjp(input=lambda g, beta: scaled(g, conj_number(beta)),
         vec1=lambda g, vec2, alpha: scaled(mv(g, conj(vec2)), conj_number(alpha)),
         vec2=lambda g, vec1, alpha: scaled(mv(t(g), conj(vec1)), conj_number(alpha)))
addr.jvp(input=lambda tangent, beta, y: expand(scaled(tangent, beta), y.shape),
         vec1=lambda tangent, vec2, alpha: scaled(outer_product(tangent, vec2), alpha),
         vec2=lambda tangent, vec1, alpha: scaled(outer_product(vec1, tangent), alpha))


def _check_batches(input: Any, batch1: Any, batch2: Any, summed: bool) -> None:
    if batch1.ndim < 2 or batch2.ndim < 3:
        for batch, dim in ((batch1, 0), (batch1, 1), (batch2, 2)):
            length_of(batch.shape, dim)  # words the refusal
    shape = (batch1.shape[1], batch2.shape[2])
    _check_expanded(input, shape if summed else (batch1.shape[0], *shape))
    _check_bmm(batch1, batch2)
    _check_same_type(input, batch1)


@op(broadcasts=True, inplace=True)
def baddbmm(input: Array, batch1: Array, batch2: Array, *, beta: Number = 1,
            alpha: Number = 1) -> Any:
    """``beta * input + alpha * (batch1 @ batch2)``, for each pair of matrices."""
    _check_batches(input, batch1, batch2, summed=False)
    return matrices.scaled_sum(input, matrices.product(batch1, batch2), beta, alpha)


baddbmm.vjp(
    input=lambda g, beta: scaled(g, conj_number(beta)),
    batch1=lambda g, batch2, alpha: scaled(bmm(g, adjoint_of(batch2)), conj_number(alpha)),
    batch2=lambda g, batch1, alpha: scaled(bmm(adjoint_of(batch1), g), conj_number(alpha)))
baddbmm.jvp(input=lambda tangent, beta, y: expand(scaled(tangent, beta), y.shape),
            batch1=lambda tangent, batch2, alpha: scaled(bmm(tangent, batch2), alpha),
            batch2=lambda tangent, batch1, alpha: scaled(bmm(batch1, tangent), alpha))


@op(broadcasts=True, inplace=True)
def addbmm(input: Array, batch1: Array, batch2: Array, *, beta: Number = 1,
           alpha: Number = 1) -> Any:
    """``beta * input + alpha * Σ(batch1 @ batch2)``, summed over the batch."""
    _check_batches(input, batch1, batch2, summed=True)
    total = xp.add.reduce(matrices.product(batch1, batch2), axis=0, dtype=batch1.dtype)
    return matrices.scaled_sum(input, total, beta, alpha)


addbmm.vjp(
    input=lambda g, beta: scaled(g, conj_number(beta)),
    batch1=lambda g, batch2, alpha: scaled(_batched(g, adjoint_of(batch2)), conj_number(alpha)),
    batch2=lambda g, batch1, alpha: scaled(_batched(adjoint_of(batch1), g), conj_number(alpha)))
