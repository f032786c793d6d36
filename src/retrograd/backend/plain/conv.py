"""Convolution, padding and resampling on raw arrays.

Arrays are (batch, channels, *space); a "window view" is (batch, channels, *kernel, *output).
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import Any, NamedTuple

from .. import xp
from .index import placed
from .matrices import product
from .precision import wide

Ints = tuple[int, ...]


def padded(x: Any, padding: Ints, value: Any = 0) -> Any:
    """``x`` with ``padding`` elements of ``value`` on both sides of every space dimension."""
    if not any(padding):
        return x
    space = x.shape[2:]
    shape = (*x.shape[:2], *(n + 2 * p for n, p in zip(space, padding, strict=True)))
    whole = xp.full(shape, value, x.dtype) if value else xp.zeros(shape, x.dtype)
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
    """The window view of an (already padded) array; it is not to be written to."""
    own = xp.element_strides(x)
    steps = tuple([n * d for n, d in zip(own[2:], dilation, strict=True)])
    jumps = tuple([n * s for n, s in zip(own[2:], stride, strict=True)])
    return xp.as_strided(x, (*x.shape[:2], *kernel, *out), (*own[:2], *steps, *jumps), 0)


@lru_cache(maxsize=256)
def places(space: Ints, out: Ints) -> tuple[Ints, int]:
    """How far apart elements of a space lie in memory, and how many begin an output of it."""
    apart = tuple([math.prod(space[i + 1:]) for i in range(len(space))])
    return apart, 1 + sum([(n - 1) * a for n, a in zip(out, apart, strict=True)])


class Layout(NamedTuple):
    """How windows are laid out to be multiplied.

    Their elements are those of the output, or lie in one piece: what lies between rows is there
    too, and is no output. Windows overlap, so that along the last dimensions of the kernel it may
    take fewer copies to shift what is multiplied than to have all places in the windows.
    """

    shape: Ints  # of a sample's windows: channels, the first dimensions of the kernel, elements
    jumps: Ints  # how far apart neighbours along each of these lie
    shifted: Ints  # the other dimensions of the kernel
    steps: Ints  # how far apart neighbours along those lie among the elements
    shifts: Ints  # how far behind the first one each place along those lies
    apart: Ints  # how far apart neighbours of the output lie
    length: int  # the number of elements


@lru_cache(maxsize=256)
def layout(shape: Ints, kernel: Ints, stride: Ints, dilation: Ints, out: Ints, count: int,
           groups: int, is_finite: bool) -> Layout:
    """For images (channels, *space), and ``count`` numbers that are shifted for each element.

    To shift a number takes as long as to copy two. Products of groups are not made smaller still.
    """
    apart, length = places(shape[1:], out)
    steps = tuple([a * d for a, d in zip(apart, dilation, strict=True)])
    lead = shape[0], *kernel
    own = math.prod(shape[1:]), *steps
    if {*stride} != {1} or length >= 2 * math.prod(out) or not is_finite:
        jumps = [a * s for a, s in zip(apart, stride, strict=True)]
        return Layout((*lead, *out), (*own, *jumps), (), (), (0,), *places(out, out))
    cut = min(range(len(kernel) if groups > 1 else 0, len(kernel) + 1),
              key=lambda n: shape[0] * math.prod(kernel[:n]) + 2 * count * math.prod(kernel[n:]))
    shifts = tuple([sum([i * s for i, s in zip(place, steps[cut:], strict=True)])
                    for place in itertools.product(*map(range, kernel[cut:]))])
    length += shifts[-1]
    return Layout((*lead[:cut + 1], length), (*own[:cut + 1], 1), kernel[cut:], steps[cut:],
                  shifts, apart, length)


# Windows of a few samples at a time are copied, into memory that stays in the cache.
_COPIED_BYTES = 1 << 20
_MANY = 1 << 11  # numbers from which it pays to copy them in one piece


def columns(x: Any, groups: int, found: Layout, count: int) -> Any:
    """Some samples at a time, and their windows: (samples, groups, channels * kernel, elements).

    As many as fit into the cache beside ``count`` numbers for each element.
    """
    batch, of_sample, length = x.shape[0], math.prod(x.shape[1:]), found.length
    numbers = math.prod(found.shape) + count * length
    size = max(1, _COPIED_BYTES // (numbers * x.dtype.itemsize or 1))
    for start in range(0, batch, size):
        samples = min(size, batch - start)
        view = xp.as_strided(x, (samples, *found.shape), (of_sample, *found.jumps),
                             start * of_sample)
        yield slice(start, start + samples), view.reshape(
            samples, groups, math.prod(found.shape) // (groups * length or 1), length)


def part_slices(kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """For every position in the kernel, the slice of the input that it meets."""
    for place in itertools.product(*map(range, kernel)):
        yield place, (..., *(
            slice(i * d, i * d + (n - 1) * s + 1, s)
            for i, d, n, s in zip(place, dilation, out, stride, strict=True)))


def convolve(x: Any, weight: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints,
             groups: int) -> Any:
    """The cross-correlation of a batch of images with kernels, plus a number per kernel."""
    kernel = weight.shape[2:]
    out = output_space(x.shape[2:], kernel, stride, padding, dilation)
    if not x.size:
        # Without channels to read there are none to write, whatever the number of kernels.
        return xp.zeros((x.shape[0], weight.shape[0] if x.shape[1] else 0, *out), x.dtype)
    whole, count = xp.ascontiguousarray(padded(wide(x), padding)), weight.shape[0] // groups
    found = layout(whole.shape[1:], kernel, stride, dilation, out, count, groups, True)
    shifts, length = len(found.shifts), found.length
    rows = _in_groups(wide(weight), groups).reshape(groups, count, -1, shifts)
    rows = rows.transpose(0, 3, 1, 2).reshape(groups, shifts * count, -1)
    y = xp.empty((x.shape[0], groups, count, *out), whole.dtype)
    for part, cols in columns(whole, groups, found, shifts * weight.shape[0]):
        sums = xp.matmul(rows, cols).reshape(-1, groups, shifts, count, length)
        for i, shift in enumerate(found.shifts[1:], 1):
            sums[:, :, 0, :, :-shift] += sums[:, :, i, :, shift:]
        y[part] = xp.as_strided(sums, (sums.shape[0], *y.shape[1:]), (
            rows.shape[0] * rows.shape[1] * length, rows.shape[1] * length, length,
            *found.apart), 0)
    y = y.reshape(x.shape[0], weight.shape[0], *out)
    if bias is not None:
        y += bias.reshape((-1,) + (1,) * len(out))
    return xp.cast(y, x.dtype)


def _in_groups(weight: Any, groups: int) -> Any:
    return weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])


def convolve_input_gradient(g: Any, weight: Any, shape: Ints, stride: Ints, padding: Ints,
                            dilation: Ints, groups: int) -> Any:
    """What an output gradient adds up to at every input element; also transposed convolution."""
    if not g.size:
        return xp.zeros(shape, g.dtype)
    around = tuple([d * (k - 1) - p for d, k, p in zip(
        dilation, weight.shape[2:], padding, strict=True)])
    if all(s == 1 for s in stride) and min(around) >= 0 and shape[2:] == tuple(
            [n + 2 * a - d * (k - 1) for n, a, d, k in zip(
                g.shape[2:], around, dilation, weight.shape[2:], strict=True)]):
        return convolve(g, turned_round(weight, groups), None, stride, around, dilation, groups)
    return spread_windows(g, weight, shape, stride, padding, dilation, groups)


def turned_round(weight: Any, groups: int) -> Any:
    """The kernels that undo: channels in and out exchanged, and every dimension backwards."""
    count, channels, *kernel = weight.shape
    parts = weight.reshape(groups, count // groups, channels, *kernel).swapaxes(1, 2)
    back = (..., *[slice(None, None, -1)] * len(kernel))
    return parts.reshape(groups * channels, count // groups, *kernel)[back]


def spread_windows(g: Any, weight: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints,
                   groups: int) -> Any:
    """:func:`convolve_input_gradient` by adding up the windows' gradients, for any stride."""
    kernels, out = _in_groups(wide(weight), groups), g.shape[2:]
    slopes = wide(g).reshape(g.shape[0], groups, g.shape[1] // groups, math.prod(out))
    space = tuple(n + 2 * p for n, p in zip(shape[2:], padding, strict=True))
    whole = xp.zeros((*shape[:2], *space), slopes.dtype)
    for place, where in part_slices(weight.shape[2:], stride, dilation, out):
        part = xp.matmul(kernels[(..., *place)].swapaxes(1, 2), slopes)
        whole[where] += part.reshape(*shape[:2], *out)
    return xp.cast(xp.ascontiguousarray(whole[inner_part(padding, shape[2:])]), g.dtype)


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
        return xp.zeros(shape, g.dtype)
    out, kernel, count = g.shape[2:], shape[2:], shape[0] // groups
    whole = xp.ascontiguousarray(padded(wide(x), padding))
    # Zeros leave out what is finite.
    is_finite = whole.size > _MANY and bool(xp.isfinite(xp.sum(whole)))
    found = layout(whole.shape[1:], kernel, stride, dilation, out, count, groups, is_finite)
    *_, shifted, steps, shifts, apart, length = found
    # Zeros lie between the rows of slopes, and before them: there is a copy for each shift, that of
    # the last one first.
    reach, slopes = shifts[-1] + length, xp.ascontiguousarray(wide(g))
    if reach > math.prod(out):
        slopes = xp.zeros((*g.shape[:2], reach), whole.dtype)
        xp.as_strided(slopes, g.shape, (shape[0] * reach, reach, *apart), shifts[-1])[...] = g
    sums = xp.zeros((groups, shape[1] * math.prod(kernel) // math.prod(shifted),
                     len(shifts) * count), whole.dtype)
    for part, cols in columns(whole, groups, found, len(shifts) * shape[0]):
        rows = xp.as_strided(
            slopes, (cols.shape[0], groups, *shifted, count, length),
            (shape[0] * reach, count * reach, *steps, reach, 1), part.start * shape[0] * reach)
        rows = rows.reshape(*cols.shape[:2], len(shifts) * count, length)
        sums += xp.sum(xp.matmul(cols, rows.swapaxes(2, 3)), axis=0)
    sums = sums.reshape(groups, -1, len(shifts), count)[:, :, ::-1].transpose(0, 3, 1, 2)
    return xp.cast(xp.ascontiguousarray(sums).reshape(shape), g.dtype)


# ---------------------------------------------------------------- padding and resampling


def take_axes(x: Any, recipe: Any) -> Any:
    """Along each (axis, index) of ``recipe``, the positions that the index names."""
    for axis, index in recipe:
        x = xp.take(x, index, axis=axis)
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
        x = xp.moveaxis(product(xp.moveaxis(x, axis, -1), matrix.T.astype(x.dtype)), -1, axis)
    return xp.ascontiguousarray(x)


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
    whole = xp.full(shape, value, x.dtype)
    whole[tuple(slices)] = x[tuple(source)]
    return whole


def take_sides(before: int, after: int, size: int, mode: str) -> Any:
    """For each position of a padded dimension, the position it copies."""
    where = xp.arange(-before, size + after)
    if mode == "replicate":
        return xp.clip(where, 0, size - 1)
    if mode == "circular":
        # What a negative padding cuts off does not come round again.
        first, last = max(-before, 0), size - max(-after, 0)
        return first + (where - first) % (last - first)
    where = xp.abs(where)
    return xp.minimum(where, 2 * (size - 1) - where)


def add_by_index(g: Any, axis: int, index: Any, size: int) -> Any:
    """Add the slices of ``g`` along ``axis`` into the positions they were taken from."""
    return placed(g, (*g.shape[:axis], size, *g.shape[axis + 1:]), index, (axis,))


def nearest_index(size: int, out: int, scale: float | None, exact: bool = False) -> Any:
    """The input position each output position copies."""
    step = 1 / scale if scale is not None else size / out
    positions = xp.arange(out, dtype=xp.float32) + (0.5 if exact else 0)
    return xp.minimum((positions * step).astype(xp.int64), size - 1)


def interpolation_matrix(size: int, out: int, align_corners: bool, scale: float | None,
                         dtype: Any, mode: str = "linear", antialias: bool = False) -> Any:
    """The matrix that resamples ``size`` points at ``out`` positions."""
    if align_corners:
        step = (size - 1) / (out - 1) if out > 1 else 0.0
    else:
        step = 1 / scale if scale is not None else size / out
    if antialias:
        return _averages(size, out, step, mode).astype(dtype)
    if align_corners:
        positions = xp.arange(out) * step
    else:
        positions = (xp.arange(out) + 0.5) * step - 0.5
        if mode != "cubic":
            positions = xp.maximum(positions, 0)
    low = xp.floor(positions).astype(xp.int64)
    part = positions - low
    matrix = xp.zeros((out, size), xp.float64)
    rows = xp.arange(out)
    reach = 2 if mode == "cubic" else 1
    for shift in range(1 - reach, reach + 1):
        # The coefficient of Keys' kernel that image libraries use.
        weight = _cubic(xp.abs(part - shift), -0.75) if mode == "cubic" else _linear(
            xp.abs(part - shift))
        xp.add_at(matrix, (rows, xp.clip(low + shift, 0, size - 1)), weight)
    return matrix.astype(dtype)


def _averages(size: int, out: int, step: float, mode: str) -> Any:
    """The weights of all points that an output point covers, as wide as the step between them."""
    reach, kernel = _KERNELS[mode]
    width = max(step, 1.0)
    centre = ((xp.arange(out) + 0.5) * step)[:, None]
    point = xp.arange(size)
    first = xp.maximum((centre - reach * width + 0.5).astype(xp.int64), 0)
    last = xp.minimum((centre + reach * width + 0.5).astype(xp.int64), size)
    weights = xp.where((point >= first) & (point < last),
                       kernel(xp.abs(point - centre + 0.5) / width), 0.0)
    total = xp.sum(weights, axis=1, keepdims=True)
    return weights / xp.where(total == 0, 1.0, total)


def _linear(distance: Any) -> Any:
    return xp.maximum(1 - distance, 0.0)


def _cubic(distance: Any, a: float = -0.5) -> Any:
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return xp.where(distance < 1, near, xp.where(distance < 2, far, 0.0))


def _lanczos(distance: Any) -> Any:
    return xp.where(distance < 3, _sinc(distance) * _sinc(distance / 3), 0.0)


def _sinc(x: Any) -> Any:
    turned = math.pi * xp.where(x == 0, 1.0, x)
    return xp.where(x == 0, 1.0, xp.sin(turned) / turned)


_KERNELS: dict[str, tuple[int, Any]] = {"linear": (1, _linear), "cubic": (2, _cubic),
                                        "lanczos": (3, _lanczos)}
"""How far each kernel reaches, in points, and its weight at a distance."""


def multiply_axes_of_bytes(x: Any, recipe: Any) -> Any:
    """Matrices onto axes of bytes, the last axis first, with bytes after each of them.

    Weights are whole numbers of 16 bits, as precise as the largest of them allows.
    """
    for axis, matrix in reversed(recipe):
        largest, bits = float(xp.max(matrix)) if matrix.size else 0.0, 0
        while bits < 22 and int(largest * (2 << bits) + 0.5) < 1 << 15:
            bits += 1
        weights = xp.trunc(matrix * (1 << bits) + xp.where(matrix < 0, -0.5, 0.5))
        sums = xp.matmul(xp.moveaxis(x, axis, -1).astype(xp.float64), weights.T)
        rounded = xp.floor((sums + (1 << bits >> 1)) / (1 << bits))
        x = xp.moveaxis(xp.clip(rounded, 0, 255).astype(xp.uint8), -1, axis)
    return xp.ascontiguousarray(x)
