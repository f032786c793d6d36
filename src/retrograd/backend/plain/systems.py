"""Linear systems: LU, LDL and Cholesky factors, triangles and reflections, on raw arrays."""

from __future__ import annotations

import math
from typing import Any

from ...base.errors import LinAlgError
from .. import xp
from .matrices import eigh, eigvalsh, triangle


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
    lead = xp.broadcast_shapes(array.shape[:-2], pivots.shape[:-1])
    return xp.take_along_axis(xp.broadcast_to(array, (*lead, *array.shape[-2:])),
                              xp.broadcast_to(order, (*lead, order.shape[-1]))[..., None], axis=-2)


def permutation_matrix(pivots: Any, rows: int, dtype: Any) -> Any:
    """The P of ``A = P @ L @ U``."""
    order = row_order(pivots, rows)[..., None, :]
    return (xp.arange(rows)[:, None] == order).astype(dtype)


def unit_lower(packed: Any) -> Any:
    """The L of packed factors that have no more columns than rows."""
    rows, columns = packed.shape[-2:]
    one = xp.eye(rows, dtype=packed.dtype)[:, :columns]
    return xp.in_rows(triangle(packed, -1, upper=False) + one)


def lu_solve(packed: Any, pivots: Any, b: Any, adjoint: bool, asked: Any = None) -> Any:
    """The solution of ``A @ x = b``, or of ``A.mH @ x = b``, from the LU factors of A."""
    if not adjoint:
        below = solve_triangular(packed, permuted_rows(b, pivots, False), False, True)
        return solve_triangular(packed, below, True, False)
    turned = packed.conj().swapaxes(-1, -2)
    below = solve_triangular(turned, b, False, False)
    return permuted_rows(solve_triangular(turned, below, True, True), pivots, True)


_WORTH_KEEPING = 32
"""Above this size LU factors are found apart from what needs them, and kept for what follows."""


def is_factored(a: Any) -> bool:
    """Whether the LU factors of ``a`` are worth finding apart, or else its systems are solved."""
    return a.shape[-1] > _WORTH_KEEPING


def factors_for(a: Any) -> tuple[Any, Any, Any]:
    """The LU factors of ``a``, or nothing in their place for matrices that are solved at once."""
    if is_factored(a):
        return lu_factor(a)
    lead = a.shape[:-2]
    return (xp.empty((*lead, 0, 0), a.dtype), xp.empty((*lead, 0), xp.int32),
            xp.zeros(lead, xp.int32))


def _solved(a: Any, b: Any, factors: Any, adjoint: bool = False) -> Any:
    """The solution of ``a @ x = b``, or of ``a.mH @ x = b``, from factors if there are any."""
    if not factors[0].size:
        return xp.linalg.solve(*_one_each(a.conj().swapaxes(-1, -2) if adjoint else a, b))
    packed, b = _one_each(factors[0], b)
    pivots = factors[1] if packed is factors[0] else xp.broadcast_to(factors[1], packed.shape[:-1])
    return lu_solve(packed, pivots, b, adjoint)


def inverse(a: Any, name: str, quiet: bool = False) -> tuple[Any, Any]:
    """The inverse, and where the first pivot is zero (0 for nowhere).

    An error names that pivot, or ``quiet`` gives infinities.
    """
    packed, pivots, info = factors_for(a)
    if not info.any():
        try:
            return _inverted(a, packed, pivots), info
        except xp.linalg.LinAlgError:
            info = first_zero_pivot(a)
    if quiet:
        bad = info.astype(bool)[..., None, None]
        one = xp.eye(a.shape[-1], dtype=a.dtype)
        whole = xp.linalg.inv(xp.where(bad, one, a))
        return xp.where(bad, xp.asarray(xp.inf, a.dtype), whole), info
    raise _no_inverse(name, info)


def _no_inverse(name: str, info: Any) -> Exception:
    label, pivot = first_failure(info) or ("", 1)
    return LinAlgError(f"{name}: {label}The diagonal element {pivot} is zero, the inversion could "
                       "not be completed because the input matrix is singular.")


