"""Convolution and pooling on raw arrays: windows are strided views, sums go to BLAS.

Arrays are (batch, channels, *space); a "window view" is (batch, channels, *kernel, *output).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from .linalg import is_low_precision, product
from .numpy import _strided

Ints = tuple[int, ...]


def padded(x: Any, padding: Ints, value: Any = 0) -> Any:
    """``x`` with ``padding`` elements of ``value`` on both sides of every space dimension."""
    if not any(padding):
        return x
    space = x.shape[2:]
    shape = (*x.shape[:2], *(n + 2 * p for n, p in zip(space, padding, strict=True)))
    whole = np.full(shape, value, x.dtype) if value else np.zeros(shape, x.dtype)
    whole[inner_part(padding, space)] = x
    return whole


def inner_part(padding: Ints, space: Ints) -> tuple[Any, ...]:
    """Where the unpadded array lies in the padded one."""
    return (..., *(slice(p, p + n) for p, n in zip(padding, space, strict=True)))


def output_space(space: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Ints:
    """How many windows fit along each dimension."""
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1
                 for n, k, s, p, d in zip(space, kernel, stride, padding, dilation, strict=True))


def windows(x: Any, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """The window view of an (already padded) array."""
    own = x.strides
    steps = tuple(b * d for b, d in zip(own[2:], dilation, strict=True))
    jumps = tuple(b * s for b, s in zip(own[2:], stride, strict=True))
    return _strided(x, (*x.shape[:2], *kernel, *out), (*own[:2], *steps, *jumps), 0)


def part_slices(kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """For every position in the kernel, the slice of the input that it meets."""
    for place in itertools.product(*map(range, kernel)):
        yield place, (..., *(
            slice(i * d, i * d + (n - 1) * s + 1, s)
            for i, d, n, s in zip(place, dilation, out, stride, strict=True)))


# Windows are copied for a few samples at a time, into memory that stays in the cache.
_COPIED_BYTES = 1 << 18


def _batches(count: int, bytes_each: int) -> tuple[int, list[slice]]:
    """How many samples to handle at a time, and which."""
    size = max(1, min(count, _COPIED_BYTES // max(bytes_each, 1)))
    return size, [slice(i, min(i + size, count)) for i in range(0, count, size)]


class Columns:
    """The windows of every sample as columns: (samples, groups, channels * kernel, output)."""

    def __init__(self, x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
                 groups: int, out: Ints):
        self.view = windows(padded(x, padding), kernel, stride, dilation, out)
        shape = self.view.shape
        self.shape = (groups, shape[1] // groups * math.prod(kernel), math.prod(out))
        size, self.parts = _batches(shape[0], math.prod(shape[1:]) * x.dtype.itemsize)
        self.memory = np.empty((size, *shape[1:]), x.dtype)

    def __iter__(self) -> Any:
        for part in self.parts:
            count = part.stop - part.start
            copied = self.memory[:count]
            copied[...] = self.view[part]
            yield part, copied.reshape(count, *self.shape)


def convolve(x: Any, weight: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints,
             groups: int) -> Any:
    """The cross-correlation of a batch of images with kernels, plus a number per kernel."""
    dtype, kernel = x.dtype, weight.shape[2:]
    if is_low_precision(dtype):
        x, weight = x.astype(np.float32), weight.astype(np.float32)
    out = output_space(x.shape[2:], kernel, stride, padding, dilation)
    if not x.size:
        # Without channels to read there are none to write, whatever the number of kernels.
        return np.zeros((x.shape[0], weight.shape[0] if x.shape[1] else 0, *out), dtype)
    y = np.empty((x.shape[0], groups, weight.shape[0] // groups, math.prod(out)), x.dtype)
    rows = weight.reshape(groups, y.shape[2], -1)
    for part, cols in Columns(x, kernel, stride, padding, dilation, groups, out):
        np.matmul(rows, cols, out=y[part])
    y = y.reshape(x.shape[0], weight.shape[0], *out)
    if bias is not None:
        y += bias.reshape((-1,) + (1,) * len(out))
    return y.astype(dtype, copy=False)


def convolve_input_gradient(g: Any, weight: Any, shape: Ints, stride: Ints, padding: Ints,
                            dilation: Ints, groups: int) -> Any:
    """What an output gradient adds up to at every input element; also transposed convolution."""
    if not g.size:
        return np.zeros(shape, g.dtype)
    dtype, kernel, out = g.dtype, weight.shape[2:], g.shape[2:]
    if is_low_precision(dtype):
        g, weight = g.astype(np.float32), weight.astype(np.float32)
    rows = weight.reshape(groups, weight.shape[0] // groups, -1).swapaxes(1, 2)
    folded = g.reshape(g.shape[0], groups, g.shape[1] // groups, math.prod(out))
    size, parts = _batches(g.shape[0], shape[1] * math.prod((*kernel, *out)) * g.dtype.itemsize)
    memory = np.empty((size, groups, rows.shape[1], folded.shape[3]), g.dtype)
    space = tuple(n + 2 * p for n, p in zip(shape[2:], padding, strict=True))
    whole = np.zeros((*shape[:2], *space), g.dtype)
    for part in parts:
        cols = memory[:part.stop - part.start]
        np.matmul(rows, folded[part], out=cols)
        add_windows(cols.reshape(-1, shape[1], *kernel, *out), whole[part], stride, dilation)
    return np.ascontiguousarray(whole[inner_part(padding, shape[2:])]).astype(dtype, copy=False)


def add_windows(cols: Any, whole: Any, stride: Ints, dilation: Ints) -> None:
    """Add a window view's values up in ``whole``, (batch, channels, *space), where they overlap."""
    rank = len(stride)
    kernel, out = cols.shape[2:2 + rank], cols.shape[2 + rank:]
    for place, where in part_slices(kernel, stride, dilation, out):
        whole[where] += cols[(slice(None), slice(None), *place)]


