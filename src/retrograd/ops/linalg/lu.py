"""LU and LDL factors, and the systems they solve."""

from __future__ import annotations

from typing import Any

from ... import return_types
from ...backend import systems, xp
from ...base.warning import warn
from ...core.op import Array, Index, composite, linear, op, public
from ...core.out_argument import run_into
from ...core.out_rules import SAFELY, Out
from ...core.tensor import Tensor
from ..batching import all_batched, repeated, run
from ..checks import matrices as checks
from ..checks.common import no_derivative
from ..products.matmul import _batched, adjoint_of
from ..shapes.expanding import expand, joint_shape
from ..shapes.joining import cat
from ..shapes.slicing import _slice, slice_backward
from .common import _identity
from .diagonals import tril, triu
from .solve import _solve_triangular

# ---------------------------------------------------------------- factors


@op(node="LinalgLuFactorExBackward0", outputs=("LU", "pivots", "info"), differentiable=(0,),
    batches="leading", vjp=lambda g, LU, pivots: _permuted(_lu_gradient(g[0], LU), pivots, True))
def _lu_factor(A: Array, name: str) -> Any:
    """``name`` is the function that refuses singular matrices, if one does."""
    found = systems.lu_factor(A)
    if name and (pivot := systems.first_failure(found[2])):
        raise RuntimeError(
            f"torch.linalg.{name}: {pivot[0]}U[{pivot[1]},{pivot[1]}] is zero and using it on "
            "lu_solve would result in a division by zero. If you still want to perform the "
            "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")
    return found


@linear(batches=lambda batch, input, pivots, back:
        run("_permuted", *all_batched(batch, input=input, pivots=pivots), back),
        vjp=lambda g, pivots, back: _permuted(g, pivots, not back))
def _permuted(input: Array, pivots: Index, back: bool) -> Any:
    """The rows in the order that pivoting brought them to, or from there ``back``."""
    return systems.permuted_rows(input, pivots, back)


def _part(input: Any, axis: int, start: int, end: int) -> Any:
    """Positions along an axis that is counted from the right."""
    if not start and end == input.shape[axis]:
        return input
    return _slice(input, input.ndim + axis, start, end)


def _unit_lower(square: Any) -> Any:
    return tril(square, -1) + _identity(square)


def _lu_gradient(g: Any, packed: Any) -> Any:
    """The gradient of ``L @ U`` from that of its factors, both packed into one matrix."""
    rows, columns = packed.shape[-2:]
    size = min(rows, columns)
    square, of_square = (_part(_part(m, -2, 0, size), -1, 0, size) for m in (packed, g))
    below = _batched(adjoint_of(_unit_lower(square)), of_square)
    above = _batched(of_square, adjoint_of(triu(square)))
    if columns > size:
        right, of_right = (_part(m, -1, size, columns) for m in (packed, g))
        below = below - _batched(of_right, adjoint_of(right))
    if rows > size:
        bottom, of_bottom = (_part(m, -2, size, rows) for m in (packed, g))
        above = above - _batched(adjoint_of(bottom), of_bottom)
    found = _over_upper(_under_lower(square, tril(below, -1) + triu(above)), square)
    if columns > size:
        return cat([found, _under_lower(square, of_right)], -1)
    return found if rows == size else cat([found, _over_upper(of_bottom, square)], -2)


# Each reads its own triangle of a matrix that may have another one.


def _under_lower(packed: Any, g: Any) -> Any:
    return _solve_triangular(adjoint_of(packed), g, True, True)


def _over_upper(g: Any, packed: Any) -> Any:
    return adjoint_of(_solve_triangular(packed, adjoint_of(g), True, False))


def _factored(name: str, A: Tensor, pivot: bool, refusing: str = "") -> Any:
    checks.check_factorable(name, A._data)
    checks.check_pivoted(pivot)
    return _lu_factor(A, refusing)


@composite(function="linalg", out=Out())
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """The factors L and U in one matrix, and the row that each step of pivoting swapped."""
    found = _factored("torch.lu_factor", A, pivot, "lu_factor")
    return return_types.linalg_lu_factor(found[:2])


@composite(function="linalg", out=Out())
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """The factors L and U in one matrix, pivots, and where the first zero on U's diagonal is."""
    found = _factored("torch.lu_factor", A, pivot, "lu_factor_ex" if check_errors else "")
    return return_types.linalg_lu_factor_ex(found)