def check_diagonal(name: str, triangle: Any) -> None:
    """Refuse triangles that have a zero on their diagonal."""
    zero = xp.diagonal(triangle, 0, -2, -1) == 0
    if zero.any():
        raise _no_inverse(name, xp.where(zero.any(-1), xp.argmax(zero, axis=-1) + 1, 0))


def _inverted(a: Any, packed: Any, pivots: Any) -> Any:
    if not packed.size:
        return xp.linalg.inv(a)
    return _solved(a, xp.eye(a.shape[-1], dtype=a.dtype), (packed, pivots))


def inverse_with(a: Any, packed: Any, pivots: Any) -> Any:
    """The inverse with the factors that are known; pivots that are zero are divided by."""
    try:
        return _inverted(a, packed, pivots)
    except xp.linalg.LinAlgError:  # of matrices that are solved at once
        return _inverted(a, *lu_factor(a)[:2])


def solve(a: Any, b: Any, vector: bool, name: str, quiet: bool = False
          ) -> tuple[Any, Any, Any, Any]:
    """The solution of ``a @ x = b``, and what :func:`factors_for` gives.

    With ``vector``, ``b`` holds one vector per matrix; ``quiet`` divides by pivots that are zero.
    """
    factors, side = factors_for(a), b[..., None] if vector else b
    failed = factors[2].any()
    if not failed:
        try:
            found = _solved(a, side, factors)
        except xp.linalg.LinAlgError:
            failed, factors = True, lu_factor(a)
    if failed:
        if not quiet:
            label, _ = first_failure(factors[2]) or ("", 1)
            raise LinAlgError(f"{name}: {label}The solver failed because the input matrix is "
                              "singular.")
        found = _solved(a, side, factors)
    return found[..., 0] if vector else found, *factors


def solve_with(a: Any, b: Any, packed: Any, pivots: Any, vector: bool, adjoint: bool,
               asked: Any = None) -> Any:
    """The solution of ``a @ x = b``, or of ``a.mH @ x = b``, with the factors that are known."""
    found = _solved(a, b[..., None] if vector else b, (packed, pivots), adjoint)
    return found[..., 0] if vector else found


# ---------------------------------------------------------------- determinants


def _swaps_are_odd(pivots: Any) -> Any:
    """Whether each matrix had an odd number of its rows exchanged."""
    return (pivots != xp.arange(1, pivots.shape[-1] + 1)).sum(-1) % 2 == 1


def determinant(a: Any) -> tuple[Any, Any, Any]:
    """The determinant, and the LU factors as :func:`factors_for` gives them."""
    packed, pivots, _ = factors_for(a)
    if not packed.size:
        return xp.linalg.det(a), packed, pivots
    return _volume(packed, pivots), packed, pivots


def _volume(packed: Any, pivots: Any) -> Any:
    found = xp.prod(xp.diagonal(packed, 0, -2, -1), axis=-1)
    return xp.where(_swaps_are_odd(pivots), -found, found)


def sign_and_logarithm(a: Any) -> tuple[Any, Any, Any, Any]:
    """The determinant's sign and the logarithm of its size, and LU factors."""
    packed, pivots, _ = factors_for(a)
    if not packed.size:
        return *xp.linalg.slogdet(a), packed, pivots
    return *_sign_and_size(packed, pivots), packed, pivots


def _sign_and_size(packed: Any, pivots: Any) -> tuple[Any, Any]:
    steps = xp.diagonal(packed, 0, -2, -1)
    sizes = xp.absolute(steps)
    zero = (sizes == 0).any(axis=-1)
    sign = xp.prod(steps / xp.where(sizes == 0, 1, sizes), axis=-1)
    sign = xp.where(_swaps_are_odd(pivots), -sign, sign)
    size = xp.where(zero, -xp.inf, xp.sum(xp.log(xp.where(sizes == 0, 1, sizes)), axis=-1))
    return sign, xp.cast(size, sizes.dtype)


