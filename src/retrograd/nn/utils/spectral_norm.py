"""Weights of spectral norm one, computed by a hook: the older form of the parametrization."""

from __future__ import annotations

from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from .. import functional as F
from ..modules.module import Module
from ..parameter import Parameter, is_lazy
from .parametrizations import as_matrix, check_iterations, dim_of_outputs
from .weight_norm import find_hook

__all__ = ["SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook",
           "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook that divides a weight by its largest singular value before each call."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0,
                 eps: float = 1e-12) -> None:
        self.name, self.dim = name, dim
        check_iterations(n_power_iterations)
        self.n_power_iterations, self.eps = n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix, of which the norm is meant."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight, after further steps of the power method if they are wanted."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                # A second call may write to the buffers before the first one's backward.
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for name in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    def _solve_v_and_rescale(self, matrix: Tensor, u: Tensor, target_sigma: Tensor) -> Tensor:
        v = (matrix.t().mm(matrix).pinverse() @ (matrix.t() @ u.unsqueeze(1))).squeeze(1)
        return v.mul_(target_sigma / u.dot(matrix.mv(v)))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int,
              eps: float) -> SpectralNorm:
        """Keep a parameter of ``module`` under another name, and hook the module."""
        if find_hook(module._forward_pre_hooks, SpectralNorm, name) is not None:
            raise RuntimeError("Cannot register two spectral_norm hooks on the same parameter "
                               f"{name}")
        made = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError("The module passed to `SpectralNorm` can't have uninitialized "
                             "parameters. Make sure to run the dummy forward before applying "
                             "spectral normalization")
        with no_grad():
            u, v = (F.normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=eps)
                    for size in made.reshape_weight_to_matrix(weight).size())
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(made)
        module._register_state_dict_hook(SpectralNormStateDictHook(made))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(made))
        return made


class _OfSpectralNorm:
    """A hook on states, which belongs to the hook that computes the weight."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    @property
    def name(self) -> str:
        return self.fn.name


class SpectralNormStateDictHook(_OfSpectralNorm):
    """Writes into the metadata which version of the hook a state is of."""

    def __call__(self, module: Module, state_dict: Any, prefix: str,
                 local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.name}.version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


class SpectralNormLoadStateDictPreHook(_OfSpectralNorm):
    """Computes what states from before the first version do not have."""

    def __call__(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any],
                 strict: bool, missing_keys: list[str], *rest: Any) -> None:
        fn = self.fn
        version = local_metadata.get("spectral_norm", {}).get(f"{fn.name}.version")
        if version is not None and version >= 1:
            return
        key = prefix + fn.name
        if version is None and key not in state_dict and all(
                key + part in state_dict for part in ("_orig", "_u", "_v")):
            return
        missing = [key + part for part in ("_orig", "", "_u") if key + part not in state_dict]
        if missing:
            missing_keys += missing if strict else []
            return
        with no_grad():
            original, weight = state_dict[f"{key}_orig"], state_dict.pop(key)
            state_dict[f"{key}_v"] = fn._solve_v_and_rescale(
                fn.reshape_weight_to_matrix(original), state_dict[f"{key}_u"],
                (original / weight).mean())


def spectral_norm(module: Any, name: str = "weight", n_power_iterations: int = 1,
                  eps: float = 1e-12, dim: int | None = None) -> Any:
    """Keep the largest singular value of a matrix at one, by steps of the power method."""
    SpectralNorm.apply(module, name, n_power_iterations, dim_of_outputs(module, dim), eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo :func:`spectral_norm`."""
    key = find_hook(module._forward_pre_hooks, SpectralNorm, name)
    if key is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    module._forward_pre_hooks.pop(key).remove(module)
    saving = find_hook(module._state_dict_hooks, SpectralNormStateDictHook, name)
    if saving is not None:
        del module._state_dict_hooks[saving]
    for key, wrapped in list(module._load_state_dict_pre_hooks.items()):
        hook = wrapped.hook
        if isinstance(hook, SpectralNormLoadStateDictPreHook) and hook.name == name:
            del module._load_state_dict_pre_hooks[key]
    return module
