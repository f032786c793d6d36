"""NAdam."""

from __future__ import annotations

from ..core.tensor import Tensor
from ._single import SingleOptimizer, check_options, decayed, kept, move, real, step_count
from .optimizer import Group, Params, State


class NAdam(SingleOptimizer):
    """Adam with Nesterov's momentum."""

    _rows = ("exp_avg", "exp_avg_sq")
    _counts = ("step", "mu_product")

    def __init__(self, params: Params, lr: float | Tensor = 2e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, momentum_decay: float = 4e-3,
                 decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False) -> None:
        check_options(epsilon=eps, betas=betas, weight_decay=weight_decay,
                      momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable})

    def _first_state(self, group: Group, param: Tensor) -> State:
        return {"step": step_count(), "mu_product": step_count(1.0), **self._zeros(group, param)}

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        (beta1, beta2), lr = group["betas"], group["lr"]
        grad = decayed(group, param, grad)
        count = state["step"].item()
        now = beta1 * (1.0 - 0.5 * 0.96 ** (count * group["momentum_decay"]))
        then = beta1 * (1.0 - 0.5 * 0.96 ** ((count + 1) * group["momentum_decay"]))
        state["mu_product"] *= now
        product = state["mu_product"].item()
        grad, mean, square = real(grad), real(state["exp_avg"]), real(state["exp_avg_sq"])
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        scale = (square.clone() / (1 - beta2 ** count)).sqrt().add_(group["eps"])
        moved = real(param)
        move(moved, lr * (1.0 - now) / (1.0 - product), grad, scale)
        move(moved, lr * then / (1.0 - product * then), kept(group, mean), scale)
