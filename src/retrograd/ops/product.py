"""Products of vectors, matrices and batches of matrices."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from ..backend import linalg as matrices
from ..backend import xp
from ..base import dtypes
from ..base.errors import existing_dim, length_of, no_dims, not_a_tensor, size_mismatch
from ..base.warning import warn
from ..core.op import Array, Number, composite, op, publish
from ..core.op import linear as linear_op
from ..core.tensor import Tensor
from .pointwise import conj, mul
from .shape import (
    _check_expand,
    _permute,
    _reshape_copy,
    expand,
    reshape,
    sum_to_size_of,
    t,
    transpose,
)

# ---------------------------------------------------------------- what all products check

_SPELLED = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int",
            "int16": "short int", "int8": "signed char", "uint8": "unsigned char",
            "float16": "c10::Half", "bfloat16": "c10::BFloat16",
            "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


def scalar_type(array: Any) -> str:
    """PyTorch's name for an array's dtype in error messages: Float, Long."""
    return dtypes.from_numpy_dtype(array.dtype).alias


def sizes_text(shape: Any) -> str:
    return "x".join(map(str, shape))


def refuse_bool(array: Any, kernel: str) -> None:
    if array.dtype.kind == "b":
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def _check_mm(input: Any, mat2: Any, first: str = "self") -> None:
    if input.ndim != 2:
        raise RuntimeError(f"{first} must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied "
                           f"({sizes_text(input.shape)} and {sizes_text(mat2.shape)})")
    if input.dtype != mat2.dtype:
        raise RuntimeError("expected m1 and m2 to have the same dtype, but got: "
                           f"{_SPELLED.get(input.dtype.name, 'bool')} != "
                           f"{_SPELLED.get(mat2.dtype.name, 'bool')}")
    refuse_bool(input, "addmm_impl_cpu_")


def _check_expanded(input: Any, shape: tuple[int, ...]) -> None:
    if input.shape != shape:
        _check_expand(input, shape)


def adjoint_of(input: Any) -> Any:
    """The conjugate transpose of the last two dimensions."""
    return conj(transpose(input, -2, -1))


def flat_rows(input: Any) -> Any:
    """All but the last dimension merged: a matrix of rows."""
    shape = input.shape
    return reshape(input, (math.prod(shape[:-1]), shape[-1]))


# ---------------------------------------------------------------- two matrices, matrix and vector


@op()
def mm(input: Array, mat2: Array) -> Any:
    """The product of two matrices."""
    if input.ndim != 2 or mat2.ndim != 2 or input.dtype is not mat2.dtype \
            or input.shape[1] != mat2.shape[0] or input.dtype.kind == "b":
        _check_mm(input, mat2)
    return matrices.dot(input, mat2)


mm.vjp(input=lambda g, mat2: mm(g, conj(t(mat2))),
       mat2=lambda g, input: mm(conj(t(input)), g))
mm.jvp(input=lambda tangent, mat2: mm(tangent, mat2),
       mat2=lambda tangent, input: mm(input, tangent))


def _check_mv(input: Any, vec: Any) -> None:
    if not input.ndim:
        raise no_dims(0)
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError("vector + matrix @ vector expected, got "
                           f"1, {input.ndim}, {vec.ndim}")
    if input.dtype != vec.dtype:
        raise RuntimeError("addmv input tensors must have the same dtype, but got "
                           f"{scalar_type(vec)}, {scalar_type(input)}, and {scalar_type(vec)}")
    if input.shape[1] != vec.shape[0]:
        raise _mv_mismatch(input.shape, vec)
    refuse_bool(input, "addmv_impl_cpu")


def _mv_mismatch(shape: tuple[int, ...], vec: Any) -> RuntimeError:
    return RuntimeError(f"size mismatch, got input ({shape[0]}), mat ({sizes_text(shape)}), vec "
                        f"({vec.shape[0]})")


@op(check=_check_mv)
def mv(input: Array, vec: Array) -> Any:
    """The product of a matrix and a vector."""
    return matrices.dot(input, vec)


mv.vjp(input=lambda g, vec: outer_product(g, conj(vec)),
       vec=lambda g, input: mv(conj(t(input)), g))
mv.jvp(input=lambda tangent, vec: mv(tangent, vec),
       vec=lambda tangent, input: mv(input, tangent))


def outer_product(column: Any, row: Any) -> Any:
    return reshape(column, (column.shape[0], 1)) * row


def _check_dot(input: Any, other: Any, name: str = "dot") -> None:
    if input.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    if input.dtype != other.dtype:
        raise RuntimeError("dot : expected both vectors to have same dtype, but found "
                           f"{scalar_type(input)} and {scalar_type(other)}")
    if input.shape != other.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{input.shape[0]}] and src "
            f"[{other.shape[0]}] to have the same number of elements, but got {input.shape[0]} "
            f"and {other.shape[0]} elements respectively")
    refuse_bool(input, name)


@op(check=_check_dot)
def dot(input: Array, tensor: Array) -> Any:
    """The sum of the products of two vectors' elements."""
    return matrices.dot(input, tensor)


