"""Linear systems of NumPy arrays: LAPACK's and BLAS's own routines, if SciPy is there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, systems as plain
from . import in_rows, quiet, together
from .matrices import (  # type: ignore[attr-defined]  # noqa: F401 - some in the plain bodies
    eigh,
    eigvalsh,
    has_reflections,
    reflected_identity,
    reflections,
    triangle,
)
from .native import in_order, kernels, native
from .routines import (
    are_few,
    in_columns,
    indices,
    keep,
    repeated,
    routine,
    routine_for,
    routines_for,
    work_size,
)

_SMALL = 16
"""Batches of matrices up to this size are solved by one call of NumPy's, which is quicker."""


def _each(function: Any, a: Any, b: Any, *options: Any) -> Any:
    """``function`` of every matrix of ``a`` and its right-hand sides in ``b``."""
    if a.ndim == 2 and b.ndim == 2:
        return function(a, b, *options)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    found = np.empty((*lead, *b.shape[-2:]), b.dtype)
    matrices = repeated(a, (*lead, *a.shape[-2:]))
    sides = repeated(b, found.shape)
    for index in indices(lead):
        found[index] = function(matrices[index], sides[index], *options)
    return found


_FEW = 128
"""Triangles of single matrices up to this size are solved by one call of a kernel."""


def is_few(a: Any, b: Any) -> bool:
    """Whether kernels solve these triangles: small ones, or for one right-hand side each."""
    return a.dtype.char in "fd" and a.dtype is b.dtype \
        and (a.shape[-1] <= _FEW or b.shape[-1] == 1) \
        and a.flags.aligned and b.flags.aligned and b.size > 0


