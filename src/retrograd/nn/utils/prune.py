"""Pruning: parameters of which a part is held at zero by a mask.

A pruned parameter lies under ``name_orig``, its mask under ``name_mask``, and a hook multiplies
them before each call.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ...core.tensor import Tensor
from ...ops.creation.filled import ones_like, zeros_like
from ...ops.creation.random import rand, rand_like
from ...ops.reductions.norms import norm
from .convert_parameters import parameters_to_vector


class BasePruningMethod(ABC):
    """A way to choose what is pruned; the hook of the modules it was applied to."""

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for ``t``, of which ``default_mask`` has pruned a part before."""

    def apply_mask(self, module: Any) -> Tensor:
        """The parameter of ``module`` with zeros where it is pruned."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, f"{self._tensor_name}_mask")
        original = getattr(module, f"{self._tensor_name}_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Tensor | None = None,
              **kwargs: Any) -> BasePruningMethod:
        """Prune a parameter of ``module``, further if it was pruned before."""
        before = _hooks_for(module, name)
        if len(before) > 1:
            raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} "
                                 f"of module {module}. Use a PruningContainer.")
        method = cls(*args, **kwargs)
        method._tensor_name = name
        parameter = getattr(module, name)
        if importance_scores is None:
            importance_scores = parameter
        elif importance_scores.shape != parameter.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {importance_scores.shape} vs {parameter.shape}")
        if before:
            return _prune_further(module, before, method, importance_scores)
        # Computed first: a method that refuses leaves the module as it was.
        mask = method.compute_mask(importance_scores, default_mask=ones_like(parameter))
        module.register_parameter(f"{name}_orig", parameter)
        del module._parameters[name]
        return _set_mask(module, method, mask)

    def prune(self, t: Tensor, default_mask: Tensor | None = None,
              importance_scores: Tensor | None = None) -> Tensor:
        """``t`` with zeros where it is pruned, by itself or by scores of its shape."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t, got "
                                 f"{importance_scores.shape} vs {t.shape}")
        default_mask = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module: Any) -> None:
        """Make what is left of the parameter an ordinary one, zeros and all."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        parameter = module._parameters.pop(f"{name}_orig")
        parameter.data = weight.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, parameter)


def _hooks_for(module: Any, name: str) -> dict[int, BasePruningMethod]:
    return {key: hook for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name}


def _set_mask(module: Any, method: BasePruningMethod, mask: Tensor) -> BasePruningMethod:
    module.register_buffer(f"{method._tensor_name}_mask", mask)
    setattr(module, method._tensor_name, method.apply_mask(module))
    module.register_forward_pre_hook(method)
    return method


def _prune_further(module: Any, before: dict[int, BasePruningMethod], method: BasePruningMethod,
                   scores: Tensor) -> BasePruningMethod:
    ((key, known),) = before.items()
    chain = PruningContainer(*known) if isinstance(known, PruningContainer) \
        else PruningContainer(known)
    chain._tensor_name = method._tensor_name
    chain.add_pruning_method(method)
    mask = getattr(module, f"{method._tensor_name}_mask").detach().clone()
    mask = chain.compute_mask(scores, default_mask=mask)
    del module._forward_pre_hooks[key]
    return _set_mask(module, chain, mask)


class PruningContainer(BasePruningMethod):
    """Several methods, of which each prunes what those before it have left."""

    _tensor_name: Any = None

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method for the same tensor."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named "
                             f"'{self._tensor_name}' to PruningContainer {self}. Found "
                             f"'{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``default_mask`` with what the last method prunes of the rest."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        left = _left_by(default_mask, method, t.dim())
        chosen = method.compute_mask(t[left], default_mask=default_mask[left])
        mask[left] = chosen.to(dtype=mask.dtype)
        return mask


def _left_by(mask: Tensor, method: Any, rank: int) -> Any:
    """The index of what a mask has left for a method: entries, slices, or everything."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return (slice(None),) * rank
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the '
                             "attribute `dim` defined.")
    dim = method.dim + rank if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {rank}")
    return _along(dim, rank, mask.sum(dim=[d for d in range(rank) if d != dim]) != 0)


def _along(dim: int, rank: int, index: Any) -> tuple[Any, ...]:
    """An index of one dimension among ``rank``."""
    whole: list[Any] = [slice(None)] * rank
    whole[dim] = index
    return tuple(whole)


# ---------------------------------------------------------------- the methods


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the module a pruned one."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> BasePruningMethod:  # type: ignore[override]
        return super().apply(module, name)