dot.vjp(input=lambda g, tensor: g * conj(tensor),
        tensor=lambda g, input: g * conj(input))
dot.jvp(input=lambda tangent, tensor: dot(tangent, tensor),
        tensor=lambda tangent, input: dot(input, tangent))


@op(check=lambda input, other: _check_dot(input, other, "vdot"))
def vdot(input: Array, other: Array) -> Any:
    """The dot product with the first vector conjugated."""
    return matrices.dot(xp.conj(input), other)


vdot.vjp(input=lambda g, other: conj(g) * other,
         other=lambda g, input: g * input)


@op(method=False, function=None, node="SqueezeBackward4")
def _vecmat(input: Array, other: Array) -> Any:
    if input.dtype is not other.dtype or input.shape[0] != other.shape[0]:
        _check_mm(input.reshape(1, -1), other)
    refuse_bool(input, "addmm_impl_cpu_")
    return matrices.dot(input, other)


_vecmat.vjp(input=lambda g, other: mv(conj(other), g),
            other=lambda g, input: outer_product(conj(input), g))
_vecmat.jvp(input=lambda tangent, other: _vecmat(tangent, other),
            other=lambda tangent, input: _vecmat(input, tangent))


# ---------------------------------------------------------------- batches


def _check_bmm(input: Any, mat2: Any) -> None:
    if input.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if mat2.ndim != 3:
        raise RuntimeError("batch2 must be a 3D tensor")
    expected = [input.shape[0], input.shape[2]]
    if list(mat2.shape[:2]) != expected:
        raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                           f"{expected} but got: {list(mat2.shape[:2])}.")
    _check_same_type(input, mat2)
    refuse_bool(input, "bmm")


def _check_same_type(input: Any, other: Any) -> None:
    if input.dtype != other.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(input)} but found "
                           f"{scalar_type(other)}")


@op(check=_check_bmm)
def bmm(input: Array, mat2: Array) -> Any:
    """The products of two batches of matrices, pair by pair."""
    return matrices.product(input, mat2)


bmm.vjp(input=lambda g, mat2: bmm(g, adjoint_of(mat2)),
        mat2=lambda g, input: bmm(adjoint_of(input), g))
bmm.jvp(input=lambda tangent, mat2: bmm(tangent, mat2),
        mat2=lambda tangent, input: bmm(input, tangent))


@op(method=False, function=None, node="UnsafeViewBackward0")
def _rows_times_matrix(input: Array, other: Array) -> Any:
    rows = matrices.fold(input)
    if input.dtype is not other.dtype or rows.shape[1] != other.shape[0]:
        _check_mm(rows, other)
    refuse_bool(input, "addmm_impl_cpu_")
    return matrices.dot(rows, other).reshape(*input.shape[:-1], other.shape[1])


_rows_times_matrix.vjp(
    input=lambda g, other: _rows_times_matrix(g, conj(t(other))),
    other=lambda g, input: mm(conj(t(flat_rows(input))), flat_rows(g)))
_rows_times_matrix.jvp(input=lambda tangent, other: _rows_times_matrix(tangent, other),
                       other=lambda tangent, input: _rows_times_matrix(input, tangent))


