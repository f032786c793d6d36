"""Normalisation and embedding on raw arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .linalg import _ones, is_low_precision
from .numpy import FLOAT32, FLOAT64


def wide(array: Any) -> Any:
    """Half precision as float32, in which its statistics are computed."""
    return array.astype(FLOAT32) if is_low_precision(array.dtype) else array


def _means(x: Any, axes: tuple[int, ...], count: int) -> Any:
    """The mean over ``axes``, with their lengths kept as one."""
    dtype = x.dtype
    if axes == (1,) and x.ndim == 2 and (dtype is FLOAT32 or dtype is FLOAT64):
        # BLAS adds up rows several times faster than a reduction.
        means = x.dot(_ones(x.shape[1], dtype))
        means *= 1 / count
        return means[:, None]
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


def scaled_and_shifted(x: Any, axes: tuple[int, ...], eps: float, weight: Any, bias: Any) -> Any:
    """Standardised, then scaled and shifted."""
    apart, scale = centred(wide(x), axes, eps)
    apart *= scale
    if weight is not None:
        apart *= weight
    if bias is not None:
        apart += bias
    return apart.astype(x.dtype, copy=False)


def layer_norm(x: Any, rank: int, eps: float, weight: Any, bias: Any) -> Any:
    """Standardised over the last ``rank`` dimensions, scaled and shifted."""
    rows = as_rows(x, rank)
    flat = [None if p is None else p.reshape(-1) for p in (weight, bias)]
    return scaled_and_shifted(rows, (1,), eps, *flat).reshape(x.shape)


def as_rows(x: Any, rank: int) -> Any:
    """The last ``rank`` dimensions merged into one, and the others into another."""
    split = x.ndim - rank
    return x.reshape(math.prod(x.shape[:split]), math.prod(x.shape[split:]))


def moments(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The mean and the unbiased variance over ``axes``."""
    x = wide(x)
    return np.mean(x, axis=axes), np.var(x, axis=axes, ddof=1)


def blend(running: Any, fresh: Any, momentum: float) -> None:
    """Move ``running`` towards ``fresh`` in place."""
    running[...] = (1 - momentum) * wide(running) + momentum * fresh


# ---------------------------------------------------------------- embedding


def look_up(weight: Any, indices: Any) -> Any:
    """The rows of ``weight`` at ``indices``, which must lie in it."""
    if indices.size and indices.min() < 0:
        raise IndexError("index out of range in self")
    try:
        return weight.take(indices, 0)
    except IndexError:
        raise IndexError("index out of range in self") from None


def add_rows(g: Any, indices: Any, count: int, padding: int, by_frequency: bool) -> Any:
    """Add the rows of ``g`` up by index; the row ``padding`` stays zero."""
    width = g.shape[-1]
    whole = np.zeros((count, width), g.dtype)
    flat = indices.reshape(-1)
    if not flat.size:
        return whole
    if not by_frequency and np.bincount(flat).max() == 1:
        whole[flat] = g.reshape(-1, width)
        if padding >= 0:
            whole[padding] = 0
        return whole
    order = flat.argsort(kind="stable")
    ordered = flat[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sums = np.add.reduceat(wide(g.reshape(-1, width)[order]), starts, axis=0)
    if by_frequency:
        sums = sums / np.diff(np.append(starts, flat.size))[:, None].astype(sums.dtype)
    whole[ordered[starts]] = sums
    if padding >= 0:
        whole[padding] = 0
    return whole


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