def sides(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Matrices and right-hand sides of one batch, and memory for the solutions."""
    if a.shape[:-2] != b.shape[:-2]:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (repeated(m, (*lead, *m.shape[-2:])) for m in (a, b))
    return a, b, np.empty(b.shape, b.dtype)


@together.once(1, 1)
@native("triangular_solution(*sides(a, b), upper, unit)", is_few, sides, when="is_few(a, b)")
def solve_triangular(a: Any, b: Any, upper: bool, unit: bool, asked: Any = None) -> Any:
    size = a.shape[-1]
    if not b.size or not a.size or a.dtype != b.dtype or (a.ndim > 2 and size <= _SMALL) or (
            routine("trsm", a.dtype) is None):
        return plain.solve_triangular(a, b, upper, unit)
    with routines_for(size):
        return _each(_one_triangle, a, b, upper, unit)


def _one_triangle(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    # These routines read columns, so that the rows of ``a`` are those of its transpose.
    turned = a.flags.c_contiguous
    columns = a.T if turned else np.asfortranarray(a)
    lower = upper if turned else not upper
    if b.shape[1] == 1:
        x, info = routine("trtrs", a.dtype)(columns, b, lower=lower, trans=turned, unitdiag=unit)
        if not info:
            return x
    x = np.array(b, b.dtype.newbyteorder("="), order="C")  # as the routine writes it
    _substitute(a if a.flags.aligned else a.copy(), x, upper, unit)
    return x


_BLOCK = _FEW // 2 if "triangular_solution" in kernels else 24
"""Rows of a triangle that are solved at once; what they leave to the others is a product."""


def _substitute(a: Any, x: Any, upper: bool, unit: bool) -> None:
    """Put the solution of ``a @ x = b`` in the place of the right-hand sides, which x holds."""
    size = a.shape[0]
    if size > 2 * _BLOCK:
        half = size // 2
        first, last = slice(0, half), slice(half, size)
        known, others = (last, first) if upper else (first, last)
        _substitute(a[known, known], x[known], upper, unit)
        x[others] -= a[others, known] @ x[known]
        _substitute(a[others, others], x[others], upper, unit)
        return
    _BY_KERNEL.get(a.dtype.char, _substitute_block)(a, x, upper, unit)


def _substitute_block(a: Any, x: Any, upper: bool, unit: bool) -> None:
    turned = a.flags.c_contiguous
    columns = a.T if turned else np.asfortranarray(a)
    target = x.T
    keep(target, routine("trsm", a.dtype)(
        1.0, columns, target, side=1, lower=upper if turned else not upper, trans_a=not turned,
        diag=unit, overwrite_b=1))


_BY_KERNEL = {} if "triangular_solution" not in kernels else dict.fromkeys(
    "fd", lambda a, x, *options: kernels["triangular_solution"](a, x, x, *options))


def cholesky(a: Any, upper: bool, name: str, quiet: bool = False) -> tuple[Any, Any]:
    if not a.size or routine("potrf", a.dtype) is None:
        return plain.cholesky(a, upper, name, quiet)
    found, info = _cholesky_factors(a, upper)
    return plain.cholesky(a, upper, name, quiet) if info.any() else (found, info)


@native("cholesky_factors(a, empty(a.shape, a.dtype), empty(a.shape[:-2], 'i'), upper)",
        are_few, when="are_few(a, 100)")
def _cholesky_factors(a: Any, upper: bool) -> tuple[Any, Any]:
    """The factors, and a number that is positive where there is none."""
    factor = routine("potrf", a.dtype)
    found, info = np.empty(a.shape, a.dtype), np.empty(a.shape[:-2], np.int32)
    with routines_for(a.shape[-1]):
        for index in indices(a.shape[:-2]):
            # The transpose, whose columns are these rows, has the transposed factor on the other
            # side.
            turned, bad = factor(a[index].T, lower=upper)
            info[index] = bad != 0 or not np.isfinite(turned.diagonal()).all()
            found[index] = np.nan if info[index] else turned.T
    return found, info


def is_factored(a: Any) -> bool:
    # All of a batch by one call of a kernel, where there is one.
    return (_LU_BY_KERNEL and a.ndim > 2 and are_few(a, _FEW)) or (
        plain.is_factored(a) and routine("getrf", a.dtype) is not None)


_LU_BY_KERNEL = "lu_solution" in kernels


@native("lu_factors(a, empty(a.shape, a.dtype), empty((*a.shape[:-2], min(a.shape[-2:])), 'i'), "
        "empty(a.shape[:-2], 'i'))", when="a.size and a.dtype.char in 'fd' and a.flags.aligned")
def lu_factor(a: Any) -> tuple[Any, Any, Any]:
    factor = routine("getrf", a.dtype) if a.size else None
    if factor is None:
        return plain.lu_factor(a)
    packed, lead, steps = in_columns(a), a.shape[:-2], min(a.shape[-2:])
    pivots, info = np.empty((*lead, steps), np.int32), np.empty(lead, np.int32)
    with routines_for(steps):
        for index in indices(lead):
            target = packed[index]
            found, pivots[index], info[index] = factor(target, overwrite_a=1)
            keep(target, found)
    pivots += 1
    return packed, pivots, info


def are_rows(packed: Any, pivots: Any) -> bool:
    """Whether kernels read these LU factors of square matrices."""
    return packed.dtype.char in "fd" and pivots.dtype.char == "i" and in_order(packed, pivots)


def are_inverted(packed: Any, pivots: Any) -> bool:
    """Whether a kernel inverts matrices with these LU factors: small ones, smaller if many."""
    return 0 < packed.shape[-1] <= (_SMALL if packed.ndim == 2 else _SMALL // 2) \
        and are_rows(packed, pivots)


def permuted_rows(array: Any, pivots: Any, back: bool) -> Any:
    if array.ndim > 2 or pivots.ndim > 1:
        return plain.permuted_rows(array, pivots, back)
    order = row_order(pivots, array.shape[0])
    if not back:
        return array[order]
    found = np.empty(array.shape, array.dtype)
    found[order] = array
    return found


def permutation_matrix(pivots: Any, rows: int, dtype: Any) -> Any:
    order = row_order(pivots, rows)
    found = np.zeros((*order.shape, rows), dtype)
    places = order * rows + np.arange(rows)  # in each matrix, and then in all of them
    if order.ndim > 1:
        first = np.arange(math.prod(order.shape[:-1])) * rows * rows
        places += first.reshape(*order.shape[:-1], 1)
    found.reshape(-1)[places] = 1
    return found


def unit_lower(packed: Any) -> Any:
    found = in_rows(triangle(packed, -1, upper=False))
    if found.size:
        rows, columns = packed.shape[-2:]
        found.reshape(-1, rows * columns)[:, :columns * columns:columns + 1] = 1
    return found


@native("row_order(pivots, empty((*pivots.shape[:-1], rows), INT64))",
        when="pivots.dtype.char == 'i' and in_order(pivots)")
def row_order(pivots: Any, rows: int) -> Any:
    # Swaps of numbers in a list; of many matrices, all at once.
    if pivots.size > pivots.shape[-1] * _SMALL:
        return plain.row_order(pivots, rows)
    orders = []
    count = math.prod(pivots.shape[:-1])
    for swaps in pivots.reshape(count, pivots.shape[-1]).tolist():
        order = list(range(rows))
        for k, other in enumerate(swaps):
            order[k], order[other - 1] = order[other - 1], order[k]
        orders.append(order)
    return np.array(orders, np.int64).reshape(*pivots.shape[:-1], rows)


def ordered(packed: Any, pivots: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    """Factors, the order of their rows, and right-hand sides of one batch, and memory for the
    solutions."""
    factors, b, x = sides(packed, b)
    order = row_order(pivots, packed.shape[-1])
    if factors is not packed:
        order = np.ascontiguousarray(repeated(order, factors.shape[:-1]))
    return factors, order, b, x


def is_reflected(vectors: Any, tau: Any, c: Any) -> bool:
    """Whether a kernel reflects these columns."""
    return c.size > 0 and are_few(vectors, 32) and vectors.dtype is tau.dtype is c.dtype \
        and c.flags.aligned and c.shape[-1] <= 64


def reflecting(vectors: Any, tau: Any, c: Any) -> tuple[Any, Any, Any, Any]:
    """The same for each matrix of one batch, and memory for the result."""
    lead = np.broadcast_shapes(vectors.shape[:-2], c.shape[:-2])
    factors = repeated(tau, (*lead, tau.shape[-1]))
    shape = (*lead, *c.shape[-2:])
    return (repeated(vectors, (*lead, *vectors.shape[-2:])),
            factors if in_order(factors) else factors.copy(), repeated(c, shape),
            np.empty(shape, c.dtype))


@native("reflected_columns(*reflecting(vectors, tau, c), adjoint)", is_reflected, reflecting,
        when="is_reflected(vectors, tau, c)")
def reflected(vectors: Any, tau: Any, c: Any, adjoint: bool) -> Any:
    name = "ormqr" if c.dtype.kind == "f" else "unmqr"
    apply = routine_for(name, vectors) if c.size and tau.size else None
    if apply is None:
        return plain.reflected(vectors, tau, c, adjoint)
    lead = np.broadcast_shapes(vectors.shape[:-2], c.shape[:-2])
    columns = vectors if vectors.swapaxes(-1, -2).flags.c_contiguous else in_columns(vectors)
    columns = repeated(columns, (*lead, *vectors.shape[-2:]))
    factors = repeated(tau, (*lead, tau.shape[-1]))
    found = in_columns(repeated(c, (*lead, *c.shape[-2:])))
    way = "N" if not adjoint else "T" if c.dtype.kind == "f" else "C"
    with routines_for(vectors.shape[-1]):
        for index in indices(lead):
            target = found[index]
            keep(target, apply("L", way, columns[index], factors[index], target,
                               64 * c.shape[-1], overwrite_c=1)[0])
    return found


def packed_qr(a: Any) -> tuple[Any, Any]:
    return reflections(a) if has_reflections(a) else plain.packed_qr(a)


def least_squares(a: Any, b: Any, rcond: float | None) -> tuple[Any, Any]:
    if not a.size or not b.size or routine("gelsy", a.dtype) is None:
        return plain.least_squares(a, b, rcond)
    rcond = _least_share(a) if rcond is None else rcond
    return _of_full_rank(a, b, rcond) or _of_any_rank(a, b, rcond)


def _inverse_by_columns(body: Any) -> Any:
    """``body``, which asks for singular values, unless all rows or columns are independent."""

    def inverse_of_least_squares(a: Any, rcond: float | None, asked: Any = None) -> Any:
        rows, columns = a.shape[-2:]
        if a.size and min(rows, columns) > _FEW:
            high = a if rows >= columns else a.conj().swapaxes(-1, -2)
            one = np.eye(high.shape[-2], dtype=a.dtype)
            one = repeated(one, (*a.shape[:-2], *one.shape))
            found = _of_full_rank(high, one, _least_share(a) if rcond is None else rcond)
            if found is not None:
                return found[0] if high is a else found[0].conj().swapaxes(-1, -2)
        return body(a, rcond, asked)

    return inverse_of_least_squares


def _least_share(a: Any) -> float:
    """The share of the largest singular value below which others count as zero."""
    return float(max(a.shape[-2:]) * np.finfo(a.dtype).eps)


def _of_full_rank(a: Any, b: Any, rcond: float) -> tuple[Any, Any] | None:
    """The solution where all columns of all matrices are surely independent; else None."""
    rows, columns = a.shape[-2:]
    if rows < columns or a.shape[:-2] != b.shape[:-2] or not has_reflections(a) or (
            columns <= _FEW and not (a.ndim > 2 and columns <= _SMALL)):
        return None  # where the general routine takes no longer
    packed, tau = reflections(a)
    r = packed[..., :columns, :]
    if not _are_well_conditioned(r, rcond):
        return None
    turned = reflected(packed, tau, b, True) if routine_for("ormqr", packed) else \
        reflected_identity(packed, tau, columns).conj().swapaxes(-1, -2) @ b
    found = solve_triangular(r, turned[..., :columns, :], True, False)
    return found, np.full(a.shape[:-2], columns, np.int64)


def _are_well_conditioned(r: Any, rcond: float) -> bool:
    """Whether the smallest singular values of triangles are well above what counts as zero.

    Products with the triangle and its transpose in turns make a vector longer by the square of the
    largest one each time, and divisions by the square of the smallest one's inverse.
    """
    upper = triangle(r, 0, True)
    turned = upper.conj().swapaxes(-1, -2)
    start = np.sin(np.arange(1, r.shape[-1] + 1)).astype(r.dtype)[:, None]
    with quiet():
        largest = _growth(start, lambda x: turned @ (upper @ x))
        smallest = _growth(start, lambda x: solve_triangular(
            upper, solve_triangular(turned, x, False, False), True, False))
        return bool((np.sqrt(largest) * np.sqrt(smallest) * (_MARGIN * rcond) < 1).all())


_MARGIN = 4
"""What the growth in a few turns may be below what it comes to in the end."""


def _growth(x: Any, turn: Any) -> Any:
    """By how much a ``turn`` of a linear map makes a vector longer, after some of them."""
    for _ in range(3):
        x = turn(x)
        length = np.sqrt(np.square(np.abs(x)).sum((-2, -1), keepdims=True))
        x = x / length
    return length


def _of_any_rank(a: Any, b: Any, rcond: float) -> tuple[Any, Any]:
    find, (rows, columns), width = routine("gelsy", a.dtype), a.shape[-2:], b.shape[-1]
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    whole = np.zeros((*lead, width, max(rows, columns)), b.dtype).swapaxes(-1, -2)
    whole[..., :rows, :] = b
    left = repeated(a, (*lead, rows, columns))
    ranks = np.empty(lead, np.int64)
    size = work_size("gelsy", a.dtype, rows, columns, width, rcond)
    with routines_for(min(rows, columns)):
        for index in indices(lead):
            free = np.zeros(columns, np.int32)
            _, whole[index], _, ranks[index], _ = find(left[index], whole[index], free, rcond, size)
    ranks = ranks if a.shape[:-2] == lead else plain.rank(a, None, rcond, False)
    return whole[..., :columns, :], ranks


def svd(a: Any, full_matrices: bool) -> Any:
    found = _singular(a, True, full_matrices)
    return plain.svd(a, full_matrices) if found is None else found


def svdvals(a: Any) -> Any:
    found = _singular(a, False, False)
    return plain.svdvals(a) if found is None else found[1]


def _singular(a: Any, vectors: bool, full: bool) -> tuple[Any, Any, Any] | None:
    """The decomposition; None where it is found in another way, or not at all."""
    find = routine_for("gesdd", a)
    if find is None or not np.isfinite(a).all():
        return None
    rows, columns = a.shape[-2:]
    least, lead = min(rows, columns), a.shape[:-2]
    size = work_size("gesdd", a.dtype, rows, columns, compute_uv=vectors, full_matrices=full)
    if not lead:
        with routines_for(2 * least):
            *factors, info = find(a, vectors, full, size)
        return None if info else tuple(factors)
    u = np.empty((*lead, rows, rows if full else least), a.dtype)
    s, vh = np.empty((*lead, least), a.real.dtype), np.empty(
        (*lead, columns if full else least, columns), a.dtype)
    infos = np.empty(lead, np.int32)
    with routines_for(2 * least):
        for index in indices(lead):
            left, s[index], right, infos[index] = find(a[index], vectors, full, size)
            if vectors:
                u[index], vh[index] = left, right
    return None if infos.any() else (u, s, vh)


# ---------------------------------------------------------------- symmetric indefinite matrices


def _symmetric(name: str, dtype: Any, hermitian: bool) -> Any:
    return routine(("he" if hermitian and dtype.kind == "c" else "sy") + name, dtype)


@native("ldl_factors(a, empty(a.shape, a.dtype), empty(a.shape[:-1], 'i'), "
        "empty(a.shape[:-2], 'i'))", are_few, when=f"a.size and are_few(a, {_FEW // 2})")
def ldl_factor(a: Any, hermitian: bool) -> tuple[Any, Any, Any]:
    factor = _symmetric("trf", a.dtype, hermitian)
    if factor is None or not a.size:
        return plain.ldl_factor(a, hermitian)
    packed, lead = in_columns(np.tril(a)), a.shape[:-2]
    pivots, info = np.empty(a.shape[:-1], np.int32), np.empty(lead, np.int32)
    with routines_for(a.shape[-1]):
        for index in indices(lead):
            target = packed[index]
            found, pivots[index], info[index] = factor(target, 1, 64 * a.shape[-1], 1)
            keep(target, found)
    return packed, pivots, info


def ldl_solve(packed: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    solve_ = _symmetric("trs", packed.dtype, hermitian)
    if solve_ is None or not packed.size or not b.size:
        return plain.ldl_solve(packed, pivots, b, hermitian)
    lead = np.broadcast_shapes(packed.shape[:-2], b.shape[:-2])
    factors = repeated(packed, (*lead, *packed.shape[-2:]))
    swaps = repeated(pivots, (*lead, pivots.shape[-1]))
    x = in_columns(repeated(b, (*lead, *b.shape[-2:])))
    with routines_for(packed.shape[-1]):
        for index in indices(lead):
            target = x[index]
            keep(target, solve_(factors[index], swaps[index], target, 1, 1)[0])
    return x


fill_with_plain_bodies(
    globals(), plain, solve_with=together.once(1, 1), cholesky_solve=together.once(1, 0),
    inverse_of_least_squares=lambda body: together.once(1, 0)(_inverse_by_columns(body)),
    _volume=native("determinants(packed, pivots, empty(packed.shape[:-2], packed.dtype))",
                   are_rows, when="are_rows(packed, pivots)"),
    _inverted=native("inverses(packed, pivots, like(packed))", are_inverted,
                     when="are_inverted(packed, pivots)"),
    # Those of singular matrices are refused, and found by the body.
    cofactors=native("cofactors(packed, pivots, empty(packed.shape[:-2], packed.dtype), "
                     "like(packed))[1]", are_inverted, when="are_inverted(packed, pivots)"),
    _sign_and_size=native(
        "signs_and_logarithms(packed, pivots, empty(packed.shape[:-2], packed.dtype), "
        "empty(packed.shape[:-2], packed.dtype))", are_rows, when="are_rows(packed, pivots)"),
    lu_solve=lambda body: together.once(2, 2)(native(
        "lu_solution(*ordered(packed, pivots, b), adjoint)", is_few, ordered,
        when="is_few(packed, b)")(body)))
