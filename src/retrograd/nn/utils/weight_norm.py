"""Weights by length and direction, computed by a hook: the older form of the parametrization."""

from __future__ import annotations

from typing import Any

from ...base.warning import warn
from ...core.tensor import Tensor
from ..modules.module import Module
from ..parameter import Parameter, is_lazy
from .parametrizations import norm_except_dim, scaled_to

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook that computes a weight from ``name_g`` and ``name_v`` before each call."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight of the lengths and directions as they are."""
        g, v = (getattr(module, f"{self.name}_{part}") for part in "gv")
        return scaled_to(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Replace a parameter of ``module`` by two, and hook the module."""
        warn("`torch.nn.utils.weight_norm` is deprecated in favor of "
             "`torch.nn.utils.parametrizations.weight_norm`.", FutureWarning)
        if find_hook(module._forward_pre_hooks, WeightNorm, name) is not None:
            raise RuntimeError("Cannot register two weight_norm hooks on the same parameter "
                               f"{name}")
        made = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError("The module passed to `WeightNorm` can't have uninitialized "
                             "parameters. Make sure to run the dummy forward before applying "
                             "weight normalization")
        del module._parameters[name]
        module.register_parameter(f"{name}_g", Parameter(norm_except_dim(weight, made.dim).data))
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, made.compute_weight(module))
        module.register_forward_pre_hook(made)
        return made

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        for name in (self.name, f"{self.name}_g", f"{self.name}_v"):
            delattr(module, name)
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def find_hook(hooks: dict[int, Any], kind: type, name: str) -> int | None:
    """The key of the hook of this kind for this tensor, if there is one."""
    for key, hook in hooks.items():
        if isinstance(hook, kind) and hook.name == name:  # type: ignore[attr-defined]
            return key
    return None


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train the lengths of a tensor's slices along ``dim`` and their directions apart."""
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo :func:`weight_norm`."""
    key = find_hook(module._forward_pre_hooks, WeightNorm, name)
    if key is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    module._forward_pre_hooks.pop(key).remove(module)
    return module
