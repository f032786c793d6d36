"""Adam for sparse gradients: what has no gradient is left as it is."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import enable_grad, no_grad
from ..core.tensor import Tensor
from ..ops.creation.filled import zeros_like
from ._packing import is_sparse
from ._single import check, check_options
from .optimizer import Group, Optimizer, Params, check_lr


class SparseAdam(Optimizer):
    """Adam whose averages and parameters move only where a sparse gradient has elements."""

    def __init__(self, params: Params, lr: float | Tensor = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 maximize: bool = False) -> None:
        check_lr(lr)
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        check("epsilon", eps, eps > 0.0)
        check_options(betas=betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [[number, place] for number, group in enumerate(self.param_groups)
                  for place, param in enumerate(group["params"]) if is_sparse(param)]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense "
                             "parameter tensors")

    def step(self, closure: Any = None) -> Any:
        """Move every parameter that has a sparse gradient; ``closure`` computes the loss anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        given = [param for group in self.param_groups for param in group["params"]
                 if param.grad is not None]
        if not all(is_sparse(param.grad) for param in given):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam "
                               "instead")
        with no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        self._move(group, param, param.grad)
        return loss

    def _move(self, group: Group, param: Tensor, grad: Any) -> None:
        state = self.state[param]
        if not state:
            state.update(step=0, exp_avg=zeros_like(param), exp_avg_sq=zeros_like(param))
        state["step"] += 1
        grad = grad.coalesce()
        places, values = tuple(grad._indices()), grad._values()
        if group["maximize"]:
            values = -values
        averages = []
        for name, value, beta in zip(("exp_avg", "exp_avg_sq"), (values, values * values),
                                     group["betas"], strict=True):
            old = state[name][places]
            moved = (value - old) * (1 - beta)
            state[name].index_put_(places, moved, accumulate=True)
            averages.append(moved + old)
        mean, square = averages
        corrections = [1 - beta ** state["step"] for beta in group["betas"]]
        size = group["lr"] * math.sqrt(corrections[1]) / corrections[0]
        param.index_put_(places, mean / square.sqrt_().add_(group["eps"]) * -size, accumulate=True)
