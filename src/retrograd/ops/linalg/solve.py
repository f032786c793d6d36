"""Inverses, solutions of linear systems, determinants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import return_types
from ...backend import systems, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import canonical_dim, no_kernel
from ...base.warning import warn
from ...core.op import Array, Index, composite, op, public
from ...core.out_rules import SAFELY, Out
from ...core.tensor import Tensor
from ..batching import all_batched, run
from ..checks.common import scalar_type
from ..checks.matrices import check_matrices, check_old_triangle, check_sizes
from ..elementwise.arithmetic import is_complex_value
from ..elementwise.conjugate import conj
from ..elementwise.exponentials import log
from ..elementwise.where import where
from ..memory.casts import clone
from ..products.matmul import _batched, adjoint_of
from ..shapes.complex_views import _imag, complex_of
from ..shapes.dimensions import _permute, transpose, transpose as _turned
from ..shapes.expanding import expand, joint_shape, sum_to_size_of
from ..shapes.reshaping import reshape, with_rank
from .common import columns_of, per_matrix, rows_of
from .diagonals import tril, triu


@op(node="LinalgInvExBackward0", batches="matrices", outputs=("inverse", "info"),
    differentiable=(0,), vjp=lambda g, inverse: _inverse_gradient(g[0], inverse))
def _inv(A: Array, name: str, quiet: bool = False) -> Any:
    check_matrices(name, A)
    return systems.inverse(A, name, quiet)


def _inverse_gradient(g: Any, inverse: Any) -> Any:
    turned = adjoint_of(inverse)
    return -_batched(turned, _batched(g, turned))


@public("inverse", out=Out())
@composite(function="linalg", out=Out())
def inv(A: Tensor) -> Tensor:
    """The inverse of square matrices."""
    return _inv(A, "linalg.inv")[0]


@composite(function="linalg", out=Out())
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse, and a number that is positive where a matrix is singular."""
    return return_types.linalg_inv_ex(
        _inv(A, "linalg.inv_ex" if check_errors else "linalg.inv", not check_errors))


@op(batches="matrices")
def _zero_pivots(A: Index) -> Any:
    return systems.first_zero_pivot(A)


@op(node="LinalgSolveExBackward0", outputs=("X", "LU", "pivots", "info"), differentiable=(0,),
    broadcasts=True, batches=lambda batch, A, B, vector, *options:
    run("_solve", *systems_of(batch, A, B, 1 if vector else 2), vector, *options))
def _solve(A: Array, B: Array, vector: bool, name: str = "torch.linalg.solve",
           quiet: bool = False) -> Any:
    return systems.solve(A, B, vector, name, quiet)


_solve.vjp(
    A=lambda g, A, X, LU, pivots, vector, wanted: _times_adjoint(
        -_solve_with(A, g[0], LU, pivots, vector, True, wanted), X, vector),
    B=lambda g, A, LU, pivots, vector: _solve_with(A, g[0], LU, pivots, vector, True, None))


@op(node="LinalgSolveExBackward0", broadcasts=True,
    batches=lambda batch, A, B, LU, pivots, vector, adjoint, asked:
    run("_solve", *systems_of(batch, adjoint_of(A) if adjoint else A, B, 1 if vector else 2),
        vector, "torch.linalg.solve", False)[0])
def _solve_with(A: Array, B: Array, LU: Index, pivots: Index, vector: bool, adjoint: bool,
                asked: Any) -> Any:
    """The solution of ``A @ X = B``, or ``A.mH @ X = B``; the factors of A are known already."""
    return systems.solve_with(A, B, LU, pivots, vector, adjoint, asked)


_solve_with.vjp(
    A=lambda g, A, y, LU, pivots, vector, adjoint: -_product_of_sides(
        _solve_with(A, g, LU, pivots, vector, not adjoint, None), y, vector, adjoint),
    B=lambda g, A, LU, pivots, vector, adjoint: _solve_with(A, g, LU, pivots, vector, not adjoint,
                                                            None))


def _product_of_sides(of_right: Any, y: Any, vector: bool, adjoint: bool) -> Any:
    return _times_adjoint(*((y, of_right) if adjoint else (of_right, y)), vector)