@composite(method=True)
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """The factors L and U in one matrix, pivots, and with ``get_infos`` where a zero is met."""
    warn("torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex "
         "and will be removed in a future PyTorch release.\nLU, pivots = torch.lu(A, "
         "compute_pivots)\nshould be replaced with\nLU, pivots = torch.linalg.lu_factor(A, "
         "compute_pivots)\nand\nLU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\n"
         "should be replaced with\nLU, pivots, info = torch.linalg.lu_factor_ex(A, "
         "compute_pivots)", once=True)
    found = run_into(out, "lu", Out(), lambda: _factored("torch.lu_factor", A, pivot)[
        :3 if get_infos else 2])
    return return_types._lu_with_info(found) if get_infos else tuple(found)


# ---------------------------------------------------------------- their parts


def _lower_and_upper(LU: Any) -> tuple[Any, Any]:
    size = min(LU.shape[-2:])
    return (systems.unit_lower(LU[..., :size]),
            xp.in_rows(systems.triangle(LU[..., :size, :], 0, upper=True)))


def _unpack_batch(batch: Any, LU: Any, pivots: Any, data: bool, order: bool) -> Any:
    LU, pivots = all_batched(batch, LU=LU, pivots=pivots)
    found = run(batch.name, LU, pivots, data, order)
    return tuple([part if wanted else repeated(batch.size, part)
                  for part, wanted in zip(found, (order, data, data), strict=True)])


@op(outputs=("P", "L", "U"), differentiable=(1, 2), batches=_unpack_batch,
    vjp=lambda g, like: _packed_again(g[1], g[2], like.shape))
def _lu_unpack(LU: Array, pivots: Index, data: bool, order: bool) -> Any:
    none = xp.empty((0,), LU.dtype)
    P = systems.permutation_matrix(pivots, LU.shape[-2], LU.dtype) if order else none
    return (P, *_lower_and_upper(LU)) if data else (P, none, none.copy())


def _packed_again(of_l: Any, of_u: Any, shape: Any) -> Any:
    rows, columns = shape[-2:]
    size, axis = min(rows, columns), len(shape) - 1
    above = None if of_u is None else slice_backward(triu(of_u), shape, axis - 1, 0, size, 1)
    if of_l is None:
        return above
    below = slice_backward(tril(of_l, -1), shape, axis, 0, size, 1)
    return below if above is None else below + above


@op(outputs=("P", "L", "U", "pivots"), differentiable=(1, 2), batches="leading",
    vjp=lambda g, L, U, pivots: _permuted(_gradient_of_parts(g[1], g[2], L, U), pivots, True))
def _linalg_lu(A: Array) -> Any:
    LU, pivots, _ = systems.lu_factor(A)
    return (systems.permutation_matrix(pivots, A.shape[-2], A.dtype), *_lower_and_upper(LU),
            pivots)


def _gradient_of_parts(of_l: Any, of_u: Any, L: Any, U: Any) -> Any:
    """The gradient of ``L @ U`` from those of its factors, of which one may be None."""
    if L.shape[-2] != U.shape[-1]:
        shape = (*L.shape[:-1], U.shape[-1])
        return _lu_gradient(_packed_again(of_l, of_u, shape), _packed_again(L, U, shape))
    below = None if of_l is None else tril(_batched(adjoint_of(L), of_l), -1)
    above = None if of_u is None else triu(_batched(of_u, adjoint_of(U)))
    both = above if below is None else below if above is None else below + above
    return _over_upper(_under_lower(L, both), U)


