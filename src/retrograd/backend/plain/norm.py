"""Normalisation and embedding on raw arrays."""

from __future__ import annotations

import math
from typing import Any

from .. import xp
from .distance import norm
from .precision import is_half, wide
from .rows import column_sums, row_products, row_sums

# ---------------------------------------------------------------- mean 0 and variance 1


def _means(x: Any, axes: tuple[int, ...], count: int) -> Any:
    """The mean over ``axes``, with their lengths kept as one."""
    return xp.sum(x, axis=axes, keepdims=True) * (1 / count)


def centred(x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any]:
    """``x`` minus its mean over ``axes``, and one over its standard deviation there."""
    count = math.prod([x.shape[a] for a in axes]) or 1
    apart = x - _means(x, axes, count)
    return apart, 1 / xp.sqrt(_means(apart * apart, axes, count) + eps)


def standardize(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """``x`` shifted and scaled to mean 0 and variance 1 over ``axes``."""
    apart, scale = centred(wide(x), axes, eps)
    return xp.cast(apart * scale, x.dtype)


def inverse_deviation(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """One over the standard deviation over ``axes``."""
    return xp.cast(centred(wide(x), axes, eps)[1], x.dtype)


def standardize_gradient(g: Any, x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """The gradient of :func:`standardize`."""
    apart, scale = centred(wide(x), axes, eps)
    apart = apart * scale
    count = math.prod([x.shape[a] for a in axes]) or 1
    g = wide(g)
    rest = g - _means(g, axes, count)
    return xp.cast((rest - apart * _means(rest * apart, axes, count)) * scale, x.dtype)


# ---------------------------------------------------------------- rows


def layer_norm(x: Any, rank: int, eps: float, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    """Standardised over the last ``rank`` dimensions, scaled and shifted.

    Also the means of the rows, and one over their standard deviations, as columns.
    """
    rows = as_rows(wide(x), rank)
    mean = row_sums(rows) / (rows.shape[1] or 1)
    apart, scale = _centred_rows(rows, mean, None, eps)
    apart *= scale
    if weight is not None:
        apart *= as_row(wide(weight))
    if bias is not None:
        apart += as_row(wide(bias))
    return xp.cast(apart, x.dtype).reshape(x.shape), mean, scale


def layer_normed(x: Any, rank: int, eps: float, weight: Any, bias: Any) -> Any:
    """The first of these alone."""
    return layer_norm(x, rank, eps, weight, bias)[0]


def _centred_rows(rows: Any, mean: Any, scale: Any, eps: float) -> tuple[Any, Any]:
    """Rows minus their means, and one over their deviations; what is None is computed."""
    count = rows.shape[1] or 1
    apart = rows - (row_sums(rows) / count if mean is None else mean)
    return apart, 1 / xp.sqrt(row_products(apart, apart) / count + eps) if scale is None else scale


def layer_input_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, rank: int,
                         eps: float) -> Any:
    """What reaches the input of :func:`layer_norm`."""
    apart, scale = _centred_rows(as_rows(wide(x), rank), mean, scale, eps)
    found = as_rows(wide(g), rank) * scale
    if weight is not None:
        found *= as_row(wide(weight))
    along = row_products(found, apart) * scale * scale
    _take_moments_out(found, row_sums(found), apart, along, apart.shape[1])
    return xp.cast(found, x.dtype).reshape(x.shape)


def _take_moments_out(found: Any, sums: Any, apart: Any, along: Any, count: int) -> None:
    """Leaves of scaled gradients what changes neither means nor variances; ``apart`` is lost."""
    found -= sums / (count or 1)
    apart *= along / (count or 1)
    found -= apart


def layer_weight_gradient(g: Any, x: Any, mean: Any, scale: Any, rank: int, eps: float) -> Any:
    """What reaches the weight of :func:`layer_norm`."""
    apart, scale = _centred_rows(as_rows(wide(x), rank), mean, scale, eps)
    apart *= as_rows(wide(g), rank)
    apart *= scale
    found = column_sums(apart)
    return xp.cast(shaped_as(found, x.shape[x.ndim - rank:]), x.dtype)


def layer_sums(x: Any, rank: int) -> Any:
    """The sum over all but the last ``rank`` dimensions."""
    found = column_sums(as_rows(wide(x), rank))
    return xp.cast(shaped_as(found, x.shape[x.ndim - rank:]), x.dtype)


def layer_gradients(g: Any, x: Any, weight: Any, mean: Any, scale: Any, rank: int,
                    eps: float) -> tuple[Any, Any, Any]:
    """What reaches the input, the weight and the bias of :func:`layer_norm`."""
    return (layer_input_gradient(g, x, weight, mean, scale, rank, eps),
            layer_weight_gradient(g, x, mean, scale, rank, eps), layer_sums(g, rank))


def layer_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, rank: int, eps: float,
                   asked: Any) -> Any:
    """The first of these; the others that are ``asked`` for, by their places, come next."""
    return layer_input_gradient(g, x, weight, mean, scale, rank, eps)


def shaped_as(found: Any, shape: tuple[int, ...]) -> Any:
    """``found`` in another shape; where it has that, it goes on owning its memory."""
    return found if found.shape == shape else found.reshape(shape)


def as_row(parameter: Any) -> Any:
    return None if parameter is None else parameter.reshape(1, -1)


def as_rows(x: Any, rank: int) -> Any:
    """The last ``rank`` dimensions merged into one, and the others into another."""
    x, split = xp.in_rows(x), x.ndim - rank
    return x if split == rank == 1 else x.reshape(math.prod(x.shape[:split]),
                                                   math.prod(x.shape[split:]))


# ---------------------------------------------------------------- channels

# (batch, channels, *space) is seen as a matrix with a row for each sample and channel. Statistics
# are shared by the rows of one channel (``groups`` None), or of one sample's group of channels.


def channel_rows(x: Any) -> Any:
    shape = x.shape
    return xp.in_rows(x).reshape(shape[0] * shape[1], math.prod(shape[2:]))


def shared(sums: Any, shape: Any, groups: int | None) -> Any:
    """For every row, what the ``sums`` of those that share its statistics add up to."""
    samples, channels = shape[:2]
    if groups is None:
        return for_each_sample(column_sums(sums.reshape(samples, channels)), samples)
    together = channels // groups
    return xp.repeat(row_sums(sums.reshape(samples * groups, together)), together, axis=0)


def for_each_sample(parameter: Any, samples: int) -> Any:
    """A number per channel as a column with one per row."""
    return xp.repeat(wide(parameter).reshape(1, -1), samples, axis=0).reshape(-1, 1)


def sharing(shape: Any, groups: int | None) -> int:
    """How many elements share their statistics."""
    apart = shape[1] if groups is None else shape[0] * groups
    return math.prod(shape) // (apart or 1) or 1


def channel_norm(x: Any, weight: Any, bias: Any, groups: int | None, eps: float
                 ) -> tuple[Any, Any, Any, Any]:
    """Standardised, then scaled and shifted channel by channel.

    Also columns with a number per row: the means, one over the standard deviations, and the sums of
    squared differences.
    """
    rows, count = channel_rows(wide(x)), sharing(x.shape, groups)
    means = shared(row_sums(rows), x.shape, groups) / count
    apart = rows - means
    squares = shared(row_products(apart, apart), x.shape, groups)
    scales = 1 / xp.sqrt(squares / count + eps)
    apart *= scales if weight is None else scales * for_each_sample(weight, x.shape[0])
    if bias is not None:
        apart += for_each_sample(bias, x.shape[0])
    return xp.cast(apart.reshape(x.shape), x.dtype), means, scales, squares


def channel_normed(x: Any, weight: Any, bias: Any, groups: int | None, eps: float) -> Any:
    """The first of these alone."""
    return channel_norm(x, weight, bias, groups, eps)[0]


def _centred_channels(x: Any, mean: Any, scale: Any, groups: int | None, eps: float
                      ) -> tuple[Any, Any]:
    """Rows minus their means, and one over their deviations, which may be known."""
    if mean is None:
        _, mean, scale, _ = channel_norm(wide(x), None, None, groups, eps)
    return channel_rows(wide(x)) - mean, scale


def channel_input_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any,
                           groups: int | None, eps: float) -> Any:
    """What reaches the input of :func:`channel_norm`."""
    shape = x.shape
    apart, factor = _centred_channels(x, mean, scale, groups, eps)
    found = channel_rows(wide(g)) * (
        factor if weight is None else factor * for_each_sample(weight, shape[0]))
    along = shared(row_products(found, apart), shape, groups) * factor * factor
    _take_moments_out(found, shared(row_sums(found), shape, groups), apart, along,
                      sharing(shape, groups))
    return xp.cast(found.reshape(shape), x.dtype)


def kept_moments(x: Any, weight: Any, mean: Any, scale: Any, groups: int | None, eps: float
                 ) -> tuple[Any, Any]:
    """The moments with which gradients are computed: of groups in half precision, rounded to it.

    PyTorch keeps those in the dtype of the parameters, or of the input where there are none.
    """
    if groups is None or not is_half(x.dtype if weight is None else weight.dtype):
        return mean, scale
    if mean is None:
        _, mean, scale, _ = channel_norm(x, None, None, groups, eps)
    return wide(xp.cast(mean, x.dtype)), wide(xp.cast(scale, x.dtype))


def channel_weight_gradient(g: Any, x: Any, mean: Any, scale: Any, groups: int | None,
                            eps: float) -> Any:
    """What reaches the weight of :func:`channel_norm`."""
    apart, factor = _centred_channels(x, mean, scale, groups, eps)
    products = row_products(channel_rows(wide(g)), apart) * factor
    return xp.cast(column_sums(products.reshape(x.shape[:2])), x.dtype)


def channel_gradients(g: Any, x: Any, weight: Any, mean: Any, scale: Any, groups: int | None,
                      eps: float) -> tuple[Any, Any, Any]:
    """What reaches the input, the weight and the bias of :func:`channel_norm`."""
    return (channel_input_gradient(g, x, weight, mean, scale, groups, eps),
            channel_weight_gradient(g, x, mean, scale, groups, eps), channel_sums(g))


def channel_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, groups: int | None,
                     eps: float, asked: Any) -> Any:
    """The first of these; the others that are ``asked`` for, by their places, come next."""
    return channel_input_gradient(g, x, weight, mean, scale, groups, eps)