def systems_of(batch: Any, A: Any, B: Any, columns: int, called: str = "A") -> tuple[Any, Any]:
    """Matrices and right-hand sides with the batch in front and leading dims of one rank."""
    A, B = all_batched(batch, **{called: A, "B": B})
    lead = max(A.ndim - 2, B.ndim - columns)
    return with_rank(A, lead - 1 + 2), with_rank(B, lead - 1 + columns)


def _times_adjoint(left: Any, right: Any, vector: bool) -> Any:
    if vector:
        return rows_of(left) * columns_of(conj(right))
    return _batched(left, adjoint_of(right))


def _is_vector(A: Any, B: Any) -> bool:
    """Whether ``B`` holds one vector for each matrix."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape[:-1]))


def _check_system(name: str, A: Any, B: Any, vector: bool, left: bool, kernel: str) -> None:
    if kernel == "triangular_solve_cpu" and kind_of(A.dtype) in "biu":
        raise no_kernel(kernel, dtypes.from_numpy_dtype(A.dtype))
    check_matrices(name, A, kernel=kernel)
    if A.dtype != B.dtype:
        raise RuntimeError(f"{name}: Expected A and B to have the same dtype, but found A of type "
                           f"{scalar_type(A)} and B of type {scalar_type(B)} instead")
    if B.ndim < 2 and not vector:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    rows, cols = (B.shape[-1], 1) if vector else B.shape[-2:]
    if A.shape[-1] != (rows if left else cols):
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {equation} "
                           f"({A.shape[-2]}x{A.shape[-1]} and {rows}x{cols})")


@composite(function="linalg", out=Out())
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution X of ``A @ X = B`` (of ``X @ A = B`` with ``left=False``)."""
    return _solved(A, B, left, "torch.linalg.solve", False)[0]


def _solved(A: Tensor, B: Tensor, left: bool, name: str, quiet: bool) -> tuple[Tensor, Tensor]:
    """The solution, and where a pivot is zero."""
    vector = _is_vector(A, B)
    _check_system("linalg.solve", A._data, B._data, vector, left, "lu_cpu")
    if left:
        found = _solve(A, B, vector, name, quiet)
        return found[0], found[3]
    if vector:
        raise RuntimeError("linalg.solve: Vector broadcasting of the left hand side is not "
                           "supported for left=False. In this case linalg.solve is equivalent to "
                           "B / A.squeeze(-1)")
    found = _solve(transpose(A, -2, -1), transpose(B, -2, -1), False, name, quiet)
    return transpose(found[0], -2, -1), found[3]


