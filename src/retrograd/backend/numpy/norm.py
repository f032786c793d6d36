"""Normalisation and embedding on NumPy arrays: gradients that kernels find together, and rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, norm as plain
from ..plain.norm import (
    _centred_rows,
    as_row,
    as_rows,
    channel_input_gradient,
    channel_rows,
    for_each_sample,
    layer_gradients,
    layer_input_gradient,
    shaped_as,
)
from ..plain.precision import is_half
from . import FLOAT32, together
from .index import add_rows_at, slices_at
from .native import native
from .rows import (  # noqa: F401 - in plain bodies
    column_sums,
    number,
    ones,
    row_products,
    row_sums,
)
from .sharing import are_shared, over_rows, unless_large

# ---------------------------------------------------------------- rows


def _large_layer_norm(x: Any, rank: int, eps: float, weight: Any, bias: Any) -> Any:
    if not are_shared(x):
        return None
    width = math.prod(x.shape[x.ndim - rank:])
    out, mean, scale = np.empty(x.shape, x.dtype), *np.empty((2, x.size // width, 1), x.dtype)
    weight, bias = as_row(weight), as_row(bias)

    def fill(x: Any, out: Any, mean: Any, scale: Any) -> None:
        np.divide(row_sums(x), width, out=mean)
        np.subtract(x, mean, out=out)
        np.divide(1, np.sqrt(row_products(out, out) / width + eps), out=scale)
        out *= scale
        if weight is not None:
            out *= weight
        if bias is not None:
            out += bias

    over_rows(fill, width, x, out, mean, scale)
    return out, mean, scale


def _large_layer_normed(x: Any, rank: int, eps: float, weight: Any, bias: Any) -> Any:
    found = _large_layer_norm(x, rank, eps, weight, bias)
    return found if found is None else found[0]


def _large_layer_input_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, rank: int,
                                eps: float) -> Any:
    if mean is None or not are_shared(x, g):
        return None
    width, out, weight = math.prod(x.shape[x.ndim - rank:]), np.empty_like(x), as_row(weight)

    def fill(g: Any, x: Any, mean: Any, scale: Any, out: Any) -> None:
        if weight is not None:
            g = g * weight
        np.subtract(x, mean, out=out)
        along = row_products(g, out)
        along *= scale * scale / width
        out *= along
        out += row_sums(g) / width
        np.subtract(g, out, out=out)
        out *= scale

    over_rows(fill, width, g, x, mean, scale, out)
    return out


def _large_layer_gradients(g: Any, x: Any, weight: Any, mean: Any, scale: Any, rank: int,
                           eps: float) -> Any:
    if not are_shared(x, g):
        return None
    # What is multiplied for the sums of columns serves those of rows.
    shape, slopes = x.shape[x.ndim - rank:], as_rows(g, rank)
    found, scale = _centred_rows(as_rows(x, rank), mean, scale, eps)
    found *= scale
    products, width = slopes * found, found.shape[1]
    along, sums = column_sums(products), column_sums(slopes)
    factors = ones(width, x.dtype) if weight is None else weight.reshape(-1, 1)
    found *= products.dot(factors) / -width
    found -= slopes.dot(factors) / width
    found += slopes if weight is None else np.multiply(slopes, as_row(weight), out=products)
    found *= scale
    return found.reshape(x.shape), shaped_as(along, shape), shaped_as(sums, shape)


def layer_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, rank: int, eps: float,
                   asked: Any) -> Any:
    if not together.are_wanted(asked):
        return layer_input_gradient(g, x, weight, mean, scale, rank, eps)
    found, *others = layer_gradients(g, x, weight, mean, scale, rank, eps)
    together.keep(asked, dict(enumerate(others, 1)), g)
    return found


def channel_gradient(g: Any, x: Any, weight: Any, mean: Any, scale: Any, groups: int | None,
                     eps: float, asked: Any) -> Any:
    if not together.are_wanted(asked):
        return channel_input_gradient(g, x, weight, mean, scale, groups, eps)
    found, *others = channel_gradients(g, x, weight, mean, scale, groups, eps)
    together.keep(asked, dict(enumerate(others, 1)), g)
    return found


@native("channel_gradients(g, x, weight, mean, scale, like(x), empty(x.shape[1], x.dtype), "
        "empty(x.shape[1], x.dtype), groups or 0, eps)",
        when="x.ndim > 2 and g.shape == x.shape and ready(x, g, weight) and in_order(mean, scale)")
def channel_gradients(g: Any, x: Any, weight: Any, mean: Any, scale: Any, groups: int | None,
                      eps: float) -> tuple[Any, Any, Any]:
    # Where all samples share their statistics, the sums for the parameters are those for the input.
    if groups is not None or mean is None or not x.size or is_half(x.dtype):
        return plain.channel_gradients(g, x, weight, mean, scale, groups, eps)
    (samples, channels), slopes = x.shape[:2], channel_rows(g)
    found = channel_rows(x) - mean
    along = column_sums(row_products(slopes, found).reshape(samples, channels))
    sums, scales = column_sums(row_sums(slopes).reshape(samples, channels)), scale[:channels, 0]
    count = x.size // channels
    found *= for_each_sample(along * scales * scales / count, samples)
    found += for_each_sample(sums / count, samples)
    np.subtract(slopes, found, out=found)
    found *= scale if weight is None else for_each_sample(scales * weight, samples)
    return found.reshape(x.shape), along * scales, sums


def columns(x: Any) -> tuple[Any, Any, Any]:
    """Three new columns, with a number for each channel of each sample."""
    shape, dtype = x.shape, x.dtype
    shape, dtype = (shape[0] * shape[1], 1), FLOAT32 if dtype.itemsize == 2 else dtype
    return np.empty(shape, dtype), np.empty(shape, dtype), np.empty(shape, dtype)


# ---------------------------------------------------------------- embedding


@native("slices(weight, indices, empty((*indices.shape, *weight.shape[1:]), weight.dtype), 0, "
        "False)", when="indexed(weight, indices)")
def look_up(weight: Any, indices: Any) -> Any:
    if not weight.size or (indices.size and indices.min() < 0):
        return plain.look_up(weight, indices)
    try:  # NumPy looks for indices that are too large while it reads
        return slices_at(weight, indices, 0)
    except IndexError:
        raise IndexError("index out of range in self") from None


@native("add_at(whole, indices, rows, 0)",
        when="indexed(whole, indices) and ready(whole, rows) and whole.dtype.itemsize > 2")
def _add_rows_at(whole: Any, indices: Any, rows: Any, times: Any) -> None:
    if times.max() == 1 or times.size > len(whole):  # too large an index is for NumPy to refuse
        whole[indices] = rows
    else:
        add_rows_at(whole, indices, rows)


fill_with_plain_bodies(
    globals(), plain,
    layer_norm=lambda body: native(
        "row_norm(x, weight, bias, like(x), column(x, rank), column(x, rank), rank, eps)",
        when="ready(x, weight, bias)")(unless_large(body, _large_layer_norm)),
    layer_normed=lambda body: native(
        "row_norm(x, weight, bias, like(x), None, None, rank, eps)[0]",
        when="ready(x, weight, bias)")(unless_large(body, _large_layer_normed)),
    layer_input_gradient=lambda body: native(
        "layer_gradients(g, x, weight, mean, scale, like(x), empty(0, x.dtype), "
        "empty(0, x.dtype), rank, eps)[0]",
        when="g.shape == x.shape and ready(x, g, weight) and in_order(mean, scale)")(
            unless_large(body, _large_layer_input_gradient)),
    layer_weight_gradient=together.unless_found(1, native(
        "layer_weight_gradient(g, x, mean, scale, row(x, rank), rank, eps)",
        when="alike(g, x) and in_order(mean, scale)")),
    layer_sums=together.unless_found(2),
    channel_norm=native("set_norm(x, weight, bias, like(x), *columns(x), groups or 0, eps)",
                        columns, when="x.ndim > 2 and ready(x, weight, bias)"),
    channel_normed=native(
        "set_norm(x, weight, bias, like(x), None, None, None, groups or 0, eps)[0]",
        when="x.ndim > 2 and ready(x, weight, bias)"),
    channel_input_gradient=native(
        "channel_gradients(g, x, weight, mean, scale, like(x), empty(x.shape[1], x.dtype), "
        "empty(x.shape[1], x.dtype), groups or 0, eps)[0]",
        when="x.ndim > 2 and g.shape == x.shape and ready(x, g, weight) and in_order(mean, scale)"),
    _shifted_channels=native(
        "shifted_channels(x, scale, shift, like(x))",
        when="x.ndim > 2 and ready(x) and in_order(scale, shift) "
             "and scale.dtype is shift.dtype is column(x, 0).dtype"),
    layer_gradients=lambda body: native(
        "layer_gradients(g, x, weight, mean, scale, like(x), row(x, rank), row(x, rank), rank, "
        "eps)",
        when="g.shape == x.shape and ready(x, g, weight) and in_order(mean, scale)")(
            unless_large(body, _large_layer_gradients)),
    add_rows=native(
        "add_rows(zeros((count, g.shape[-1]), g.dtype), indices, g, padding)",
        when="not by_frequency and g.size and g.dtype.itemsize > 2 and indexed(g, indices)"),
    blend=native("blend(mean, var, means, squares, count, momentum)",
                 when="in_order(mean, var, means, squares) "
                      "and mean.dtype is var.dtype is means.dtype"),
    channel_weight_gradient=together.unless_found(1, native(
        "channel_weight_gradient(g, x, mean, scale, empty(x.shape[1], x.dtype))",
        when="x.ndim > 2 and mean is not None and alike(g, x) and in_order(mean, scale)")),
    channel_sums=together.unless_found(2, native(
        "channel_sums(x, empty(x.shape[1], x.dtype))", when="x.ndim > 2 and ready(x)")))
