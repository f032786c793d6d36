"""Linear systems: LU, LDL and Cholesky factors, triangles and reflections, on raw arrays."""

from __future__ import annotations

import math
from typing import Any

from ...base.errors import LinAlgError
from .. import xp
from .matrices import triangle


def _flat(array: Any) -> Any:
    return array.reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def first_failure(info: Any) -> tuple[str, int] | None:
    """What errors call the first matrix that failed, and the place in it, from one; or None."""
    if not info.any():
        return None
    bad = int(xp.flatnonzero(info)[0])
    return f"(Batch element {bad}): " if info.ndim else "", int(info.reshape(-1)[bad])


def _size(values: Any) -> Any:
    """How large LAPACK takes numbers to be when it chooses pivots."""
    if values.dtype.kind != "c":
        return xp.absolute(values)
    return xp.absolute(values.real) + xp.absolute(values.imag)


# ---------------------------------------------------------------- LU factors


def lu_factor(a: Any) -> tuple[Any, Any, Any]:
    """Both factors in one matrix, the row that each step swapped, and the first zero pivot.

    Rows and pivots count from one; no zero pivot is 0.
    """
    packed, steps = xp.in_rows(a).copy(), min(a.shape[-2:])
    pivots = xp.zeros((math.prod(a.shape[:-2]), steps), xp.int32)
    info = xp.zeros(pivots.shape[0], xp.int32)
    for number, left in enumerate(_flat(packed)):
        for k in range(steps):
            pivot = k + int(_size(left[k:, k]).argmax())
            pivots[number, k] = pivot + 1
            if left[pivot, k] == 0:
                info[number] = info[number] or k + 1
                continue
            left[[k, pivot]] = left[[pivot, k]]
            left[k + 1:, k] /= left[k, k]
            left[k + 1:, k + 1:] -= xp.outer(left[k + 1:, k], left[k, k + 1:])
    return (packed, pivots.reshape(*a.shape[:-2], steps), info.reshape(a.shape[:-2]))


def first_zero_pivot(a: Any) -> Any:
    """For each matrix, the first column (from one) where elimination finds a zero; 0 for none."""
    return lu_factor(a)[2]


def row_order(pivots: Any, rows: int) -> Any:
    """The row of the original matrix that pivoting brought to each place."""
    count = math.prod(pivots.shape[:-1])
    order = xp.zeros((count, rows), xp.int64) + xp.arange(rows)
    each, swaps = xp.arange(count), pivots.reshape(count, pivots.shape[-1]).astype(xp.int64) - 1
    for k in range(swaps.shape[1]):
        kept = order[:, k].copy()
        order[:, k] = order[each, swaps[:, k]]
        order[each, swaps[:, k]] = kept
    return order.reshape(*pivots.shape[:-1], rows)


def permuted_rows(array: Any, pivots: Any, back: bool) -> Any:
    """The rows in the order that pivoting brought them to, or from there ``back``."""
    order = row_order(pivots, array.shape[-2])
    order = xp.argsort(order, axis=-1) if back else order
    return xp.take_along_axis(array, order[..., None], axis=-2)


def permutation_matrix(pivots: Any, rows: int, dtype: Any) -> Any:
    """The P of ``A = P @ L @ U``."""
    order = row_order(pivots, rows)[..., None, :]
    return (xp.arange(rows)[:, None] == order).astype(dtype)


def lu_solve(packed: Any, pivots: Any, b: Any, adjoint: bool) -> Any:
    """The solution of ``A @ x = b``, or of ``A.mH @ x = b``, from the LU factors of A."""
    if not adjoint:
        below = solve_triangular(packed, permuted_rows(b, pivots, False), False, True)
        return solve_triangular(packed, below, True, False)
    turned = packed.conj().swapaxes(-1, -2)
    below = solve_triangular(turned, b, False, False)
    return permuted_rows(solve_triangular(turned, below, True, True), pivots, True)


