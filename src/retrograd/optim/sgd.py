"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import retrograd
from retrograd.optim._packing import Plan, make_plan
from retrograd.optim.optimizer import (
    Optimizer,
    Params,
    check_implementation,
    check_lr,
    evaluate,
)
from retrograd.tensor import Tensor


class SGD(Optimizer):
    """Gradient descent, with momentum (also Nesterov's) and weight decay on request."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)
        self._plans: dict[int, Plan] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._plans = {}
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("differentiable", False)
            group.setdefault("fused", False)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter against its gradient."""
        loss = evaluate(closure)
        for number, group in enumerate(self.param_groups):
            if group["differentiable"]:
                with retrograd.enable_grad():
                    self._update_singly(group, group["params"])
                continue
            plan = self._plan(number, group)
            for pack in plan.packs:
                grads = pack.grads()
                pack.block.sgd(
                    grads,
                    lr=float(group["lr"]),
                    momentum=group["momentum"],
                    dampening=group["dampening"],
                    weight_decay=float(group["weight_decay"]),
                    nesterov=group["nesterov"],
                    maximize=group["maximize"],
                )
                pack.bump_versions(grads)
            if plan.single:
                with retrograd.no_grad():
                    self._update_singly(group, plan.single)
        return loss

    def _plan(self, number: int, group: dict[str, Any]) -> Plan:
        names = ("momentum_buffer",) if group["momentum"] else ()
        plan = self._plans.get(number)
        if (
            plan is None
            or plan.provisional
            or plan.names != names
            or not plan.is_current(group["params"], self.state)
        ):
            plan = make_plan(group["params"], self.state, names, False, self._has_buffer)
            self._plans[number] = plan
        return plan

    def _has_buffer(self, param: Tensor) -> bool:
        return self.state[param].get("momentum_buffer") is not None

    def _update_singly(self, group: dict[str, Any], params: list[Tensor]) -> None:
        for param in params:
            if param.grad is not None:
                self._update(group, param, param.grad)

    def _update(self, group: dict[str, Any], param: Tensor, grad: Tensor) -> None:
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
