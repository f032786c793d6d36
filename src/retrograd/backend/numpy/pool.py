"""Pooling on raw arrays: the maximum or mean of every window, and their gradients.

Arrays are (*planes, *space). Windows are combined along one dimension after the other, so that one
of nine elements costs two steps in each direction and not eight.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from . import INT64
from .conv import inner_part
from .rows import number, row_starts

Ints = tuple[int, ...]
INT8, INT16 = np.dtype("int8"), np.dtype("int16")


def pool_space(space: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
               ceil_mode: bool) -> Ints:
    """The output size of a pooling; with ``ceil_mode`` a last window may hang over the end."""
    found = []
    for n, k, s, p, d in zip(space, kernel, stride, padding, dilation, strict=True):
        reach = n + 2 * p - d * (k - 1) - 1
        size = (reach + (s - 1 if ceil_mode else 0)) // s + 1
        # A window must start inside the input or its left padding.
        if ceil_mode and (size - 1) * s >= n + p:
            size -= 1
        found.append(size)
    return tuple(found)


@lru_cache(maxsize=256)
def _reach(space: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
           out: Ints) -> Ints:
    """The size of the input with its padding, as far as the windows go."""
    return tuple([max((m - 1) * s + d * (k - 1) + 1, p + n) for m, s, d, k, p, n in zip(
        out, stride, dilation, kernel, padding, space, strict=True)])


def _pool_input(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints,
                value: Any) -> Any:
    """``x`` padded on the left by ``padding`` and on the right as far as the windows reach."""
    space = x.shape[-len(kernel):]
    needed = _reach(space, kernel, stride, padding, dilation, out)
    if needed == space:
        return x
    whole = np.full((*x.shape[:-len(kernel)], *needed), value, x.dtype)
    whole[inner_part(padding, space)] = x
    return whole


@lru_cache(maxsize=256)
def _parts(kernel: Ints, stride: Ints, dilation: Ints, out: Ints, behind: int = 0
           ) -> list[list[Any]]:
    """For each dimension, and each position of the kernel along it, where all windows have it.

    The dimensions are the last ones but ``behind``.
    """
    found = []
    for i, (k, s, d, n) in enumerate(zip(kernel, stride, dilation, out, strict=True)):
        rest = (slice(None),) * (len(kernel) - i - 1 + behind)
        found.append([(..., slice(j * d, j * d + (n - 1) * s + 1, s), *rest) for j in range(k)])
    return found


def _combined(combine: Any, x: Any, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """``combine``, a function of two arrays, over the elements of every window."""
    found = x
    for first, *others in _parts(kernel, stride, dilation, out):
        whole, found, memory = found, found[first], None
        for place in others:
            found = memory = combine(found, whole[place], out=memory)
    return found if found.base is None else found.copy()


# ---------------------------------------------------------------- maxima


def lowest(dtype: Any) -> Any:
    """The value that never wins a maximum."""
    return -np.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


def max_pool(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Any:
    """The largest value of every window; NaN wins."""
    whole = _pool_input(x, kernel, stride, padding, dilation, out, lowest(x.dtype))
    return _combined(np.maximum, whole, kernel, stride, dilation, out)


class _Windows(NamedTuple):
    """What the windows of a pooling have in common, whatever the data."""

    steps: Ints  # how far apart in a flat plane neighbours in a window are, along each dimension
    kind: Any  # the dtype of places in a window
    first: Any  # where in a flat plane each window begins


@lru_cache(maxsize=256)
def _windows(space: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
             out: Ints) -> _Windows:
    steps = tuple([d * math.prod(space[i + 1:]) for i, d in enumerate(dilation)])
    farthest = sum([s * (k - 1) for s, k in zip(steps, kernel, strict=True)])
    # Arithmetic on the smallest integers is the quickest.
    kind = INT8 if farthest < 1 << 7 else INT16 if farthest < 1 << 15 else INT64
    first = np.zeros((), INT64)
    for n, s, p, m in zip(space, stride, padding, out, strict=True):
        first = first[..., None] * n + (np.arange(m) * s - p)
    return _Windows(steps, kind, first)


def max_pool_with_places(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
                         out: Ints) -> tuple[Any, Any]:
    """The largest value of every window, and how far from the window's first element it lies.

    Of equal values the first one counts, and of several NaN the last.
    """
    space = x.shape[-len(kernel):]
    whole = _pool_input(x, kernel, stride, padding, dilation, out, lowest(x.dtype))
    windows = _windows(space, kernel, stride, padding, dilation, out)
    best, places = _maxima_and_places(whole, windows, kernel, stride, dilation, out)
    if x.dtype.kind not in "iu" and np.isnan(np.maximum.reduce(best, axis=None, initial=-np.inf)):
        _find_last_nan(whole, places, windows, kernel, stride, dilation, out)
    if any(padding):
        _point_inside(places, best, windows, space, stride, padding, dilation, out)
    return best, places


def indices_of_places(places: Any, space: Ints, kernel: Ints, stride: Ints, padding: Ints,
                      dilation: Ints, out: Ints) -> Any:
    """Places in windows as indices in planes."""
    return _windows(space, kernel, stride, padding, dilation, out).first + places


def _maxima_and_places(x: Any, windows: _Windows, kernel: Ints, stride: Ints, dilation: Ints,
                       out: Ints) -> tuple[Any, Any]:
    rank, space = len(kernel), x.shape[-len(kernel):]
    planes = math.prod(x.shape[:-rank])
    # Many small planes are laid side by side: a long dimension inside makes for quick loops.
    aside = space[-1] <= 16 <= planes
    best = x.reshape(planes, -1).T.copy().reshape(*space, planes) if aside else x
    places = None
    # The last dimension comes first, so that the first of equals is the one in the first row.
    for i in reversed(range(rank)):
        parts = _parts(kernel, stride, dilation, out, int(aside))[i]
        best, places = _best_along(best, places, parts, windows.steps[i], windows.kind)
    shape = (*x.shape[:-rank], *out)
    if places is None:
        places = np.zeros(shape, windows.kind)
    elif aside:
        places = places.reshape(-1, planes).T.reshape(shape)
    return best.reshape(-1, planes).T.reshape(shape) if aside else np.array(best), places


def _best_along(x: Any, places: Any, parts: list[Any], step: int, kind: Any) -> tuple[Any, Any]:
    """The largest of ``parts`` of ``x``, and how far from the first they lie, first ones first.

    ``places`` says so of the elements of ``x``; None stands for zero everywhere.
    """
    best, where = x[parts[0]], None if places is None else places[parts[0]]
    for j, part in enumerate(parts[1:], 1):
        other, here = x[part], number(j * step, kind)
        better = np.greater(other, best).view(INT8)
        best = np.maximum(best, other)
        # Arithmetic takes the place of a choice, whose branches would be slow.
        if where is None:
            where = better * here
            continue
        change = here - where if places is None else places[part] - where + here
        change *= better
        where = np.add(change, where, out=change)
    return best, where


def _find_last_nan(whole: Any, places: Any, windows: _Windows, kernel: Ints, stride: Ints,
                   dilation: Ints, out: Ints) -> None:
    """Correct ``places`` for the windows in which there is NaN."""
    for place in itertools.product(*map(range, kernel)):
        part = whole[(..., *[slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, n, s in zip(
            place, dilation, out, stride, strict=True)])]
        np.copyto(places, sum(i * s for i, s in zip(place, windows.steps, strict=True)),
                  where=part != part)


def _point_inside(places: Any, best: Any, windows: _Windows, space: Ints, stride: Ints,
                  padding: Ints, dilation: Ints, out: Ints) -> None:
    """Windows of nothing but -inf must still point at an element, not at the padding around."""
    empty = best == lowest(best.dtype)
    if not empty.any():
        return
    inside = np.zeros((), INT64)
    for n, s, p, d, m in zip(space, stride, padding, dilation, out, strict=True):
        start = np.arange(m) * s - p
        inside = inside[..., None] * n + np.where(start < 0, start + -(start // d) * d, start)
    np.copyto(places, (inside - windows.first).astype(places.dtype), where=empty)


def _flat_places(indices: Any, space: Ints) -> Any:
    """Indices in each plane as indices in all of them, one after the other."""
    count = math.prod(indices.shape[-len(space):])
    planes = indices.size // (count or 1)
    starts = row_starts(planes, math.prod(space))
    return (indices.reshape(planes, count) + starts[:, None]).reshape(-1)


def scatter_planes(g: Any, indices: Any, space: Ints, unique: bool) -> Any:
    """Put (or add, where indices repeat) each value at its index in a plane of zeros."""
    whole = np.zeros((*g.shape[:-len(space)], *space), g.dtype)
    if g.size:
        _put(whole.reshape(-1), _flat_places(indices, space), g.reshape(-1), unique)
    return whole


def scatter_places(g: Any, places: Any, space: Ints, kernel: Ints, stride: Ints, padding: Ints,
                   dilation: Ints, out: Ints, unique: bool) -> Any:
    """Put (or add, where they repeat) each value at its place in a window, in planes of zeros."""
    whole = np.zeros((*g.shape[:-len(space)], *space), g.dtype)
    if g.size:
        first = _windows(space, kernel, stride, padding, dilation, out).first.reshape(-1)
        flat = row_starts(g.size // first.size, math.prod(space))[:, None] + first
        flat += places.reshape(flat.shape)
        _put(whole.reshape(-1), flat.reshape(-1), g.reshape(-1), unique)
    return whole


def _put(flat: Any, places: Any, values: Any, unique: bool) -> None:
    if unique:
        flat[places] = values
    else:
        np.add.at(flat, places, values)


def gather_planes(x: Any, indices: Any, rank: int) -> Any:
    """The values of each plane at its indices."""
    if not indices.size:
        return np.empty(indices.shape, x.dtype)
    return x.reshape(-1).take(_flat_places(indices, x.shape[-rank:])).reshape(indices.shape)


# ---------------------------------------------------------------- means


def average_pool(x: Any, kernel: Ints, stride: Ints, padding: Ints, out: Ints, include_pad: bool,
                 divisor: Any) -> Any:
    """The mean of every window."""
    ones = (1,) * len(kernel)
    whole = _pool_input(x, kernel, stride, padding, ones, out, 0)
    total = _combined(np.add, whole, kernel, stride, ones, out)
    return _divided(total, _divisor(x.shape[-len(kernel):], kernel, stride, padding, out,
                                    include_pad, divisor))


def _divided(total: Any, divisor: Any) -> Any:
    """``total`` divided, in its own memory."""
    divisor = divisor.astype(total.dtype) if isinstance(divisor, np.ndarray) \
        else number(divisor, total.dtype)
    if total.dtype.kind in "iu":
        return (total / divisor).astype(total.dtype)
    total /= divisor
    return total


def _divisor(space: Ints, kernel: Ints, stride: Ints, padding: Ints, out: Ints, include_pad: bool,
             divisor: Any) -> Any:
    """What each window's sum is divided by: one number, or one for each window."""
    if divisor is not None:
        return divisor
    if not any(padding) and all((m - 1) * s + k <= n for n, k, s, m in zip(
            space, kernel, stride, out, strict=True)):
        return math.prod(kernel)
    counts = np.ones(())
    for axis, (n, k, s, p, m) in enumerate(zip(space, kernel, stride, padding, out, strict=True)):
        start = np.arange(m) * s - p
        end = np.minimum(start + k, n + p)
        if not include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        shape = (-1,) + (1,) * (len(space) - axis - 1)
        counts = counts * (end - start).reshape(shape)
    return counts


