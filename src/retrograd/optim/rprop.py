"""Rprop."""

from __future__ import annotations

from ..core.tensor import Tensor
from ..ops.creation.filled import full_like, zeros_like
from ._single import SingleOptimizer, real, step_count
from .optimizer import Group, Params, State


class Rprop(SingleOptimizer):
    """Steps by the sign of the gradient, longer while it stays and shorter when it changes."""

    _rows = ("prev", "step_size")

    def __init__(self, params: Params, lr: float | Tensor = 1e-2,
                 etas: tuple[float, float] = (0.5, 1.2),
                 step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
                 foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False) -> None:
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _first_state(self, group: Group, param: Tensor) -> State:
        lr = float(group["lr"])
        start = complex(lr, lr) if param.is_complex() else lr
        return {"step": step_count(), "prev": zeros_like(param),
                "step_size": full_like(param.detach(), start)}

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        grad, previous, size = real(grad), real(state["prev"]), real(state["step_size"])
        agreement = (grad * previous.clone()).sign()
        resized = (size * grow).where(agreement > 0, (size * shrink).where(agreement < 0, size))
        size.copy_(resized.clamp(least, most))
        # Where the sign changed the step is taken back by taking none.
        grad = grad.masked_fill(agreement < 0, 0.0)
        real(param).addcmul_(grad.sign(), size.clone(), value=-1)
        previous.copy_(grad)
