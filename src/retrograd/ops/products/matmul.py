"""Products of vectors, matrices and batches of matrices."""

from __future__ import annotations

import math
from typing import Any

from ...backend import matrices, xp
from ...backend.interface import kind_of
from ...base.errors import not_a_tensor, refuse_pytorch_operand
from ...base.modes import GRAD, MODE, NO_GRAD
from ...core.op import Array, op, public
from ...core.out_rules import Out
from ...core.tensor import PLAIN, Tensor, method
from ..batching import as_operands
from ..checks.common import unsupported
from ..checks.products import (
    check_batched,
    check_bmm,
    check_dot,
    check_inner_ranks,
    check_mm,
    check_mv,
    mv_mismatch,
)
from ..elementwise.conjugate import conj
from ..shapes.dimensions import t, transpose
from ..shapes.expanding import sum_to_size_of
from ..shapes.reshaping import reshape


def adjoint_of(input: Any) -> Any:
    """The conjugate transpose of the last two dimensions."""
    return conj(transpose(input, -2, -1))


def flat_rows(input: Any) -> Any:
    """All but the last dimension merged: a matrix of rows."""
    shape = input.shape
    return reshape(input, (math.prod(shape[:-1]), shape[-1]))


@op()
def mm(input: Array, mat2: Array) -> Any:
    """The product of two matrices."""
    if input.ndim != 2 or mat2.ndim != 2 or input.dtype is not mat2.dtype \
            or input.shape[1] != mat2.shape[0] or kind_of(input.dtype) == "b":
        check_mm(input, mat2)
    return matrices.dot(input, mat2)


mm.vjp(input=lambda g, mat2: _mm_transposed(g, conj(mat2)),
       mat2=lambda g, input: _transposed_mm(conj(input), g))
mm.jvp(input=lambda tangent, mat2: mm(tangent, mat2),
       mat2=lambda tangent, input: mm(input, tangent))


# Only rules call these two, of matrices that were multiplied before, where NumPy is quiet.


@op(node="MmBackward0", title="mm", steps={"mat2": t}, quiet=True)
def _mm_transposed(input: Array, mat2: Array) -> Any:
    """``input @ mat2.T``, the gradient of a product's first matrix."""
    return matrices.dot(input, mat2.T)


_mm_transposed.vjp(input=lambda g, mat2: mm(g, conj(mat2)),
                   mat2=lambda g, input: _transposed_mm(g, conj(input)))
_mm_transposed.jvp(input=lambda tangent, mat2: _mm_transposed(tangent, mat2),
                   mat2=lambda tangent, input: _mm_transposed(input, tangent))


@op(node="MmBackward0", title="mm", steps={"input": t}, quiet=True)
def _transposed_mm(input: Array, mat2: Array) -> Any:
    """``input.T @ mat2``, the gradient of a product's second matrix."""
    return matrices.dot(input.T, mat2)


_transposed_mm.vjp(input=lambda g, mat2: _mm_transposed(conj(mat2), g),
                   mat2=lambda g, input: mm(conj(input), g))
_transposed_mm.jvp(input=lambda tangent, mat2: _transposed_mm(tangent, mat2),
                   mat2=lambda tangent, input: _transposed_mm(input, tangent))


@op(check=check_mv, out=Out(
    "addmv input tensors must have the same dtype, but got {out}, {result}, and {result}"))
def mv(input: Array, vec: Array) -> Any:
    """The product of a matrix and a vector."""
    return matrices.dot(input, vec)


mv.vjp(input=lambda g, vec: outer_product(g, conj(vec)),
       vec=lambda g, input: mv(conj(t(input)), g))
mv.jvp(input=lambda tangent, vec: mv(tangent, vec),
       vec=lambda tangent, input: mv(input, tangent))


def outer_product(column: Any, row: Any) -> Any:
    return reshape(column, (column.shape[0], 1)) * row


_DOT_OUT = Out("result dtype {out} does not match input dtype {result}")


