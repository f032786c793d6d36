"""Batching rules of reductions and distances."""

from __future__ import annotations

from typing import Any

from ...base.errors import canonical_dim
from ...core.graph import Like
from ..elementwise.where import kept
from ..reductions.distances import _cdist
from ..reductions.extremes import amax, amin
from ..reductions.norms import _exceeds, _shrinking, _vector_norm
from ..reductions.products import _prod_dim
from ..reductions.quantiles import _median_dim, _nanmedian_dim
from ..reductions.sums import _mean_dims, _spread, _sum_dims
from ..shapes.reshaping import reshape
from ..shapes.slicing import diagonal
from .common import (
    RULES,
    all_batched,
    as_operands,
    behind_batch,
    flat,
    inner_rank,
    rule,
    rule_by_name,
    run,
)

RULES["_sum"] = lambda batch, input, dtype: _sum_dims(flat(input), 1, False, dtype)
RULES["_mean"] = lambda batch, input, dtype: _mean_dims(flat(input), 1, False, dtype)
RULES["_prod"] = lambda batch, input, dtype: _prod_dim(flat(input), 1, False, dtype)
RULES["_max"] = lambda batch, input: amax(flat(input), 1)
RULES["_min"] = lambda batch, input: amin(flat(input), 1)
RULES["_median"] = lambda batch, input: _median_dim(flat(input), 1, False)[0]
RULES["_nanmedian"] = lambda batch, input: _nanmedian_dim(flat(input), 1, False)[0]
RULES["trace"] = lambda batch, input: _sum_dims(diagonal(input, 0, 1, 2), 1)
behind_batch("recurrence")


def _dims_behind(dim: Any, rank: int) -> tuple[int, ...]:
    """``dim`` of values of ``rank`` dims, behind a batch; none means all."""
    return tuple([d + 1 for d in dim or range(rank)])


@rule("_spread")
def _(batch: Any, input: Any, target: Any, dim: Any, keepdim: bool) -> Any:
    whole = Like((batch.size, *target.shape), target.dtype)
    if not target.shape:
        return _spread(input, whole, None, True)
    return _spread(input, whole, _dims_behind(dim, len(target.shape)), keepdim)


@rule_by_name("_share", "_average")
def _(name: str, batch: Any, input: Any, mask: Any, dim: Any, keepdim: bool) -> Any:
    input, mask = all_batched(batch, input=input, mask=mask)
    if mask.ndim == 1:
        return kept(input, mask)
    return run(name, input, mask, _dims_behind(dim, inner_rank(mask)), keepdim)


@rule_by_name("_winners", "_equals")
def _(name: str, batch: Any, input: Any, value: Any, dim: Any, keepdim: bool) -> Any:
    input, value = all_batched(batch, input=input, value=value)
    if input.ndim == 1:
        return run(name, input, value, None, True)
    return run(name, input, value, _dims_behind(dim, inner_rank(input)), keepdim)


@rule_by_name("_argmax", "_argmin")
def _(name: str, batch: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    if dim is not None and input.ndim > 1:
        return run(name, input, dim[0] + 1, keepdim)
    found = run(name, flat(input), 1, False)
    return reshape(found, (batch.size, *(1,) * inner_rank(input))) if keepdim else found


@rule_by_name("_any", "_all")
def _(name: str, batch: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    untouched = dim == () or input.ndim == 1
    return run(name, input, () if untouched else _dims_behind(dim, inner_rank(input)), keepdim)


# ---------------------------------------------------------------- distances


@rule("dist")
def _(batch: Any, input: Any, other: Any, p: float) -> Any:
    input, other = as_operands(batch, input=input, other=other)
    return _vector_norm(flat(input - other), float(p), 1, False, None)


@rule("_cdist")
def _(batch: Any, x1: Any, x2: Any, p: float) -> Any:
    return _cdist(*as_operands(batch, x1=x1, x2=x2), p)


@rule("renorm")
def _(batch: Any, input: Any, p: float, dim: int, maxnorm: float) -> Any:
    own = canonical_dim(dim, input.ndim - 1) + 1
    dims = tuple([d for d in range(1, input.ndim) if d != own])
    size = _vector_norm(input, float(p), dims, True, None)
    return input * (_shrinking(size, maxnorm) + (1 - _exceeds(size, maxnorm)))
