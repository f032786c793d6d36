"""RMSprop."""

from __future__ import annotations

from itertools import compress
from typing import Any, ClassVar

from ..core.tensor import Tensor
from ._single import SingleOptimizer, check_options, decayed, kept, move, real
from .optimizer import Group, Params, State


class RMSprop(SingleOptimizer):
    """Steps divided by the root of a running mean of squared gradients."""

    _rows = ("square_avg", "momentum_buffer", "grad_avg")
    _later_options: ClassVar[dict[str, Any]] = {
        **SingleOptimizer._later_options, "momentum": 0, "centered": False}

    def __init__(self, params: Params, lr: float | Tensor = 1e-2, alpha: float = 0.99,
                 eps: float = 1e-8, weight_decay: float = 0, momentum: float = 0,
                 centered: bool = False, capturable: bool = False, foreach: bool | None = None,
                 maximize: bool = False, differentiable: bool = False) -> None:
        check_options(epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable})

    def _state_names(self, group: Group) -> tuple[str, ...]:
        wanted = (True, group["momentum"] > 0, group["centered"])
        return tuple(compress(self._rows, wanted))

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        alpha, lr, momentum = group["alpha"], group["lr"], group["momentum"]
        grad, moved = real(decayed(group, param, grad)), real(param)
        square = real(state["square_avg"])
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        scale = kept(group, square)
        if group["centered"]:
            mean = real(state["grad_avg"])
            mean.lerp_(grad, 1 - alpha)
            known = kept(group, mean)
            scale = scale.addcmul(known, known, value=-1)
        scale = scale.sqrt().add_(group["eps"])
        if momentum > 0:
            buffer = real(state["momentum_buffer"])
            buffer.mul_(momentum).addcdiv_(grad, scale)
            move(moved, lr, kept(group, buffer))
        else:
            move(moved, lr, grad, scale)
