"""Losses with a margin."""

from __future__ import annotations

from typing import Any

from ...backend import loss as loss_kernels, xp
from ...base import dtypes
from ...base.errors import no_dims
from ...core.op import Array, Flag, Index, LooseInt, composite, op
from ...core.tensor import Tensor
from ..batching import all_batched, folded, run, unfolded
from ..checks.common import kinds
from ..elementwise.clamping import _clamp_min_number, minimum
from ..elementwise.exponentials import sigmoid, sqrt
from ..elementwise.where import where
from ..nn.activations import logsigmoid
from ..nn.similarity import pairwise_distance
from ..reductions.sums import sum
from ..shapes.dimensions import unsqueeze
from ..shapes.reshaping import reshape
from .cross_entropy import _class_weights
from .reduction import (
    NONE,
    _expanded_pair,
    _reduced,
    element_count,
    of_each,
    reduced,
    reduction_code,
    share,
)


@composite(function="nn.functional")
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0,
                         size_average: bool | None = None, reduce: bool | None = None,
                         reduction: str = "mean") -> Tensor:
    """``input`` where ``target`` is 1, and what it lacks to ``margin`` where that is -1."""
    code = reduction_code(reduction, size_average, reduce)
    zero = input.new_zeros(())
    # The margin is a number of the input's own type, which cuts it off for integers.
    margin = margin if input.dtype.is_floating_point else int(margin)
    values = where(target != 1, _clamp_min_number(margin - input, 0), zero) + where(
        target != -1, input, zero)
    return reduced(values, code)


@composite(function="nn.functional")
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:
    """What ``input1`` lacks to being ``margin`` above (or below) ``input2``."""
    code = reduction_code(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    return reduced(_clamp_min_number(-target * (input1 - input2) + float(margin), 0), code)


@composite(function="nn.functional")
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: bool | None = None, reduce: bool | None = None,
                          reduction: str = "mean") -> Tensor:
    """One minus the cosine for similar pairs, the cosine above ``margin`` for others."""
    code = reduction_code(reduction, size_average, reduce)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.ndim != target.ndim + 1 or input2.ndim != target.ndim + 1:
        kind = "1D target tensor expects 2D" if target.ndim else "0D target tensor expects 1D"
        raise RuntimeError(f"{kind} input tensors, but found inputs with sizes "
                           f"{list(input1.shape)} and {list(input2.shape)}.")
    tiny = 1e-12
    product = sum(input1 * input2, -1)
    lengths = sqrt((sum(input1 * input1, -1) + tiny) * (sum(input2 * input2, -1) + tiny))
    cosine = product / lengths
    zero = cosine.new_zeros(())
    values = where(target == 1, 1 - cosine, zero) + where(
        target == -1, _clamp_min_number(cosine - margin, 0), zero)
    return reduced(values, code)


def _check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    ranks = (anchor.ndim, positive.ndim, negative.ndim)
    if len(set(ranks)) > 1:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the "
                           f"same number of dimensions, but got: anchor {ranks[0]}D, positive "
                           f"{ranks[1]}D, and negative {ranks[2]}D inputs")


def _triplet(near: Tensor, far: Tensor, other: Tensor | None, margin: float,
             code: int) -> Tensor:
    far = far if other is None else minimum(far, other)
    return reduced(_clamp_min_number(margin + near - far, 0), code)


@composite(function="nn.functional")
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,
                        p: float = 2, eps: float = 1e-6, swap: bool = False,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:
    """How much nearer than ``margin`` the negative is, compared with the positive."""
    code = reduction_code(reduction, size_average, reduce)
    _check_triplet(anchor, positive, negative, margin)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    other = pairwise_distance(positive, negative, p, eps) if swap else None
    return _triplet(near, far, other, margin, code)


@composite(function="nn.functional")
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *,
                                      distance_function: Any = None, margin: float = 1.0,
                                      swap: Flag = False, reduction: str = "mean") -> Tensor:
    """:func:`triplet_margin_loss` with any distance."""
    code = reduction_code(reduction)
    _check_triplet(anchor, positive, negative, margin)
    distance = pairwise_distance if distance_function is None else distance_function
    other = distance(positive, negative) if swap else None
    return _triplet(distance(anchor, positive), distance(anchor, negative), other, margin, code)


@op(node="SoftMarginLossBackward0", batches=of_each, vjp=lambda g, input, target, reduction:
    -target * sigmoid(-input * target) * share(g, element_count(input), reduction))
def _soft_margin_loss(input: Array, target: Index, reduction: int) -> Any:
    apart = -input * target
    values = xp.log1p(xp.exp(-xp.absolute(apart))) + xp.maximum(apart, 0)
    return loss_kernels.reduced(xp.cast(values, input.dtype), reduction)