@op(method=False, function=None, node="UnsafeViewBackward0")
def _rows_times_vector(input: Array, other: Array) -> Any:
    rows = matrices.fold(input)
    _check_mv(rows, other)
    return matrices.dot(rows, other).reshape(input.shape[:-1])


_rows_times_vector.vjp(
    input=lambda g, other: reshape(g, (*g.shape, 1)) * conj(other),
    other=lambda g, input: mv(conj(t(flat_rows(input))), reshape(g, (-1,))))
_rows_times_vector.jvp(input=lambda tangent, other: _rows_times_vector(tangent, other),
                       other=lambda tangent, input: _rows_times_vector(input, tangent))


def _check_batched(input: Any, other: Any) -> None:
    left, right = input.shape[:-2], other.shape[:-2]
    try:
        batch = xp.broadcast_shapes(left, right)
    except ValueError:
        raise size_mismatch([left, right]) from None
    if input.shape[-1] != other.shape[-2]:
        count = math.prod(batch)
        raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                           f"[{count}, {input.shape[-1]}] but got: [{count}, {other.shape[-2]}].")
    _check_same_type(input, other)
    refuse_bool(input, "bmm")


@op(method=False, function=None, node="UnsafeViewBackward0", broadcasts=True, check=_check_batched)
def _batched(input: Array, other: Array) -> Any:
    return matrices.product(input, other)


@op(method=False, function=None, node="CloneBackward0", broadcasts=True, check=_check_batched)
def _batched_by_one(input: Array, other: Array) -> Any:
    return matrices.product(input, other)


for _product in (_batched, _batched_by_one):
    _product.vjp(input=lambda g, other: _batched(g, adjoint_of(other)),
                 other=lambda g, input: _batched(adjoint_of(input), g))
    _product.jvp(input=lambda tangent, other: _batched(tangent, other),
                 other=lambda tangent, input: _batched(input, tangent))


@op(method=False, function=None, node="UnsafeViewBackward0")
def _vector_times_batch(input: Array, other: Array) -> Any:
    if not other.size and input.shape[0] != other.shape[-2]:
        # PyTorch turns an empty batch into a matrix.
        raise _mv_mismatch((math.prod(other.shape[:-2]) * other.shape[-1], other.shape[-2]), input)
    _check_batched(input.reshape(1, -1), other)
    return matrices.product(input, other)


_vector_times_batch.vjp(
    input=lambda g, other: reshape(sum_to_size_of(
        _batched(conj(other), reshape(g, (*g.shape, 1))), (other.shape[-2], 1)), (-1,)),
    other=lambda g, input: reshape(conj(input), (-1, 1)) * reshape(
        g, (*g.shape[:-1], 1, g.shape[-1])))
_vector_times_batch.jvp(input=lambda tangent, other: _vector_times_batch(tangent, other),
                        other=lambda tangent, input: _vector_times_batch(input, tangent))


def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of vectors, matrices or batches of matrices, by their numbers of dimensions."""
    try:
        left, right = input._data.ndim, other._data.ndim
    except AttributeError:
        wrong = 1 if isinstance(input, Tensor) else 0
        raise not_a_tensor("matmul", ("input", "other")[wrong], wrong + 1,
                           (input, other)[wrong]) from None
    product = mm if left == 2 == right else _product_for(left, right, other, input)
    return product(input, other) if out is None else product(input, other, out=out)


def _product_for(left: int, right: int, other: Tensor, input: Tensor) -> Any:
    if not left or not right:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are "
                           f"{left}D and {right}D")
    if left == 1:
        return (dot, _vecmat)[right - 1] if right < 3 else _vector_times_batch
    if right == 1:
        return mv if left == 2 else _rows_times_vector
    if right == 2:
        return _rows_times_matrix
    return _batched_by_one if left == 2 and input._edge is not None else _batched


publish(matmul, "matmul")
publish(matmul, "matmul", method=False, function="linalg")


def _matmul_operator(self: Tensor, other: Any) -> Any:
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _reflected_matmul_operator(self: Tensor, other: Any) -> Any:
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


Tensor.__matmul__ = _matmul_operator  # type: ignore[attr-defined]
Tensor.__rmatmul__ = _reflected_matmul_operator  # type: ignore[attr-defined]


# ---------------------------------------------------------------- products added to something


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


# ---------------------------------------------------------------- linear layers


@linear_op(method=False, function=None, node="SumBackward1")
def sum_rows(input: Array) -> Any:
    """The sum of a matrix's rows."""
    return matrices.sum_rows(input)