class _ByAmount(BasePruningMethod):
    """Prunes a number of entries or slices, or a fraction of them."""

    amount: Any

    def __init__(self, amount: float) -> None:
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        is_count = isinstance(amount, numbers.Integral)
        if amount < 0 or (not is_count and float(amount) > 1.0):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a "
                             "non-negative integer")
        self.amount = amount

    def _count_of(self, size: int) -> int:
        amount: Any = self.amount
        if not isinstance(amount, numbers.Integral):
            return round(amount * size)
        if int(amount) > size:
            raise ValueError(f"amount={amount} should be smaller than the number of "
                             f"parameters to prune={size}")
        return int(amount)


class _Unstructured(_ByAmount):
    PRUNING_TYPE = "unstructured"

    def _lowest(self, t: Tensor, count: int) -> Tensor:
        """Where the entries lie that go first."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count_of(t.nelement())
        mask = default_mask.clone().contiguous()
        if count:
            mask.view(-1)[self._lowest(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes entries at random."""

    def _lowest(self, t: Tensor, count: int) -> Tensor:
        return rand_like(t).view(-1).topk(k=count).indices

    @classmethod
    def apply(cls, module: Any, name: str,  # type: ignore[override]
              amount: float) -> BasePruningMethod:
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prunes the entries that are nearest to zero."""

    def _lowest(self, t: Tensor, count: int) -> Tensor:
        return t.abs().reshape(-1).topk(k=count, largest=False).indices

    @classmethod
    def apply(cls, module: Any, name: str, amount: float,  # type: ignore[override]
              importance_scores: Tensor | None = None) -> BasePruningMethod:
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(_ByAmount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        """Which slices stay when ``count`` of ``size`` go."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. "
                             f"Found tensor of shape {t.shape} with {t.dim()} dims")
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count_of(size)
        kept = self._kept(t, size, count) if count else None
        if kept is None:
            return default_mask
        mask = zeros_like(t)
        mask[_along(self.dim, t.dim(), kept)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(_Structured):
    """Prunes slices at random."""

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        chances = rand(size)
        return chances > chances.kthvalue(k=count).values

    @classmethod
    def apply(cls, module: Any, name: str, amount: float,  # type: ignore[override]
              dim: int = -1) -> BasePruningMethod:
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the slices with the smallest norms."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        dims = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return norm(t, p=self.n, dim=dims).topk(k=size - count, largest=True).indices

    @classmethod
    def apply(cls, module: Any, name: str, amount: float, n: Any,  # type: ignore[override]
              dim: int, importance_scores: Tensor | None = None) -> BasePruningMethod:
        return super().apply(module, name, amount=amount, n=n, dim=dim,
                             importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask "
                                 f"shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str,  # type: ignore[override]
              mask: Tensor) -> BasePruningMethod:
        return super().apply(module, name, mask=mask)


# ---------------------------------------------------------------- functions


def identity(module: Any, name: str) -> Any:
    """Make a parameter a pruned one, of which nothing is pruned yet."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prune entries of a parameter at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float,
                    importance_scores: Tensor | None = None) -> Any:
    """Prune the entries of a parameter that are nearest to zero, or have the lowest scores."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """Prune slices of a parameter along ``dim`` at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: float, n: Any, dim: int,
                  importance_scores: Tensor | None = None) -> Any:
    """Prune the slices of a parameter along ``dim`` that have the smallest norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune what a mask of the parameter's shape says."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None,
                        **kwargs: Any) -> None:
    """Prune several parameters, given as (module, name), as if they were one vector."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    places = list(parameters)
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
                        f"Found method {pruning_method} of type {method.PRUNING_TYPE}")
    method._tensor_name = "temp"
    found = [getattr(module, name) for module, name in places]
    masks = [getattr(module, f"{name}_mask", ones_like(tensor))
             for (module, name), tensor in zip(places, found, strict=True)]
    every = [scores.get(place, tensor) for place, tensor in zip(places, found, strict=True)]
    mask = PruningContainer(method).compute_mask(parameters_to_vector(every),
                                                 parameters_to_vector(masks))
    parts = mask.split([tensor.numel() for tensor in found])
    for (module, name), tensor, part in zip(places, found, parts, strict=True):
        custom_from_mask(module, name, mask=part.view_as(tensor))


def remove(module: Any, name: str) -> Any:
    """Make what pruning has left of a parameter an ordinary one."""
    for key, hook in _hooks_for(module, name).items():
        hook.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can "
                     "be removed")


def is_pruned(module: Any) -> bool:
    """Whether anything in a module is pruned."""
    return any(isinstance(hook, BasePruningMethod) for part in module.modules()
               for hook in part._forward_pre_hooks.values())