def inverse(a: Any, name: str, quiet: bool = False) -> Any:
    """The inverse; an error names the pivot that is zero, or ``quiet`` gives infinities."""
    try:
        return xp.linalg.inv(a)
    except xp.linalg.LinAlgError:
        info = first_zero_pivot(a)
    if quiet:
        bad = info.astype(bool)[..., None, None]
        one = xp.eye(a.shape[-1], dtype=a.dtype)
        return xp.where(bad, xp.asarray(xp.inf, a.dtype), xp.linalg.inv(xp.where(bad, one, a)))
    label, pivot = first_failure(info) or ("", 1)
    raise LinAlgError(f"{name}: {label}The diagonal element {pivot} is zero, the inversion could "
                      "not be completed because the input matrix is singular.")


def solve(a: Any, b: Any, vector: bool, name: str, quiet: bool = False) -> Any:
    """The solution of ``a @ x = b``; with ``vector``, ``b`` holds one vector per matrix."""
    if vector:
        return solve(a, b[..., None], False, name, quiet)[..., 0]
    try:
        return xp.linalg.solve(a, b)
    except xp.linalg.LinAlgError:
        packed, pivots, info = lu_factor(a)
    if quiet:
        lead = xp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return lu_solve(xp.broadcast_to(packed, (*lead, *packed.shape[-2:])),
                        xp.broadcast_to(pivots, (*lead, pivots.shape[-1])),
                        xp.broadcast_to(b, (*lead, *b.shape[-2:])), False)
    label, _ = first_failure(info) or ("", 1)
    raise LinAlgError(f"{name}: {label}The solver failed because the input matrix is singular.")


def cofactors(a: Any) -> Any:
    """The matrix of signed minors: from the inverse, or the singular values where it is inexact."""
    with_inverse = _by_inverse(a)
    if with_inverse is not None:
        return with_inverse
    u, s, vh = xp.linalg.svd(a)
    size = a.shape[-1]
    others = xp.where(xp.eye(size, dtype=bool), xp.ones((), s.dtype), s[..., None, :])
    sign = xp.linalg.det(u) * xp.linalg.det(vh)
    scaled = u.conj() * (sign[..., None] * xp.prod(others, axis=-1))[..., None, :]
    return xp.cast(scaled @ vh.conj(), a.dtype)


def _by_inverse(a: Any) -> Any:
    """The cofactors from inverses, if all matrices have one that is right to half of its digits."""
    if not a.size:
        return a
    try:
        turned = inverse(a, "").swapaxes(-2, -1)
    except LinAlgError:
        return None
    volume = xp.linalg.det(a)
    spread = xp.max(xp.sum(xp.abs(a), axis=-1), axis=-1) \
        * xp.max(xp.sum(xp.abs(turned), axis=-2), axis=-1)
    exact = spread * spread * xp.float_info(a.dtype).eps < 1
    if not (exact & xp.isfinite(volume)).all():
        return None
    return volume[..., None, None] * turned


# ---------------------------------------------------------------- triangles


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """The solution of ``a @ x = b`` that reads one triangle of ``a`` only."""
    a = triangle(a, 0, upper)
    size = a.shape[-1]
    if unit:
        a = xp.where(xp.eye(size, dtype=bool), xp.ones((), a.dtype), a)
    try:
        return xp.linalg.solve(a, b)
    except xp.linalg.LinAlgError:
        return _substituted(a, b, upper)


def _substituted(a: Any, b: Any, upper: bool) -> Any:
    """Back substitution, which divides by zero where the general solver refuses to."""
    shape = xp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = xp.broadcast_to(b, (*shape, *b.shape[-2:])).copy()
    size = a.shape[-1]
    for i in reversed(range(size)) if upper else range(size):
        known = slice(i + 1, size) if upper else slice(0, i)
        done = (a[..., i, None, known] @ x[..., known, :])[..., 0, :]
        x[..., i, :] = (x[..., i, :] - done) / a[..., i, i, None]
    return x


# ---------------------------------------------------------------- Cholesky factors


def first_bad_minor(a: Any) -> Any:
    """For each matrix, the order of the first minor that is not positive; 0 for none."""
    info = xp.zeros(math.prod(a.shape[:-2]), xp.int32)
    for number, matrix in enumerate(_flat(a)):
        known_bad, known_good = matrix.shape[0] + 1, 0
        order = matrix.shape[0]  # usually there is none, which the first look finds
        while known_bad - known_good > 1:
            if _has_factor(matrix[:order, :order]):
                known_good = order
            else:
                known_bad = order
            order = (known_good + known_bad) // 2
        info[number] = known_bad if known_bad <= matrix.shape[0] else 0
    return info.reshape(a.shape[:-2])