sum_rows.vjp(input=lambda g, like: expand(g, like.shape))


@op(method=False, function=None, node="AddmmBackward0", saved={"input": "mat1", "weight": "mat2"},
    steps={"weight": t})
def _linear(bias: Array, input: Array, weight: Array) -> Any:
    if input.dtype is not weight.dtype or bias.dtype is not weight.dtype \
            or input.shape[1] != weight.shape[1] or input.dtype.kind == "b":
        _check_addition(bias, input, weight.T)
    return matrices.affine(input, weight, bias)


_linear.vjp(bias=lambda g: sum_rows(g),
            input=lambda g, weight: mm(g, conj(weight)),
            weight=lambda g, input: mm(t(g), conj(input)))
_linear.jvp(bias=lambda tangent, y: expand(tangent, y.shape),
            input=lambda tangent, weight: mm(tangent, t(weight)),
            weight=lambda tangent, input: mm(input, t(tangent)))


@op(method=False, function=None, node="ViewBackward0")
def _linear_rows(bias: Array, input: Array, weight: Array) -> Any:
    rows = matrices.fold(input)
    _check_addition(bias, rows, weight.T)
    return matrices.affine(rows, weight, bias).reshape(*input.shape[:-1], weight.shape[0])


_linear_rows.vjp(bias=lambda g: sum_rows(flat_rows(g)),
                 input=lambda g, weight, like: reshape(mm(flat_rows(g), conj(weight)), like.shape),
                 weight=lambda g, input: mm(t(flat_rows(g)), conj(flat_rows(input))))
_linear_rows.jvp(bias=lambda tangent, y: expand(tangent, y.shape),
                 input=lambda tangent, weight: matmul_any(tangent, t(weight)),
                 weight=lambda tangent, input: matmul_any(input, t(tangent)))


def matmul_any(rows: Any, matrix: Any) -> Any:
    return _rows_times_matrix(rows, matrix) if rows.ndim > 1 else _vecmat(rows, matrix)


@op(method=False, function=None, node="MmBackward0", saved={"weight": "mat2"},
    steps={"weight": t})
def _linear_plain(input: Array, weight: Array) -> Any:
    if input.dtype is not weight.dtype or input.shape[1] != weight.shape[1] \
            or input.dtype.kind == "b":
        _check_mm(input, weight.T)
    return matrices.dot(input, weight.T)


_linear_plain.vjp(input=lambda g, weight: mm(g, conj(weight)),
                  weight=lambda g, input: mm(t(g), conj(input)))
_linear_plain.jvp(input=lambda tangent, weight: mm(tangent, t(weight)),
                  weight=lambda tangent, input: mm(input, t(tangent)))


@composite(function="nn.functional")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``, over the last dimension."""
    try:
        rank, rows = input._data.ndim, weight._data.shape
        bias_shape = None if bias is None else bias._data.shape
    except AttributeError:
        raise _linear_type_error(input, weight, bias) from None
    if len(rows) == 2 and rank:
        if bias is None:
            return _linear_plain(input, weight) if rank == 2 else matmul(input, t(weight))
        if bias_shape == rows[:1]:
            return _linear(bias, input, weight) if rank == 2 else _linear_rows(bias, input, weight)
    return _unusual_linear(input, weight, bias)


def _linear_type_error(*args: Any) -> TypeError:
    names = ("input", "weight", "bias")
    wrong = next(i for i, a in enumerate(args) if not isinstance(a, Tensor))
    return not_a_tensor("linear", names[wrong], wrong + 1, args[wrong])


def _unusual_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A weight that is no matrix, or a bias of another shape than one number per row of it."""
    if not input.ndim or not weight.ndim:
        raise RuntimeError("both arguments to linear need to be at least 1D, but they are "
                           f"{input.ndim}D and {weight.ndim}D")
    if bias is None:
        return matmul(input, t(weight))
    if input.ndim == 2:
        return addmm(bias, input, t(weight))
    return reshape(addmm(bias, flat_rows(input), t(weight)),
                   (*input.shape[:-1], weight.shape[0]))


