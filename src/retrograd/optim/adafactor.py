"""Adafactor."""

from __future__ import annotations

from typing import Any

from ..backend.numpy.whole_steps import are_ready, factored_step, unfactored_step
from ..base import call_sites, dtypes
from ..base.modes import MODE, NO_GRAD
from ..core.graph import INFERENCE
from ..core.tensor import Tensor, class_of_views
from ._packing import count_writes
from ._single import SingleOptimizer, real, step_count
from .optimizer import Group, Params, State


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

    def _first_state(self, group: Group, param: Tensor) -> State:
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

    def _move(self, group: Group, param: Tensor, grad: Tensor) -> None:
        state = self._state_of(group, param)
        kept = [state[name] for name in ("row_var", "col_var", "variance") if name in state]
        arrays = _writable_arrays(param, grad, *kept)
        if arrays is None or group["maximize"]:
            super()._move(group, param, grad)
            return
        state["step"] += 1
        shrink = 1 - float(group["lr"]) * group["weight_decay"]
        written = [param, *kept] if group["weight_decay"] == 0 else [param, param, *kept]
        counters, site = iter([tensor._counter() for tensor in written]), call_sites.here()
        step = factored_step if len(kept) > 1 else unfactored_step
        try:
            step(*arrays, *_numbers(group, state, param), group["d"], shrink)
        finally:
            count_writes(counters, 1, site)

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        weight, rate, eps1, eps2 = _numbers(group, state, param)
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


def _numbers(group: Group, state: State,
             param: Tensor) -> tuple[float, float, float, float]:
    """The weight of the new squares, the rate, and what variances and sizes are at least."""
    eps1, eps2 = group["eps"]
    count = state["step"].item()
    return (count ** group["beta2_decay"], min(float(group["lr"]), 1 / (count ** 0.5)),
            dtypes.finfo(param.dtype).eps if eps1 is None else eps1, eps2)


def _writable_arrays(*tensors: Tensor) -> list[Any] | None:
    """The arrays of tensors that may be written to directly; None if there is more to a write.

    Whatever watches operations, and classes that take them over, see those on tensors.
    """
    if MODE.get() is not NO_GRAD or any([class_of_views(t) is not Tensor or t._vc is INFERENCE
                                         for t in tensors]):
        return None
    arrays = [tensor._data for tensor in tensors]
    return arrays if are_ready(*arrays) else None