@composite(function="linalg", out=Out())
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solution X of ``A @ X = B``, and a number that is positive where A is singular."""
    return return_types.linalg_solve_ex(
        _solved(A, B, left, "torch.linalg.solve_ex", not check_errors))


@op(node="LinalgSolveTriangularBackward0", broadcasts=True,
    batches=lambda batch, A, B, upper, unitriangular, asked:
    run("_solve_triangular", *systems_of(batch, A, B, 2), upper, unitriangular, None))
def _solve_triangular(A: Array, B: Array, upper: bool, unitriangular: bool,
                      asked: Any = None) -> Any:
    return systems.solve_triangular(A, B, upper, unitriangular, asked)


def _in_triangle(matrix: Any, upper: bool, unitriangular: bool) -> Any:
    """The part of a gradient that belongs to the triangle that was read."""
    offset = 1 if unitriangular else 0
    return triu(matrix, offset) if upper else tril(matrix, -offset)


_solve_triangular.vjp(
    A=lambda g, A, y, upper, unitriangular, wanted: _in_triangle(_batched(
        -_solve_triangular(adjoint_of(A), g, not upper, unitriangular, wanted), adjoint_of(y)),
        upper, unitriangular),
    B=lambda g, A, upper, unitriangular: _solve_triangular(
        adjoint_of(A), g, not upper, unitriangular))


@composite(function="linalg", out=Out("expected scalar type {result} but found {out}"))
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True,
                     unitriangular: bool = False) -> Tensor:
    """The solution X of ``A @ X = B`` for triangular ``A``."""
    _check_system("linalg.solve_triangular", A._data, B._data, False, left,
                  "triangular_solve_cpu")
    if left:
        return _solve_triangular(A, B, upper, unitriangular)
    return transpose(_solve_triangular(transpose(A, -2, -1), transpose(B, -2, -1), not upper,
                                       unitriangular), -2, -1)


@composite(method=True, out=Out(SAFELY))
def triangular_solve(b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False,
                     unitriangular: bool = False) -> Any:
    """The solution X of ``A @ X = b`` for triangular ``A``, and a copy of A."""
    warn("torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will "
         "be removed in a future PyTorch release.\ntorch.linalg.solve_triangular has its arguments "
         "reversed and does not return a copy of one of the inputs.\n"
         "X = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
         "X = torch.linalg.solve_triangular(A, B).", once=True)
    check_old_triangle(b._data, A._data)
    lead = joint_shape(tuple(b.shape[:-2]), tuple(A.shape[:-2]))
    matrix = _turned(A, -2, -1) if transpose else A
    found = _solve_triangular(matrix, b, upper is not transpose, unitriangular)
    copy = clone(expand(A, (*lead, *A.shape[-2:])))
    return return_types.triangular_solve((found, copy))


def _check_factor(input: Any, L: Any) -> None:
    for name, matrix in (("b", input), ("u", L)):
        if matrix.ndim < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {matrix.ndim} "
                               "dimensions instead")
    check_sizes("cholesky_solve", L, input)
    joint_shape(input.shape[:-2], L.shape[:-2])
    check_matrices("cholesky_solve", L, kernel="cholesky_solve_cpu", numbers="kernel")


@op(node="CholeskySolveBackward0", broadcasts=True, batches=lambda batch, B, L, upper, asked:
    run("_cholesky_solve", *reversed(systems_of(batch, L, B, 2, "L")), upper, None))
def _cholesky_solve(B: Array, L: Array, upper: bool, asked: Any = None) -> Any:
    return systems.cholesky_solve(B, L, upper, asked)


def _of_factor(middle: Any, L: Any, upper: bool) -> Any:
    """The gradient of the factor of A, from the half of that of the inverse of A that A met."""
    both = middle + adjoint_of(middle)
    return -triu(_batched(L, both)) if upper else -tril(_batched(both, L))


def _of_factor_by_sides(inverse: Any, y: Any, L: Any, upper: bool) -> Any:
    """:func:`_of_factor` of the product of both sides, which is not made where they are narrow."""
    if 2 * y.shape[-1] > y.shape[-2]:
        return _of_factor(_batched(inverse, adjoint_of(y)), L, upper)
    if upper:
        return -triu(_batched(_batched(L, inverse), adjoint_of(y))
                     + _batched(_batched(L, y), adjoint_of(inverse)))
    return -tril(_batched(inverse, _batched(adjoint_of(y), L))
                 + _batched(y, _batched(adjoint_of(inverse), L)))


_cholesky_solve.vjp(
    B=lambda g, L, upper, wanted: _cholesky_solve(g, L, upper, wanted),
    L=lambda g, L, y, upper: _of_factor_by_sides(_cholesky_solve(g, L, upper), y, L, upper))


@composite(method=True, out=Out(SAFELY))
def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution X of ``A @ X = input``, from the Cholesky factor ``L`` of A."""
    _check_factor(input._data, L._data)
    return _cholesky_solve(input, L, upper)


@op(batches="leading", out=Out(SAFELY), vjp=lambda g, L, y, upper: _of_factor(
    _batched(_batched(y, g), y), L, upper))
def cholesky_inverse(L: Array, upper: bool = False) -> Any:
    """The inverse of a matrix from its Cholesky factor ``L``."""
    check_matrices("cholesky_inverse", L, kernel="cholesky_inverse_out_cpu", numbers="kernel")
    systems.check_diagonal("cholesky_inverse", L)
    return systems.cholesky_solve(xp.eye(*L.shape[-2:], dtype=L.dtype), L, upper)


# ---------------------------------------------------------------- tensors seen as matrices


@composite(function="linalg", out=Out(SAFELY, copies=True, function="tensorinv"))
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of a tensor seen as a matrix whose rows are its first ``ind`` dimensions."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    if ind > A.ndim:
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {A.ndim}")
    front, back = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if math.prod(front) != math.prod(back):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                           f"prod(self.shape[:ind]), but got {math.prod(back)} != "
                           f"{math.prod(front)}")
    size = math.prod(front)
    return reshape(_inv(reshape(A, (size, size)), "inv")[0], (*back, *front))


