"""Products of arrays and matrix factorisations, on raw arrays."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...base.errors import LinAlgError
from . import FLOAT32, FLOAT64, as_array

_matmul = np.matmul


def is_low_precision(dtype: Any) -> bool:
    """Whether sums over this dtype are kept in float32: float16 and bfloat16."""
    return dtype.itemsize == 2 and dtype.kind not in "iu"


def product(a: Any, b: Any) -> Any:
    """The matrix product; half precision accumulates in float32."""
    dtype = a.dtype
    if dtype is FLOAT32 or dtype is FLOAT64 or not is_low_precision(dtype):
        return _matmul(a, b)
    return _matmul(a.astype(FLOAT32), b.astype(FLOAT32)).astype(dtype)


def dot(a: Any, b: Any) -> Any:
    """The matrix product of two arrays with at most two dimensions: cheaper to call."""
    dtype = a.dtype
    if dtype is FLOAT32 or dtype is FLOAT64 or not is_low_precision(dtype):
        return a.dot(b)
    return as_array(a.astype(FLOAT32).dot(b.astype(FLOAT32))).astype(dtype)


@lru_cache(maxsize=64)
def _ones(count: int, dtype: Any) -> Any:
    return np.ones(count, dtype)


def sum_rows(array: Any) -> Any:
    """The sum over the first of two dimensions, by BLAS, which beats a reduction by far."""
    dtype = array.dtype
    if dtype is FLOAT32 or dtype is FLOAT64:
        return _ones(array.shape[0], dtype).dot(array)
    if is_low_precision(dtype):
        return np.add.reduce(array.astype(FLOAT32), axis=0).astype(dtype)
    return np.add.reduce(array, axis=0, dtype=dtype)


def affine(x: Any, weight: Any, bias: Any) -> Any:
    """``x @ weight.T + bias`` in one buffer."""
    dtype = x.dtype
    if is_low_precision(dtype):
        return (x.astype(FLOAT32).dot(weight.T.astype(FLOAT32)) + bias).astype(dtype)
    y = x.dot(weight.T)
    y += bias
    return y


def bilinear(left: Any, right: Any, weight: Any) -> Any:
    """``left[i] @ weight[k] @ right[i]`` for every row i and every k."""
    dtype = left.dtype
    if is_low_precision(dtype):
        left, right, weight = (a.astype(FLOAT32) for a in (left, right, weight))
    rows, (outputs, inner, width) = left.shape[0], weight.shape
    halves = left.dot(weight.transpose(1, 0, 2).reshape(inner, outputs * width))
    halves = halves.reshape(rows, outputs, width)
    return _matmul(halves, right[:, :, None])[:, :, 0].astype(dtype, copy=False)


def fold(array: Any) -> Any:
    """All but the last dimension merged into one."""
    return array.reshape(-1, array.shape[-1]) if array.size else array.reshape(
        int(np.prod(array.shape[:-1])), array.shape[-1])


def scaled_sum(base: Any, term: Any, beta: Any, alpha: Any) -> Any:
    """``beta * base + alpha * term`` in ``term``'s dtype; a zero ``beta`` drops ``base``."""
    dtype = term.dtype
    if dtype.kind in "iu":
        alpha, beta = int(alpha), int(beta)
    if alpha != 1:
        term = term * alpha
    if beta == 0:
        return np.asarray(term, dtype)
    return np.asarray(term + (base if beta == 1 else base * beta), dtype)


# ---------------------------------------------------------------- triangles and diagonals


def triangle(array: Any, diagonal: int, upper: bool) -> Any:
    """``array`` with the other side of ``diagonal`` set to zero."""
    rows, cols = array.shape[-2:]
    keep = np.tri(rows, cols, diagonal - 1 if upper else diagonal, dtype=bool)
    return np.where(~keep if upper else keep, array, np.zeros((), array.dtype))


def embedded_diagonal(array: Any, offset: int, dim1: int, dim2: int) -> Any:
    """Zeros whose diagonal between two new dimensions is ``array``'s last dimension."""
    size = array.shape[-1] + abs(offset)
    whole = np.zeros((*array.shape[:-1], size, size), array.dtype)
    rows = np.arange(array.shape[-1])
    whole[..., rows + max(-offset, 0), rows + max(offset, 0)] = array
    return np.moveaxis(whole, (-2, -1), (dim1, dim2))