def fixed_channel_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    """Scaled and shifted channel by channel, with statistics that are given."""
    scale = 1 / xp.sqrt(wide(var) + eps)
    scale = scale if weight is None else scale * weight
    shift = -wide(mean) * scale
    shift = shift if bias is None else shift + bias
    return _shifted_channels(x, scale, shift)


def _shifted_channels(x: Any, scale: Any, shift: Any) -> Any:
    """Each channel times one number plus another."""
    y = channel_rows(wide(x)) * for_each_sample(scale, x.shape[0])
    y += for_each_sample(shift, x.shape[0])
    return xp.cast(y.reshape(x.shape), x.dtype)


def fixed_weight_gradient(g: Any, x: Any, mean: Any, var: Any, eps: float) -> Any:
    """What reaches the weight of :func:`fixed_channel_norm`."""
    apart = channel_rows(wide(x)) - for_each_sample(mean, x.shape[0])
    products = row_products(channel_rows(wide(g)), apart).reshape(x.shape[:2])
    return xp.cast(column_sums(products) / xp.sqrt(wide(var) + eps), x.dtype)


def channel_sums(x: Any) -> Any:
    """The sum over everything but the channels, dimension 1."""
    sums = row_sums(channel_rows(wide(x))).reshape(x.shape[:2])
    return xp.cast(column_sums(sums), x.dtype)


