"""Parameters computed from others: ``module.weight`` becomes a function of what is trained.

A parametrized module gets a class of its own, derived from the one it had, in which the tensor's
name is a property; what is trained lies in ``module.parametrizations``.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ..modules._conversion_flags import get_swap_module_params_on_conversion
from ..modules._swapping import swap_tensors
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization",
           "remove_parametrizations", "transfer_parametrizations_and_params",
           "type_before_parametrizations"]


class _Cache:
    """The tensors computed inside ``cached()`` blocks, of which ``depth`` are open."""

    depth = 0
    tensors: dict[tuple[int, str], Tensor] = {}  # noqa: RUF012 - there is one


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once in this block, instead of each time it is asked for."""
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.tensors.clear()


class ParametrizationList(ModuleList):
    """What is trained in the place of one tensor, and the modules that compute it from that."""

    original: Any
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = self._undone(original)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                             f"tuple...). Got {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if isinstance(new, Tensor):
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            made = self()
            _check_kept(made, dtype, shape, "unparametrized {0}: {1}\nparametrized {0}: {2}",
                        "unless `unsafe` flag")

    def _undone(self, value: Any) -> Any:
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        value = module.right_inverse(value)
        return value

    def _keep_one(self, original: Tensor, new: Tensor) -> None:
        for what in ("dtype", "device"):
            if getattr(original, what) != getattr(new, what):
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {what}.\n"
                    f"original.{what}: {getattr(original, what)}\n"
                    f"right_inverse(original).{what}: {getattr(new, what)}")
        _overwrite(original, new)
        _register(self, "original", original)

    def _keep_several(self, original: Tensor, new: Sequence[Any]) -> None:
        for place, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                    f"tuple...). Got element {place} of the sequence with type "
                    f"{type(tensor).__name__}.")
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            _register(self, f"original{place}", tensor.requires_grad_(original.requires_grad))

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{place}") for place in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Let what is trained be such that ``value`` is computed from it."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not "
                                       "implement right_inverse.")
                value = module.right_inverse(value)
        for original, tensor in zip(self._originals(), self._checked_inverse(value), strict=True):
            _overwrite(original, tensor)

    def _checked_inverse(self, value: Any) -> list[Tensor]:
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError("`right_inverse` should return a tensor. Got "
                                 f"{type(value).__name__}")
            if value.dtype != self.original.dtype:
                raise ValueError(f"The tensor returned by `right_inverse` has dtype {value.dtype} "
                                 f"while `original` has dtype {self.original.dtype}")
            return [value]
        if not isinstance(value, Sequence):
            raise ValueError("'right_inverse' must return a sequence of tensors. Got "
                             f"{type(value).__name__}.")
        if len(value) != self.ntensors:
            raise ValueError(f"'right_inverse' must return a sequence of tensors of length "
                             f"{self.ntensors}. Got a sequence of length {len(value)}.")
        for place, (tensor, original) in enumerate(zip(value, self._originals(), strict=True)):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. "
                    f"Got element {place} of type {type(tensor).__name__}.")
            if tensor.dtype != original.dtype:
                raise ValueError(f"Tensor {place} returned by `right_inverse` has dtype "
                                 f"{tensor.dtype} while `original{place}` has dtype "
                                 f"{original.dtype}")
        return list(value)

    def forward(self) -> Tensor:
        first, *others = self
        value = first(*self._originals())
        for module in others:
            value = module(value)
        return value


def _check_kept(made: Any, dtype: Any, shape: Any, wording: str, unless: str) -> None:
    """Raise unless a parametrization gave a tensor of the dtype and shape that it had."""
    if not isinstance(made, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
    for what, before, after in (("dtype", dtype, made.dtype), ("shape", shape, made.shape)):
        if before != after:
            raise ValueError(f"Registering a parametrization may not change the {what} of the "
                             f"tensor, {unless} is enabled.\n"
                             + wording.format(what, before, after))


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _overwrite(tensor: Tensor, new: Tensor) -> None:
    """Let ``tensor`` hold what ``new`` holds."""
    with no_grad():
        if not get_swap_module_params_on_conversion():
            tensor.set_(new)
            return
        if isinstance(tensor, Parameter) and not isinstance(new, Parameter):
            new = Parameter(new, requires_grad=tensor.requires_grad)
        swap_tensors(tensor, new)


def _give_own_class(module: Module) -> None:
    cls = type(module)

    def refuse_pickling(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html#saving-loading-a-"
            "general-checkpoint-for-inference-and-or-resuming-training")

    members: dict[str, Any] = {"__getstate__": refuse_pickling}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """A copy of a parametrized module, past the refusal to be pickled."""
    if id(self) not in memo:
        copied = memo[id(self)] = self.__new__(type(self))
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
            if hasattr(self, slot):
                setattr(copied, slot, deepcopy(getattr(self, slot), memo))
    return memo[id(self)]


def _add_property(module: Module, name: str) -> None:
    def computed(self: Any) -> Tensor:
        parametrization = self.parametrizations[name]
        if not _Cache.depth:
            return parametrization()
        key = (id(self), name)
        if key not in _Cache.tensors:
            _Cache.tensors[key] = parametrization()
        return _Cache.tensors[key]

    def assigned(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(computed, assigned))


def register_parametrization(module: Any, tensor_name: str, parametrization: Module, *,
                             unsafe: bool = False) -> Any:
    """Compute a module's parameter or buffer by ``parametrization`` from what is trained.

    Its ``right_inverse``, if it has one, says what to train so that the tensor starts as it was.
    With ``unsafe``, the tensor may change its dtype and shape.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(getattr(module, tensor_name), tensor_name, parametrization)
        found = module.parametrizations[tensor_name]
        found.append(parametrization)
        found.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_own_class(module)
            module.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a "
                         f"parametrized element with name '{tensor_name}'")
    return module


def _check_another(tensor: Tensor, name: str, parametrization: Any) -> None:
    """Raise unless a parametrization after others keeps dtype and shape in both directions."""
    made = parametrization(tensor)
    _check_kept(made, tensor.dtype, tensor.shape,
                f"module.{name}.{{0}}: {{1}}\nparametrization(module.{name}).{{0}}: {{2}}",
                "unless the `unsafe` flag")
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        undone = parametrization.right_inverse(made)
    except NotImplementedError:
        return
    if not isinstance(undone, Tensor):
        raise ValueError("parametrization.right_inverse must return a tensor. Got: "
                         f"{type(undone).__name__}")
    for what in ("dtype", "shape"):
        if getattr(undone, what) != getattr(tensor, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} "
                f"as module.{name}, unless the `unsafe` flag is enabled.\n"
                f"module.{name}.{what}: {getattr(tensor, what)}\n"
                f"returned {what}: {getattr(undone, what)}")


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a tensor of a module, or any, is computed by parametrizations."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a tensor an ordinary one again, with its computed value or with the trained one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found = module.parametrizations[tensor_name]
    if found.is_tensor:
        kept = found.original
        if leave_parametrized:
            with no_grad():
                _overwrite(kept, getattr(module, tensor_name))
    elif leave_parametrized:
        made = getattr(module, tensor_name)
        kept = Parameter(made) if made.requires_grad else made
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that "
                         "is parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, kept)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any,
                                         tensor_name: str | None = None) -> Any:
    """Parametrize ``to_module`` as ``from_module`` is, by the same modules and tensors."""
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        for member in ["original"] if source.is_tensor \
                else [f"original{place}" for place in range(source.ntensors)]:
            setattr(to_module.parametrizations[name], member, getattr(source, member))
    return to_module
