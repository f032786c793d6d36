"""Norms and pairwise distances on NumPy arrays, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..plain import distance as plain, fill_with_plain_bodies
from ..plain.distance import lengths, norm_of_rows, sizes
from ..plain.precision import wide
from . import FLOAT32, FLOAT64, LARGE, in_rows
from .native import native, strided
from .pointwise import zeroed

# Above this many numbers the differences of all pairs are not held at once, but only so many.
_MANY = 1 << 22
_SOME = 1 << 19


def _norm(array: Any, ord: float, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    # BLAS, for the length of a whole array or of its rows.
    if ord == 2 and not keepdims and (array.dtype is FLOAT32 or array.dtype is FLOAT64):
        if not (dim and array.ndim) or len(dim) == array.ndim:
            flat = array.ravel()
            return np.sqrt(flat.dot(flat))
        if dim in ((-1,), (array.ndim - 1,)) and array.size < LARGE:
            return np.sqrt(np.vecdot(array, array))
    # What has kernels is asked of this module.
    if ord == 2:
        return lengths(array, dim, keepdims)
    return sizes(array, dim, keepdims) if ord == 1 else plain._norm(array, ord, dim, keepdims)


def of_points(x1: Any, x2: Any) -> bool:
    """Whether there is a kernel for sets of points: of one dtype, and as many of each."""
    return x1.ndim == x2.ndim > 1 and x1.shape[:-2] == x2.shape[:-2] \
        and x1.dtype.itemsize > 2 and strided(x1, x2)


@native("pairwise(in_rows(x1), in_rows(x2), empty((*x1.shape[:-1], x2.shape[-2]), x1.dtype), "
        "ord == 2)", of_points, in_rows,
        when="(ord == 2 or ord == 1) and x1.size * x2.shape[-2] > 1023 and of_points(x1, x2)")
def pairwise(x1: Any, x2: Any, ord: float) -> Any:
    # A few points after the others, where there are many.
    if not _are_many(x1, x2):
        return plain.pairwise(x1, x2, ord)
    lead = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    found = np.empty((*lead, x1.shape[-2], x2.shape[-2]), x1.dtype)
    for part, apart in _differences(x1, x2):
        found[..., part, :] = np.sqrt(np.vecdot(apart, apart)) if ord == 2 \
            else norm_of_rows(apart, ord)
    return found


@native("pairwise_gradient(*map(in_rows, (g, x1, x2, y)), like(x1))", of_points, in_rows,
        when="of_points(x1, x2) and g.shape == y.shape and strided(x1, g, y)")
def pairwise_gradient(g: Any, x1: Any, x2: Any, y: Any) -> Any:
    # The same; factors and differences meet as matrices.
    if not _are_many(x1, x2) or y.shape[:-2] != x1.shape[:-2]:
        return plain.pairwise_gradient(g, x1, x2, y)
    factor = zeroed(wide(g) / np.where(y == 0, np.ones((), y.dtype), y), y == 0)
    found = np.empty(x1.shape, x1.dtype)
    for part, apart in _differences(x1, x2):
        found[..., part, :] = np.matmul(factor[..., part, None, :], apart)[..., 0, :]
    return found


def _are_many(x1: Any, x2: Any) -> bool:
    return x1.size * x2.shape[-2] > _MANY


def _differences(x1: Any, x2: Any) -> Iterator[tuple[slice, Any]]:
    """Some points of ``x1`` at a time, and how far they are from all others."""
    left, right = wide(x1)[..., :, None, :], wide(x2)[..., None, :, :]
    step = max(1, _SOME * x1.shape[-2] // (x1.size * x2.shape[-2]))
    for start in range(0, x1.shape[-2], step):
        part = slice(start, start + step)
        yield part, left[..., part, :, :] - right


_ALONG = {"when": "array.size > 1023 and ready(array) and neighbours(array, dim)"}
_GIVEN = "(array, without(array, dim, keepdims), *neighbours(array, dim))"

fill_with_plain_bodies(globals(), plain, lengths=native("length_along" + _GIVEN, **_ALONG),
                       sizes=native("size_along" + _GIVEN, **_ALONG))
