"""Module: a tree of layers that owns parameters, buffers and hooks."""

import inspect
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Self, TypeVar

from ...base.missing_names import missing_attribute
from ...core.tensor import Tensor
from ..parameter import Buffer, Parameter
from ._calling import (
    Calling,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
    registered,
)
from ._conversions import Conversions
from ._state_dicts import StateDicts, _IncompatibleKeys  # noqa: F401 - asked for here

__all__ = ["Module", "register_module_backward_hook", "register_module_buffer_registration_hook",
           "register_module_forward_hook", "register_module_forward_pre_hook",
           "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
           "register_module_module_registration_hook",
           "register_module_parameter_registration_hook"]

T = TypeVar("T", bound="Module")
_grad_t = tuple[Tensor, ...] | Tensor
_HOOK_STORES = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks")


def typename(value: object) -> str:
    """Name a value's type as error messages do: ``torch.FloatTensor``, ``int``, ``pkg.Class``."""
    if isinstance(value, Tensor):
        return value.type()
    cls = value if isinstance(value, type) else type(value)
    if cls.__module__ in ("builtins", "__builtin__"):
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


def _addindent(text: str, spaces: int = 2) -> str:
    """``text`` with its lines but the first moved to the right."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line if line.strip() else "" for line in rest)])


class Module(Calling, StateDicts, Conversions):
    """Base class of all layers and models: assign parameters and submodules as attributes.

    >>> class Affine(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.scale = Parameter(retrograd.ones(2))
    ...     def forward(self, input):
    ...         return input * self.scale
    >>> [name for name, _ in Affine().named_parameters()]
    ['scale']
    """

    dump_patches = False
    call_super_init = False
    _version = 1
    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and not self.call_super_init:
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but "
                            f"{len(args) + 1} were given")
        if kwargs and not self.call_super_init:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                            f"'{next(iter(kwargs))}'")
        # Written past __setattr__, which needs these to exist.
        self.__dict__.update(
            training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set(),
            _modules={}, _is_full_backward_hook=None,
            **{name: OrderedDict() for name in _HOOK_STORES})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items()
                if name != "_compiled_call_impl"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Files from before these existed.
        for name in _HOOK_STORES:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    # ------------------------------------------------------------------ attributes

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        try:
            return own["_parameters"][name]
        except KeyError:
            for store in ("_buffers", "_modules"):
                if store in own and name in own[store]:
                    return own[store][name]
        raise missing_attribute(self, name, "nn.Module")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            self._require_init("parameters")
            self._forget(name, except_in="_parameters")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                raise _wrong_kind(value, "parameter", name, "torch.nn.Parameter or None")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            self._require_init("module")
            self._forget(name, except_in="_modules")
            own["_modules"][name] = registered(self, "module", name, value)
        elif name in own.get("_modules", ()):
            if value is not None:
                raise _wrong_kind(value, "child module", name, "torch.nn.Module or None")
            own["_modules"][name] = registered(self, "module", name, None)
        elif name in own.get("_buffers", ()) or isinstance(value, Buffer):
            if value is not None and not _is_tensor_like(value):
                raise _wrong_kind(value, "buffer", name, "torch.nn.Buffer, torch.Tensor or None")
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_buffer(self, name: str, value: Any) -> None:
        persistent = value.persistent if isinstance(value, Buffer) \
            else name not in self._non_persistent_buffers_set
        if type(self).register_buffer is Module.register_buffer \
                or "persistent" in inspect.signature(self.register_buffer).parameters:
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError("Registering a non-persistent buffer on a Module subclass that "
                               "implements register_buffer() without the persistent argument is "
                               "not allowed.")

    def __delattr__(self, name: str) -> None:
        for store in (self._parameters, self._buffers, self._modules):
            if name in store:
                del store[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        keys = itertools.chain(dir(type(self)), self.__dict__, self._parameters, self._modules,
                               self._buffers)
        return sorted({key for key in keys if not key[0].isdigit()})

    def _require_init(self, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _forget(self, name: str, except_in: str) -> None:
        own = self.__dict__
        own.pop(name, None)
        for store in ("_parameters", "_buffers", "_modules"):
            if store != except_in:
                own[store].pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)

    def _check_name(self, name: Any, kind: str, store: dict) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."'
                           + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in store:
            raise KeyError(f"attribute '{name}' already exists")

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained."""
        self._require_init("buffer")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not _is_tensor_like(tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = registered(self, "buffer", name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under ``name``."""
        self._require_init("parameter")
        self._check_name(name, "parameter", self._parameters)
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' "
                            "(torch.nn.Parameter or None required)")
        if param.grad_fn:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
                             f"parameters must be created explicitly. To express '{name}' "
                             "as a function of another Tensor, compute the value in "
                             "the forward() method.")
        self._parameters[name] = registered(self, "parameter", name, param)

    def add_module(self, name: str, module: "Module | None") -> None:
        """Add a submodule under ``name``."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name(name, "module", self._modules)
        self._modules[name] = registered(self, "module", name, module)

    def register_module(self, name: str, module: "Module | None") -> None:
        """Add a submodule under ``name``."""
        self.add_module(name, module)

    # ------------------------------------------------------------------ looking up by path

    def get_submodule(self, target: str) -> "Module":
        """Return the submodule at a dotted path such as ``"layers.0"``."""
        module: Module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: "Module", strict: bool = False) -> None:
        """Put ``module`` at a dotted path; with ``strict``, only where one is already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if not isinstance(getattr(parent, name, module), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter at a dotted path such as ``"layers.0.weight"``."""
        owner, name = self._owner_of(target)
        parameter = getattr(owner, name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a dotted path."""
        owner, name = self._owner_of(target)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return owner._buffers[name]

    def _owner_of(self, target: str) -> "tuple[Module, str]":
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        return owner, name

    # ------------------------------------------------------------------ walking the tree

    def named_modules(self, memo: "set[Module] | None" = None, prefix: str = "",
                      remove_duplicate: bool = True) -> "Iterator[tuple[str, Module]]":
        """Yield this module and every module below it, with dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self) -> "Iterator[Module]":
        """Yield this module and every module below it."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> "Iterator[tuple[str, Module]]":
        """Yield the direct submodules with their names, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> "Iterator[Module]":
        """Yield the direct submodules, each once."""
        for _, module in self.named_children():
            yield module

    def _named_members(self, store: str, prefix: str, recurse: bool,
                       remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = (self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse
                   else [(prefix, self)])
        for path, module in modules:
            for name, member in getattr(module, store).items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Yield every parameter with its dotted name."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield every parameter, as an optimizer takes them."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Yield every buffer with its dotted name."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield every buffer."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def apply(self, fn: "Callable[[Module], None]") -> Self:
        """Call ``fn`` on every submodule and then on this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ------------------------------------------------------------------ modes and conversion

    def train(self, mode: bool = True) -> Self:
        """Put the module and all below it into training mode, or into evaluation mode."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Put the module and all below it into evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Make every parameter require grad, or stop requiring it."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of every parameter, or fill them with zeros."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    # ------------------------------------------------------------------ printing

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return what ``repr`` should show inside the parentheses."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [
            f"({name}): {_addindent(repr(module))}" for name, module in self._modules.items()]
        if len(extra_lines) == 1 and not child_lines:
            return f"{self._get_name()}({extra})"
        lines = extra_lines + child_lines
        body = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({body})"

    def _repr_html_(self) -> str:
        from ...viz._notebook import module_html

        return module_html(self)


def clear_grad(parameter: Tensor, set_to_none: bool) -> None:
    """Drop a gradient, or cut it from its history and fill it with zeros."""
    grad = parameter.grad
    if grad is None:
        return
    if set_to_none:
        parameter.grad = None
    else:
        if grad.grad_fn is not None:
            grad.detach_()
        else:
            grad.requires_grad_(False)
        grad.zero_()


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def _wrong_kind(value: Any, kind: str, name: str, expected: str) -> TypeError:
    return TypeError(f"cannot assign '{typename(value)}' as {kind} '{name}' ({expected} expected)")
