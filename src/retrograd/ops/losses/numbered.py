"""Losses at the top level, which take the number of a reduction: 0 none, 1 the mean, 2 the sum.

PyTorch documents the mean as the default of these, and does not reduce.
"""

from __future__ import annotations

from ...core.op import public
from ...core.tensor import Tensor
from . import binary_cross_entropy as binary, divergence, margin as margins
from .reduction import reduced

_REDUCTIONS = ("none", "mean", "sum")


@public("kl_div", method=False)
def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *,
           log_target: bool = False) -> Tensor:
    """``nn.functional.kl_div`` with the number of a reduction."""
    return reduced(  # type: ignore[no-any-return]
        divergence.kl_div(input, target, reduction="none", log_target=log_target), reduction)


@public("poisson_nll_loss", method=False)
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float,
                     reduction: int) -> Tensor:
    """``nn.functional.poisson_nll_loss`` with the number of a reduction."""
    return divergence.poisson_nll_loss(input, target, log_input, full, eps=eps,
                                       reduction=_REDUCTIONS[reduction])


@public("cosine_embedding_loss", method=False)
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                          reduction: int = 0) -> Tensor:
    """``nn.functional.cosine_embedding_loss`` with the number of a reduction."""
    return margins.cosine_embedding_loss(input1, input2, target, margin,
                                         reduction=_REDUCTIONS[reduction])


@public("hinge_embedding_loss", method=False)
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0,
                         reduction: int = 0) -> Tensor:
    """``nn.functional.hinge_embedding_loss`` with the number of a reduction."""
    return margins.hinge_embedding_loss(input, target, margin, reduction=_REDUCTIONS[reduction])


@public("margin_ranking_loss", method=False)
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                        reduction: int = 0) -> Tensor:
    """``nn.functional.margin_ranking_loss`` with the number of a reduction."""
    return margins.margin_ranking_loss(input1, input2, target, margin,
                                       reduction=_REDUCTIONS[reduction])


@public("triplet_margin_loss", method=False)
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,
                        p: float = 2, eps: float = 1e-6, swap: bool = False,
                        reduction: int = 0) -> Tensor:
    """``nn.functional.triplet_margin_loss`` with the number of a reduction."""
    return margins.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
                                       reduction=_REDUCTIONS[reduction])


@public("binary_cross_entropy_with_logits", method=False)
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     pos_weight: Tensor | None = None,
                                     reduction: int = 0) -> Tensor:
    """``nn.functional.binary_cross_entropy_with_logits`` with the number of a reduction."""
    return binary.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_REDUCTIONS[reduction], pos_weight=pos_weight)
