"""Optimizer: parameter groups, their state, and what surrounds a step."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from itertools import chain
from typing import Any

from ..base.modes import MODE
from ..base.warning import warn
from ..core.graph import RemovableHandle
from ..core.tensor import Tensor
from ..nn.modules._calling import register_hook
from ..nn.modules.module import clear_grad, typename

Params = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
Group = dict[str, Any]  # of parameters: they, and the options of their steps
State = dict[str, Any]  # of one parameter

Hooks = OrderedDict[int, Callable[..., Any]]
_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks",
          "_optimizer_state_dict_pre_hooks", "_optimizer_state_dict_post_hooks",
          "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks")


class _Required:
    """Marks an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Base class of optimizers: subclasses define ``step``.

    ``params`` are tensors, (name, tensor) pairs, or dicts with ``params`` and options of a group;
    ``defaults`` are the options of groups that do not give their own.
    """

    _opt_called = _is_scheduled = False  # read by learning rate schedules
    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._add_hook_stores()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {typename(params)}")
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _add_hook_stores(self) -> None:
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._add_hook_stores()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            options = [f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"]
            text += f"\nParameter Group {number}\n" + "".join(options)
        return text + ")"

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once; ``closure`` computes the loss anew and returns it."""
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of every parameter, or fill them with zeros."""
        profile = MODE.get().profile
        if profile is None:
            self._zero_grad(set_to_none)
        else:
            profile.block(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad", self._zero_grad,
                          set_to_none)

    def _zero_grad(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            for param in group["params"]:
                if param._grad is not None:
                    clear_grad(param, set_to_none)

    # ------------------------------------------------------------------ groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _listed(param_group)
        for param in param_group["params"]:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter "
                    f"{name}")
            param_group.setdefault(name, default)
        params = param_group["params"]
        if len(params) != len(set(params)):
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information")
        known = set(chain.from_iterable(group["params"] for group in self.param_groups))
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        if self.param_groups and ("param_names" in param_group) != (
                "param_names" in self.param_groups[0]):
            given = "with" if "param_names" in param_group else "without"
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{given} names to the optimizer")
        self.param_groups.append(param_group)

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(
                f"optimizer can only optimize Tensors, but one of the params is {typename(param)}")
        if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    # ------------------------------------------------------------------ state

    def state_dict(self) -> dict[str, Any]:
        """Return state and options, with numbers in place of the parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {numbers[id(key)] if isinstance(key, Tensor) else key: value
                 for key, value in self.state.items()}
        result: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, result)
            if replaced is not None:
                result = replaced
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over state and options that :meth:`state_dict` returned."""
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        groups = self.param_groups
        saved_groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, saved_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group")
        numbers = chain.from_iterable(group["params"] for group in saved_groups)
        params = chain.from_iterable(group["params"] for group in groups)
        param_of = dict(zip(numbers, params))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in param_of:
                param = param_of[key]
                state[param] = _fit_state(param, value)
            else:
                state[key] = value
        for group, saved in zip(groups, saved_groups):
            saved["params"] = group["params"]
            if "param_names" in group and "param_names" not in saved:
                saved["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved_groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # ------------------------------------------------------------------ hooks

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step."""
        return register_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return register_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable,
                                     prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before ``state_dict``."""
        return register_hook(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Callable,
                                      prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after ``state_dict``; a result replaces it."""
        return register_hook(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable,
                                          prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading; a result replaces it."""
        return register_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook: Callable,
                                           prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after loading."""
        return register_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)


def check_lr(lr: Any) -> None:
    """Raise PyTorch's errors for a learning rate that cannot be."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if lr < 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def _with_hooks(step: Callable) -> Callable:
    @functools.wraps(step)
    def run(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        own = self.__dict__  # without hooks where a class has made its groups by itself
        run_it = functools.partial(_between_hooks, step) if own.get(
            "_optimizer_step_pre_hooks") or own.get("_optimizer_step_post_hooks") else step
        profile = MODE.get().profile
        if profile is None:
            return run_it(self, *args, **kwargs)
        return profile.block(f"Optimizer.step#{type(self).__name__}.step", run_it, self, *args,
                             **kwargs)

    return run


def _between_hooks(step: Callable, self: Optimizer, *args: Any, **kwargs: Any) -> Any:
    called: Any = (self, *args)
    for hook in list(self._optimizer_step_pre_hooks.values()):
        replaced = hook(self, called, kwargs)
        if replaced is None:
            continue
        if not (isinstance(replaced, tuple) and len(replaced) == 2):
            raise RuntimeError(
                f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                f"{replaced}.")
        called, kwargs = replaced
    result = step(*called, **kwargs)
    for hook in list(self._optimizer_step_post_hooks.values()):
        hook(self, called, kwargs)
    return result


def _listed(group: dict[str, Any]) -> None:
    """Turn a group's ``params`` into a list, and names given with them into ``param_names``."""
    params = group["params"]
    if isinstance(params, Tensor):
        group["params"] = [params]
        return
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering "
            "of tensors in sets will change between runs. Please use a list instead.")
    params = list(params)
    named = [isinstance(param, tuple) for param in params]
    if any(named):
        if not all(named):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing")
        group["param_names"] = [pair[0] for pair in params]
        params = [pair[1] for pair in params]
    group["params"] = params


def _fit_state(param: Tensor, value: Any, key: Any = None) -> Any:
    """Bring loaded state to a parameter's dtype; step counts keep their own."""
    if isinstance(value, Tensor):
        if key != "step" and param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value
    if isinstance(value, dict):
        return {name: _fit_state(param, member, name) for name, member in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return type(value)(_fit_state(param, member) for member in value)  # type: ignore[call-arg]
    return value
