"""Adafactor."""

from __future__ import annotations

from typing import Any

from ..base import dtypes
from ..core.tensor import Tensor
from ._single import SingleOptimizer, real, step_count
from .optimizer import Params


class Adafactor(SingleOptimizer):
    """Adam in little memory: of the squared gradients, row and column means are kept."""

    def __init__(self, params: Params, lr: float | Tensor = 1e-2, beta2_decay: float = -0.8,
                 eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0,
                 weight_decay: float = 0.0, *, foreach: bool | None = None,
                 maximize: bool = False) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value, right, wanted in (
                ("Learning rate", lr, lr >= 0.0, ">= 0"),
                ("beta2_decay", beta2_decay, beta2_decay <= 0.0, "<= 0"),
                ("epsilon1", eps[0], eps[0] is None or eps[0] >= 0.0, ">= 0"),
                ("epsilon2", eps[1], eps[1] >= 0.0, ">= 0"),
                ("Clipping threshold d", d, d >= 1.0, ">= 1"),
                ("weight_decay", weight_decay, weight_decay >= 0.0, ">= 0")):
            if not right:
                raise ValueError(f"{name} should be {wanted} but is: {value}")
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
            "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize})

    def _first_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Any]:
        grad = param.grad
        assert grad is not None
        if grad.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if grad.dim() > 1:
            rows, columns = list(grad.shape), list(grad.shape)
            rows[-1] = columns[-2] = 1
            return {"step": step_count(), "row_var": grad.new_zeros(rows),
                    "col_var": grad.new_zeros(columns)}
        return {"step": step_count(), "variance": grad.detach().clone().zero_()}

    def _update(self, group: dict[str, Any], state: dict[str, Any], param: Tensor,
                grad: Tensor) -> None:
        eps1, eps2 = group["eps"]
        if eps1 is None:
            eps1 = dtypes.finfo(param.dtype).eps
        count = state["step"].item()
        weight = count ** group["beta2_decay"]
        rate = min(float(group["lr"]), 1 / (count ** 0.5))
        size = (param.norm(2) / (param.numel() ** 0.5)).item()
        alpha = max(eps2, size) * rate
        if group["weight_decay"] != 0:
            param.mul_(1 - group["lr"] * group["weight_decay"])
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(grad.norm(dim=-1, keepdim=True).square_().div_(grad.size(-1)), weight)
            columns.lerp_(grad.norm(dim=-2, keepdim=True).square_().div_(grad.size(-2)), weight)
            variance = rows @ columns
            variance.div_(rows.mean(dim=-2, keepdim=True).clamp_(min=eps1))
        else:
            state["variance"].lerp_(grad.square(), weight)
            variance = state["variance"].clone()
        update = variance.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        length = (update.norm(2) / ((update.numel() ** 0.5) * group["d"])).item()
        real(param).add_(update, alpha=-alpha / max(1.0, length))
