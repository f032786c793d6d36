"""Normalisation and embedding on raw arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .linalg import is_low_precision
from .numpy import FLOAT32
from .rows import column_sums, number, row_products, row_sums


def wide(array: Any) -> Any:
    """Half precision as float32, in which its statistics are computed."""
    return array.astype(FLOAT32) if is_low_precision(array.dtype) else array


# ---------------------------------------------------------------- mean 0 and variance 1


def _means(x: Any, axes: tuple[int, ...], count: int) -> Any:
    """The mean over ``axes``, with their lengths kept as one."""
    if axes == (1,) and x.ndim == 2:
        return row_sums(x) * (1 / count)
    return np.add.reduce(x, axis=axes, keepdims=True) * (1 / count)


def centred(x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any]:
    """``x`` minus its mean over ``axes``, and one over its standard deviation there."""
    count = math.prod([x.shape[a] for a in axes]) or 1
    apart = x - _means(x, axes, count)
    spread = _means(apart * apart, axes, count)
    spread += eps
    np.sqrt(spread, out=spread)
    return apart, np.divide(1, spread, out=spread)


def standardize(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """``x`` shifted and scaled to mean 0 and variance 1 over ``axes``."""
    apart, scale = centred(wide(x), axes, eps)
    apart *= scale
    return apart.astype(x.dtype, copy=False)


def inverse_deviation(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """One over the standard deviation over ``axes``."""
    return centred(wide(x), axes, eps)[1].astype(x.dtype, copy=False)


def standardize_gradient(g: Any, x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """The gradient of :func:`standardize`."""
    apart, scale = centred(wide(x), axes, eps)
    apart *= scale
    count = math.prod([x.shape[a] for a in axes]) or 1
    g = wide(g)
    result = g - _means(g, axes, count)
    apart *= _means(result * apart, axes, count)
    result -= apart
    result *= scale
    return result.astype(x.dtype, copy=False)


# ---------------------------------------------------------------- rows and what they share

# Rows are handled a few at a time, so that what is computed on the way stays in the cache.
_BLOCK = 1 << 16


def _blocks(rows: Any) -> list[slice]:
    """Which rows to handle at a time."""
    count, width = rows.shape
    step = max(1, _BLOCK // max(width, 1))
    return [slice(i, i + step) for i in range(0, count, step)]


def _inverse_deviations(squares: Any, count: int, eps: float) -> Any:
    """One over the standard deviation, from sums of squared differences, which are lost."""
    # The count stands under the root, which saves a division.
    squares += number(count * eps, squares.dtype)
    np.sqrt(squares, squares)
    return np.divide(number(math.sqrt(count), squares.dtype), squares, squares)


def _standard_rows(x: Any, apart: Any, eps: float) -> Any:
    """Puts every row minus its mean in ``apart``; one over the standard deviation of each."""
    count = x.shape[1] or 1
    means = row_sums(x)
    means /= number(count, x.dtype)
    np.subtract(x, means, apart)
    return _inverse_deviations(row_products(apart, apart), count, eps)


def _by_blocks(compute: Any, rows: tuple[Any, ...], out: Any) -> None:
    """``compute(*rows, out)`` on a few rows of matrices at a time."""
    if out.size <= _BLOCK:
        compute(*rows, out)
        return
    for part in _blocks(out):
        compute(*[r[part] for r in rows], out[part])


def layer_norm(x: Any, rank: int, eps: float, weight: Any, bias: Any) -> Any:
    """Standardised over the last ``rank`` dimensions, scaled and shifted."""
    weight, bias = as_row(weight), as_row(bias)

    def compute(x: Any, out: Any) -> None:
        scale = _standard_rows(x, out, eps)
        # The product of a column and a row costs less than multiplying by the one and the other.
        np.multiply(out, scale if weight is None else scale.dot(weight), out)
        if bias is not None:
            np.add(out, bias, out)

    x_wide = wide(x)
    y = np.empty(x.shape, x_wide.dtype)
    _by_blocks(compute, (as_rows(x_wide, rank),), as_rows(y, rank))
    return y.astype(x.dtype, copy=False)


def layer_input_gradient(g: Any, x: Any, weight: Any, rank: int, eps: float) -> Any:
    """What reaches the input of :func:`layer_norm`."""
    weight = as_row(weight)

    def compute(g: Any, x: Any, out: Any) -> None:
        apart = np.empty(x.shape, x.dtype)
        scale = _standard_rows(x, apart, eps)
        np.multiply(g, scale if weight is None else scale.dot(weight), out)
        along = row_products(out, apart)
        along *= scale
        along *= scale
        _take_moments_out(out, row_sums(out), apart, along, x.shape[1])

    x_wide = wide(x)
    found = np.empty(x.shape, x_wide.dtype)
    _by_blocks(compute, (as_rows(wide(g), rank), as_rows(x_wide, rank)), as_rows(found, rank))
    return found.astype(x.dtype, copy=False)


def _take_moments_out(found: Any, sums: Any, apart: Any, along: Any, count: int) -> None:
    """Leaves of scaled gradients what changes neither means nor variances."""
    size = number(count or 1, found.dtype)
    sums /= size
    found -= sums
    along /= size
    apart *= along
    found -= apart


def layer_weight_gradient(g: Any, x: Any, rank: int, eps: float) -> Any:
    """What reaches the weight of :func:`layer_norm`."""
    rows, slopes = as_rows(wide(x), rank), as_rows(wide(g), rank)
    found: Any = None
    for part in _blocks(rows) or [slice(0)]:
        some, apart = rows[part], np.empty(rows[part].shape, rows.dtype)
        scale = _standard_rows(some, apart, eps)
        apart *= slopes[part]
        sums = scale.reshape(-1).dot(apart)
        found = sums if found is None else found + sums
    return shaped_as(found, x.shape[x.ndim - rank:]).astype(x.dtype, copy=False)


def shaped_as(found: Any, shape: tuple[int, ...]) -> Any:
    """``found`` in another shape; where it has that, it goes on owning its memory."""
    return found if found.shape == shape else found.reshape(shape)


def as_row(parameter: Any) -> Any:
    return None if parameter is None else wide(parameter).reshape(1, -1)


def as_rows(x: Any, rank: int) -> Any:
    """The last ``rank`` dimensions merged into one, and the others into another."""
    split = x.ndim - rank
    return x if split == rank == 1 else x.reshape(math.prod(x.shape[:split]),
                                                   math.prod(x.shape[split:]))


# ---------------------------------------------------------------- channels

# (batch, channels, *space) is seen as a matrix with a row for each sample and channel. Statistics
# are shared by the rows of one channel (``groups`` None), or of one sample's group of channels.


def _channel_rows(x: Any) -> Any:
    shape = x.shape
    return x.reshape(shape[0] * shape[1], math.prod(shape[2:]))


def _shared(sums: Any, shape: Any, groups: int | None) -> Any:
    """For every row, what the ``sums`` of those that share its statistics add up to."""
    samples, channels = shape[:2]
    if groups is None:
        return _for_each_sample(column_sums(sums.reshape(samples, channels)), samples)
    together = channels // groups
    return row_sums(sums.reshape(samples * groups, together)).repeat(together, 0)


def _for_each_sample(parameter: Any, samples: int) -> Any:
    """A number per channel as a column with one per row."""
    return wide(parameter).reshape(1, -1).repeat(samples, 0).reshape(-1, 1)


def _sharing(shape: Any, groups: int | None) -> int:
    """How many elements share their statistics."""
    apart = shape[1] if groups is None else shape[0] * groups
    return math.prod(shape) // (apart or 1) or 1


def _standard_channels(x: Any, apart: Any, shape: Any, groups: int | None, eps: float) -> Any:
    """Puts rows minus their means in ``apart``; one over their standard deviations."""
    count = _sharing(shape, groups)
    means = _shared(row_sums(x), shape, groups)
    means /= number(count, x.dtype)
    np.subtract(x, means, apart)
    return _inverse_deviations(_shared(row_products(apart, apart), shape, groups), count, eps)


def channel_norm(x: Any, weight: Any, bias: Any, groups: int | None, eps: float) -> Any:
    """Standardised, then scaled and shifted channel by channel."""
    rows = _channel_rows(wide(x))
    y = np.empty(x.shape, rows.dtype)
    out = _channel_rows(y)
    scale = _standard_channels(rows, out, x.shape, groups, eps)
    if weight is not None:
        scale *= _for_each_sample(weight, x.shape[0])
    out *= scale
    if bias is not None:
        out += _for_each_sample(bias, x.shape[0])
    return y.astype(x.dtype, copy=False)


def channel_input_gradient(g: Any, x: Any, weight: Any, groups: int | None, eps: float) -> Any:
    """What reaches the input of :func:`channel_norm`."""
    shape, rows = x.shape, _channel_rows(wide(x))
    apart, found = np.empty(rows.shape, rows.dtype), np.empty(shape, rows.dtype)
    scale = _standard_channels(rows, apart, shape, groups, eps)
    out = _channel_rows(found)
    np.multiply(_channel_rows(wide(g)), scale if weight is None
                else scale * _for_each_sample(weight, shape[0]), out)
    along = _shared(row_products(out, apart), shape, groups)
    along *= scale
    along *= scale
    _take_moments_out(out, _shared(row_sums(out), shape, groups), apart, along,
                      _sharing(shape, groups))
    return found.astype(x.dtype, copy=False)


def channel_weight_gradient(g: Any, x: Any, groups: int | None, eps: float) -> Any:
    """What reaches the weight of :func:`channel_norm`."""
    rows = _channel_rows(wide(x))
    apart = np.empty(rows.shape, rows.dtype)
    scale = _standard_channels(rows, apart, x.shape, groups, eps)
    scale *= row_products(_channel_rows(wide(g)), apart)
    return column_sums(scale.reshape(x.shape[:2])).astype(x.dtype, copy=False)


def fixed_channel_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    """Scaled and shifted channel by channel, with statistics that are given."""
    scale = 1 / np.sqrt(wide(var) + eps)
    scale = scale if weight is None else scale * weight
    shift = -wide(mean) * scale
    shift = shift if bias is None else shift + bias
    rows = _channel_rows(wide(x))
    y = np.empty(x.shape, rows.dtype)
    out = _channel_rows(y)
    np.multiply(rows, _for_each_sample(scale, x.shape[0]), out)
    out += _for_each_sample(shift, x.shape[0])
    return y.astype(x.dtype, copy=False)


def fixed_weight_gradient(g: Any, x: Any, mean: Any, var: Any, eps: float) -> Any:
    """What reaches the weight of :func:`fixed_channel_norm`."""
    apart = _channel_rows(wide(x)) - _for_each_sample(mean, x.shape[0])
    products = row_products(_channel_rows(wide(g)), apart).reshape(x.shape[:2])
    return (column_sums(products) / np.sqrt(wide(var) + eps)).astype(x.dtype, copy=False)


def channel_sums(x: Any) -> Any:
    """The sum over everything but the channels, dimension 1."""
    sums = row_sums(_channel_rows(wide(x))).reshape(x.shape[:2])
    return column_sums(sums).astype(x.dtype, copy=False)


def channel_moments(x: Any) -> tuple[Any, Any]:
    """The mean and the unbiased variance of every channel."""
    samples, channels = x.shape[:2]
    rows = _channel_rows(wide(x))
    count = _sharing(x.shape, None)
    means = column_sums(row_sums(rows).reshape(samples, channels)) / count
    apart = rows - _for_each_sample(means, samples)
    squares = column_sums(row_products(apart, apart).reshape(samples, channels))
    return means, squares / (count - 1)


def blend(running: Any, fresh: Any, momentum: float) -> None:
    """Move ``running`` towards ``fresh`` in place."""
    running[...] = (1 - momentum) * wide(running) + momentum * fresh


# ---------------------------------------------------------------- embedding


def look_up(weight: Any, indices: Any) -> Any:
    """The rows of ``weight`` at ``indices``, which must lie in it."""
    if not weight.size and indices.size:
        return _empty_rows(weight, indices)
    if indices.size and indices.min() < 0:
        raise IndexError("index out of range in self")
    try:
        return weight.take(indices, 0)
    except IndexError:
        raise IndexError("index out of range in self") from None


def _empty_rows(weight: Any, indices: Any) -> Any:
    count = weight.shape[0]
    if not count:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    outside = indices[(indices < 0) | (indices >= count)]
    if outside.size:
        raise RuntimeError("INDICES element is out of DATA bounds, id="
                           f"{outside[0]} axis_dim={count}")
    return np.empty((*indices.shape, 0), weight.dtype)


def add_rows(g: Any, indices: Any, count: int, padding: int, by_frequency: bool) -> Any:
    """Add the rows of ``g`` up by index; the row ``padding`` stays zero."""
    if is_low_precision(g.dtype):
        return add_rows(wide(g), indices, count, padding, by_frequency).astype(g.dtype)
    width = g.shape[-1]
    whole = np.zeros((count, width), g.dtype)
    if not g.size:
        return whole
    flat, rows = indices.reshape(-1), g.reshape(-1, width)
    times = np.bincount(flat)
    if by_frequency:
        rows = rows / times.take(flat)[:, None].astype(g.dtype)
    _add_rows_at(whole, flat, rows, times.item(times.argmax()))
    if 0 <= padding < count:
        whole[padding] = 0
    return whole


def _add_rows_at(whole: Any, indices: Any, rows: Any, most: int) -> None:
    """Add ``rows`` to those of ``whole`` at ``indices``, none of which comes more often than
    ``most`` times.
    """
    width = whole.shape[1]
    if most == 1:
        whole[indices] = rows
        return
    if rows.size <= 1 << 13:
        places = (indices * width)[:, None] + np.arange(width)
        np.add.at(whole.reshape(-1), places.reshape(-1), rows.reshape(-1))
        return
    # The narrower the numbers, the sooner they are sorted.
    narrow = indices.astype(np.uint16) if whole.shape[0] <= 1 << 16 else indices
    order = narrow.argsort(kind="stable")
    ordered = indices.take(order)
    first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    if most > 8:
        starts = np.flatnonzero(first)
        whole[ordered[starts]] = np.add.reduceat(rows.take(order, 0), starts, axis=0)
        return
    # One round for each time that an index comes: within a round all of them are different.
    number_of = np.arange(order.size)
    number_of -= np.maximum.accumulate(np.where(first, number_of, 0))
    for i in range(most):
        some = order[number_of == i]
        whole[indices.take(some)] += rows.take(some, 0)


def weighted_rows(weight: Any, indices: Any, padding: int, by_frequency: bool) -> Any:
    """Rows as :func:`add_rows` counts them: the adjoint of it."""
    rows = weight.take(indices, 0)
    if by_frequency:
        _, where, counts = np.unique(indices, return_inverse=True, return_counts=True)
        rows = rows / counts[where].reshape(*indices.shape, 1).astype(rows.dtype)
    if padding >= 0:
        rows = np.where((indices == padding)[..., None], np.zeros((), rows.dtype), rows)
    return rows


def shorten_rows(weight: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows of ``weight`` at ``indices`` that are longer than ``max_norm``, in place."""
    rows = np.unique(indices)
    norms = np.linalg.norm(weight[rows], norm_type, axis=1)
    long = norms > max_norm
    scale = (max_norm / (norms[long] + 1e-7)).astype(weight.dtype)
    weight[rows[long]] *= scale[:, None]


def one_hot(indices: Any, classes: int) -> Any:
    """Zeros with a one at each index."""
    whole = np.zeros((*indices.shape, classes), np.int64)
    np.put_along_axis(whole, indices[..., None], 1, -1)
    return whole
