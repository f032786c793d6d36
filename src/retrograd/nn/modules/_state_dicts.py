"""A module's state as a dict of tensors by dotted name, and back."""

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from ...autograd.grad_mode import no_grad
from ...base.warning import warn
from ...core.graph import RemovableHandle
from ...core.tensor import Tensor
from ..parameter import Parameter, is_lazy
from ._calling import Hooks, _WrappedHook, register_hook
from ._conversion_flags import get_swap_module_params_on_conversion
from ._swapping import swap_tensors

_EXTRA_STATE = "_extra_state"
_REPORT = (" Please file an issue at https://github.com/pytorch/pytorch/issues/new?template="
           "bug-report.yml to report this bug.")


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What a non-strict ``load_state_dict`` could not match."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDicts:
    """The part of a module that hands out its state and takes it back."""

    _version: int
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: Hooks
    _state_dict_pre_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_post_hooks: Hooks

    # ------------------------------------------------------------------ hooks

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before ``state_dict`` reads the module."""
        return register_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict``."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return register_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        """As :meth:`register_state_dict_post_hook`, but a result replaces the dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("Cannot register the same function as the state dict post hook that "
                               "was previously registered via register_state_dict_post_hook")
        return register_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call a hook with the module and the arguments of loading, before it is loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable,
                                           with_module: bool = False) -> RemovableHandle:
        wrapped = _WrappedHook(hook, self if with_module else None)
        return register_hook(self._load_state_dict_pre_hooks, wrapped)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may edit the keys."""
        return register_hook(self._load_state_dict_post_hooks, hook)

    # ------------------------------------------------------------------ saving

    def get_extra_state(self) -> Any:
        """Return what ``state_dict`` should keep beside tensors; overridden with its setter."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be "
                           "called." + _REPORT)

    def set_extra_state(self, state: Any) -> None:
        """Take back what ``get_extra_state`` returned."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be "
                           "called." + _REPORT)

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(StateDicts, name)

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "",
                   keep_vars: bool = False) -> dict[str, Any]:
        """Return every parameter and persistent buffer by dotted name; memory is shared."""
        if args:
            destination, prefix, keep_vars = _positional(args, destination, prefix, keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.",
                                  keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, metadata)
            if replaced is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = replaced
        return destination

    def _persistent_members(self) -> dict[str, Tensor]:
        members = {**self._parameters,
                   **{name: buffer for name, buffer in self._buffers.items()
                      if name not in self._non_persistent_buffers_set}}
        return {name: member for name, member in members.items() if member is not None}

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, member in self._persistent_members().items():
            destination[prefix + name] = member if keep_vars else member.detach()
        if self._overrides("get_extra_state"):
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    # ------------------------------------------------------------------ loading

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> _IncompatibleKeys:
        """Copy values from ``state_dict`` into this module and all below it.

        With ``strict``, a key too many or too few is an error; with ``assign``, the tensors
        themselves are taken instead of their values.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        local: Any = OrderedDict(state_dict)
        if metadata is not None:
            local._metadata = metadata
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        self._load_tree(local, "", metadata, assign, keys, errors)
        if strict:
            kinds = {"Missing": keys.missing_keys, "Unexpected": keys.unexpected_keys}
            errors[:0] = [f"{kind} key(s) in state_dict: {', '.join(map(_quoted, found))}. "
                          for kind, found in kinds.items() if found]
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return keys

    def _load_tree(self, state_dict: dict, prefix: str, metadata: Mapping | None, assign: bool,
                   keys: _IncompatibleKeys, errors: list[str]) -> None:
        local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local_metadata["assign_to_params_buffers"] = assign
        self._load_from_state_dict(state_dict, prefix, local_metadata, True, *keys, errors)
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                part = {key: value for key, value in state_dict.items() if key.startswith(below)}
                child._load_tree(part, below, metadata, assign, keys, errors)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                    "expected to return new values, if incompatible_keys need to be modified, "
                    "it should be done inplace.")

    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict,
                              strict: bool, missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                 error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        members = self._persistent_members()
        for name, member in members.items():
            key = prefix + name
            if key in state_dict:
                error = self._load_member(name, member, key, state_dict[key], assign)
                error_msgs += [] if error is None else [error]
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE
        if self._overrides("set_extra_state"):
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if name not in (self._modules if dot else members):
                        unexpected_keys.append(key)

    def _load_member(self, name: str, member: Tensor, key: str, value: Any,
                     assign: bool) -> str | None:
        """Load one parameter or buffer; return what went wrong, if anything."""
        if not (isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")):
            return (f'While copying the parameter named "{key}", expected torch.Tensor or '
                    f"Tensor-like object from checkpoint but received {type(value)}")
        if not is_lazy(member):
            if member.dim() == 0 and value.dim() == 1 and len(value) == 1:
                value = value[0]
            if value.shape != member.shape:
                return (f"size mismatch for {key}: copying a param with shape {value.shape} from "
                        f"checkpoint, the shape in current model is {member.shape}.")
        if member.is_meta and not value.is_meta and not assign:
            warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                "parameter in the current model, which is a no-op. (Did you mean to pass "
                "`assign=True` to assign items in the state dictionary to their corresponding key "
                "in the module instead of copying them in place?)")
        swaps = get_swap_module_params_on_conversion()
        try:
            with no_grad():
                if swaps:
                    _swap_member(member, value, assign)
                elif assign:
                    setattr(self, name, _as_kind_of(member, value))
                else:
                    member.copy_(value)
        except Exception as error:
            action = "swapping" if swaps else "copying"
            return (f'While {action} the parameter named "{key}", whose '
                    f"dimensions in the model are {member.size()} and whose dimensions in the "
                    f"checkpoint are {value.size()}, an exception occurred : {error.args}.")
        return None


def _positional(args: tuple, destination: Any, prefix: str, keep_vars: bool) -> tuple:
    """The arguments of ``state_dict`` from when they had places."""
    warn(
        "Positional args are being deprecated, use kwargs instead. Refer to https://pytorch.org/"
        "docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
        FutureWarning)
    padded = (*args, None, None)
    return (padded[0] if destination is None else destination,
            padded[1] if len(args) > 1 and prefix == "" else prefix,
            padded[2] if len(args) > 2 and keep_vars is False else keep_vars)


def _as_kind_of(member: Tensor, value: Any) -> Any:
    """``value`` as a parameter if ``member`` is one, and requiring grad as that does."""
    if not isinstance(member, Parameter):
        return value
    if not isinstance(value, Parameter):
        return Parameter(value, requires_grad=member.requires_grad)
    return value.requires_grad_(member.requires_grad)


def _swap_member(member: Any, value: Any, assign: bool) -> None:
    loaded = member.module_load(value, assign=assign)
    if loaded is value or loaded is member:
        raise RuntimeError("module_load returned one of self or other, please .detach() the result "
                           "if returning one of the inputs in module_load")
    swap_tensors(member, _as_kind_of(member, loaded))


def _quoted(key: str) -> str:
    return f'"{key}"'