def _has_factor(matrix: Any) -> bool:
    try:
        pivots = xp.diagonal(xp.linalg.cholesky(matrix))
    except xp.linalg.LinAlgError:
        return False
    # What comes after an infinity is NaN.
    return bool(xp.isfinite(pivots[:-1]).all()) and not bool(xp.isnan(pivots[-1]))


def cholesky(a: Any, upper: bool, name: str, quiet: bool = False) -> Any:
    """The Cholesky factor; an error names the minor that is not positive, unless ``quiet``."""
    try:
        found = xp.linalg.cholesky(a, upper=upper)
        if xp.isfinite(found).all() or not first_bad_minor(a).any():
            return found
    except xp.linalg.LinAlgError:
        pass
    if quiet:
        return partial_cholesky(a, upper)
    label, order = first_failure(first_bad_minor(a)) or ("", 1)
    raise LinAlgError(
        f"{name}: {label}The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {order} is not positive-definite).")


def partial_cholesky(a: Any, upper: bool) -> Any:
    """Factors of the matrices that have one; the others are left as they are."""
    found = a.copy()
    for target, info in zip(_flat(found), first_bad_minor(a).reshape(-1), strict=True):
        if not info:
            target[...] = xp.linalg.cholesky(target, upper=upper)
    return triangle(found, 0, upper)


def cholesky_solve(b: Any, factor: Any, upper: bool) -> Any:
    """The solution of ``A @ x = b`` from the Cholesky factor of A."""
    turned = factor.conj().swapaxes(-1, -2)
    lower, above = (turned, factor) if upper else (factor, turned)
    return solve_triangular(above, solve_triangular(lower, b, False, False), True, False)


# ---------------------------------------------------------------- symmetric indefinite matrices


def ldl_factor(a: Any, hermitian: bool) -> tuple[Any, Any, Any]:
    """L and D of ``A = L @ D @ L.mT`` in one matrix, pivots, and the first block that is singular.

    A block of D is of one or two rows; the pivots of one of two are negative.
    """
    packed = triangle(a, 0, upper=False)
    pivots = xp.zeros((math.prod(a.shape[:-2]), a.shape[-1]), xp.int32)
    info = xp.zeros(pivots.shape[0], xp.int32)
    if hermitian := hermitian and a.dtype.kind == "c":
        packed = xp.where(xp.eye(a.shape[-1], dtype=bool), packed.real, packed)
    packed = packed.copy()  # in rows, so that flattened it is the same memory
    for number, matrix in enumerate(_flat(packed)):
        info[number] = _eliminate(matrix, pivots[number], hermitian)
    return packed, pivots.reshape(a.shape[:-1]), info.reshape(a.shape[:-2])


_GROWTH = (1 + math.sqrt(17)) / 8  # bounds what one step may add to the elements


def _eliminate(a: Any, pivots: Any, hermitian: bool) -> int:
    """Bunch and Kaufman's elimination of a lower triangle, in place."""
    info, k, size = 0, 0, a.shape[0]
    while k < size:
        width, chosen = _pivot_block(a, k)
        if not width:
            info, width = info or k + 1, 1
        else:
            _swap_symmetric(a, k, k + width - 1, chosen, hermitian)
            rows = a[k + width:, k:k + width]
            block = _filled(a[k:k + width, k:k + width], hermitian)
            scaled = xp.linalg.solve(block.T, rows.T).T
            across = rows.T.conj() if hermitian else rows.T
            a[k + width:, k + width:] -= triangle(scaled @ across, 0, upper=False)
            a[k + width:, k:k + width] = scaled
        pivots[k:k + width] = (chosen + 1) * (1 if width == 1 else -1)
        k += width
    return info


def _pivot_block(a: Any, k: int) -> tuple[int, int]:
    """How many rows the next block has (0: its column is zero), and which row it begins with."""
    own, below = _size(a[k, k]).item(), _size(a[k + 1:, k])
    most = below.max().item() if below.size else 0.0
    if not max(own, most) > 0:
        return 0, k
    if own >= _GROWTH * most:
        return 1, k
    row = k + 1 + int(below.argmax())
    others = xp.concatenate([_size(a[row, k:row]), _size(a[row + 1:, row])])
    largest = others.max().item()
    if own >= _GROWTH * most * (most / largest):
        return 1, k
    return (1 if _size(a[row, row]).item() >= _GROWTH * largest else 2), row


