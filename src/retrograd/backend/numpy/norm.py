"""Normalisation and embedding on NumPy arrays: in place, a few rows at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies
from ..plain import norm as plain
from ..plain.norm import (
    as_row,
    as_rows,
    channel_gradients,
    channel_rows,
    for_each_sample,
    layer_gradients,
    shaped_as,
    shared,
    sharing,
)
from ..plain.precision import is_half, wide
from . import along_rows, cast, together
from .matrices import sum_rows
from .native import native
from .rows import column_sums, number, row_products, row_sums  # noqa: F401 - in plain bodies


def _means(x: Any, axes: tuple[int, ...], count: int) -> Any:
    # BLAS adds the rows of a matrix up.
    return row_sums(x) * (1 / count) if axes == (1,) and x.ndim == 2 \
        else plain._means(x, axes, count)


# ---------------------------------------------------------------- rows

# In place, and a few rows at a time, so that what is computed on the way stays in the cache: always
# quicker, also for few. Half precision comes here as float32.
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


@native("layer_norm(x, weight, bias, like(x), column(x, rank), column(x, rank), rank, eps)",
        when="ready(x, weight, bias)")
def layer_norm(x: Any, rank: int, eps: float, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    if is_half(x.dtype):
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


def _centred_part(rows: Any, part: slice, mean: Any, scale: Any, eps: float) -> tuple[Any, Any]:
    """Some rows minus their means, and one over their deviations, which may be known."""
    x = rows[part]
    if mean is not None:
        return x - mean[part], scale[part]
    apart = np.empty(x.shape, x.dtype)
    return apart, _standard_rows(x, apart, eps)[1]


@native("layer_gradients(g, x, weight, mean, scale, like(x), empty(0, x.dtype), "
        "empty(0, x.dtype), rank, eps)[0]",
        when="alike(g, x) and ready(x, weight) and in_order(mean, scale)")
def layer_input_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, rank: int,
                         eps: float) -> Any:
    if is_half(x.dtype):
        return layer_input_gradient(wide(g), wide(x), wide(weight), mean, scale, rank,
                                    eps).astype(x.dtype)
    found = np.empty(x.shape, x.dtype)
    rows, slopes, out = as_rows(x, rank), as_rows(g, rank), as_rows(found, rank)
    weight = as_row(weight)
    with along_rows(rows.shape[1]):
        for part in _blocks(out):
            some = out[part]
            apart, factor = _centred_part(rows, part, mean, scale, eps)
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


@together.unless_found(1)
@native("layer_weight_gradient(g, x, mean, scale, row(x, rank), rank, eps)",
        when="alike(g, x) and in_order(mean, scale)")
def layer_weight_gradient(g: Any, x: Any, mean: Any, scale: Any, rank: int, eps: float) -> Any:
    if is_half(x.dtype):
        return layer_weight_gradient(wide(g), wide(x), mean, scale, rank, eps).astype(x.dtype)
    rows, slopes = as_rows(x, rank), as_rows(g, rank)
    found: Any = None
    with along_rows(rows.shape[1]):
        for part in _blocks(rows):
            apart, factor = _centred_part(rows, part, mean, scale, eps)
            apart *= slopes[part]
            sums = factor.reshape(-1).dot(apart)
            found = sums if found is None else found + sums
    return shaped_as(found, x.shape[x.ndim - rank:])


def layer_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, rank: int, eps: float,
                   asked: Any) -> Any:
    if not together.are_wanted(asked):
        return layer_input_gradient(g, x, weight, mean, scale, rank, eps)
    found, *others = layer_gradients(g, x, weight, mean, scale, rank, eps)
    together.keep(asked, dict(enumerate(others, 1)), g)
    return found


@together.unless_found(2)
def layer_sums(x: Any, rank: int) -> Any:
    return shaped_as(sum_rows(as_rows(x, rank)), x.shape[x.ndim - rank:])


# ---------------------------------------------------------------- channels

# In place: always quicker.


def _standard_channels(x: Any, apart: Any, shape: Any, groups: int | None
                       ) -> tuple[Any, Any]:
    """Puts rows minus their means in ``apart``; the means, and sums of squares around them."""
    means = shared(row_sums(x), shape, groups)
    means /= number(sharing(shape, groups), x.dtype)
    np.subtract(x, means, apart)
    return means, shared(row_products(apart, apart), shape, groups)


@native("channel_norm(x, weight, bias, like(x), column(x, x.ndim - 2), column(x, x.ndim - 2), "
        "column(x, x.ndim - 2), groups or 0, eps)", when="x.ndim > 2 and ready(x, weight, bias)")
def channel_norm(x: Any, weight: Any, bias: Any, groups: int | None, eps: float
                 ) -> tuple[Any, Any, Any, Any]:
    rows = channel_rows(wide(x))
    y = np.empty(x.shape, rows.dtype)
    out = channel_rows(y)
    with along_rows(rows.shape[1]):
        means, squares = _standard_channels(rows, out, x.shape, groups)
        scales = _inverse_deviations(squares.copy(), sharing(x.shape, groups), eps)
        out *= scales if weight is None else scales * for_each_sample(weight, x.shape[0])
        if bias is not None:
            out += for_each_sample(bias, x.shape[0])
    return cast(y, x.dtype), means, scales, squares


def _centred_channels(x: Any, mean: Any, scale: Any, groups: int | None, eps: float
                      ) -> tuple[Any, Any]:
    """Rows minus their means, and one over their deviations, which may be known."""
    rows = channel_rows(wide(x))
    if mean is not None:
        return rows - mean, scale
    apart = np.empty(rows.shape, rows.dtype)
    _, squares = _standard_channels(rows, apart, x.shape, groups)
    return apart, _inverse_deviations(squares, sharing(x.shape, groups), eps)


@native("channel_gradients(g, x, weight, mean, scale, like(x), empty(x.shape[1], x.dtype), "
        "empty(x.shape[1], x.dtype), groups or 0, eps)[0]",
        when="x.ndim > 2 and alike(g, x) and ready(x, weight) and in_order(mean, scale)")
def channel_input_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any,
                           groups: int | None, eps: float) -> Any:
    shape = x.shape
    found = np.empty(shape, wide(x).dtype)
    out = channel_rows(found)
    with along_rows(out.shape[1]):
        apart, factor = _centred_channels(x, mean, scale, groups, eps)
        np.multiply(channel_rows(wide(g)), factor if weight is None
                    else factor * for_each_sample(weight, shape[0]), out)
        along = shared(row_products(out, apart), shape, groups)
        along *= factor
        along *= factor
        _take_moments_out(out, shared(row_sums(out), shape, groups), apart, along,
                          sharing(shape, groups))
    return cast(found, x.dtype)


def channel_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, groups: int | None,
                     eps: float, asked: Any) -> Any:
    if not together.are_wanted(asked):
        return channel_input_gradient(g, x, weight, mean, scale, groups, eps)
    found, *others = channel_gradients(g, x, weight, mean, scale, groups, eps)
    together.keep(asked, dict(enumerate(others, 1)), g)
    return found


@native("shifted_channels(x, scale, shift, like(x))",
        when="x.ndim > 2 and ready(x) and in_order(scale, shift) "
             "and scale.dtype is shift.dtype is column(x, 0).dtype")
def _shifted_channels(x: Any, scale: Any, shift: Any) -> Any:
    rows = channel_rows(wide(x))
    y = np.empty(x.shape, rows.dtype)
    out = channel_rows(y)
    with along_rows(rows.shape[1]):
        np.multiply(rows, for_each_sample(scale, x.shape[0]), out)
        out += for_each_sample(shift, x.shape[0])
    return cast(y, x.dtype)


def blend(running: Any, fresh: Any, momentum: float) -> None:
    # In place, where both are of one dtype.
    dtype = running.dtype
    if dtype is not fresh.dtype:
        plain.blend(running, fresh, momentum)
        return
    running *= number(1 - momentum, dtype)
    running += fresh * number(momentum, dtype)


# ---------------------------------------------------------------- embedding


def look_up(weight: Any, indices: Any) -> Any:
    if not weight.size or (indices.size and indices.min() < 0):
        return plain.look_up(weight, indices)
    try:  # NumPy looks for indices that are too large while it reads
        return weight.take(indices, 0)
    except IndexError:
        raise IndexError("index out of range in self") from None


@native("add_at(whole, indices, rows, 0)",
        when="indexed(whole, indices) and ready(whole, rows) and whole.dtype.itemsize > 2")
def _add_rows_at(whole: Any, indices: Any, rows: Any, times: Any) -> None:
    # By how often an index comes at most, and how many numbers there are.
    width, most = whole.shape[1], times.item(times.argmax())
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


fill_with_plain_bodies(
    globals(), plain,
    layer_gradients=native(
        "layer_gradients(g, x, weight, mean, scale, like(x), row(x, rank), row(x, rank), rank, "
        "eps)",
        when="alike(g, x) and ready(x, weight) and in_order(mean, scale)"),
    channel_gradients=native(
        "channel_gradients(g, x, weight, mean, scale, like(x), empty(x.shape[1], x.dtype), "
        "empty(x.shape[1], x.dtype), groups or 0, eps)",
        when="x.ndim > 2 and alike(g, x) and ready(x, weight) and in_order(mean, scale)"),
    channel_weight_gradient=together.unless_found(1, native(
        "channel_weight_gradient(g, x, mean, scale, empty(x.shape[1], x.dtype))",
        when="x.ndim > 2 and mean is not None and alike(g, x) and in_order(mean, scale)")),
    channel_sums=together.unless_found(2, native(
        "channel_sums(x, empty(x.shape[1], x.dtype))", when="x.ndim > 2 and ready(x)")))