@composite(function="nn.functional")
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                     reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """``log(1 + exp(-target * input))`` for targets of 1 and -1."""
    code = reduction_code(reduction, size_average, reduce)
    if tuple(input.shape) != tuple(target.shape):
        input, target = _expanded_pair(input, target)
    if not input.dtype.is_floating_point:
        raise RuntimeError("result type Float can't be cast to the desired output type "
                           f"{input.dtype.alias}")
    return _soft_margin_loss(input, target.to(input.dtype), code)


@composite(function="nn.functional")
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: bool | None = None, reduce: bool | None = None,
                                reduction: str = "mean") -> Tensor:
    """The mean over the classes of binary cross entropy with logits."""
    code = reduction_code(reduction, size_average, reduce)
    values = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    values = values if weight is None else values * weight
    if not input.ndim:
        raise no_dims(-1)
    return reduced(sum(values, input.ndim - 1) / input.shape[-1], code)


@op(vjp=lambda g, input, target, weight, p, margin:
    _hinge_curvature(g, input, target, weight, p, margin))
def _hinge_slopes(input: Array, target: Index, weight: Index | None, p: int, margin: float) -> Any:
    return loss_kernels.hinge_slopes(input, target, p, margin, weight)


@op(node="MultiMarginLossBackward0", guard=kinds("f", "multi_margin_loss_cpu_kernel"),
    vjp=lambda g, input, target, weight, p, margin, reduction:
    _hinge_slopes(input, target, weight, p, margin) * per_sample(g, input.shape[0], reduction))
def _multi_margin_loss(input: Array, target: Index, weight: Index | None, p: int, margin: float,
                       reduction: int) -> Any:
    values = loss_kernels.hinge_margins(input, target, p, margin, weight).sum(1)
    return loss_kernels.reduced(values.astype(input.dtype), reduction)


def per_sample(g: Any, count: int, reduction: int) -> Any:
    """An output's gradient as a column, one row for each sample."""
    g = share(g, count, reduction)
    return reshape(g, (count, 1)) if reduction == NONE else g


# The slopes change only where a hinge bends (p=1); for p=2 their own rule is the next order.


def _hinges(batch: Any, name: str, tensors: list[Any], weight: Any, *rest: Any) -> Any:
    """A hinge op on all samples of the batch; a batch of weights multiplies what comes out."""
    found = unfolded(batch, run(name, *map(folded, tensors), None if batch["weight"] else weight,
                                *rest))
    if not batch["weight"]:
        return found
    factor = _class_weights(batch, tensors[-1], weight, -1, found)
    return found * (factor if found.ndim == 2 else unsqueeze(factor, 2))


@_multi_margin_loss.batch
def _(batch: Any, input: Any, target: Any, weight: Any, p: int, margin: float,
      reduction: int) -> Any:
    tensors = all_batched(batch, input=input, target=target)
    values = _hinges(batch, "_multi_margin_loss", tensors, weight, p, margin, NONE)
    return _reduced(values, reduction)


@_hinge_slopes.batch
def _(batch: Any, input: Any, target: Any, weight: Any, p: int, margin: float) -> Any:
    tensors = all_batched(batch, input=input, target=target)
    return _hinges(batch, "_hinge_slopes", tensors, weight, p, margin)


@op(vjp=lambda g, input, target, weight, p, margin:
    _hinge_curvature(g, input, target, weight, p, margin))
def _hinge_curvature(output: Array, input: Index, target: Index, weight: Index | None, p: int,
                     margin: float) -> Any:
    return loss_kernels.hinge_curvature(output, input, target, p, margin, weight)


@_hinge_curvature.batch
def _(batch: Any, output: Any, input: Any, target: Any, weight: Any, p: int, margin: float) -> Any:
    tensors = all_batched(batch, output=output, input=input, target=target)
    return _hinges(batch, "_hinge_curvature", tensors, weight, p, margin)


@composite(function="nn.functional")
def multi_margin_loss(input: Tensor, target: Tensor, p: LooseInt = 1, margin: float = 1.0,
                      weight: Tensor | None = None, size_average: bool | None = None,
                      reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """How far wrong classes are from being ``margin`` below the right one."""
    code = reduction_code(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    classes = input.shape[-1] if input.ndim else 1
    if input.ndim > 2 or not classes:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, "
                           f"but got: {list(input.shape)}")
    samples = tuple(input.shape[:1]) if input.ndim == 2 else (1,)
    if tuple(target.shape) != samples and (input.ndim == 2 or target.ndim):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size {list(samples)}, but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}.")
    if input.ndim < 2:
        loss = multi_margin_loss(reshape(input, (1, -1)), reshape(target, (1,)), p, margin, weight,
                                 reduction=reduction)
        return reshape(loss, target.shape) if code == NONE else loss
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got "
                           f"{list(weight.shape)}")
    if target.dtype is not dtypes.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.alias}")
    return _multi_margin_loss(input, target, weight, p, margin, code)
