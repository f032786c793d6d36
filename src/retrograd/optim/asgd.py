"""Averaged stochastic gradient descent."""

from __future__ import annotations

from ..core.tensor import Tensor
from ..ops.creation.from_data import tensor
from ._single import SingleOptimizer, check_options, decayed, real, step_count
from .optimizer import Group, Params, State


class ASGD(SingleOptimizer):
    """Gradient descent that also keeps the mean of where it has been."""

    _rows = ("ax",)
    _counts = ("step", "eta", "mu")

    def __init__(self, params: Params, lr: float | Tensor = 1e-2, lambd: float = 1e-4,
                 alpha: float = 0.75, t0: float = 1e6, weight_decay: float = 0,
                 foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
                 capturable: bool = False) -> None:
        check_options(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable})

    def _first_state(self, group: Group, param: Tensor) -> State:
        return {"step": step_count(), "eta": step_count(float(group["lr"])),
                "mu": step_count(1.0), **self._zeros(group, param)}

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        lr, lambd = group["lr"], group["lambd"]
        grad = real(decayed(group, param, grad))
        moved, mean = real(param), real(state["ax"])
        rate, weight = state["eta"].item(), state["mu"].item()
        moved.mul_(1 - lambd * rate)
        moved.add_(grad, alpha=-rate)
        if weight == 1:
            mean.copy_(moved)
        else:
            mean.add_((moved - mean).mul_(weight))
        count = state["step"].item()
        # Rounded as numbers are by default, even where a loaded state is wider.
        state["eta"].copy_(tensor(float(lr) / (1 + lambd * float(lr) * count) ** group["alpha"]))
        state["mu"].copy_(tensor(1 / max(1, count - group["t0"])))