def on_diagonal(values: Any, shape: tuple[int, ...], offset: int) -> Any:
    """Zeros of ``shape`` with ``values`` on a diagonal."""
    whole = np.zeros(shape, values.dtype)
    rows = np.arange(values.shape[-1])
    whole[rows + max(-offset, 0), rows + max(offset, 0)] = values
    return whole


def cross(a: Any, b: Any, axis: int) -> Any:
    """The cross product of vectors of length three along ``axis``."""
    a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    turn, back = [1, 2, 0], [2, 0, 1]
    product = a[..., turn] * b[..., back] - a[..., back] * b[..., turn]
    return np.ascontiguousarray(np.moveaxis(product, -1, axis))


# ---------------------------------------------------------------- factorisations


def _flat(array: Any) -> Any:
    return array.reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def _batch_label(array: Any, number: int) -> str:
    return f"(Batch element {number}): " if array.ndim > 2 else ""


def first_zero_pivot(a: Any) -> Any:
    """For each matrix, the first column (from one) where elimination finds a zero; 0 for none."""
    info = np.zeros(math.prod(a.shape[:-2]), np.int32)
    for number, matrix in enumerate(_flat(a)):
        left = matrix.copy()
        for k in range(left.shape[0]):
            pivot = k + np.absolute(left[k:, k]).argmax()
            if left[pivot, k] == 0:
                info[number] = k + 1
                break
            left[[k, pivot]] = left[[pivot, k]]
            left[k + 1:] -= np.outer(left[k + 1:, k] / left[k, k], left[k])
    return info.reshape(a.shape[:-2])


def inverse(a: Any, name: str, quiet: bool = False) -> Any:
    """The inverse; an error names the pivot that is zero, or ``quiet`` gives infinities."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        if quiet:
            bad = first_zero_pivot(a).astype(bool)[..., None, None]
            one = np.eye(a.shape[-1], dtype=a.dtype)
            return np.where(bad, np.asarray(np.inf, a.dtype), np.linalg.inv(np.where(bad, one, a)))
        info = first_zero_pivot(a).reshape(-1)
        bad = int(np.flatnonzero(info)[0]) if info.any() else 0
        raise LinAlgError(
            f"{name}: {_batch_label(a, bad)}The diagonal element {max(int(info[bad]), 1)} is zero, "
            "the inversion could not be completed because the input matrix is singular."
        ) from None


def solve(a: Any, b: Any, vector: bool) -> Any:
    """The solution of ``a @ x = b``; with ``vector``, ``b`` holds one vector per matrix."""
    try:
        if vector:
            return np.linalg.solve(a, b[..., None])[..., 0]
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        info = first_zero_pivot(a).reshape(-1)
        bad = int(np.flatnonzero(info)[0]) if info.any() else 0
        raise LinAlgError(f"torch.linalg.solve: {_batch_label(a, bad)}The solver failed because "
                          "the input matrix is singular.") from None


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """The solution of ``a @ x = b`` that reads one triangle of ``a`` only."""
    a = triangle(a, 0, upper)
    size = a.shape[-1]
    if unit:
        a = np.where(np.eye(size, dtype=bool), np.ones((), a.dtype), a)
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return _substituted(a, b, upper)


def _substituted(a: Any, b: Any, upper: bool) -> Any:
    """Back substitution, which divides by zero where the general solver refuses to."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, (*shape, *b.shape[-2:])))
    size = a.shape[-1]
    for i in reversed(range(size)) if upper else range(size):
        known = slice(i + 1, size) if upper else slice(0, i)
        done = (a[..., i, None, known] @ x[..., known, :])[..., 0, :]
        x[..., i, :] = (x[..., i, :] - done) / a[..., i, i, None]
    return x


def cofactors(a: Any) -> Any:
    """The matrix of signed minors, by way of the singular values, so also of singular matrices."""
    u, s, vh = np.linalg.svd(a)
    size = a.shape[-1]
    others = np.where(np.eye(size, dtype=bool), np.ones((), s.dtype), s[..., None, :])
    sign = np.linalg.det(u) * np.linalg.det(vh)
    scaled = u.conj() * (sign[..., None] * others.prod(-1))[..., None, :]
    return (scaled @ vh.conj()).astype(a.dtype, copy=False)


def first_bad_minor(a: Any) -> Any:
    """For each matrix, the order of the first minor that is not positive; 0 for none."""
    info = np.zeros(math.prod(a.shape[:-2]), np.int32)
    for number, matrix in enumerate(_flat(a)):
        for order in range(1, matrix.shape[0] + 1):
            try:
                np.linalg.cholesky(matrix[:order, :order])
            except np.linalg.LinAlgError:
                info[number] = order
                break
    return info.reshape(a.shape[:-2])