@public("lu", method=False, function="linalg", out=Out())
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A permutation P, a lower triangular L and an upper triangular U with ``A = P @ L @ U``."""
    checks.check_factorable("linalg.lu", A._data)
    checks.check_pivoted(pivot)
    return return_types.linalg_lu(_linalg_lu(A)[:3])


@composite(function="torch", out=Out())
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True,
              unpack_pivots: bool = True) -> Any:
    """The matrices P, L and U of packed LU factors; those that are not wanted are empty."""
    checks.check_packed(LU_data._data, LU_pivots._data, unpack_pivots)
    return return_types.lu_unpack(_lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots))


# ---------------------------------------------------------------- systems


@op(node="LinalgLuSolveBackward0", batches=lambda batch, LU, pivots, B, adjoint, asked:
    run("_lu_solve", *all_batched(batch, LU=LU, pivots=pivots, B=B), adjoint, None))
def _lu_solve(LU: Array, pivots: Index, B: Array, adjoint: bool, asked: Any = None) -> Any:
    checks.check_swaps(pivots, LU.shape[-2])
    return systems.lu_solve(LU, pivots, B, adjoint, asked)


_lu_solve.vjp(
    LU=lambda g, LU, pivots, y, adjoint, wanted: _packed_gradient(
        LU, pivots, _lu_solve(LU, pivots, g, not adjoint, wanted), y, adjoint),
    B=lambda g, LU, pivots, adjoint: _lu_solve(LU, pivots, g, not adjoint))


def _packed_gradient(LU: Any, pivots: Any, of_b: Any, y: Any, adjoint: bool) -> Any:
    """The gradient of packed factors by way of that of the product that was solved with."""
    left, right = (y, of_b) if adjoint else (of_b, y)
    of_product = -_permuted(_batched(left, adjoint_of(right)), pivots, False)
    return (tril(_batched(of_product, adjoint_of(triu(LU))), -1)
            + triu(_batched(adjoint_of(_unit_lower(LU)), of_product)))


def _lu_solved(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Tensor:
    checks.check_lu_system(LU._data, pivots._data, B._data, left)
    if not left:
        return adjoint_of(_lu_solved(LU, pivots, adjoint_of(B), True, not adjoint))
    ours, theirs = LU._data.shape[:-2], B._data.shape[:-2]
    if ours != theirs:
        lead = joint_shape(ours, theirs)
        LU, pivots, B = (t if tuple(t.shape[:-own]) == lead else expand(t, (*lead, *t.shape[-own:]))
                         for t, own in ((LU, 2), (pivots, 1), (B, 2)))
    return _lu_solve(LU, pivots, B, adjoint)


@public("lu_solve", method=False, function="linalg", out=Out())
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True,
                    adjoint: bool = False) -> Tensor:
    """The solution X of ``A @ X = B`` from the LU factors of A."""
    return _lu_solved(LU, pivots, B, left, adjoint)


@composite(method=True, out=Out(SAFELY))
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solution X of ``A @ X = input`` from the LU factors of A."""
    warn("torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a "
         "future PyTorch release.\nNote that torch.linalg.lu_solve has its arguments reversed.\n"
         "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\n"
         "X = torch.linalg.lu_solve(LU, pivots, B)", once=True)
    return _lu_solved(LU_data, LU_pivots, input, True, False)


# ---------------------------------------------------------------- symmetric indefinite matrices


@op(node="NotImplemented", outputs=("LD", "pivots", "info"), differentiable=(0,),
    batches="leading", vjp=lambda g: no_derivative("aten::linalg_ldl_factor_ex"))
def _ldl_factor(A: Array, hermitian: bool, name: str) -> Any:
    checks.check_symmetric(A)
    found = systems.ldl_factor(A, hermitian)
    if name and (row := systems.first_failure(found[2])):
        raise RuntimeError(f"torch.linalg.{name}: {row[0]}D[{row[1]},{row[1]}] is zero and using "
                           "it on ldl_solve would result in a division by zero.")
    return found


@composite(function="linalg", out=Out())
def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """L and D of a symmetric ``A = L @ D @ L.mT`` in one matrix, and pivots."""
    found = _ldl_factor(A, hermitian, "ldl_factor")
    return return_types.linalg_ldl_factor(found[:2])


@composite(function="linalg", out=Out())
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """L and D of a symmetric matrix, pivots, and where the first singular block of D is."""
    found = _ldl_factor(A, hermitian, "ldl_factor_ex" if check_errors else "")
    return return_types.linalg_ldl_factor_ex(found)


@op(node="NotImplemented", batches=lambda batch, LD, pivots, B, hermitian:
    run("_ldl_solve", *all_batched(batch, LD=LD, pivots=pivots, B=B), hermitian),
    vjp=lambda g: no_derivative("aten::linalg_ldl_solve"))
def _ldl_solve(LD: Array, pivots: Index, B: Array, hermitian: bool) -> Any:
    checks.check_block_swaps(pivots, LD.shape[-2])
    return systems.ldl_solve(LD, pivots, B, hermitian)


@composite(function="linalg", out=Out())
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solution X of ``A @ X = B`` from the LDL factors of A."""
    checks.check_ldl_system(LD._data, pivots._data, B._data)
    return _ldl_solve(LD, pivots, B, hermitian)
