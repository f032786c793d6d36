"""Pooling on raw arrays: the maximum or mean of every window, and their gradients.

Arrays are (*planes, *space). Windows are combined along one dimension after the other, so that one
of nine elements costs two steps in each direction and not eight.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import Any

from .. import xp
from .conv import inner_part
from .precision import wide

Ints = tuple[int, ...]


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
def reach(space: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
           out: Ints) -> Ints:
    """The size of the input with its padding, as far as the windows go."""
    return tuple([max((m - 1) * s + d * (k - 1) + 1, p + n) for m, s, d, k, p, n in zip(
        out, stride, dilation, kernel, padding, space, strict=True)])


def pool_input(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints,
                value: Any) -> Any:
    """``x`` padded on the left by ``padding`` and on the right as far as the windows reach."""
    space = x.shape[-len(kernel):]
    needed = reach(space, kernel, stride, padding, dilation, out)
    if needed == space:
        return x
    whole = xp.full((*x.shape[:-len(kernel)], *needed), value, x.dtype)
    whole[inner_part(padding, space)] = x
    return whole


@lru_cache(maxsize=256)
def parts(kernel: Ints, stride: Ints, dilation: Ints, out: Ints, behind: int = 0
          ) -> list[list[Any]]:
    """For each dimension, and each position of the kernel along it, where all windows have it.

    The dimensions are the last ones but ``behind``.
    """
    found = []
    for i, (k, s, d, n) in enumerate(zip(kernel, stride, dilation, out, strict=True)):
        rest = (slice(None),) * (len(kernel) - i - 1 + behind)
        found.append([(..., slice(j * d, j * d + (n - 1) * s + 1, s), *rest) for j in range(k)])
    return found


def combined(combine: Any, x: Any, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """``combine``, a function of two arrays, over the elements of every window."""
    found = x
    for first, *others in parts(kernel, stride, dilation, out):
        whole, found = found, found[first]
        for place in others:
            found = combine(found, whole[place])
    return xp.in_rows(found) if math.prod(kernel) > 1 else found.copy()


# ---------------------------------------------------------------- maxima


def lowest(dtype: Any) -> Any:
    """The value that never wins a maximum."""
    return -math.inf if dtype.kind not in "iu" else int(xp.iinfo(dtype).min)


def max_pool(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Any:
    """The largest value of every window; NaN wins."""
    whole = pool_input(x, kernel, stride, padding, dilation, out, lowest(x.dtype))
    return combined(xp.maximum, whole, kernel, stride, dilation, out)


@lru_cache(maxsize=256)
def steps_in_plane(space: Ints, dilation: Ints) -> Ints:
    """How far apart in a flat plane neighbours in a window are, along each dimension."""
    return tuple([d * math.prod(space[i + 1:]) for i, d in enumerate(dilation)])


@lru_cache(maxsize=256)
def place_kind(space: Ints, kernel: Ints, dilation: Ints) -> Any:
    """The dtype of places in a window: arithmetic on the smallest integers is the quickest."""
    farthest = sum([s * (k - 1) for s, k in zip(steps_in_plane(space, dilation), kernel,
                                                strict=True)])
    return xp.dtype(xp.int8 if farthest < 1 << 7 else xp.int16 if farthest < 1 << 15
                    else xp.int64)


def window_starts(space: Ints, stride: Ints, padding: Ints, out: Ints) -> Any:
    """Where in a flat plane each window begins."""
    first = xp.zeros((), xp.INT64)
    for n, s, p, m in zip(space, stride, padding, out, strict=True):
        first = first[..., None] * n + (xp.arange(m) * s - p)
    return first


def max_pool_with_places(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
                         out: Ints) -> tuple[Any, Any]:
    """The largest value of every window, and how far from the window's first element it lies.

    Of equal values the first one counts, and of several NaN the last.
    """
    space = x.shape[-len(kernel):]
    whole = pool_input(x, kernel, stride, padding, dilation, out, lowest(x.dtype))
    best = places = None
    for place, part in window_parts(kernel, stride, dilation, out):
        other = whole[part]
        here = xp.full((), _offset(place, space, dilation), place_kind(space, kernel, dilation))
        if best is None:
            best, places = other.copy(), xp.zeros(other.shape, here.dtype)
            continue
        better = (other > best) | (other != other)
        best, places = xp.where(better, other, best), xp.where(better, here, places)
    if any(padding):
        places = pointing_inside(places, best, space, stride, padding, dilation, out)
    return best, places


def window_parts(kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """For every position in the kernel, where all windows have it."""
    for place in itertools.product(*map(range, kernel)):
        yield place, (..., *[slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, n, s in zip(
            place, dilation, out, stride, strict=True)])


def _offset(place: Ints, space: Ints, dilation: Ints) -> int:
    """How far in a flat plane a position in the kernel lies from the first."""
    return sum([i * s for i, s in zip(place, steps_in_plane(space, dilation), strict=True)])


def indices_of_places(places: Any, space: Ints, kernel: Ints, stride: Ints, padding: Ints,
                      dilation: Ints, out: Ints) -> Any:
    """Places in windows as indices in planes."""
    return window_starts(space, stride, padding, out) + places


def pointing_inside(places: Any, best: Any, space: Ints, stride: Ints, padding: Ints,
                    dilation: Ints, out: Ints) -> Any:
    """Windows of nothing but -inf must still point at an element, not at the padding around."""
    inside = xp.zeros((), xp.INT64)
    for n, s, p, d, m in zip(space, stride, padding, dilation, out, strict=True):
        start = xp.arange(m) * s - p
        inside = inside[..., None] * n + xp.where(start < 0, start + -(start // d) * d, start)
    inside = (inside - window_starts(space, stride, padding, out)).astype(places.dtype)
    return xp.where(best == lowest(best.dtype), inside, places)


def _flat_places(indices: Any, space: Ints) -> Any:
    """Indices in each plane as indices in all of them, one after the other."""
    count = math.prod(indices.shape[-len(space):])
    planes = indices.size // (count or 1)
    starts = xp.arange(planes) * math.prod(space)
    return (indices.reshape(planes, count) + starts[:, None]).reshape(-1)


def scatter_planes(g: Any, indices: Any, space: Ints, unique: bool) -> Any:
    """Put (or add, where indices repeat) each value at its index in a plane of zeros."""
    whole = xp.zeros((*g.shape[:-len(space)], *space), g.dtype)
    if not g.size:
        return whole
    flat, places = whole.reshape(-1), _flat_places(indices, space)
    if unique:
        flat[places] = g.reshape(-1)
    else:
        xp.add_at(flat, places, g.reshape(-1))
    return flat.reshape(whole.shape)


def scatter_places(g: Any, places: Any, space: Ints, kernel: Ints, stride: Ints, padding: Ints,
                   dilation: Ints, out: Ints, unique: bool) -> Any:
    """Put (or add, where they repeat) each value at its place in a window, in planes of zeros."""
    indices = indices_of_places(places, space, kernel, stride, padding, dilation, out)
    return scatter_planes(g, indices, space, unique)


def gather_planes(x: Any, indices: Any, rank: int) -> Any:
    """The values of each plane at its indices."""
    if not indices.size:
        return xp.empty(indices.shape, x.dtype)
    return xp.take(x.reshape(-1), _flat_places(indices, x.shape[-rank:])).reshape(indices.shape)


# ---------------------------------------------------------------- windows at random distances


def _fractional_starts(samples: Any, size: int, kernel: int, out: int) -> Any:
    """Where the windows of each plane begin along one dimension, from a number below 1 for each."""
    starts = xp.full((*samples.shape, out), size - kernel, xp.INT64)
    if out > 1:
        step = xp.asarray(size - kernel, dtype=samples.dtype) / xp.asarray(out - 1,
                                                                          dtype=samples.dtype)
        number = xp.arange(out - 1).astype(samples.dtype) + samples[..., None]
        first = (samples * step).astype(xp.INT64)[..., None]
        starts[..., :-1] = (number * step).astype(xp.INT64) - first
    return starts


def fractional_max_pool(x: Any, samples: Any, kernel: Ints, out: Ints) -> tuple[Any, Any]:
    """The largest value of every window, and its index in the plane.

    Of equal values the first one counts, and of several NaN the last.
    """
    rank, lead = len(kernel), x.shape[:-len(kernel)]
    space, planes = x.shape[-rank:], math.prod(lead)
    samples, flat = samples.reshape(planes, rank), x.reshape(planes, math.prod(space))
    # The numbers of an image are those of its width and height, of a volume in order.
    order = (1, 0) if rank == 2 else (0, 1, 2)
    first = xp.zeros((planes, 1), xp.INT64)
    for column, n, k, m in zip(order, space, kernel, out, strict=True):
        starts = _fractional_starts(samples[:, column], n, k, m)
        first = (first[:, :, None] * n + starts[:, None]).reshape(planes, first.shape[1] * m)
    best, places = xp.full(first.shape, lowest(x.dtype), x.dtype), first
    for place in itertools.product(*map(range, kernel)):
        here = first + _offset(place, space, (1,) * rank)
        other = xp.take_along_axis(flat, here, axis=1)
        better = (other > best) | (other != other)
        best, places = xp.where(better, other, best), xp.where(better, here, places)
    return best.reshape(*lead, *out), places.reshape(*lead, *out)


# ---------------------------------------------------------------- means


def average_pool(x: Any, kernel: Ints, stride: Ints, padding: Ints, out: Ints, include_pad: bool,
                 divisor: Any) -> Any:
    """The mean of every window."""
    ones = (1,) * len(kernel)
    whole = pool_input(wide(x), kernel, stride, padding, ones, out, 0)
    total = combined(xp.add, whole, kernel, stride, ones, out)
    return xp.cast(_divided(total, _divisor(x.shape[-len(kernel):], kernel, stride, padding, out,
                                            include_pad, divisor)), x.dtype)


def _divided(total: Any, divisor: Any) -> Any:
    """``total`` divided, in its own dtype."""
    divisor = divisor if isinstance(divisor, int | float) else divisor.astype(total.dtype)
    return xp.cast(total / divisor, total.dtype)


def _divisor(space: Ints, kernel: Ints, stride: Ints, padding: Ints, out: Ints, include_pad: bool,
             divisor: Any) -> Any:
    """What each window's sum is divided by: one number, or one for each window."""
    if divisor is not None:
        return divisor
    if not any(padding) and all((m - 1) * s + k <= n for n, k, s, m in zip(
            space, kernel, stride, out, strict=True)):
        return math.prod(kernel)
    counts = xp.ones((), xp.FLOAT64)
    for axis, (n, k, s, p, m) in enumerate(zip(space, kernel, stride, padding, out, strict=True)):
        start = xp.arange(m) * s - p
        end = xp.minimum(start + k, n + p)
        if not include_pad:
            start, end = xp.maximum(start, 0), xp.minimum(end, n)
        shape = (-1,) + (1,) * (len(space) - axis - 1)
        counts = counts * (end - start).reshape(shape)
    return counts


