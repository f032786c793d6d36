"""Convolution and pooling on raw arrays: windows are strided views, sums go to BLAS.

Arrays are (batch, channels, *space); a "window view" is (batch, channels, *kernel, *output).
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import Any

import numpy as np

from . import _strided, along_rows
from .matrices import is_low_precision, product

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


@lru_cache(maxsize=256)
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


# Fewer positions than these in a plane, and samples are laid side by side as far as they fit.
_SMALL_PLANE = 256
_SIDE_BY_SIDE_BYTES = 1 << 20


class Shifted:
    """Windows that move by one along the first dimension of space, as several matrices.

    There is one for each position of the kernel along that dimension: (groups, channels * rest of
    the kernel, output * samples), and all of them are views of the same memory. Iterating gives
    them for a few samples at a time.
    """

    def __init__(self, x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
                 groups: int, out: Ints):
        self.x, self.kernel, self.padding, self.groups, self.out = x, kernel, padding, groups, out
        self.starts = range(0, kernel[0] * dilation[0], dilation[0])
        self.slices = _slices_of_rest(kernel, stride, dilation, out)
        self.parts = _neighbours(x.shape, x.dtype.itemsize, kernel, padding, out)

    def __iter__(self) -> Any:
        height = self.out[0]
        for part in self.parts:
            columns = self._columns(self._laid_out(self.x[part]))
            whole = columns.reshape(self.groups, -1, columns.shape[len(self.kernel)],
                                    math.prod(columns.shape[1 + len(self.kernel):]))
            shape = (self.groups, whole.shape[1], height * whole.shape[3])
            yield part, [whole[:, :, i:i + height].reshape(shape) for i in self.starts]

    def _laid_out(self, x: Any) -> Any:
        """Padded samples side by side: (channels, *space, samples)."""
        moved = side_by_side(x)
        if not any(self.padding):
            return np.ascontiguousarray(moved)
        space = x.shape[2:]
        whole = np.zeros((x.shape[1], *[n + 2 * p for n, p in zip(
            space, self.padding, strict=True)], x.shape[0]), x.dtype)
        whole[(*inner_part(self.padding, space), slice(None))] = moved
        return whole

    def _columns(self, whole: Any) -> Any:
        """(channels, *rest of the kernel, first dimension, *rest of the output, samples)."""
        if len(self.kernel) == 1:
            return whole
        found = np.empty((whole.shape[0], *self.kernel[1:], whole.shape[1], *self.out[1:],
                          whole.shape[-1]), whole.dtype)
        for target, source in self.slices:
            found[target] = whole[source]
        return found


@lru_cache(maxsize=256)
def _slices_of_rest(kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """For each position in the kernel but for the first dimension, where it and its input lie."""
    return [((slice(None), *place), (slice(None), slice(None), *(
        slice(i * d, i * d + (n - 1) * s + 1, s)
        for i, d, n, s in zip(place, dilation[1:], out[1:], stride[1:], strict=True))))
        for place in itertools.product(*map(range, kernel[1:]))]


@lru_cache(maxsize=256)
def _neighbours(shape: Ints, itemsize: int, kernel: Ints, padding: Ints, out: Ints) -> list[slice]:
    """Which samples lie side by side."""
    samples, channels, height = shape[:3]
    width = channels * math.prod(kernel[1:]) * math.prod(out[1:])
    each = width * (height + 2 * padding[0]) * itemsize
    size = 1 if math.prod(out) >= _SMALL_PLANE else max(
        1, min(samples, _SIDE_BY_SIDE_BYTES // max(each, 1)))
    return [slice(i, min(i + size, samples)) for i in range(0, samples, size)]


def side_by_side(x: Any) -> Any:
    """(samples, channels, *space) with the samples last; a view."""
    return x.transpose(*range(1, x.ndim), 0)


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
    y = np.empty((x.shape[0], weight.shape[0], *out), x.dtype)
    if stride[0] == 1:
        _convolve_shifted(x, weight, y, stride, padding, dilation, groups)
    else:
        rows = weight.reshape(groups, weight.shape[0] // groups, -1)
        flat = y.reshape(x.shape[0], groups, rows.shape[1], math.prod(out))
        for part, cols in Columns(x, kernel, stride, padding, dilation, groups, out):
            np.matmul(rows, cols, out=flat[part])
    if bias is not None:
        with along_rows(math.prod(out)):
            y += bias.reshape((-1,) + (1,) * len(out))
    return y.astype(dtype, copy=False)


def _convolve_shifted(x: Any, weight: Any, y: Any, stride: Ints, padding: Ints, dilation: Ints,
                      groups: int) -> None:
    """:func:`convolve` with stride 1 along the first dimension, into ``y``."""
    channels, out, kernel = weight.shape[0], y.shape[2:], weight.shape[2:]
    rows = _by_first_position(weight, groups)
    for part, matrices in Shifted(x, kernel, stride, padding, dilation, groups, out):
        found = np.matmul(rows[0], matrices[0])
        for row, matrix in zip(rows[1:], matrices[1:], strict=True):
            found += np.matmul(row, matrix)
        y[part] = found.reshape(channels, *out, -1).transpose(-1, *range(y.ndim - 1))


def _by_first_position(weight: Any, groups: int) -> Any:
    """Kernels as (first dimension, groups, kernels of a group, channels * other dimensions)."""
    count, channels, first = weight.shape[:3]
    parts = weight.reshape(groups, count // groups, channels, first, -1).transpose(3, 0, 1, 2, 4)
    return parts.reshape(first, groups, count // groups, -1)


def convolve_input_gradient(g: Any, weight: Any, shape: Ints, stride: Ints, padding: Ints,
                            dilation: Ints, groups: int) -> Any:
    """What an output gradient adds up to at every input element; also transposed convolution."""
    if not g.size:
        return np.zeros(shape, g.dtype)
    around = tuple([d * (k - 1) - p for d, k, p in zip(
        dilation, weight.shape[2:], padding, strict=True)])
    if all(s == 1 for s in stride) and min(around) >= 0 and shape[2:] == tuple(
            [n + 2 * a - d * (k - 1) for n, a, d, k in zip(
                g.shape[2:], around, dilation, weight.shape[2:], strict=True)]):
        return convolve(g, _turned_round(weight, groups), None, stride, around, dilation, groups)
    return _spread_windows(g, weight, shape, stride, padding, dilation, groups)


def _turned_round(weight: Any, groups: int) -> Any:
    """The kernels that undo: channels in and out exchanged, and every dimension backwards."""
    count, channels, *kernel = weight.shape
    parts = weight.reshape(groups, count // groups, channels, *kernel).swapaxes(1, 2)
    back = (..., *[slice(None, None, -1)] * len(kernel))
    return parts.reshape(groups * channels, count // groups, *kernel)[back]


def _spread_windows(g: Any, weight: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints,
                    groups: int) -> Any:
    """:func:`convolve_input_gradient` by adding up the windows' gradients, for any stride."""
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
    settings = (shape[2:], stride, padding, dilation, groups, g.shape[2:])
    found: Any = np.zeros(shape, g.dtype)
    if stride[0] == 1:
        for part, matrices in Shifted(x, *settings):
            rows = side_by_side(g[part]).reshape(groups, shape[0] // groups, -1)
            for i, matrix in enumerate(matrices):
                some = np.matmul(rows, matrix.swapaxes(1, 2))
                found[:, :, i] += some.reshape(*shape[:2], *shape[3:])
    else:
        folded = g.reshape(g.shape[0], groups, g.shape[1] // groups, math.prod(g.shape[2:]))
        for part, cols in Columns(x, *settings):
            products = np.matmul(folded[part], cols.swapaxes(2, 3))
            found += np.add.reduce(products, axis=0).reshape(shape)
    return found.astype(dtype, copy=False)


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