@op(check=check_dot, out=_DOT_OUT)
def dot(input: Array, tensor: Array) -> Any:
    """The sum of the products of two vectors' elements."""
    return matrices.dot(input, tensor)


dot.vjp(input=lambda g, tensor: g * conj(tensor),
        tensor=lambda g, input: g * conj(input))
dot.jvp(input=lambda tangent, tensor: dot(tangent, tensor),
        tensor=lambda tangent, input: dot(input, tangent))


@op(check=lambda input, other: check_dot(input, other, "vdot"), out=_DOT_OUT)
def vdot(input: Array, other: Array) -> Any:
    """The dot product with the first vector conjugated."""
    return matrices.dot(xp.conj(input), other)


vdot.vjp(input=lambda g, other: conj(g) * other,
         other=lambda g, input: g * input)


@vdot.batch
def _(batch: Any, input: Any, other: Any) -> Any:
    check_inner_ranks(batch, input, other)
    return _product(batch, conj(input), other)


@op(node="SqueezeBackward4")
def _vecmat(input: Array, other: Array) -> Any:
    if input.dtype is not other.dtype or input.shape[0] != other.shape[0]:
        check_mm(input.reshape(1, -1), other)
    unsupported("addmm_impl_cpu_", input.dtype, "b")
    return matrices.dot(input, other)


_vecmat.vjp(input=lambda g, other: mv(conj(other), g),
            other=lambda g, input: outer_product(conj(input), g))
_vecmat.jvp(input=lambda tangent, other: _vecmat(tangent, other),
            other=lambda tangent, input: _vecmat(input, tangent))


@op(check=check_bmm)
def bmm(input: Array, mat2: Array) -> Any:
    """The products of two batches of matrices, pair by pair."""
    return matrices.product(input, mat2)


bmm.vjp(input=lambda g, mat2: bmm(g, adjoint_of(mat2)),
        mat2=lambda g, input: bmm(adjoint_of(input), g))
bmm.jvp(input=lambda tangent, mat2: bmm(tangent, mat2),
        mat2=lambda tangent, input: bmm(input, tangent))


@op(node="UnsafeViewBackward0")
def _rows_times_matrix(input: Array, other: Array) -> Any:
    rows = matrices.fold(input)
    if input.dtype is not other.dtype or rows.shape[1] != other.shape[0]:
        check_mm(rows, other)
    unsupported("addmm_impl_cpu_", input.dtype, "b")
    return matrices.dot(rows, other).reshape(*input.shape[:-1], other.shape[1])


_rows_times_matrix.vjp(
    input=lambda g, other: _rows_times_matrix(g, conj(t(other))),
    other=lambda g, input: _transposed_mm(conj(flat_rows(input)), flat_rows(g)))
_rows_times_matrix.jvp(input=lambda tangent, other: _rows_times_matrix(tangent, other),
                       other=lambda tangent, input: _rows_times_matrix(input, tangent))


@op(node="UnsafeViewBackward0")
def _rows_times_vector(input: Array, other: Array) -> Any:
    rows = matrices.fold(input)
    check_mv(rows, other)
    return matrices.dot(rows, other).reshape(input.shape[:-1])


_rows_times_vector.vjp(
    input=lambda g, other: reshape(g, (*g.shape, 1)) * conj(other),
    other=lambda g, input: mv(conj(t(flat_rows(input))), reshape(g, (-1,))))
_rows_times_vector.jvp(input=lambda tangent, other: _rows_times_vector(tangent, other),
                       other=lambda tangent, input: _rows_times_vector(input, tangent))


@op(node="UnsafeViewBackward0", broadcasts=True, check=check_batched)
def _batched(input: Array, other: Array) -> Any:
    return matrices.product(input, other)


@op(node="CloneBackward0", broadcasts=True, check=check_batched)
def _batched_by_one(input: Array, other: Array) -> Any:
    return matrices.product(input, other)


@op(node="BmmBackward0", broadcasts=True, check=check_batched)
def _batched_pairs(input: Array, other: Array) -> Any:
    """As bmm, with any number of batch dimensions, which need not be merged into one."""
    return matrices.product(input, other)