def cofactors(a: Any, packed: Any, pivots: Any) -> Any:
    """The matrix of signed minors: from the inverse, or the singular values where there is none.

    What rounding makes of a pivot near zero is the same in the inverse and in the determinant.
    """
    if not a.size:
        return a
    volume = _volume(packed, pivots) if packed.size else xp.linalg.det(a)
    if not (xp.absolute(volume) < xp.float_info(a.dtype).tiny).any():
        return volume[..., None, None] * _inverted(a, packed, pivots).swapaxes(-2, -1)
    unknown = xp.isnan(volume)[..., None, None]  # such matrices have no singular values
    u, s, vh = xp.linalg.svd(xp.where(unknown, xp.zeros((), a.dtype), a))
    size = a.shape[-1]
    others = xp.where(xp.eye(size, dtype=bool), xp.ones((), s.dtype), s[..., None, :])
    sign = xp.linalg.det(u) * xp.linalg.det(vh)
    scaled = u.conj() * (sign[..., None] * xp.prod(others, axis=-1))[..., None, :]
    return xp.cast(xp.where(unknown, volume[..., None, None], scaled @ vh.conj()), a.dtype)


# ---------------------------------------------------------------- triangles


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool, asked: Any = None) -> Any:
    """The solution of ``a @ x = b`` that reads one triangle of ``a`` only."""
    a = triangle(a, 0, upper)
    size = a.shape[-1]
    if unit:
        a = xp.where(xp.eye(size, dtype=bool), xp.ones((), a.dtype), a)
    a, b = _one_each(a, b)
    try:
        if upper:  # where elimination has nothing to do, and swaps no rows
            return xp.linalg.solve(a, b)
        return xp.flip(xp.linalg.solve(xp.flip(a, axis=(-2, -1)), xp.flip(b, axis=-2)), axis=-2)
    except xp.linalg.LinAlgError:
        return _substituted(a, b, upper)


def _one_each(a: Any, b: Any) -> tuple[Any, Any]:
    """Two batches of matrices, broadcast to as many on both sides."""
    if a.shape[:-2] == b.shape[:-2]:
        return a, b
    lead = xp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (xp.broadcast_to(a, (*lead, *a.shape[-2:])), xp.broadcast_to(b, (*lead, *b.shape[-2:])))


def _substituted(a: Any, b: Any, upper: bool) -> Any:
    """Back substitution, which divides by zero where the general solver refuses to."""
    x, size = b.copy(), a.shape[-1]
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


def cholesky(a: Any, upper: bool, name: str, quiet: bool = False) -> tuple[Any, Any]:
    """The Cholesky factor, and the order of the first minor that is not positive (0 for none).

    An error names that minor, unless ``quiet``.
    """
    try:
        found = _factor(a, upper)
        if xp.isfinite(found).all():
            return found, xp.zeros(a.shape[:-2], xp.int32)
        if not (info := first_bad_minor(a)).any():
            return found, info
    except xp.linalg.LinAlgError:
        info = first_bad_minor(a)
    if quiet:
        return _partial_cholesky(a, upper, info), info
    label, order = first_failure(info) or ("", 1)
    raise LinAlgError(
        f"{name}: {label}The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {order} is not positive-definite).")


def _factor(a: Any, upper: bool) -> Any:
    if upper:  # the other triangle of what is read as the lower one
        return xp.linalg.cholesky(a.conj().swapaxes(-1, -2)).conj().swapaxes(-1, -2)
    return xp.linalg.cholesky(a)


def _partial_cholesky(a: Any, upper: bool, info: Any) -> Any:
    """Factors of the matrices that have one; of the others as far as elimination came."""
    found = a.copy()
    for target, bad in zip(_flat(found), info.reshape(-1), strict=True):
        if not bad:
            target[...] = _factor(target, upper)
        else:
            reached = _eliminated(target.conj().T if upper else target, int(bad) - 1)
            target[...] = reached.conj().T if upper else reached
    return triangle(found, 0, upper)


def _eliminated(a: Any, k: int) -> Any:
    """A matrix with its factor's first columns in their place, and the pivot that was bad."""
    a = a.copy()
    if k:
        a[:k, :k] = _factor(a[:k, :k], False)
        a[k:, :k] = solve_triangular(a[:k, :k], a[k:, :k].conj().T, False, False).conj().T
        a[k, k] -= (a[k, :k] * a[k, :k].conj()).sum()
    return a


def cholesky_solve(b: Any, factor: Any, upper: bool, asked: Any = None) -> Any:
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