@composite(function="linalg", out=Out(SAFELY, copies=True, function="tensorsolve"))
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """The X of ``tensordot(A, X, X.ndim) = B``."""
    if dims is not None:
        moved = [canonical_dim(d, A.ndim) for d in dims]
        A = _permute(A, (*(d for d in range(A.ndim) if d not in moved), *moved))
    shape = tuple(A.shape[B.ndim:])
    size = math.prod(shape)
    if size != math.prod(B.shape):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:])"
                           f" == prod(self.shape[:other.ndim]), but got {size} != "
                           f"{math.prod(B.shape)}")
    return reshape(solve(reshape(A, (size, size)), reshape(B, (size,))), shape)


# ---------------------------------------------------------------- determinants


@op(node="LinalgDetBackward0", outputs=("det", "LU", "pivots"), differentiable=(0,),
    batches="matrices",
    vjp=lambda g, A, LU, pivots: per_matrix(g[0]) * conj(_cofactors(A, LU, pivots)))
def _det(A: Array) -> Any:
    check_matrices("linalg.det", A, kernel="lu_cpu")
    return systems.determinant(A)


@op(batches=lambda batch, A, LU, pivots:
    run("_cofactors", *all_batched(batch, A=A, LU=LU, pivots=pivots)),
    vjp=lambda g, A: _cofactor_gradient(g, A))
def _cofactors(A: Array, LU: Index, pivots: Index) -> Any:
    """The determinants of all minors, with their signs; singular matrices have them too."""
    return systems.cofactors(A, LU, pivots)


def _cofactor_gradient(g: Any, A: Any) -> Any:
    inverse = adjoint_of(_inv(A, "linalg.det")[0])
    along = _sum_matrix(g * inverse)
    turned = transpose(g, -2, -1)
    return per_matrix(conj(_det(A)[0])) * (
        per_matrix(along) * inverse - _batched(inverse, _batched(turned, inverse)))


def _sum_matrix(input: Any) -> Any:
    """The sum of each matrix's elements."""
    lead = input.shape[:-2]
    return reshape(sum_to_size_of(input, (*lead, 1, 1)), lead)


@public("det", out=Out())
@composite(function="linalg", out=Out())
def det(A: Tensor) -> Tensor:
    """The determinant of square matrices."""
    return _det(A)[0]


@op(node="LinalgSlogdetBackward0", outputs=("sign", "logabsdet", "LU", "pivots"),
    differentiable=(0, 1), batches="matrices",
    vjp=lambda g, A, sign, LU, pivots: _slogdet_gradient(g, A, sign, LU, pivots))
def _slogdet(A: Array, name: str) -> Any:
    check_matrices(name, A)
    return systems.sign_and_logarithm(A)


@op(node="LinalgInvExBackward0", batches=lambda batch, A, LU, pivots:
    run("_inverse_with", *all_batched(batch, A=A, LU=LU, pivots=pivots)),
    vjp=lambda g, y: _inverse_gradient(g, y))
def _inverse_with(A: Array, LU: Index, pivots: Index) -> Any:
    """The inverse, or infinities; the factors of A are known already."""
    return systems.inverse_with(A, LU, pivots)


def _slogdet_gradient(g: Any, A: Any, sign: Any, LU: Any, pivots: Any) -> Any:
    size = g[1]
    if is_complex_value(sign) and g[0] is not None:
        turn = complex_of(_imag(as_array_or_tensor(g[0] * conj(sign)))) * 1j
        size = turn if size is None else turn + size
    if size is None:
        size = as_array_or_tensor(g[0]) * 0
    return per_matrix(size) * adjoint_of(_inverse_with(A, LU, pivots))


def as_array_or_tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else xp.as_array(value)


@composite(function="linalg", out=Out())
def slogdet(A: Tensor) -> Any:
    """The sign of the determinant and the logarithm of its absolute value."""
    return return_types.linalg_slogdet(_slogdet(A, "linalg.slogdet")[:2])


@public("slogdet", out=Out())
def torch_slogdet(input: Tensor) -> Any:
    """The sign of the determinant and the logarithm of its absolute value."""
    return return_types.slogdet(_slogdet(input, "linalg.slogdet")[:2])


@composite(method=True)
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; nan where that is negative."""
    check_matrices("logdet", input._data)
    sign, size = _slogdet(input, "logdet")[:2]
    if is_complex_value(input):
        return size + log(sign)
    return where(sign == -1, size.new_full((), math.nan), size)