for _made in (_batched, _batched_by_one, _batched_pairs):
    _made.vjp(input=lambda g, other: _batched(g, adjoint_of(other)),
              other=lambda g, input: _batched(adjoint_of(input), g))
    _made.jvp(input=lambda tangent, other: _batched(tangent, other),
              other=lambda tangent, input: _batched(input, tangent))


@op(node="UnsafeViewBackward0")
def _vector_times_batch(input: Array, other: Array) -> Any:
    if not other.size and input.shape[0] != other.shape[-2]:
        # PyTorch turns an empty batch into a matrix.
        raise mv_mismatch((math.prod(other.shape[:-2]) * other.shape[-1], other.shape[-2]), input)
    check_batched(input.reshape(1, -1), other)
    return matrices.product(input, other)


_vector_times_batch.vjp(
    input=lambda g, other: reshape(sum_to_size_of(
        _batched(conj(other), reshape(g, (*g.shape, 1))), (other.shape[-2], 1)), (-1,)),
    other=lambda g, input: reshape(conj(input), (-1, 1)) * reshape(
        g, (*g.shape[:-1], 1, g.shape[-1])))
_vector_times_batch.jvp(input=lambda tangent, other: _vector_times_batch(tangent, other),
                        other=lambda tangent, input: _vector_times_batch(input, tangent))


@_vecmat.batch
@_rows_times_matrix.batch
@_rows_times_vector.batch
@_batched.batch
@_batched_by_one.batch
@_batched_pairs.batch
@_vector_times_batch.batch
def _product(batch: Any, a: Any, b: Any) -> Any:
    """``matmul`` behind the batch, of the only two arguments."""
    left_batched, right_batched = batch.flags.values()
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
    a, b = as_operands(batch, **dict(zip(batch.flags, (a, b), strict=True)))
    y = a * b if a.shape[-1] == 1 == b.shape[-2] else _batched(a, b)
    if rank_a == 1:
        y = reshape(y, (*y.shape[:-2], *((y.shape[-1],) if rank_b != 1 else ())))
    elif rank_b == 1:
        y = reshape(y, y.shape[:-1])
    return y


@_mm_transposed.batch
def _(batch: Any, input: Any, mat2: Any) -> Any:
    return _product(batch, input, transpose(mat2, -2, -1))


@_transposed_mm.batch
def _(batch: Any, input: Any, mat2: Any) -> Any:
    return _product(batch, transpose(input, -2, -1), mat2)


@public("matmul", method=False, function="linalg")
@public("matmul")
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of vectors, matrices or batches of matrices, by their numbers of dimensions."""
    try:
        left, right = input._data.ndim, other._data.ndim
    except AttributeError:
        wrong = 1 if isinstance(input, Tensor) else 0
        raise not_a_tensor("matmul", ("input", "other")[wrong], wrong + 1,
                           (input, other)[wrong]) from None
    product = mm if left == 2 == right else _product_for(left, right, input)
    return product(input, other) if out is None else product(input, other, out=out)


def _product_for(left: int, right: int, input: Tensor) -> Any:
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


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or refuse_pytorch_operand(value)


@method("__matmul__")
def _matmul_operator(self: Tensor, other: Any) -> Any:
    mode = MODE.get()
    if (mode is GRAD or mode is NO_GRAD) and type(other) in PLAIN \
            and other._data.ndim == 2 == self._data.ndim:
        return mm(self, other)
    return matmul(self, other) if _is_tensor(other) else NotImplemented


@method("__rmatmul__")
def _reflected_matmul_operator(self: Tensor, other: Any) -> Any:
    return matmul(other, self) if _is_tensor(other) else NotImplemented


@mm.batch
@bmm.batch
@mv.batch
@dot.batch
def _(batch: Any, a: Any, b: Any) -> Any:
    check_inner_ranks(batch, a, b)
    return _product(batch, a, b)
