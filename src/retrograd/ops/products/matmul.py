"""Products of vectors, matrices and batches of matrices."""

from __future__ import annotations

import math
from typing import Any

from ...backend import linalg as matrices
from ...backend import xp
from ...base import dtypes
from ...base.errors import no_dims, not_a_tensor, size_mismatch
from ...core.op import Array, op, publish
from ...core.tensor import Tensor, attach
from ..elementwise.conjugate import conj
from ..shapes.dimensions import t, transpose
from ..shapes.expanding import _check_expand, sum_to_size_of
from ..shapes.reshaping import reshape

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


attach(__matmul__=_matmul_operator)
attach(__rmatmul__=_reflected_matmul_operator)
