"""Products of arrays and matrix factorisations, on raw arrays."""

from __future__ import annotations

import math
from typing import Any

from .. import xp
from .precision import is_half as is_low_precision, wide


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


def eigvalsh(a: Any, side: str) -> Any:
    """Eigenvalues of Hermitian matrices, of which one side is read."""
    return xp.linalg.eigvalsh(a, side)


def eig(a: Any, finite: bool) -> tuple[Any, Any]:
    """Complex eigenvalues and eigenvectors: of ``finite`` matrices only, or NaN of the others."""
    a, bad = _finite(a, finite)
    values, vectors = xp.linalg.eig(a)
    kind = xp.promote_types(a.dtype, xp.complex64)
    return xp.cast(_unless(bad, values), kind), xp.cast(vectors, kind)


def eigvals(a: Any, finite: bool) -> Any:
    """Complex eigenvalues: of ``finite`` matrices only, or NaN of the others."""
    a, bad = _finite(a, finite)
    return xp.cast(_unless(bad, xp.linalg.eigvals(a)), xp.promote_types(a.dtype, xp.complex64))


def _finite(a: Any, finite: bool) -> tuple[Any, Any]:
    """Matrices with zeros in the place of those that are not finite, and which those are."""
    bad = ~xp.isfinite(a).all(axis=(-2, -1))
    if not bad.any():
        return a, None
    if finite:
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return xp.where(bad[..., None, None], xp.zeros((), a.dtype), a), bad


def _unless(bad: Any, values: Any) -> Any:
    return values if bad is None else xp.where(bad[..., None], xp.nan * (1 + 1j), values)


def exponential(a: Any) -> Any:
    """The matrix exponential: a Taylor polynomial of a scaled matrix, squared back."""
    if is_low_precision(a.dtype):
        return exponential(wide(a)).astype(a.dtype)
    largest = float(xp.max(xp.absolute(a).sum(-1))) if a.size else 0.0
    if not math.isfinite(largest):
        return xp.full_like(a, xp.nan)
    halvings = max(0, math.ceil(math.log2(largest)) + 1) if largest > 0.5 else 0
    # What is left out is below the last digit, for a norm of one half.
    single = xp.float_info(a.dtype).eps > 1e-8
    y = _taylor(a / 2.0 ** halvings, *((3, 3) if single else (4, 4)))
    for _ in range(halvings):
        y = y @ y
    return xp.cast(y, a.dtype)


def _taylor(a: Any, few: int, blocks: int) -> Any:
    """The first ``few * blocks`` terms of the exponential's series: a polynomial in the power
    ``few`` of ``a``, whose coefficients are polynomials of the powers below it."""
    powers = [xp.eye(a.shape[-1], dtype=a.dtype), a]
    while len(powers) <= few:
        powers.append(powers[-1] @ a)
    y = None
    for start in reversed(range(0, few * blocks, few)):
        block = sum(power / math.factorial(start + k) for k, power in enumerate(powers[:few]))
        y = block if y is None else y @ powers[few] + block
    return y


def quasi_newton(gradient: Any, changes: Any, moves: Any, weights: Any, scale: Any
                 ) -> tuple[Any, list[Any]]:
    """Minus the gradient, turned by how it changed with each move, the first one first.

    The weights are one over the products of both. Also what was taken out for each change.
    """
    found, shares = -gradient, [None] * len(moves)
    for i in reversed(range(len(moves))):
        shares[i] = dot(moves[i], found) * weights[i]
        found = found - changes[i] * shares[i]
    found = found * scale
    for change, move, weight, share in zip(changes, moves, weights, shares, strict=True):
        found = found + move * (share - dot(change, found) * weight)
    return found, shares