# ---------------------------------------------------------------- other products


def _expect_vectors(**vectors: Tensor) -> None:
    for name, vector in vectors.items():
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")


@composite(method=True, aliases=("ger",))
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix of all products of two vectors' elements."""
    _expect_vectors(self=input, vec2=vec2)
    column = reshape(input, (-1, 1))
    return mul(column, vec2) if out is None else mul(column, vec2, out=out)


@composite(method=True)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sum of products over the last dimension of both; a scalar multiplies."""
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got "
                           f"shapes {list(input.shape)} and {list(other.shape)}")
    return tensordot(input, other, ([-1], [-1]))


def _contracted_dims(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(-dims, 0)), list(range(dims))
    left, right = dims
    return ([left] if isinstance(left, int) else list(left),
            [right] if isinstance(right, int) else list(right))


@composite()
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """The sum of products over ``dims`` of ``a`` and ``b``."""
    left, right = _contracted_dims(a, b, dims)
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    pairs = []
    for i, j in zip(left, right, strict=True):
        m, n = existing_dim(i, a.ndim), existing_dim(j, b.ndim)
        if a.shape[m] != b.shape[n] and 1 not in (a.shape[m], b.shape[n]):
            raise RuntimeError("contracted dimensions need to match, but first has size "
                               f"{a.shape[m]} in dim {i} and second has size {b.shape[n]} in dim "
                               f"{j}")
        pairs.append((m, n))
    a, b = _with_equal_lengths(a, b, pairs)
    kept_a = [d for d in range(a.ndim) if d not in {m for m, _ in pairs}]
    kept_b = [d for d in range(b.ndim) if d not in {n for _, n in pairs}]
    inner_size = math.prod(a.shape[m] for m, _ in pairs)
    shape = (*(a.shape[d] for d in kept_a), *(b.shape[d] for d in kept_b))
    rows = reshape(_permute(a, (*kept_a, *(m for m, _ in pairs))),
                   (math.prod(a.shape[d] for d in kept_a), inner_size))
    cols = reshape(_permute(b, (*(n for _, n in pairs), *kept_b)),
                   (inner_size, math.prod(b.shape[d] for d in kept_b)))
    result = reshape(mm(rows, cols), shape)
    return result if out is None else out.copy_(result)


def _with_equal_lengths(a: Tensor, b: Tensor, pairs: list[tuple[int, int]]) -> tuple[Any, Any]:
    """Sum a contracted dimension where the other side has length one there."""
    for m, n in pairs:
        if a.shape[m] != b.shape[n]:
            if a.shape[m] == 1:
                b = sum_to_size_of(b, tuple(1 if d == n else s for d, s in enumerate(b.shape)))
            else:
                a = sum_to_size_of(a, tuple(1 if d == m else s for d, s in enumerate(a.shape)))
    return a, b


@composite(method=True)
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every element of ``input`` times the whole of ``other``."""
    rank = max(input.ndim, other.ndim)
    left = (1,) * (rank - input.ndim) + tuple(input.shape)
    right = (1,) * (rank - other.ndim) + tuple(other.shape)
    spread_left = tuple(n for size in left for n in (size, 1))
    spread_right = tuple(n for size in right for n in (1, size))
    product = mul(reshape(input, spread_left), reshape(other, spread_right))
    return _reshape_copy(product, tuple(m * n for m, n in zip(left, right, strict=True)))


def _check_chain(tensors: list[Any]) -> None:
    for i, tensor in enumerate(tensors[1:-1], 1):
        if tensor.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {tensor.ndim}D")
    for i, (a, b) in enumerate(pairwise(tensors)):
        if a.shape[-1] != b.shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} "
                               f"and {list(b.shape)} cannot be multiplied")


