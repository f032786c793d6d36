"""Modules as functions of their parameters, as functorch made them before ``functional_call``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import stack
from ..core.tensor import Tensor
from ..func import functional_call
from ..func.modules import names_by_tensor
from ..nn.modules.module import Module

__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble",
           "functional_init", "functional_init_with_buffers", "make_functional",
           "make_functional_with_buffers"]


def _together(named: Iterable[tuple[str, Tensor]]) -> dict[str, list[str]]:
    """The names of each tensor, by the first of them."""
    return {names[0]: names for names in names_by_tensor(named)}


def _called(model: Module, names_map: dict[str, list[str]], values: Iterable[Tensor],
            args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = {name: value for names, value in zip(names_map.values(), values) for name in names}
    return functional_call(model, given, args, kwargs)


class FunctionalModule(Module):
    """A module without memory, called with its parameters in front of its inputs."""

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...],
                 names_map: dict[str, list[str]]) -> None:
        super().__init__()
        self.stateless_model, self.param_names = stateless_model, param_names
        self.names_map = names_map

    @classmethod
    def _create_from(cls, model: Module, disable_autograd_tracking: bool = False) -> Any:
        model = copy.deepcopy(model)
        names_map = _together(model.named_parameters(remove_duplicate=False))
        params = tuple(model.parameters())
        for param in params:
            param.requires_grad_(param.requires_grad and not disable_autograd_tracking)
        return cls(model.to("meta"), tuple(names_map), names_map), params

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        return _called(self.stateless_model, self.names_map, params, args, kwargs)


class FunctionalModuleWithBuffers(Module):
    """A module without memory, called with its parameters and buffers in front of its inputs."""

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...],
                 buffer_names: tuple[str, ...], param_names_map: dict[str, list[str]],
                 buffer_names_map: dict[str, list[str]]) -> None:
        super().__init__()
        self.stateless_model, self.param_names = stateless_model, param_names
        self.buffer_names = buffer_names
        self.all_names_map = {**param_names_map, **buffer_names_map}

    @classmethod
    def _create_from(cls, model: Module, disable_autograd_tracking: bool = False) -> Any:
        model = copy.deepcopy(model)
        buffer_names = _together(model.named_buffers(remove_duplicate=False))
        buffers = tuple(model.buffers())
        made, params = FunctionalModule._create_from(model, disable_autograd_tracking)
        return cls(made.stateless_model, made.param_names, tuple(buffer_names), made.names_map,
                   buffer_names), params, buffers

    def forward(self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any,
                **kwargs: Any) -> Any:
        return _called(self.stateless_model, self.all_names_map, (*params, *buffers), args, kwargs)


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """``model`` as a function of its parameters, and copies of these."""
    if any(True for _ in model.buffers()):
        raise RuntimeError("make_functional(model): `model` has buffers. Please use "
                           "make_functional_with_buffers(model) instead.")
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def make_functional_with_buffers(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """``model`` as a function of its parameters and buffers, and copies of these."""
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(models: Sequence[Module]) -> Any:
    """One function for models of one kind, and their parameters and buffers stacked."""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same "
                           "training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same "
                           "class.")
    functions, params, buffers = zip(*map(make_functional_with_buffers, models))
    return functions[0], _stacked(params), _stacked(buffers)


def _stacked(states: Iterable[Iterable[Tensor]]) -> tuple[Tensor, ...]:
    return tuple([stack(each).detach() for each in zip(*states)])


def functional_init(model_class: type[Module], ensemble_shape: tuple[int, ...] = (),
                    device: Any = "cpu") -> Callable[..., Any]:
    """What makes models of a class, as one function, their parameters and the names of these.

    The function takes the inputs in a tuple. Parameters of several models are stacked.
    """
    def made(*args: Any, **kwargs: Any) -> Any:
        states, function = _initialised(make_functional, model_class, ensemble_shape, device, args,
                                        kwargs)
        return *states, _of_inputs(function), function.param_names

    return made


def functional_init_with_buffers(model_class: type[Module], ensemble_shape: tuple[int, ...] = (),
                                 device: Any = "cpu") -> Callable[..., Any]:
    """As :func:`functional_init`, with buffers behind the parameters."""
    def made(*args: Any, **kwargs: Any) -> Any:
        states, function = _initialised(make_functional_with_buffers, model_class, ensemble_shape,
                                        device, args, kwargs)
        return *states, _of_inputs(function), function.param_names, function.buffer_names

    return made


def _initialised(functional: Callable[[Module], Any], model_class: type[Module],
                 ensemble_shape: Sequence[int], device: Any, args: tuple[Any, ...],
                 kwargs: dict[str, Any]) -> tuple[list[tuple[Tensor, ...]], Any]:
    """The parameters, and buffers where there are some, of new models, and one as a function."""
    if len(ensemble_shape) > 1:
        raise ValueError("NYI: ensemble_shape with more than 1 element")
    if not ensemble_shape:
        function, *states = functional(model_class(*args, **kwargs).to(device))
        return states, function
    if ensemble_shape[0] <= 0:
        raise ValueError(f"num_models {ensemble_shape[0]} should be > 0")
    functions, *of_each = zip(*[functional(model_class(*args, **kwargs).to(device))
                                for _ in range(ensemble_shape[0])])
    return [_stacked(states) for states in of_each], functions[0]


def _of_inputs(function: Any) -> Callable[..., Any]:
    """A function of states and then a tuple of inputs, from one that takes these one by one."""
    def called(*states_and_inputs: Any) -> Any:
        return function(*states_and_inputs[:-1], *states_and_inputs[-1])

    return called
