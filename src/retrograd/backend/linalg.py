"""Products of arrays and matrix factorisations, on raw arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .numpy import FLOAT32, FLOAT64, as_array

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


def blocks_on_diagonal(arrays: Any, dtype: Any) -> Any:
    """A matrix with ``arrays`` along its diagonal."""
    matrices = [a.reshape(1, -1) if a.ndim < 2 else a for a in map(as_array, arrays)]
    whole = np.zeros((sum(m.shape[0] for m in matrices), sum(m.shape[1] for m in matrices)), dtype)
    row = col = 0
    for m in matrices:
        whole[row:row + m.shape[0], col:col + m.shape[1]] = m
        row, col = row + m.shape[0], col + m.shape[1]
    return whole