def _filled(block: Any, hermitian: bool) -> Any:
    """A block of D as a whole matrix."""
    below = triangle(block, -1, upper=False)
    return triangle(block, 0, upper=False) + (below.T.conj() if hermitian else below.T)


def _swap_symmetric(a: Any, start: int, k: int, other: int, hermitian: bool) -> None:
    """Exchange rows and columns ``k`` and ``other`` of a symmetric matrix's lower triangle."""
    if k == other:
        return
    turned = (lambda part: part.conj()) if hermitian else (lambda part: part)
    for one, two in ((a[other + 1:, k], a[other + 1:, other]), (a[k, start:k], a[other, start:k])):
        kept = one.copy()
        one[...], two[...] = two, kept
    kept = a[k + 1:other, k].copy()
    a[k + 1:other, k], a[other, k + 1:other] = turned(a[other, k + 1:other]), turned(kept)
    a[other, k] = turned(a[other, k])
    kept = a[k, k].copy()
    a[k, k], a[other, other] = a[other, other], kept


def ldl_solve(packed: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    """The solution of ``A @ x = b`` from the factors of :func:`ldl_factor`."""
    lead = xp.broadcast_shapes(packed.shape[:-2], b.shape[:-2])
    size = packed.shape[-1]
    x = xp.broadcast_to(b, (*lead, *b.shape[-2:])).copy()
    factors = _flat(xp.broadcast_to(packed, (*lead, size, size)))
    swaps = xp.broadcast_to(pivots, (*lead, size)).reshape(factors.shape[0], size).tolist()
    for factor, swap, right in zip(factors, swaps, _flat(x), strict=True):
        _substitute_blocks(factor, swap, right, hermitian and factor.dtype.kind == "c")
    return x


def _substitute_blocks(a: Any, swaps: list[int], x: Any, hermitian: bool) -> None:
    starts, k = [], 0
    while k < len(swaps):
        width = 1 if swaps[k] > 0 else 2
        starts.append((k, width, abs(swaps[k]) - 1))
        k += width
    for k, width, other in starts:
        last = k + width - 1
        x[[last, other]] = x[[other, last]]
        x[k + width:] -= a[k + width:, k:k + width] @ x[k:k + width]
        x[k:k + width] = xp.linalg.solve(_filled(a[k:k + width, k:k + width], hermitian),
                                         x[k:k + width])
    for k, width, other in reversed(starts):
        rows, last = a[k + width:, k:k + width], k + width - 1
        x[k:k + width] -= (rows.T.conj() if hermitian else rows.T) @ x[k + width:]
        x[[last, other]] = x[[other, last]]


# ---------------------------------------------------------------- reflections


def reflected(vectors: Any, tau: Any, c: Any) -> Any:
    """``H_1 @ H_2 @ ... @ c`` of the reflections ``H_i = 1 - tau_i * v_i @ v_i.mH``.

    Together they are ``1 - V @ T @ V.mH`` with a triangular T.
    """
    turned = vectors.conj().swapaxes(-1, -2)
    mixed = tau[..., None] * triangle(turned @ vectors, 1, upper=True)
    return c - vectors @ solve_triangular(mixed, tau[..., None] * (turned @ c), True, True)


def packed_qr(a: Any) -> tuple[Any, Any]:
    """R with the vectors of the reflections below it, and the factors of these."""
    packed, tau = xp.linalg.qr(a, "raw")
    return xp.in_rows(packed.swapaxes(-1, -2)), tau


def svd(a: Any, full_matrices: bool) -> Any:
    """The singular value decomposition."""
    try:
        return tuple(xp.linalg.svd(a, full_matrices))
    except xp.linalg.LinAlgError:
        bad = ~xp.isfinite(a).all(axis=(-2, -1))
        label, _ = first_failure(bad) or ("", 0)
        why = "contained non-finite values" if bad.any() else "is ill-conditioned"
        raise LinAlgError(f"linalg.svd: {label}The algorithm failed to converge because the input "
                          f"matrix {why}.") from None
