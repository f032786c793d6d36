"""Batching rules of losses."""

from __future__ import annotations

from typing import Any

from ...core.op import REGISTRY
from ..elementwise.comparison import ne
from ..elementwise.where import kept
from ..indexing.index_tensors import index
from ..losses.cross_entropy import _likelihood_gradient, _nll_loss
from ..losses.reduction import MEAN, NONE, SUM
from ..reductions.sums import _mean_dims, _sum_dims
from ..shapes.dimensions import unsqueeze
from ..shapes.expanding import expand
from ..shapes.reshaping import reshape
from .common import (
    all_aligned,
    all_batched,
    as_dtype_of,
    folded,
    inner_rank,
    rule,
    rule_by_name,
    run,
    unfolded,
)
from .index import index_rule


def _reduced(values: Any, reduction: int) -> Any:
    """The losses of each value of the batch, summed up or averaged."""
    if reduction == NONE or values.ndim == 1:
        return values
    return (_mean_dims if reduction == MEAN else _sum_dims)(values, tuple(range(1, values.ndim)))


@rule_by_name("_mse_loss", "_smooth_l1_loss", "_huber_loss", "_binary_cross_entropy",
              "_logistic_loss", "_soft_margin_loss")
def _(name: str, batch: Any, *values: Any) -> Any:
    op = REGISTRY[name]
    given = dict(zip(op.by_name, values, strict=True))
    tensors = {n: v for n, v in given.items() if n in op.arrays or n in op.indices}
    given.update(zip(tensors, all_aligned(batch, **tensors), strict=True))
    reduction = given["reduction"]
    given["reduction"] = NONE
    return _reduced(run(name, *given.values()), reduction)


def _class_weights(batch: Any, target: Any, weight: Any, ignore_index: int, like: Any) -> Any:
    """What each batched target's likelihood counts."""
    counted = ne(target, ignore_index)
    if weight is None:
        return as_dtype_of(counted, like)
    safe = kept(target, counted)
    picked = index_rule(batch.but(index=True, input=True), weight, safe, (0,)) \
        if batch["weight"] else index(weight, safe, (0,))
    return kept(picked, counted)


def _losses(values: Any, weights: Any, reduction: int) -> Any:
    if reduction == NONE:
        return values
    total = _reduced(values, SUM)
    return total / _reduced(weights, SUM) if reduction == MEAN else total


@rule("_nll_loss", "_nll_loss2d")
def _(batch: Any, input: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    input, target = all_batched(batch, input=input, target=target)
    if inner_rank(input) == 1:
        single = target.ndim == 2
        values = _nll_loss(input, reshape(target, (batch.size,)), None, NONE, ignore_index)
        values = reshape(values, target.shape) if single and reduction == NONE else values
        target = target if values.ndim == target.ndim else reshape(target, (batch.size,))
    else:
        values = unfolded(batch, _nll_loss(folded(input), folded(target), None, NONE, ignore_index))
    weights = _class_weights(batch, target, weight, ignore_index, input)
    if weight is not None:
        values = values * weights
    return _losses(values, weights, reduction)


@rule("_likelihood_gradient")
def _(batch: Any, output: Any, target: Any, weight: Any, shape: Any, reduction: int,
      ignore_index: int) -> Any:
    output, target = all_batched(batch, output=output, target=target)
    if len(shape) == 1:
        target, output = reshape(target, (batch.size,)), reshape(output, (batch.size,))
    weights = _class_weights(batch, target, weight, ignore_index, output)
    if reduction == MEAN:
        output = output / _reduced(weights, SUM)
    g = reshape(output, (batch.size, *(1,) * inner_rank(target))) if reduction != NONE else output
    g = expand(g * weights, target.shape)
    if len(shape) == 1:
        return _likelihood_gradient(g, target, None, (batch.size, *shape), NONE, ignore_index)
    whole = (batch.size * shape[0], *shape[1:])
    return unfolded(batch, _likelihood_gradient(folded(g), folded(target), None, whole, NONE,
                                                ignore_index))


def _hinges(batch: Any, name: str, tensors: list[Any], weight: Any, *rest: Any) -> Any:
    """A hinge op on all samples of the batch; a batch of weights multiplies what comes out."""
    found = unfolded(batch, run(name, *map(folded, tensors), None if batch["weight"] else weight,
                                *rest))
    if not batch["weight"]:
        return found
    factor = _class_weights(batch, tensors[-1], weight, -1, found)
    return found * (factor if found.ndim == 2 else unsqueeze(factor, 2))


@rule("_multi_margin_loss")
def _(batch: Any, input: Any, target: Any, weight: Any, p: int, margin: float,
      reduction: int) -> Any:
    tensors = all_batched(batch, input=input, target=target)
    values = _hinges(batch, "_multi_margin_loss", tensors, weight, p, margin, NONE)
    return _reduced(values, reduction)


@rule("_hinge_slopes")
def _(batch: Any, input: Any, target: Any, weight: Any, p: int, margin: float) -> Any:
    tensors = all_batched(batch, input=input, target=target)
    return _hinges(batch, "_hinge_slopes", tensors, weight, p, margin)


@rule("_hinge_curvature")
def _(batch: Any, output: Any, input: Any, target: Any, weight: Any, p: int, margin: float) -> Any:
    tensors = all_batched(batch, output=output, input=input, target=target)
    return _hinges(batch, "_hinge_curvature", tensors, weight, p, margin)