def _best_splits(dims: list[int]) -> list[list[int]]:
    """Where to split each chain of matrices for the fewest multiplications."""
    count = len(dims) - 1
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + dims[i] * dims[k + 1] * dims[j + 1], k)
                for k in range(i, j))
    return split


def _multiply_chain(tensors: Any, split: list[list[int]], i: int, j: int) -> Any:
    if i == j:
        return tensors[i]
    k = split[i][j]
    return mm(_multiply_chain(tensors, split, i, k), _multiply_chain(tensors, split, k + 1, j))


@composite(function="linalg")
def multi_dot(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the order that needs the fewest multiplications."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0], tensors[-1]
    for name, tensor in (("first", first), ("last", last)):
        if tensor.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {name} tensor must be 1D or 2D but got "
                               f"{tensor.ndim}D")
    _check_chain(tensors)
    if first.ndim == 1:
        tensors[0] = reshape(first, (1, -1))
    if last.ndim == 1:
        tensors[-1] = reshape(last, (-1, 1))
    dims = [tensors[0].shape[0], *(x.shape[1] for x in tensors)]
    result = _multiply_chain(tensors, _best_splits(dims), 0, len(tensors) - 1)
    result = reshape(result, (*first.shape[:-1], *last.shape[1:]))
    return result if out is None else out.copy_(result)


@composite()
def chain_matmul(*matrices_: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of several matrices; :func:`retrograd.linalg.multi_dot` takes over from it."""
    warn("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
         "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
         "multiple parameters.", once=True)
    if len(matrices_) == 1 and isinstance(matrices_[0], (list, tuple)):
        matrices_ = tuple(matrices_[0])
    for matrix in matrices_:
        if matrix.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.ndim}, expected 2 instead.")
    return matrices_[0] if len(matrices_) == 1 else multi_dot(matrices_, out=out)


# ---------------------------------------------------------------- products of three


@op(method=False, function=None, node="TrilinearBackward0")
def _bilinear(input1: Array, input2: Array, weight: Array) -> Any:
    return matrices.bilinear(input1, input2, weight)


_bilinear.vjp(
    input1=lambda g, input2, weight: _bilinear(conj(input2), g, conj(_permute(weight, (1, 2, 0)))),
    input2=lambda g, input1, weight: _bilinear(g, conj(input1), conj(_permute(weight, (2, 0, 1)))),
    weight=lambda g, input1, input2, like: reshape(mm(t(g), _row_products(
        conj(input1), conj(input2))), like.shape))
_bilinear.jvp(input1=lambda tangent, input2, weight: _bilinear(tangent, input2, weight),
              input2=lambda tangent, input1, weight: _bilinear(input1, tangent, weight),
              weight=lambda tangent, input1, input2: _bilinear(input1, input2, tangent))


def _row_products(left: Any, right: Any) -> Any:
    """For each row, all products of an element on the left and one on the right."""
    rows, m, n = left.shape[0], left.shape[1], right.shape[1]
    return reshape(reshape(left, (rows, m, 1)) * reshape(right, (rows, 1, n)), (rows, m * n))


def _check_bilinear(input1: Tensor, input2: Tensor, weight: Tensor) -> None:
    if input1.ndim != input2.ndim:
        raise RuntimeError("bilinear(): input dimensions do not match: got "
                           f"{input1.ndim} and {input2.ndim}")
    for i, (m, n) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if m != n:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got "
                               f"{m} and {n}")
    for i, tensor in enumerate((input1, input2), 1):
        wanted, given = length_of(weight.shape, i), length_of(tensor.shape, -1)
        if given != wanted:
            raise RuntimeError(f"bilinear(): input{i} size does not match weight size: got "
                               f"{given} but expected {wanted}")


@composite()
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2`` for each k, plus ``bias``, over the last dimensions."""
    _check_bilinear(input1, input2, weight)
    if bias is not None and length_of(bias.shape, 0) != weight.shape[0]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got "
                           f"{bias.shape[0]} but expected {weight.shape[0]}")
    y = _bilinear(reshape(input1, (-1, input1.shape[-1])), reshape(input2, (-1, input2.shape[-1])),
                  weight)
    y = reshape(y, (*input1.shape[:-1], weight.shape[0]))
    return y if bias is None else y + bias
