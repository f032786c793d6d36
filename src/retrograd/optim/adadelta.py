"""Adadelta."""

from __future__ import annotations

from ..core.tensor import Tensor
from ._single import SingleOptimizer, check, check_options, decayed, kept, move, real
from .optimizer import Group, Params, State


class Adadelta(SingleOptimizer):
    """Steps as long as the last ones were, relative to the last gradients."""

    _rows = ("square_avg", "acc_delta")

    def __init__(self, params: Params, lr: float | Tensor = 1.0, rho: float = 0.9,
                 eps: float = 1e-6, weight_decay: float = 0, foreach: bool | None = None, *,
                 capturable: bool = False, maximize: bool = False,
                 differentiable: bool = False) -> None:
        check("rho", rho, 0.0 <= rho <= 1.0)
        check_options(epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable})

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        rho, eps = group["rho"], group["eps"]
        grad = real(decayed(group, param, grad))
        square, moved = real(state["square_avg"]), real(state["acc_delta"])
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = kept(group, moved).add(eps).sqrt() / kept(group, square).add(eps).sqrt() * grad
        moved.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        move(real(param), group["lr"], delta)
