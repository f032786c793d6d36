"""Convolution on NumPy arrays: windows are strided views, sums go to BLAS.

Arrays are (batch, channels, *space); a "window view" is (batch, channels, *kernel, *output).
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..plain import conv as plain
from ..plain import fill_with_plain_bodies
from ..plain.conv import Ints, inner_part, output_space, padded
from ..plain.precision import wide
from . import _strided, along_rows, cast
from .matrices import product  # noqa: F401 - in the plain bodies
from .native import native


def windows(x: Any, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    # A view of any array; it is not to be written to.
    own = x.strides
    steps = tuple(b * d for b, d in zip(own[2:], dilation, strict=True))
    jumps = tuple(b * s for b, s in zip(own[2:], stride, strict=True))
    return _strided(x, (*x.shape[:2], *kernel, *out), (*own[:2], *steps, *jumps), 0)


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


@lru_cache(maxsize=256)
def settings(stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Ints:
    """What the native kernels are told: two dimensions, the first of which may be idle."""
    rank = len(stride)
    return (*(1, *stride)[rank - 1:], *(0, *padding)[rank - 1:], *(1, *dilation)[rank - 1:], groups)


@native("convolution(x, weight, bias, empty((x.shape[0], weight.shape[0], *output_space("
        "x.shape[2:], weight.shape[2:], stride, padding, dilation)), x.dtype), "
        "*settings(stride, padding, dilation, groups))", settings, output_space,
        when="x.size and x.ndim < 5 and ready(x, weight, bias)")
def convolve(x: Any, weight: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints,
             groups: int) -> Any:
    # The bias is added in place.
    if not x.size:
        return plain.convolve(x, weight, bias, stride, padding, dilation, groups)
    out = output_space(x.shape[2:], weight.shape[2:], stride, padding, dilation)
    y = correlated(wide(x), wide(weight), out, stride, padding, dilation, groups)
    if bias is not None:
        with along_rows(math.prod(out)):
            y += bias.reshape((-1,) + (1,) * len(out))
    return cast(y, x.dtype)


def correlated(x: Any, weight: Any, out: Ints, stride: Ints, padding: Ints, dilation: Ints,
               groups: int) -> Any:
    # Fewer and larger products: always quicker.
    y = np.empty((x.shape[0], weight.shape[0], *out), x.dtype)
    if stride[0] == 1:
        _convolve_shifted(x, weight, y, stride, padding, dilation, groups)
        return y
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    flat = y.reshape(x.shape[0], groups, rows.shape[1], math.prod(out))
    for part, cols in Columns(x, weight.shape[2:], stride, padding, dilation, groups, out):
        np.matmul(rows, cols, out=flat[part])
    return y


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


def weight_slopes(g: Any, x: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints,
                  groups: int) -> Any:
    # Fewer and larger products: quicker but for many channels.
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
    return found


fill_with_plain_bodies(
    globals(), plain,
    convolve_input_gradient=native(
        "convolution_input_gradient(g, weight, empty(shape, g.dtype), "
        "*settings(stride, padding, dilation, groups))", settings,
        when="g.size and g.ndim < 5 and ready(g, weight)"),
    convolve_weight_gradient=native(
        "convolution_weight_gradient(g, x, empty(shape, g.dtype), "
        "*settings(stride, padding, dilation, groups))", settings,
        when="g.size and g.ndim < 5 and ready(g, x)"))
