"""Muon."""

from __future__ import annotations

import math
from typing import Any

from ..base import dtypes
from ..core.tensor import Tensor
from ..ops.creation.filled import zeros_like
from ..ops.products.added_products import addmm
from ._single import SingleOptimizer
from .optimizer import Params


class Muon(SingleOptimizer):
    """Momentum whose matrices are made nearly orthogonal before each step."""

    def __init__(self, params: Params, lr: float = 1e-3, weight_decay: float = 0.1,
                 momentum: float = 0.95, nesterov: bool = True,
                 ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
                 eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum),
                            ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a "
                                     f"parameter with size: {param.size()}")

    def _first_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Any]:
        return {"momentum_buffer": zeros_like(param)}

    def _update(self, group: dict[str, Any], state: dict[str, Any], param: Tensor,
                grad: Tensor) -> None:
        buffer, momentum = state["momentum_buffer"], group["momentum"]
        buffer.lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = param.shape
        ratio = 0.2 * math.sqrt(max(rows, columns)) if group["adjust_lr_fn"] == "match_rms_adamw" \
            else math.sqrt(max(1, rows / columns))
        param.mul_(1 - group["lr"] * group["weight_decay"])
        param.add_(update, alpha=-group["lr"] * ratio)


def _orthogonal(grad: Tensor, coefficients: tuple[float, float, float], steps: int,
                eps: float) -> Tensor:
    """The orthogonal matrix nearest to a gradient, by Newton and Schulz, in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    update = grad.to(dtypes.bfloat16)
    is_tall = grad.size(0) > grad.size(1)
    if is_tall:
        update = update.T
    update = update / update.norm().clamp(min=eps)
    for _ in range(steps):
        gram = update @ update.T
        update = addmm(update, addmm(gram, gram, gram, beta=b, alpha=c), update, beta=a)
    return update.T if is_tall else update
