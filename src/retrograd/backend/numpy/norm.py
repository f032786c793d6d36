"""Normalisation and embedding on raw arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import FLOAT32, along_rows
from .matrices import is_low_precision
from .rows import column_sums, number, row_products, row_sums


def wide(array: Any) -> Any:
    """Half precision as float32, in which its statistics are computed; None stays."""
    return array.astype(FLOAT32) if array is not None and is_low_precision(array.dtype) else array


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


_ALL = [slice(None)]


def _blocks(rows: Any) -> list[slice]:
    """Which rows to handle at a time."""
    if rows.size <= _BLOCK:
        return _ALL
    count, width = rows.shape
    step = max(1, _BLOCK // width)
    return [slice(i, i + step) for i in range(0, count, step)]


def _inverse_deviations(squares: Any, count: int, eps: float) -> Any:
    """One over the standard deviation, from sums of squared differences, which are lost."""
    # The count stands under the root, which saves a division.
    squares += number(count * eps, squares.dtype)
    np.sqrt(squares, squares)
    return np.divide(number(math.sqrt(count), squares.dtype), squares, squares)


def _standard_rows(x: Any, apart: Any, eps: float) -> tuple[Any, Any]:
    """Puts every row minus its mean in ``apart``; the means, and one over the deviations."""
    count = x.shape[1] or 1
    means = row_sums(x)
    means /= number(count, x.dtype)
    np.subtract(x, means, apart)
    return means, _inverse_deviations(row_products(apart, apart), count, eps)


def layer_norm(x: Any, rank: int, eps: float, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    """Standardised over the last ``rank`` dimensions, scaled and shifted.

    Also the means of the rows, and one over their standard deviations, as columns.
    """
    if is_low_precision(x.dtype):
        y, means, scales = layer_norm(wide(x), rank, eps, wide(weight), wide(bias))
        return y.astype(x.dtype), means, scales
    y = np.empty(x.shape, x.dtype)
    rows, out = as_rows(x, rank), as_rows(y, rank)
    weight, bias = as_row(weight), as_row(bias)
    moments = []
    with along_rows(rows.shape[1]):
        for part in _blocks(out):
            some = out[part]
            mean, scale = _standard_rows(rows[part], some, eps)
            _scale(some, scale, weight, some)
            if bias is not None:
                some += bias
            moments.append((mean, scale))
    if len(moments) > 1:
        mean, scale = (np.concatenate(parts) for parts in zip(*moments, strict=True))
    return y, mean, scale


def _scale(x: Any, column: Any, row: Any, out: Any) -> None:
    """``x`` times a column and a row, which may be None."""
    if row is not None and row.shape[1] < 256:
        # For short rows their product costs less than multiplying by the one and the other.
        np.multiply(x, column.dot(row), out)
        return
    np.multiply(x, column, out)
    if row is not None:
        np.multiply(out, row, out)


def _centred_rows(rows: Any, part: slice, mean: Any, scale: Any, eps: float) -> tuple[Any, Any]:
    """Some rows minus their means, and one over their deviations, which may be known."""
    x = rows[part]
    if mean is not None:
        return x - mean[part], scale[part]
    apart = np.empty(x.shape, x.dtype)
    return apart, _standard_rows(x, apart, eps)[1]


def layer_input_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, rank: int,
                         eps: float) -> Any:
    """What reaches the input of :func:`layer_norm`."""
    if is_low_precision(x.dtype):
        return layer_input_gradient(wide(g), wide(x), wide(weight), mean, scale, rank,
                                    eps).astype(x.dtype)
    found = np.empty(x.shape, x.dtype)
    rows, slopes, out = as_rows(x, rank), as_rows(g, rank), as_rows(found, rank)
    weight = as_row(weight)
    with along_rows(rows.shape[1]):
        for part in _blocks(out):
            some = out[part]
            apart, factor = _centred_rows(rows, part, mean, scale, eps)
            _scale(slopes[part], factor, weight, some)
            along = row_products(some, apart)
            along *= factor
            along *= factor
            _take_moments_out(some, row_sums(some), apart, along, some.shape[1])
    return found


def _take_moments_out(found: Any, sums: Any, apart: Any, along: Any, count: int) -> None:
    """Leaves of scaled gradients what changes neither means nor variances."""
    size = number(count or 1, found.dtype)
    sums /= size
    found -= sums
    along /= size
    apart *= along
    found -= apart


def layer_weight_gradient(g: Any, x: Any, mean: Any, scale: Any, rank: int, eps: float) -> Any:
    """What reaches the weight of :func:`layer_norm`."""
    if is_low_precision(x.dtype):
        return layer_weight_gradient(wide(g), wide(x), mean, scale, rank, eps).astype(x.dtype)
    rows, slopes = as_rows(x, rank), as_rows(g, rank)
    found: Any = None
    with along_rows(rows.shape[1]):
        for part in _blocks(rows):
            apart, factor = _centred_rows(rows, part, mean, scale, eps)
            apart *= slopes[part]
            sums = factor.reshape(-1).dot(apart)
            found = sums if found is None else found + sums
    return shaped_as(found, x.shape[x.ndim - rank:])


def shaped_as(found: Any, shape: tuple[int, ...]) -> Any:
    """``found`` in another shape; where it has that, it goes on owning its memory."""
    return found if found.shape == shape else found.reshape(shape)


def as_row(parameter: Any) -> Any:
    return None if parameter is None else parameter.reshape(1, -1)


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


def _standard_channels(x: Any, apart: Any, shape: Any, groups: int | None
                       ) -> tuple[Any, Any]:
    """Puts rows minus their means in ``apart``; the means, and sums of squares around them."""
    means = _shared(row_sums(x), shape, groups)
    means /= number(_sharing(shape, groups), x.dtype)
    np.subtract(x, means, apart)
    return means, _shared(row_products(apart, apart), shape, groups)


def channel_norm(x: Any, weight: Any, bias: Any, groups: int | None, eps: float
                 ) -> tuple[Any, Any, Any, Any]:
    """Standardised, then scaled and shifted channel by channel.

    Also columns with a number per row: the means, one over the standard deviations, and the sums of
    squared differences.
    """
    rows = _channel_rows(wide(x))
    y = np.empty(x.shape, rows.dtype)
    out = _channel_rows(y)
    with along_rows(rows.shape[1]):
        means, squares = _standard_channels(rows, out, x.shape, groups)
        scales = _inverse_deviations(squares.copy(), _sharing(x.shape, groups), eps)
        out *= scales if weight is None else scales * _for_each_sample(weight, x.shape[0])
        if bias is not None:
            out += _for_each_sample(bias, x.shape[0])
    return y.astype(x.dtype, copy=False), means, scales, squares


def _centred_channels(x: Any, mean: Any, scale: Any, groups: int | None, eps: float
                      ) -> tuple[Any, Any]:
    """Rows minus their means, and one over their deviations, which may be known."""
    rows = _channel_rows(wide(x))
    if mean is not None:
        return rows - mean, scale
    apart = np.empty(rows.shape, rows.dtype)
    _, squares = _standard_channels(rows, apart, x.shape, groups)
    return apart, _inverse_deviations(squares, _sharing(x.shape, groups), eps)


def channel_input_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any,
                           groups: int | None, eps: float) -> Any:
    """What reaches the input of :func:`channel_norm`."""
    shape = x.shape
    found = np.empty(shape, wide(x).dtype)
    out = _channel_rows(found)
    with along_rows(out.shape[1]):
        apart, factor = _centred_channels(x, mean, scale, groups, eps)
        np.multiply(_channel_rows(wide(g)), factor if weight is None
                    else factor * _for_each_sample(weight, shape[0]), out)
        along = _shared(row_products(out, apart), shape, groups)
        along *= factor
        along *= factor
        _take_moments_out(out, _shared(row_sums(out), shape, groups), apart, along,
                          _sharing(shape, groups))
    return found.astype(x.dtype, copy=False)


def channel_weight_gradient(g: Any, x: Any, mean: Any, scale: Any, groups: int | None,
                            eps: float) -> Any:
    """What reaches the weight of :func:`channel_norm`."""
    with along_rows(math.prod(x.shape[2:])):
        apart, factor = _centred_channels(x, mean, scale, groups, eps)
    products = row_products(_channel_rows(wide(g)), apart)
    products *= factor
    return column_sums(products.reshape(x.shape[:2])).astype(x.dtype, copy=False)


def fixed_channel_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    """Scaled and shifted channel by channel, with statistics that are given."""
    scale = 1 / np.sqrt(wide(var) + eps)
    scale = scale if weight is None else scale * weight
    shift = -wide(mean) * scale
    shift = shift if bias is None else shift + bias
    rows = _channel_rows(wide(x))
    y = np.empty(x.shape, rows.dtype)
    out = _channel_rows(y)
    with along_rows(rows.shape[1]):
        np.multiply(rows, _for_each_sample(scale, x.shape[0]), out)
        out += _for_each_sample(shift, x.shape[0])
    return y.astype(x.dtype, copy=False)


def fixed_weight_gradient(g: Any, x: Any, mean: Any, var: Any, eps: float) -> Any:
    """What reaches the weight of :func:`fixed_channel_norm`."""
    rows = _channel_rows(wide(x))
    with along_rows(rows.shape[1]):
        apart = rows - _for_each_sample(mean, x.shape[0])
    products = row_products(_channel_rows(wide(g)), apart).reshape(x.shape[:2])
    return (column_sums(products) / np.sqrt(wide(var) + eps)).astype(x.dtype, copy=False)


def channel_sums(x: Any) -> Any:
    """The sum over everything but the channels, dimension 1."""
    sums = row_sums(_channel_rows(wide(x))).reshape(x.shape[:2])
    return column_sums(sums).astype(x.dtype, copy=False)


def mean_and_variance(means: Any, squares: Any, shape: Any) -> tuple[Any, Any]:
    """Each channel's mean and unbiased variance, from what :func:`channel_norm` found."""
    channels = shape[1]
    return means[:channels, 0], squares[:channels, 0] / (_sharing(shape, None) - 1)


def blend(running: Any, fresh: Any, momentum: float) -> None:
    """Move ``running`` towards ``fresh`` in place."""
    dtype = running.dtype
    if dtype is not fresh.dtype:
        running[...] = (1 - momentum) * wide(running) + momentum * fresh
        return
    running *= number(1 - momentum, dtype)
    running += fresh * number(momentum, dtype)


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
    """Add ``rows`` up in zeros at ``indices``, of which none comes more often than ``most``."""
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
    some = order[first]
    whole[indices.take(some)] = rows.take(some, 0)
    for i in range(1, most):
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