def blend(mean: Any, var: Any, means: Any, squares: Any, count: int, momentum: float) -> None:
    """Move a running mean and variance in place towards what :func:`channel_norm` found.

    A variance is unbiased: it is of ``count`` elements.
    """
    channels = mean.size
    for running, fresh in (mean, means[:channels, 0]), (var, squares[:channels, 0] / (count - 1)):
        running[...] = xp.cast((1 - momentum) * wide(running) + momentum * fresh, running.dtype)


# ---------------------------------------------------------------- embedding


def look_up(weight: Any, indices: Any) -> Any:
    """The rows of ``weight`` at ``indices``, which must lie in it."""
    if not weight.size and indices.size:
        return _empty_rows(weight, indices)
    if indices.size and not (int(xp.min(indices)) >= 0 and int(xp.max(indices)) < weight.shape[0]):
        raise IndexError("index out of range in self")
    return xp.take(weight, indices, axis=0)


def _empty_rows(weight: Any, indices: Any) -> Any:
    count = weight.shape[0]
    if not count:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    outside = indices[(indices < 0) | (indices >= count)]
    if outside.size:
        raise RuntimeError("INDICES element is out of DATA bounds, id="
                           f"{int(outside[0])} axis_dim={count}")
    return xp.empty((*indices.shape, 0), weight.dtype)


def add_rows(g: Any, indices: Any, count: int, padding: int, by_frequency: bool) -> Any:
    """Add the rows of ``g`` up by index; the row ``padding`` stays zero."""
    width = g.shape[-1]
    flat, rows = indices.reshape(-1), wide(g).reshape(-1, width) if g.size else wide(g)
    whole = xp.zeros((count, width), rows.dtype)
    if not g.size:
        return xp.cast(whole, g.dtype)
    times = xp.bincount(flat)
    if by_frequency:
        rows = rows / xp.take(times, flat)[:, None].astype(rows.dtype)
    _add_rows_at(whole, flat, rows, times)
    if 0 <= padding < count:
        whole[padding] = 0
    return xp.cast(whole, g.dtype)


def _add_rows_at(whole: Any, indices: Any, rows: Any, times: Any) -> None:
    """Add ``rows`` up in zeros at ``indices``, each of which comes as often as ``times`` says."""
    xp.add_at(whole, indices, rows)


def weighted_rows(weight: Any, indices: Any, padding: int, by_frequency: bool) -> Any:
    """Rows as :func:`add_rows` counts them: the adjoint of it."""
    rows = xp.take(weight, indices, axis=0)
    if by_frequency and indices.size:
        counts = xp.take(xp.bincount(indices.reshape(-1)), indices)
        rows = rows / counts[..., None].astype(rows.dtype)
    if padding >= 0:
        rows = xp.where((indices == padding)[..., None], xp.zeros((), rows.dtype), rows)
    return rows


def shorten_rows(weight: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows of ``weight`` at ``indices`` that are longer than ``max_norm``, in place."""
    rows = xp.unique(indices)
    norms = norm(weight[rows], norm_type, (1,), False)
    long = norms > max_norm
    scale = xp.cast(max_norm / (norms[long] + 1e-7), weight.dtype)
    weight[rows[long]] *= scale[:, None]


def one_hot(indices: Any, classes: int) -> Any:
    """Zeros with a one at each index."""
    whole = xp.zeros((*indices.shape, classes), xp.INT64)
    xp.put_along_axis(whole, indices[..., None], 1, axis=-1)
    return whole
