"""Adam and AdamW."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..backend.numpy.fused import PackedParameters
from ..core.tensor import Tensor
from ..ops.elementwise.clamping import maximum
from ._single import SingleOptimizer, check_options, real
from .optimizer import Group, Params, State, check_lr

_MOMENTS = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")


class Adam(SingleOptimizer):
    """Gradient descent scaled by running averages of the gradient and of its square."""

    _rows = _MOMENTS
    _chunks_joined = 1
    _later_options: ClassVar[dict[str, Any]] = {
        "amsgrad": False, "maximize": False, "foreach": None, "capturable": False,
        "differentiable": False, "decoupled_weight_decay": False, "fused": None}

    def __init__(self, params: Params, lr: float | Tensor = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None, decoupled_weight_decay: bool = False) -> None:
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True")
        check_lr(lr)
        check_options(epsilon=eps, betas=betas, weight_decay=weight_decay)
        are_tensors = [isinstance(beta, Tensor) for beta in betas]
        if are_tensors[0] != are_tensors[1]:
            raise ValueError("betas must be either both floats or both Tensors")
        if are_tensors[0] and foreach and not capturable:
            raise ValueError("betas[0] as a Tensor is not supported for capturable=False and "
                             "foreach=True")
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                    "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
                    "capturable": capturable, "differentiable": differentiable, "fused": fused,
                    "decoupled_weight_decay": decoupled_weight_decay}
        super().__init__(params, defaults)

    def _is_packed(self, group: Group) -> bool:
        # Whatever ``foreach`` says, and at any rate: it has a kernel of its own.
        return not group["differentiable"]

    def _state_names(self, group: Group) -> tuple[str, ...]:
        return _MOMENTS if group["amsgrad"] else _MOMENTS[:2]

    def _update_packed(self, group: Group, block: PackedParameters, grads: list[Any]) -> int:
        beta1, beta2 = group["betas"]
        weight_decay, decoupled = group["weight_decay"], group["decoupled_weight_decay"]
        block.adam(grads, lr=float(group["lr"]), beta1=float(beta1), beta2=float(beta2),
                   eps=group["eps"], weight_decay=weight_decay, decoupled=decoupled,
                   maximize=group["maximize"], amsgrad=group["amsgrad"])
        return 2 if weight_decay and decoupled else 1

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        lr, (beta1, beta2), weight_decay = group["lr"], group["betas"], group["weight_decay"]
        count = state["step"].item()
        if weight_decay != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * weight_decay)
            else:
                grad = grad + weight_decay * param
        first, second, *rest = [real(state[name]) for name in _MOMENTS if name in state]
        param, grad = real(param), real(grad)
        first.lerp_(grad, 1 - beta1)
        correction = 1 - beta2**count
        if isinstance(beta2, Tensor) and beta2.requires_grad:  # no factor of a product may
            second.lerp_(grad * grad, 1 - beta2)
            root = correction.sqrt()
        else:
            second.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            root = math.sqrt(correction)
        if group["amsgrad"]:
            (largest,) = rest
            second = largest.copy_(maximum(largest, second))
        denominator = (second.sqrt() / root).add_(group["eps"])
        step_size = lr / (1 - beta1**count)
        if group["differentiable"]:
            # It is saved for backward here, and overwritten in the next step.
            first = first.clone()
        if isinstance(step_size, Tensor):
            param.sub_(step_size * first / denominator)
        else:
            param.addcdiv_(first, denominator, value=-step_size)


class AdamW(Adam):
    """Adam with weight decay applied to the parameters directly, not through the gradient."""

    def __init__(self, params: Params, lr: float | Tensor = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, capturable: bool = False,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach,
                         maximize=maximize, capturable=capturable, differentiable=differentiable,
                         fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