def reflected(vectors: Any, tau: Any, c: Any, adjoint: bool) -> Any:
    """``H_1 @ H_2 @ ... @ c`` of the reflections ``H_i = 1 - tau_i * v_i @ v_i.mH``, or the
    product of the adjoint with ``c``.

    Together they are ``1 - V @ T @ V.mH`` with a triangular T. A vector is one on the diagonal of
    ``vectors``, and zero above.
    """
    if adjoint:
        vectors, tau = xp.flip(vectors, axis=-1), xp.flip(tau, axis=-1).conj()
    turned = vectors.conj().swapaxes(-1, -2)
    mixed = tau[..., None] * triangle(turned @ vectors, 1, upper=True)
    return c - vectors @ solve_triangular(mixed, tau[..., None] * (turned @ c), True, True)


def packed_qr(a: Any) -> tuple[Any, Any]:
    """R with the vectors of the reflections below it, and the factors of these."""
    packed, tau = xp.linalg.qr(a, "raw")
    return xp.in_rows(packed.swapaxes(-1, -2)), tau


# ---------------------------------------------------------------- singular values


def svd(a: Any, full_matrices: bool) -> Any:
    """The singular value decomposition."""
    try:
        return tuple(xp.linalg.svd(a, full_matrices))
    except xp.linalg.LinAlgError:
        raise no_singular_values(a) from None


def svdvals(a: Any) -> Any:
    """The singular values."""
    try:
        return xp.linalg.svd(a, compute_uv=False)
    except xp.linalg.LinAlgError:
        raise no_singular_values(a) from None


def no_singular_values(a: Any) -> LinAlgError:
    """The error that says which of some matrices has none, and why."""
    bad = ~xp.isfinite(a).all(axis=(-2, -1))
    label, _ = first_failure(bad) or ("", 0)
    why = "contained non-finite values" if bad.any() else "is ill-conditioned"
    return LinAlgError(f"linalg.svd: {label}The algorithm failed to converge because the input "
                       f"matrix {why}.")


def _threshold(values: Any, shape: tuple[int, ...], atol: Any, rtol: Any) -> Any:
    """Below which singular values count as zero."""
    atol = xp.asarray(0.0 if atol is None else atol)
    if rtol is None:
        rtol = xp.where(atol > 0, 0.0, max(shape[-2:]) * xp.float_info(values.dtype).eps)
    largest = values.max(-1, keepdims=True) if values.shape[-1] else xp.zeros(1, values.dtype)
    atol, rtol = (xp.cast(xp.asarray(least), values.dtype)[..., None] for least in (atol, rtol))
    return xp.maximum(atol, rtol * largest)


def inverse_of_least_squares(a: Any, rcond: float | None, asked: Any = None) -> Any:
    """The pseudo-inverse, of which the shortest solution of least squares is a product."""
    return pseudo_inverse(a, None, rcond, False)


def pseudo_inverse(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """The pseudo-inverse, by singular values or eigenvalues above a threshold."""
    if hermitian:
        values, vectors = eigh(a, "L")
        keep = xp.absolute(values) > _threshold(xp.absolute(values), a.shape, atol, rtol)
        scaled = xp.where(keep, 1 / xp.where(keep, values, 1), 0).astype(values.dtype)
        return (vectors * scaled[..., None, :]) @ vectors.conj().swapaxes(-1, -2)
    u, s, vh = svd(a, False)
    keep = s > _threshold(s, a.shape, atol, rtol)
    scaled = xp.where(keep, 1 / xp.where(keep, s, 1), 0).astype(s.dtype)
    return (vh.conj().swapaxes(-1, -2) * scaled[..., None, :]) @ u.conj().swapaxes(-1, -2)


def least_squares(a: Any, b: Any, rcond: float | None) -> tuple[Any, Any]:
    """The shortest x that makes ``a @ x - b`` shortest, and the rank of ``a``."""
    return (xp.matmul(pseudo_inverse(a, None, rcond, False), b), rank(a, None, rcond, False))


def rank(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """How many singular values lie above the threshold."""
    values = xp.absolute(eigvalsh(a, "L")) if hermitian else svdvals(a)
    above = values > _threshold(values, a.shape, atol, rtol)
    return xp.as_array(above.sum(-1, dtype=xp.INT64))