def average_pool_gradient(g: Any, space: Ints, kernel: Ints, stride: Ints, padding: Ints,
                          include_pad: bool, divisor: Any) -> Any:
    """What reaches the input of :func:`average_pool`."""
    rank = len(kernel)
    ones, out = (1,) * rank, g.shape[-rank:]
    share = _divided(wide(g), _divisor(space, kernel, stride, padding, out, include_pad, divisor))
    needed = reach(space, kernel, stride, padding, ones, out)
    for i, places in enumerate(parts(kernel, stride, ones, out)):
        shape = list(share.shape)
        shape[i - rank] = needed[i]
        apart = stride[i] >= kernel[i]
        # Windows that lie side by side leave nothing to be zeroed or added up.
        covered = apart and stride[i] == kernel[i] and out[i] * stride[i] == needed[i]
        whole = (xp.empty if covered else xp.zeros)(shape, share.dtype)
        for place in places:
            if apart:
                whole[place] = share
            else:
                whole[place] += share
        share = whole
    if needed != space:
        share = xp.ascontiguousarray(share[inner_part(padding, space)])
    return xp.cast(share, g.dtype)


# ---------------------------------------------------------------- nearly equal parts


def adaptive_edges(size: int, out: int) -> list[tuple[int, int]]:
    """Where each of ``out`` nearly equal parts of ``size`` begins and ends."""
    return [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


def adaptive_matrix(size: int, out: int, dtype: Any) -> Any:
    """The matrix that averages ``size`` elements into ``out`` parts."""
    matrix = xp.zeros((out, size), dtype)
    for i, (start, end) in enumerate(adaptive_edges(size, out)):
        matrix[i, start:end] = 1 / (end - start)
    return matrix


def adaptive_max_indices(x: Any, out: Ints) -> Any:
    """Where in its plane the maximum of each adaptive window lies: the first of equals, or NaN."""
    space = x.shape[-len(out):]
    edges = [adaptive_edges(n, m) for n, m in zip(space, out, strict=True)]
    widest = [max([end - start for start, end in along], default=0) for along in edges]
    find = _maxima_by_window if math.prod(out) <= math.prod(widest) else _maxima_by_place
    return find(x, space, edges, widest)


def _maxima_by_window(x: Any, space: Ints, edges: list[Any], widest: list[int]) -> Any:
    """:func:`adaptive_max_indices` of few windows, one after the other."""
    lead, rank = x.shape[:x.ndim - len(space)], len(space)
    found = xp.zeros((*lead, *map(len, edges)), xp.int64)
    for place in itertools.product(*[range(len(along)) for along in edges]):
        bounds = [along[i] for along, i in zip(edges, place, strict=True)]
        part = x[(..., *(slice(a, b) for a, b in bounds))]
        sizes = part.shape[-rank:]
        inside = xp.unravel_index(part.reshape(*lead, math.prod(sizes)).argmax(-1), sizes)
        flat: Any = 0
        for (start, _), position, n in zip(bounds, inside, space, strict=True):
            flat = flat * n + start + position
        found[(..., *place)] = flat
    return found


def _maxima_by_place(x: Any, space: Ints, edges: list[Any], widest: list[int]) -> Any:
    """:func:`adaptive_max_indices` of small windows, one place in all of them after the other.

    A window that is smaller has its last element again, which wins nothing.
    """
    lead = x.shape[:x.ndim - len(space)]
    planes = x.reshape(math.prod(lead), math.prod(space))
    best: Any = None
    for place in itertools.product(*map(range, widest)):
        here = xp.zeros((), xp.INT64)
        for along, step, n in zip(edges, place, space, strict=True):
            positions = xp.asarray([min(start + step, end - 1) for start, end in along], xp.INT64)
            here = here[..., None] * n + positions
        other = xp.take(planes, here.reshape(-1), axis=1)
        if best is None:
            best, found = other, xp.zeros(other.shape, xp.INT64) + here.reshape(-1)
            continue
        better = (other > best) | ((other != other) & (best == best))
        best, found = xp.where(better, other, best), xp.where(better, here.reshape(-1), found)
    return found.reshape(*lead, *map(len, edges))
