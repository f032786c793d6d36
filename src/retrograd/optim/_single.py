"""Optimizers that move one parameter after the other, by operations on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..autograd.grad_mode import enable_grad, set_grad_enabled
from ..base import dtypes
from ..core.tensor import Tensor
from ..ops.creation.from_data import tensor
from ..ops.shapes.complex_views import view_as_real
from .optimizer import Optimizer, Params, check_lr


def check(name: str, value: Any, is_right: bool) -> None:
    """Raise the usual error of an option that cannot be."""
    if not is_right:
        raise ValueError(f"Invalid {name} value: {value}")


def check_betas(betas: tuple[float, float]) -> None:
    """Raise unless both averages keep a share of what they were."""
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


def step_count(value: float = 0.0) -> Tensor:
    """A count of steps, as wide as numbers are by default."""
    wide = dtypes.get_default_dtype() is dtypes.float64
    return tensor(value, dtype=dtypes.float64 if wide else dtypes.float32)


def real(value: Tensor) -> Tensor:
    """Complex numbers as pairs, which are moved like any others."""
    return view_as_real(value) if value.is_complex() else value


def zeros_of(param: Tensor) -> Tensor:
    """Zeros laid out as a parameter is."""
    return param.detach().clone().zero_()


class SingleOptimizer(Optimizer):
    """Runs :meth:`_update` for each parameter that has a gradient."""

    _later_options: ClassVar[dict[str, Any]] = {
        "maximize": False, "foreach": None, "differentiable": False, "capturable": False}

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        check_lr(defaults["lr"], defaults.get("foreach") and not defaults.get("capturable"))
        if defaults.get("fused") and defaults.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("fused") and defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._later_options.items():
                group.setdefault(name, value)
            for param in group["params"]:
                saved = self.state.get(param, {})
                if "step" in saved and not isinstance(saved["step"], Tensor):
                    saved["step"] = step_count(float(saved["step"]))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient; ``closure`` computes the loss anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            with set_grad_enabled(bool(group.get("differentiable"))):
                for param in group["params"]:
                    if param.grad is not None:
                        self._move(group, param, param.grad)
        return loss

    def _move(self, group: dict[str, Any], param: Tensor, grad: Tensor) -> None:
        state = self.state[param]
        if not state:
            state.update(self._first_state(group, param))
        if "step" in state:
            state["step"] += 1
        if group.get("maximize"):
            grad = -grad
        self._update(group, state, param, grad)

    def _first_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Any]:
        """What a parameter's state is before its first step."""
        raise NotImplementedError

    def _update(self, group: dict[str, Any], state: dict[str, Any], param: Tensor,
                grad: Tensor) -> None:
        """Move one parameter; its step has been counted, and the gradient turned to descend."""
        raise NotImplementedError


def decayed(group: dict[str, Any], param: Tensor, grad: Tensor) -> Tensor:
    """The gradient with weight decay."""
    return grad.add(param, alpha=group["weight_decay"]) if group["weight_decay"] != 0 else grad


def kept(group: dict[str, Any], value: Tensor) -> Tensor:
    """A state tensor to compute with: it is overwritten in the next step, which backward of a
    differentiable one must not see."""
    return value.clone() if group.get("differentiable") else value


def move(param: Tensor, step: Any, direction: Tensor, denominator: Tensor | None = None) -> None:
    """``param -= step * direction / denominator``, where ``step`` may be a tensor."""
    if isinstance(step, Tensor):
        direction = direction * step
        param.sub_(direction if denominator is None else direction / denominator)
    elif denominator is None:
        param.add_(direction, alpha=-step)
    else:
        param.addcdiv_(direction, denominator, value=-step)
