"""Products of arrays and matrix factorisations, on raw arrays."""

from __future__ import annotations

import math
from typing import Any

from .. import xp
from .precision import is_half as is_low_precision
from .precision import wide


def product(a: Any, b: Any) -> Any:
    """The matrix product; half precision accumulates in float32."""
    return xp.cast(xp.matmul(wide(a), wide(b)), a.dtype)


def dot(a: Any, b: Any) -> Any:
    """The matrix product of two arrays with at most two dimensions."""
    return product(a, b)


def sum_rows(array: Any) -> Any:
    """The sum over the first of two dimensions."""
    dtype = array.dtype
    found = xp.sum(wide(array), axis=0, dtype=xp.FLOAT32 if is_low_precision(dtype) else dtype)
    return xp.cast(found, dtype)


def affine(x: Any, weight: Any, bias: Any) -> Any:
    """``x @ weight.T + bias``, rounded once."""
    return xp.cast(xp.matmul(wide(x), wide(weight).T) + bias, x.dtype)


def bilinear(left: Any, right: Any, weight: Any) -> Any:
    """``left[i] @ weight[k] @ right[i]`` for every row i and every k."""
    rows, (outputs, inner, width) = left.shape[0], weight.shape
    flat = wide(weight).transpose(1, 0, 2).reshape(inner, outputs * width)
    halves = xp.matmul(wide(left), flat).reshape(rows, outputs, width)
    return xp.cast(xp.matmul(halves, wide(right)[:, :, None])[:, :, 0], left.dtype)


def fold(array: Any) -> Any:
    """All but the last dimension merged into one."""
    return array.reshape(math.prod(array.shape[:-1]), array.shape[-1])


def scaled_sum(base: Any, term: Any, beta: Any, alpha: Any) -> Any:
    """``beta * base + alpha * term`` in ``term``'s dtype; a zero ``beta`` drops ``base``."""
    dtype = term.dtype
    if dtype.kind in "iu":
        alpha, beta = int(alpha), int(beta)
    if alpha != 1:
        term = term * alpha
    if beta != 0:
        term = term + (base if beta == 1 else base * beta)
    return xp.cast(term, dtype)


# ---------------------------------------------------------------- triangles and diagonals


def triangle(array: Any, diagonal: int, upper: bool) -> Any:
    """``array`` with the other side of ``diagonal`` set to zero."""
    rows, cols = array.shape[-2:]
    keep = xp.tri(rows, cols, diagonal - 1 if upper else diagonal, dtype=bool)
    return xp.where(~keep if upper else keep, array, xp.zeros((), array.dtype))


def embedded_diagonal(array: Any, offset: int, dim1: int, dim2: int) -> Any:
    """Zeros whose diagonal between two new dimensions is ``array``'s last dimension."""
    size = array.shape[-1] + abs(offset)
    whole = xp.zeros((*array.shape[:-1], size, size), array.dtype)
    rows = xp.arange(array.shape[-1])
    whole[..., rows + max(-offset, 0), rows + max(offset, 0)] = array
    return xp.moveaxis(whole, (-2, -1), (dim1, dim2))


def on_diagonal(values: Any, shape: tuple[int, ...], offset: int) -> Any:
    """Zeros of ``shape`` with ``values`` on a diagonal."""
    whole = xp.zeros(shape, values.dtype)
    rows = xp.arange(values.shape[-1])
    whole[rows + max(-offset, 0), rows + max(offset, 0)] = values
    return whole


def cross(a: Any, b: Any, axis: int) -> Any:
    """The cross product of vectors of length three along ``axis``."""
    a, b = xp.moveaxis(a, axis, -1), xp.moveaxis(b, axis, -1)
    turn, back = [1, 2, 0], [2, 0, 1]
    product = a[..., turn] * b[..., back] - a[..., back] * b[..., turn]
    return xp.ascontiguousarray(xp.moveaxis(product, -1, axis))


# ---------------------------------------------------------------- factorisations


def qr(a: Any, mode: str) -> tuple[Any, Any]:
    """Q and R; an empty Q in mode "r"."""
    if mode == "r":
        return xp.empty((0,), a.dtype), xp.linalg.qr(a, "r")
    q, r = xp.linalg.qr(a, mode)
    return q, r


def eigh(a: Any, side: str) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of Hermitian matrices, of which one side is read."""
    values, vectors = xp.linalg.eigh(a, side)
    return values, vectors


def eig(a: Any, finite: bool) -> tuple[Any, Any]:
    """Complex eigenvalues and eigenvectors: of ``finite`` matrices only, or NaN of the others."""
    bad = ~xp.isfinite(a).all(axis=(-2, -1))
    if finite and bad.any():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = xp.linalg.eig(xp.where(bad[..., None, None], 0, a) if bad.any() else a)
    if bad.any():
        values = xp.where(bad[..., None], xp.nan * (1 + 1j), values)
    kind = xp.dtype(xp.complex64 if a.dtype in (xp.FLOAT32, xp.complex64) else xp.complex128)
    return xp.cast(values, kind), xp.cast(vectors, kind)


def _threshold(values: Any, shape: tuple[int, ...], atol: Any, rtol: Any) -> Any:
    """Below which singular values count as zero."""
    atol = xp.asarray(0.0 if atol is None else atol)
    if rtol is None:
        rtol = xp.where(atol > 0, 0.0, max(shape[-2:]) * xp.float_info(values.dtype).eps)
    largest = values.max(-1, keepdims=True) if values.shape[-1] else xp.zeros(1, values.dtype)
    return xp.maximum(atol[..., None], xp.asarray(rtol)[..., None] * largest)


def pseudo_inverse(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """The pseudo-inverse, by singular values or eigenvalues above a threshold."""
    if hermitian:
        values, vectors = xp.linalg.eigh(a)
        keep = xp.absolute(values) > _threshold(xp.absolute(values), a.shape, atol, rtol)
        scaled = xp.where(keep, 1 / xp.where(keep, values, 1), 0).astype(values.dtype)
        return (vectors * scaled[..., None, :]) @ vectors.conj().swapaxes(-1, -2)
    u, s, vh = xp.linalg.svd(a, full_matrices=False)
    keep = s > _threshold(s, a.shape, atol, rtol)
    scaled = xp.where(keep, 1 / xp.where(keep, s, 1), 0).astype(s.dtype)
    return (vh.conj().swapaxes(-1, -2) * scaled[..., None, :]) @ u.conj().swapaxes(-1, -2)


def rank(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """How many singular values lie above the threshold."""
    values = xp.absolute(xp.linalg.eigvalsh(a)) if hermitian else xp.linalg.svd(a, compute_uv=False)
    above = values > _threshold(values, a.shape, atol, rtol)
    return xp.as_array(above.sum(-1, dtype=xp.INT64))


def exponential(a: Any) -> Any:
    """The matrix exponential: a Taylor polynomial of a scaled matrix, squared back."""
    if is_low_precision(a.dtype):
        return exponential(wide(a)).astype(a.dtype)
    largest = float(xp.max(xp.absolute(a).sum(-1))) if a.size else 0.0
    if not math.isfinite(largest):
        return xp.full_like(a, xp.nan)
    halvings = max(0, math.ceil(math.log2(largest)) + 1) if largest > 0.5 else 0
    scaled = a / 2.0 ** halvings
    one = xp.eye(a.shape[-1], dtype=a.dtype)
    # Degree 18 is exact to double precision for a norm of one half.
    y = one + scaled / 18
    for k in range(17, 0, -1):
        y = one + (scaled @ y) / k
    for _ in range(halvings):
        y = y @ y
    return xp.cast(y, a.dtype)
