"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

from ..backend.numpy.fused import PackedParameters
from ..core.tensor import Tensor
from ._packing import PackedOptimizer
from .optimizer import Group, Params, check_lr


class SGD(PackedOptimizer):
    """Gradient descent, with momentum (also Nesterov's) and weight decay on request."""

    _takes_sparse = True
    _refuses_autograd = False
    _later_options: ClassVar[dict[str, Any]] = {
        "nesterov": False, "maximize": False, "foreach": None, "differentiable": False,
        "fused": False}

    def __init__(self, params: Params, lr: float | Tensor = 1e-3, momentum: float = 0,
                 dampening: float = 0, weight_decay: float | Tensor = 0, nesterov: bool = False, *,
                 maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
                 fused: bool | None = None) -> None:
        check_lr(lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {"lr": lr, "momentum": momentum, "dampening": dampening,
                    "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
                    "foreach": foreach, "differentiable": differentiable, "fused": fused}
        super().__init__(params, defaults)

    def _state_names(self, group: Group) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] else ()

    def _has_state(self, param: Tensor) -> bool:
        return self.state.get(param, {}).get("momentum_buffer") is not None

    def _update_packed(self, group: Group, block: PackedParameters, grads: list[Any]) -> int:
        block.sgd(grads, lr=float(group["lr"]), momentum=group["momentum"],
                  dampening=group["dampening"], weight_decay=float(group["weight_decay"]),
                  nesterov=group["nesterov"], maximize=group["maximize"])
        return 1

    def _move(self, group: Group, param: Tensor, grad: Tensor) -> None:
        lr, momentum, weight_decay = group["lr"], group["momentum"], group["weight_decay"]
        if group["maximize"]:
            grad = -grad
        if isinstance(weight_decay, Tensor) or weight_decay != 0:
            grad = grad + weight_decay * param
        if momentum != 0:
            state = self.state[param]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad + momentum * buffer if group["nesterov"] else buffer
        if isinstance(lr, Tensor):
            # The product may be recorded, and the buffer is overwritten in the next step.
            param.sub_(lr * grad.clone())
        else:
            param.add_(grad, alpha=-lr)
