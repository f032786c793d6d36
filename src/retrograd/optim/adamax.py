"""Adamax."""

from __future__ import annotations

from ..core.tensor import Tensor
from ._single import SingleOptimizer, check_options, decayed, kept, move, real
from .optimizer import Group, Params, State


class Adamax(SingleOptimizer):
    """Adam by the largest gradient in place of the mean square."""

    _rows = ("exp_avg", "exp_inf")

    def __init__(self, params: Params, lr: float | Tensor = 2e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        check_options(epsilon=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        beta1, beta2 = group["betas"]
        grad = real(decayed(group, param, grad))
        mean, largest = real(state["exp_avg"]), real(state["exp_inf"])
        mean.lerp_(grad, 1 - beta1)
        largest.copy_((largest * beta2).maximum(grad.abs().add_(group["eps"])))
        rate = group["lr"] / (1 - beta1 ** state["step"].item())
        move(real(param), rate, kept(group, mean), kept(group, largest))
