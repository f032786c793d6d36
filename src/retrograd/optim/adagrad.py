"""Adagrad."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..ops.creation.filled import full_like
from ._single import SingleOptimizer, check, decayed, kept, move, real, step_count
from .optimizer import Params


class Adagrad(SingleOptimizer):
    """Steps divided by the root of the sum of all squared gradients."""

    _rows = ("sum",)

    def __init__(self, params: Params, lr: float | Tensor = 1e-2, lr_decay: float = 0,
                 weight_decay: float = 0, initial_accumulator_value: float = 0,
                 eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        check("lr_decay", lr_decay, lr_decay >= 0.0)
        check("weight_decay", weight_decay, weight_decay >= 0.0)
        check("initial_accumulator_value", initial_accumulator_value,
              initial_accumulator_value >= 0.0)
        check("epsilon", eps, eps >= 0.0)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused})
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param] = self._first_state(group, param)

    def share_memory(self) -> None:
        """Let other processes see the state."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    def _first_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Any]:
        start = group["initial_accumulator_value"]
        if param.is_complex():
            start = complex(start, start)
        return {"step": step_count(), "sum": full_like(param.detach(), start)}

    def _update(self, group: dict[str, Any], state: dict[str, Any], param: Tensor,
                grad: Tensor) -> None:
        grad = real(decayed(group, param, grad))
        rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
        total = real(state["sum"])
        total.addcmul_(grad, grad)
        move(real(param), rate, grad, kept(group, total).sqrt().add_(group["eps"]))
