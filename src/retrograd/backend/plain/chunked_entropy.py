"""Cross entropy of a linear layer on raw arrays, some rows at a time: all scores never exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import xp
from ..interface import MEAN, NONE, SUM
from .loss import _divided, class_weights, negative_likelihood, spread_likelihood
from .precision import wide
from .softmax import log_softmax, log_softmax_gradient


def _chunks(x: Any, linear_weight: Any, bias: Any, chunk: int) -> Iterator[tuple[slice, Any, Any]]:
    """For some rows at a time: which they are, the rows, and the logarithms of probabilities."""
    weight, offset = wide(linear_weight), wide(bias)
    for start in range(0, len(x), chunk):
        part = slice(start, start + chunk)
        rows = wide(x[part])
        scores = xp.matmul(rows, weight.T)
        yield part, rows, log_softmax(scores if offset is None else scores + offset, 1)


def _total(target: Any, weight: Any, ignore: int, dtype: Any) -> Any:
    """What the sum of all losses is divided by."""
    counts = target != ignore
    scale = class_weights(xp.where(counts, target, 0), weight, counts, dtype)
    return xp.sum(scale)


def chunked_entropy(x: Any, linear_weight: Any, bias: Any, target: Any, weight: Any,
                    reduction: int, ignore: int, chunk: int) -> Any:
    """The cross entropy of ``x`` times the transposed ``linear_weight``."""
    weight = wide(weight)
    losses = [negative_likelihood(likely, target[part], weight, NONE, ignore)
              for part, _, likely in _chunks(x, linear_weight, bias, chunk)]
    values = xp.concatenate(losses) if losses else xp.zeros((0,), wide(x).dtype)
    if reduction == NONE:
        return values.astype(x.dtype)
    found = xp.as_array(xp.sum(values))
    if reduction == MEAN:
        found = found / _total(target, weight, ignore, values.dtype) if len(x) \
            else _divided(found, 0)
    return xp.as_array(found).astype(x.dtype)


def chunked_entropy_gradient(g: Any, x: Any, linear_weight: Any, bias: Any, target: Any,
                             weight: Any, of: str, reduction: int, ignore: int, chunk: int) -> Any:
    """What reaches one of the arguments, from scores that are computed once more."""
    like = {"input": x, "linear_weight": linear_weight, "bias": bias}[of]
    whole, weight, g = xp.zeros(like.shape, wide(like).dtype), wide(weight), wide(g)
    if reduction == MEAN:
        g = g / _total(target, weight, ignore, g.dtype)
    for part, rows, likely in _chunks(x, linear_weight, bias, chunk):
        share = spread_likelihood(g[part] if reduction == NONE else g, likely.shape, target[part],
                                  weight, NONE if reduction == NONE else SUM, ignore)
        slopes = log_softmax_gradient(share, likely, 1)
        if of == "input":
            whole[part] = xp.matmul(slopes, wide(linear_weight))
        else:
            whole += xp.matmul(slopes.T, rows) if of == "linear_weight" else xp.sum(slopes, axis=0)
    return whole.astype(like.dtype)