def convolve_weight_gradient(g: Any, x: Any, shape: Ints, stride: Ints, padding: Ints,
                             dilation: Ints, groups: int) -> Any:
    """The gradient of the kernels."""
    if not g.size:
        return np.zeros(shape, g.dtype)
    dtype = g.dtype
    if is_low_precision(dtype):
        g, x = g.astype(np.float32), x.astype(np.float32)
    folded = g.reshape(g.shape[0], groups, g.shape[1] // groups, math.prod(g.shape[2:]))
    total: Any = 0
    for part, cols in Columns(x, shape[2:], stride, padding, dilation, groups, g.shape[2:]):
        total = total + np.add.reduce(np.matmul(folded[part], cols.swapaxes(2, 3)), axis=0)
    return total.reshape(shape).astype(dtype, copy=False)


# ---------------------------------------------------------------- pooling


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


def _pool_input(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints,
                value: Any) -> Any:
    """``x`` padded on the left by ``padding`` and on the right as far as the windows reach."""
    space = x.shape[-len(kernel):]
    needed = tuple(max((m - 1) * s + d * (k - 1) + 1, p + n) for m, s, d, k, p, n in zip(
        out, stride, dilation, kernel, padding, space, strict=True))
    if needed == space:
        return x
    whole = np.full((*x.shape[:-len(kernel)], *needed), value, x.dtype)
    whole[inner_part(padding, space)] = x
    return whole


def lowest(dtype: Any) -> Any:
    """The value that never wins a maximum."""
    return -np.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


def max_pool(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Any:
    """The largest value of every window; NaN wins."""
    whole = _pool_input(x, kernel, stride, padding, dilation, out, lowest(x.dtype))
    best = None
    for _, where in part_slices(kernel, stride, dilation, out):
        best = whole[where].copy() if best is None else np.maximum(best, whole[where], out=best)
    return best


def max_pool_indices(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
                     out: Ints) -> Any:
    """Where in its plane each window's maximum lies: the first one, or the last NaN."""
    rank = len(kernel)
    space = x.shape[-rank:]
    whole = _pool_input(x, kernel, stride, padding, dilation, out, lowest(x.dtype))
    parts = [whole[where] for _, where in part_slices(kernel, stride, dilation, out)]
    best = parts[0].copy()
    for part in parts[1:]:
        np.maximum(best, part, out=best)
    choice = np.zeros(best.shape, np.intp)
    for number in reversed(range(1, len(parts))):
        np.copyto(choice, number, where=parts[number] == best)
    np.copyto(choice, 0, where=parts[0] == best)
    unclear = best != best if x.dtype.kind not in "iu" else np.zeros((), bool)
    if unclear.any():
        for number, part in enumerate(parts):
            np.copyto(choice, number, where=part != part)
    first, steps = _plane_positions(space, kernel, stride, padding, dilation, out)
    flat = steps.take(choice)
    flat += first
    if any(padding):
        _point_inside(flat, best, space, kernel, stride, padding, dilation, out)
    return flat


def _plane_positions(space: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
                     out: Ints) -> tuple[Any, Any]:
    """Where in a flat plane each window begins, and how far each kernel position is from there."""
    first, steps = np.zeros((), np.intp), np.zeros((), np.intp)
    for n, k, s, p, d, m in zip(space, kernel, stride, padding, dilation, out, strict=True):
        first = first[..., None] * n + (np.arange(m) * s - p)
        steps = (steps[..., None] * n + np.arange(k) * d).reshape(-1)
    return first, steps


def _point_inside(flat: Any, best: Any, space: Ints, kernel: Ints, stride: Ints, padding: Ints,
                  dilation: Ints, out: Ints) -> None:
    """Windows of nothing but -inf must still point at an element, not at the padding around."""
    empty = best == lowest(best.dtype)
    if not empty.any():
        return
    inside = np.zeros((), np.intp)
    for n, s, p, d, m in zip(space, stride, padding, dilation, out, strict=True):
        start = np.arange(m) * s - p
        inside = inside[..., None] * n + np.where(start < 0, start + -(start // d) * d, start)
    np.copyto(flat, inside, where=empty)


def scatter_planes(g: Any, indices: Any, space: Ints, unique: bool) -> Any:
    """Put (or add, where indices repeat) each value at its index in a plane of zeros."""
    lead = g.shape[:-len(space)]
    planes = math.prod(lead)
    flat = np.zeros((planes, math.prod(space)), g.dtype)
    count = math.prod(g.shape[-len(space):])
    where = indices.reshape(planes, count)
    values = g.reshape(planes, count)
    if unique:
        np.put_along_axis(flat, where, values, 1)
    else:
        np.add.at(flat, (np.arange(planes)[:, None], where), values)
    return flat.reshape(*lead, *space)


def gather_planes(x: Any, indices: Any, rank: int) -> Any:
    """The values of each plane at its indices."""
    planes = math.prod(x.shape[:-rank])
    flat = x.reshape(planes, math.prod(x.shape[-rank:]))
    where = indices.reshape(planes, math.prod(indices.shape[-rank:]))
    return np.take_along_axis(flat, where, 1).reshape(indices.shape)


def pool_counts(space: Ints, kernel: Ints, stride: Ints, padding: Ints, out: Ints,
                include_pad: bool) -> Any:
    """How many elements each window's average divides by."""
    counts = np.ones(())
    for axis, (n, k, s, p, m) in enumerate(zip(space, kernel, stride, padding, out, strict=True)):
        start = np.arange(m) * s - p
        end = np.minimum(start + k, n + p)
        if not include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        shape = (-1,) + (1,) * (len(space) - axis - 1)
        counts = counts * (end - start).reshape(shape)
    return counts


def sum_pool(x: Any, kernel: Ints, stride: Ints, padding: Ints, out: Ints) -> Any:
    """The sum of every window."""
    ones = (1,) * len(kernel)
    whole = _pool_input(x, kernel, stride, padding, ones, out, 0)
    total = None
    for _, where in part_slices(kernel, stride, ones, out):
        total = whole[where].copy() if total is None else np.add(total, whole[where], out=total)
    return total


def spread_windows(g: Any, space: Ints, kernel: Ints, stride: Ints, padding: Ints) -> Any:
    """Add each window's value to all of its elements: the adjoint of :func:`sum_pool`."""
    ones = (1,) * len(kernel)
    out = g.shape[-len(kernel):]
    needed = tuple(max((m - 1) * s + k, p + n) for m, s, k, p, n in zip(
        out, stride, kernel, padding, space, strict=True))
    whole = np.zeros((*g.shape[:-len(kernel)], *needed), g.dtype)
    for _, where in part_slices(kernel, stride, ones, out):
        whole[where] += g
    return np.ascontiguousarray(whole[inner_part(padding, space)])


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


# ---------------------------------------------------------------- padding and resampling


def take_axes(x: Any, recipe: Any) -> Any:
    """Along each (axis, index) of ``recipe``, the positions that the index names."""
    for axis, index in recipe:
        x = x.take(index, axis)
    return x


def spread_axes(g: Any, recipe: Any, sizes: Ints) -> Any:
    """Add values back to the positions they were taken from: the adjoint of :func:`take_axes`."""
    for axis, index in recipe:
        g = add_by_index(g, axis, index, sizes[axis])
    return g


def multiply_axes(x: Any, recipe: Any, transposed: bool) -> Any:
    """Along each (axis, matrix) of ``recipe``, ``x`` times the matrix."""
    for axis, matrix in recipe:
        if transposed:
            matrix = matrix.T
        x = np.moveaxis(product(np.moveaxis(x, axis, -1), matrix.T.astype(x.dtype)), -1, axis)
    return np.ascontiguousarray(x)


def padded_by(x: Any, pad: Ints, value: Any) -> Any:
    """``x`` with ``pad`` (last dimension first, both sides) added, or cut off where negative."""
    slices: list[slice] = [slice(None)] * x.ndim
    shape = list(x.shape)
    source = list(slices)
    for i in range(len(pad) // 2):
        axis, before, after = x.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        n = x.shape[axis]
        shape[axis] = n + before + after
        source[axis] = slice(max(-before, 0), n - max(-after, 0))
        slices[axis] = slice(max(before, 0), max(before, 0) + n - max(-before, 0) - max(-after, 0))
    whole = np.full(shape, value, x.dtype)
    whole[tuple(slices)] = x[tuple(source)]
    return whole


def take_sides(before: int, after: int, size: int, mode: str) -> Any:
    """For each position of a padded dimension, the position it copies."""
    where = np.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(where, 0, size - 1)
    if mode == "circular":
        # What a negative padding cuts off does not come round again.
        first, last = max(-before, 0), size - max(-after, 0)
        return first + (where - first) % (last - first)
    period = max(2 * (size - 1), 1)
    where = np.abs(where) % period
    return np.where(where >= size, period - where, where)


def add_by_index(g: Any, axis: int, index: Any, size: int) -> Any:
    """Add the slices of ``g`` along ``axis`` into the positions they were taken from."""
    shape = (*g.shape[:axis], size, *g.shape[axis + 1:])
    whole = np.zeros(shape, g.dtype)
    np.add.at(whole, (slice(None),) * axis + (index,), g)
    return whole


def nearest_index(size: int, out: int, scale: float | None, exact: bool = False) -> Any:
    """The input position each output position copies."""
    step = 1 / scale if scale is not None else size / out
    positions = np.arange(out, dtype=np.float32) + np.float32(0.5 if exact else 0)
    return np.minimum((positions * np.float32(step)).astype(np.int64), size - 1)


def interpolation_matrix(size: int, out: int, align_corners: bool, scale: float | None,
                         dtype: Any, cubic: bool = False) -> Any:
    """The matrix that resamples ``size`` points at ``out`` positions."""
    if align_corners:
        step = (size - 1) / (out - 1) if out > 1 else 0.0
        positions = np.arange(out) * step
    else:
        step = 1 / scale if scale is not None else size / out
        positions = (np.arange(out) + 0.5) * step - 0.5
        if not cubic:
            positions = np.maximum(positions, 0)
    low = np.floor(positions).astype(np.int64)
    part = positions - low
    matrix = np.zeros((out, size), np.float64)
    rows = np.arange(out)
    for shift, weight in _weights(part, cubic):
        np.add.at(matrix, (rows, np.clip(low + shift, 0, size - 1)), weight)
    return matrix.astype(dtype)


def _weights(t: Any, cubic: bool) -> list[tuple[int, Any]]:
    if not cubic:
        return [(0, 1 - t), (1, t)]
    a = -0.75  # Keys' kernel with the coefficient that image libraries use

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [(-1, far(t + 1)), (0, near(t)), (1, near(1 - t)), (2, far(2 - t))]
