"""Divergence, and the likelihood of distributions."""

from __future__ import annotations

import math

from ...base.modes import switched
from ...base.warning import warn
from ...core.op import Flag, composite
from ...core.tensor import Tensor
from ..elementwise.exponentials import exp, log, xlogy
from ..elementwise.where import where
from ..shapes.expanding import expand
from .reduction import _REDUCTIONS, SUM, reduced, reduction_code


@composite(function="nn.functional")
def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None,
           reduce: bool | None = None, reduction: str = "mean",
           log_target: bool = False) -> Tensor:
    """The Kullback-Leibler divergence of log-probabilities ``input`` from ``target``."""
    if reduction == "mean" and size_average is None and reduce is None:
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.", UserWarning)
    if not (input.dtype.is_floating_point and target.dtype.is_floating_point):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    over_batch = reduction == "batchmean"
    code = SUM if over_batch else reduction_code(reduction, size_average, reduce)
    values = exp(target) * (target - input) if log_target else \
        xlogy(target, target) - target * input
    result = reduced(values, code)
    return result / input.shape[0] if over_batch and input.ndim else result


@composite(function="nn.functional")
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | float, full: Flag = False,
                      eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """Minus the log-likelihood of ``target`` under normal distributions."""
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = input.new_zeros(()) + var if not input.ndim else expand(
            input.new_zeros(()) + var, tuple(input.shape))
    if tuple(var.shape) != tuple(input.shape):
        if tuple(input.shape[:-1]) == tuple(var.shape):
            var = var.reshape((*var.shape, 1))
        elif len(var.shape) != input.ndim or sum(
                n for m, n in zip(input.shape, var.shape, strict=True) if m != n) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    if not type(var)._is_traced and bool((var < 0).any()):  # type: ignore[attr-defined]
        raise ValueError("var has negative entry/entries")
    held = var.clone()
    # The floor of the variance is no part of the derivative.
    with switched(grad=False):
        held.clamp_(min=eps)
    values = 0.5 * (log(held) + (input - target) ** 2 / held)
    if full:
        values = values + 0.5 * math.log(2 * math.pi)
    return reduced(values, _REDUCTIONS[reduction])


@composite(function="nn.functional")
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-8,
                     reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Minus the log-likelihood of counts ``target`` under Poisson distributions."""
    code = reduction_code(reduction, size_average, reduce)
    values = exp(input) - target * input if log_input else input - target * log(input + eps)
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)
        values = values + where(target <= 1, stirling.new_zeros(()), stirling)
    return reduced(values, code)