def cholesky(a: Any, upper: bool, name: str, quiet: bool = False) -> Any:
    """The Cholesky factor; an error names the minor that is not positive, unless ``quiet``."""
    try:
        return np.linalg.cholesky(a, upper=upper)
    except np.linalg.LinAlgError:
        if quiet:
            return partial_cholesky(a, upper)
        info = first_bad_minor(a).reshape(-1)
        bad = int(np.flatnonzero(info)[0]) if info.any() else 0
        raise LinAlgError(
            f"{name}: {_batch_label(a, bad)}The factorization could not be completed because the "
            "input is not positive-definite (the leading minor of order "
            f"{max(int(info[bad]), 1)} is not positive-definite).") from None


def partial_cholesky(a: Any, upper: bool) -> Any:
    """Factors of the matrices that have one; the others are left as they are."""
    found = a.copy()
    for target, info in zip(_flat(found), first_bad_minor(a).reshape(-1), strict=True):
        if not info:
            target[...] = np.linalg.cholesky(target, upper=upper)
    return triangle(found, 0, upper)


def qr(a: Any, mode: str) -> tuple[Any, Any]:
    """Q and R; an empty Q in mode "r"."""
    if mode == "r":
        return np.empty((0,), a.dtype), np.linalg.qr(a, "r")
    q, r = np.linalg.qr(a, mode)  # type: ignore[call-overload]
    return q, r


def eig(a: Any) -> tuple[Any, Any]:
    """Complex eigenvalues and eigenvectors."""
    values, vectors = np.linalg.eig(a)
    kind = np.complex64 if a.dtype in (FLOAT32, np.complex64) else np.complex128
    return values.astype(kind, copy=False), vectors.astype(kind, copy=False)


def _threshold(values: Any, shape: tuple[int, ...], atol: Any, rtol: Any) -> Any:
    """Below which singular values count as zero."""
    atol = np.asarray(0.0 if atol is None else atol)
    if rtol is None:
        rtol = np.where(atol > 0, 0.0, max(shape[-2:]) * np.finfo(values.dtype).eps)
    largest = values.max(-1, keepdims=True) if values.shape[-1] else np.zeros(1, values.dtype)
    return np.maximum(atol[..., None], np.asarray(rtol)[..., None] * largest)


def pseudo_inverse(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """The pseudo-inverse, by singular values or eigenvalues above a threshold."""
    if hermitian:
        values, vectors = np.linalg.eigh(a)
        keep = np.absolute(values) > _threshold(np.absolute(values), a.shape, atol, rtol)
        scaled = np.where(keep, 1 / np.where(keep, values, 1), 0).astype(values.dtype)
        return (vectors * scaled[..., None, :]) @ vectors.conj().swapaxes(-1, -2)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    keep = s > _threshold(s, a.shape, atol, rtol)
    scaled = np.where(keep, 1 / np.where(keep, s, 1), 0).astype(s.dtype)
    return (vh.conj().swapaxes(-1, -2) * scaled[..., None, :]) @ u.conj().swapaxes(-1, -2)


def rank(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """How many singular values lie above the threshold."""
    values = np.absolute(np.linalg.eigvalsh(a)) if hermitian else np.linalg.svd(a, compute_uv=False)
    return np.asarray((values > _threshold(values, a.shape, atol, rtol)).sum(-1), np.int64)


def exponential(a: Any) -> Any:
    """The matrix exponential: a Taylor polynomial of a scaled matrix, squared back."""
    if is_low_precision(a.dtype):
        return exponential(a.astype(FLOAT32)).astype(a.dtype)
    norms = np.absolute(a).sum(-1).max(-1, initial=0) if a.size else np.zeros(a.shape[:-2])
    largest = float(np.max(norms, initial=0))
    if not np.isfinite(largest):
        return np.full_like(a, np.nan)
    halvings = max(0, math.ceil(math.log2(largest)) + 1) if largest > 0.5 else 0
    scaled = a / 2.0 ** halvings
    one = np.eye(a.shape[-1], dtype=a.dtype)
    # Degree 18 is exact to double precision for a norm of one half.
    y = one + scaled / 18
    for k in range(17, 0, -1):
        y = one + (scaled @ y) / k
    for _ in range(halvings):
        y = y @ y
    return y.astype(a.dtype, copy=False)
