"""RAdam."""

from __future__ import annotations

import math

from ..core.tensor import Tensor
from ._single import SingleOptimizer, check_options, decayed, kept, real
from .optimizer import Group, Params, State


class RAdam(SingleOptimizer):
    """Adam whose first steps are held back until the mean square is known well enough."""

    _rows = ("exp_avg", "exp_avg_sq")

    def __init__(self, params: Params, lr: float | Tensor = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
                 foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False) -> None:
        check_options(epsilon=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable})

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        (beta1, beta2), lr = group["betas"], group["lr"]
        grad = decayed(group, param, grad)
        grad, mean, square = real(grad), real(state["exp_avg"]), real(state["exp_avg_sq"])
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        count = state["step"].item()
        unbiased = 1 - beta2 ** count
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * count * (beta2 ** count) / unbiased
        direction = kept(group, mean) / (1 - beta1 ** count) * lr
        if length > 5.0:
            rectified = math.sqrt((length - 4) * (length - 2) * limit
                                  / ((limit - 4) * (limit - 2) * length))
            scale = math.sqrt(unbiased) / kept(group, square).sqrt().add_(group["eps"])
            direction = direction * scale * rectified
        real(param).add_(direction, alpha=-1.0)