def average_pool_gradient(g: Any, space: Ints, kernel: Ints, stride: Ints, padding: Ints,
                          include_pad: bool, divisor: Any) -> Any:
    """What reaches the input of :func:`average_pool`."""
    rank = len(kernel)
    ones, out = (1,) * rank, g.shape[-rank:]
    share = _divided(g.copy(), _divisor(space, kernel, stride, padding, out, include_pad, divisor))
    needed = _reach(space, kernel, stride, padding, ones, out)
    for i, places in enumerate(_parts(kernel, stride, ones, out)):
        shape = list(share.shape)
        shape[i - rank] = needed[i]
        apart = stride[i] >= kernel[i]
        # Windows that lie side by side leave nothing to be zeroed or added up.
        covered = apart and stride[i] == kernel[i] and out[i] * stride[i] == needed[i]
        whole = np.empty(shape, g.dtype) if covered else np.zeros(shape, g.dtype)
        for place in places:
            if apart:
                whole[place] = share
            else:
                whole[place] += share
        share = whole
    return share if needed == space else np.ascontiguousarray(share[inner_part(padding, space)])


# ---------------------------------------------------------------- nearly equal parts


def adaptive_edges(size: int, out: int) -> list[tuple[int, int]]:
    """Where each of ``out`` nearly equal parts of ``size`` begins and ends."""
    return [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


def adaptive_matrix(size: int, out: int, dtype: Any) -> Any:
    """The matrix that averages ``size`` elements into ``out`` parts."""
    matrix = np.zeros((out, size), dtype)
    for i, (start, end) in enumerate(adaptive_edges(size, out)):
        matrix[i, start:end] = 1 / (end - start)
    return matrix


def adaptive_max_indices(x: Any, out: Ints) -> Any:
    """Where in its plane the maximum of each adaptive window lies."""
    space, lead = x.shape[-len(out):], x.shape[:-len(out)]
    found = np.zeros((*lead, *out), np.int64)
    edges = [adaptive_edges(n, m) for n, m in zip(space, out, strict=True)]
    for place in itertools.product(*map(range, out)):
        bounds = [e[i] for e, i in zip(edges, place, strict=True)]
        part = x[(..., *(slice(a, b) for a, b in bounds))]
        sizes = part.shape[-len(out):]
        inside = np.unravel_index(part.reshape(*lead, math.prod(sizes)).argmax(-1), sizes)
        flat: Any = 0
        for (start, _), position, n in zip(bounds, inside, space, strict=True):
            flat = flat * n + start + position
        found[(..., *place)] = flat
    return found
