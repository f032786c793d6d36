"""Adagrad."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..ops.creation.filled import full_like
from ._packing import is_sparse
from ._single import SingleOptimizer, check_options, decayed, kept, move, real, step_count
from .optimizer import Group, Params, State


class Adagrad(SingleOptimizer):
    """Steps divided by the root of the sum of all squared gradients."""

    _rows = ("sum",)
    _takes_sparse = True

    def __init__(self, params: Params, lr: float | Tensor = 1e-2, lr_decay: float = 0,
                 weight_decay: float = 0, initial_accumulator_value: float = 0,
                 eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        check_options(lr_decay=lr_decay, weight_decay=weight_decay,
                      initial_accumulator_value=initial_accumulator_value, epsilon=eps)
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

    def _first_state(self, group: Group, param: Tensor) -> State:
        start = group["initial_accumulator_value"]
        if param.is_complex():
            start = complex(start, start)
        return {"step": step_count(), "sum": full_like(param.detach(), start)}

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        if is_sparse(grad):
            self._move_rows(group, state, param, grad)
            return
        grad = real(decayed(group, param, grad))
        rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
        total = real(state["sum"])
        total.addcmul_(grad, grad)
        move(real(param), rate, grad, kept(group, total).sqrt().add_(group["eps"]))

    def _move_rows(self, group: Group, state: State, param: Tensor, grad: Any) -> None:
        """A step by a sparse gradient, which moves what it has elements for."""
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        grad = grad.coalesce()
        places, values = tuple(grad._indices()), grad._values()
        rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
        state["sum"].index_put_(places, values * values, accumulate=True)
        root = state["sum"][places].sqrt_().add_(group["eps"])
        param.index_put_(places, values / root * -rate, accumulate=True)
