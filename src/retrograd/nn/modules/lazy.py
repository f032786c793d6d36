"""Modules that learn the sizes of their parameters from their first input."""

from __future__ import annotations

from typing import Any, ClassVar

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ..parameter import UninitializedParameter, is_lazy
from .module import Module

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin(Module):
    """Goes before a module's class; at the first call the module gets its parameters.

    A subclass says in ``initialize_parameters`` how an input decides them, and in
    ``cls_to_become`` what the module is from then on.
    """

    cls_to_become: ClassVar[type | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters,
                                                               with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give every parameter its shape and values, from the arguments of the first call."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer still waits for its shape."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self, module: Any, args: tuple, kwargs: dict | None = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, member in self._persistent_members().items():
            kept = keep_vars or is_lazy(member)
            destination[prefix + name] = member if kept else member.detach()

    def _lazy_load_hook(self, state_dict: dict, prefix: str, *rest: Any) -> None:
        for name, member in (*self._parameters.items(), *self._buffers.items()):
            given: Any = state_dict.get(prefix + name)
            if is_lazy(member) and given is not None and not is_lazy(given):
                with no_grad():
                    member.materialize(given.shape)

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy "
            "forward pass to correctly initialize the modules")


class WaitsForOneSize(LazyModuleMixin):
    """A lazy module of which one size is missing, the attribute ``inferred``.

    Its class knows the shapes of its members (``_shapes``) once that size is known; what it becomes
    then is the last class that it is made of: ``class LazyConv1d(_LazyConv, Conv1d)``.
    """

    inferred: ClassVar[str]
    _shapes: Any

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        if cls.cls_to_become is None and len(cls.__bases__) > 1:
            cls.cls_to_become = cls.__bases__[-1]

    def _wait(self, device: Any, dtype: Any, **wanted: bool) -> None:
        for name, is_wanted in wanted.items():
            if is_wanted:
                setattr(self, name, UninitializedParameter(device=device, dtype=dtype))

    def _size_in(self, input: Tensor) -> int:
        """The missing size, as an input shows it."""
        return input.shape[1]

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and getattr(self, self.inferred) != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        if self.has_uninitialized_params():
            setattr(self, self.inferred, self._size_in(input))
            with no_grad():
                for name, shape in self._shapes().items():
                    member = getattr(self, name)
                    if is_lazy(member):
                        member.materialize(shape)
                self.reset_parameters()
