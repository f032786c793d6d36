"""Module: a tree of layers that owns parameters, buffers and hooks."""

import itertools
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from ...autograd.grad_mode import no_grad
from ...base import dtypes
from ...base.missing_names import missing_attribute
from ...core.graph import RemovableHandle
from ...core.tensor import Tensor
from ..parameter import Parameter
from ._backward_hooks import BackwardHooks

_EXTRA_STATE = "_extra_state"
_HOOK_STORES = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks")
_COMPLEX_MODULE = (
    "Complex modules are a new feature under active development whose design may change, and some "
    "modules might not work as expected when using complex tensors as parameters or buffers. "
    "Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml "
    "if a complex module does not work as expected.")


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What a non-strict ``load_state_dict`` could not match."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def typename(value: object) -> str:
    """Name a value's type as error messages do: ``torch.FloatTensor``, ``int``, ``pkg.Class``."""
    if isinstance(value, Tensor):
        return value.type()
    cls = value if isinstance(value, type) else type(value)
    if cls.__module__ in ("builtins", "__builtin__"):
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


def _indent(text: str, spaces: int = 2) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line for line in rest)])


class Module:
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
            _modules={}, **{name: OrderedDict() for name in _HOOK_STORES})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Files from before these existed.
        for name in _HOOK_STORES:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())

    def forward(self, *input: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ------------------------------------------------------------------ calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (self._backward_hooks or self._backward_pre_hooks or self._forward_hooks
                or self._forward_pre_hooks):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> Any:
        called: set[int] = set()
        try:
            return self._call_hooks_in_order(args, kwargs, called)
        except Exception:
            self._call_remaining_always_hooks(args, kwargs, called)
            raise

    def _call_hooks_in_order(self, args: tuple, kwargs: dict, called: set[int]) -> Any:
        args, kwargs = self._call_forward_pre_hooks(args, kwargs)
        backward = None
        if self._backward_hooks or self._backward_pre_hooks:
            backward = BackwardHooks(self, list(self._backward_hooks.values()),
                                     list(self._backward_pre_hooks.values()))
            args = backward.watch_inputs(args)
        output = self.forward(*args, **kwargs)
        for key, hook in list(self._forward_hooks.items()):
            called.add(key)
            replaced = self._call_forward_hook(key, hook, args, kwargs, output)
            if replaced is not None:
                output = replaced
        return output if backward is None else backward.watch_outputs(output)

    def _call_forward_pre_hooks(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        for key, hook in list(self._forward_pre_hooks.items()):
            if key in self._forward_pre_hooks_with_kwargs:
                replaced = hook(self, args, kwargs)
                if replaced is None:
                    continue
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {replaced}.")
                args, kwargs = replaced
            else:
                replaced = hook(self, args)
                if replaced is not None:
                    args = replaced if isinstance(replaced, tuple) else (replaced,)
        return args, kwargs

    def _call_forward_hook(self, key: int, hook: Callable, args: tuple, kwargs: dict,
                           output: Any) -> Any:
        if key in self._forward_hooks_with_kwargs:
            return hook(self, args, kwargs, output)
        return hook(self, args, output)

    def _call_remaining_always_hooks(self, args: tuple, kwargs: dict, called: set[int]) -> None:
        for key, hook in list(self._forward_hooks.items()):
            if key in self._forward_hooks_always_called and key not in called:
                try:
                    self._call_forward_hook(key, hook, args, kwargs, None)
                except Exception as error:
                    warnings.warn(
                        "module forward hook with ``always_call=True`` raised an exception "
                        f"that was silenced as another error was raised in forward: {error}",
                        stacklevel=4)

    # ------------------------------------------------------------------ hooks

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; a result replaces the arguments."""
        extra = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return register_hook(self._forward_pre_hooks, hook, extra, prepend)

    def register_forward_hook(self, hook: Callable, *, prepend: bool = False,
                              with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``; a result replaces the output."""
        extra = [self._forward_hooks_with_kwargs] if with_kwargs else []
        if always_call:
            extra.append(self._forward_hooks_always_called)
        return register_hook(self._forward_hooks, hook, extra, prepend)

    def register_full_backward_pre_hook(self, hook: Callable,
                                        prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's gradients are computed."""
        return register_hook(self._backward_pre_hooks, hook, [], prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` once the input gradients are known."""
        return register_hook(self._backward_hooks, hook, [], prepend)

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before ``state_dict`` reads the module."""
        return register_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict``."""
        return register_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call a hook with the module and the arguments of loading, before it is loaded."""

        def with_module(*args: Any) -> Any:
            return hook(self, *args)

        return register_hook(self._load_state_dict_pre_hooks, with_module)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may edit the keys."""
        return register_hook(self._load_state_dict_post_hooks, hook)

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
            self._parameters[name] = None
        elif isinstance(value, Module):
            self._require_init("module")
            self._forget(name, except_in="_modules")
            own["_modules"][name] = value
        elif name in own.get("_modules", ()):
            if value is not None:
                raise _wrong_kind(value, "child module", name, "torch.nn.Module or None")
            own["_modules"][name] = None
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise _wrong_kind(value, "buffer", name, "torch.nn.Buffer, torch.Tensor or None")
            own["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

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

    def _check_name(self, name: Any, kind: str, store: dict, shown: str = "") -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in store:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."{shown}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained."""
        self._require_init("buffer")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under ``name``."""
        self._require_init("parameter")
        self._check_name(name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' "
                            "(torch.nn.Parameter or None required)")
        if param is not None and param.grad_fn:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
                             f"parameters must be created explicitly. To express '{name}' "
                             "as a function of another Tensor, compute the value in "
                             "the forward() method.")
        self._parameters[name] = param

    def add_module(self, name: str, module: "Module | None") -> None:
        """Add a submodule under ``name``."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name(name, "module", self._modules, shown=f", got: {name}")
        self._modules[name] = module

    register_module = add_module

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

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                with no_grad():
                    grad = None if parameter.grad is None else fn(parameter.grad)
                    # The gradient of the old dtype would not fit the converted parameter.
                    parameter.grad = None
                    parameter.data = fn(parameter.data)
                    if grad is not None:
                        parameter.grad = grad
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating parameters and buffers to a dtype, in place: ``module.to(float64)``."""
        device, dtype = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got "
                            f"desired dtype={dtype}")
        if dtype is not None and dtype.is_complex:
            warnings.warn(_COMPLEX_MODULE, stacklevel=2)

        def convert(tensor: Tensor) -> Tensor:
            floating = tensor.is_floating_point() or tensor.is_complex()
            target = dtype if dtype is not None and floating else tensor.dtype
            return tensor.to(tensor.device if device is None else device, target)

        return self._apply(convert)

    def _cast_floating(self, dtype: Any) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self) -> Self:
        """Convert floating parameters and buffers to float32."""
        return self._cast_floating(dtypes.float32)

    def double(self) -> Self:
        """Convert floating parameters and buffers to float64."""
        return self._cast_floating(dtypes.float64)

    def half(self) -> Self:
        """Convert floating parameters and buffers to float16."""
        return self._cast_floating(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert floating parameters and buffers to bfloat16."""
        return self._cast_floating(dtypes.bfloat16)

    def type(self, dst_type: Any) -> Self:
        """Convert every parameter and buffer to ``dst_type``."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self) -> Self:
        """Move everything to the CPU."""
        return self._apply(lambda t: t.cpu())

    # ------------------------------------------------------------------ state

    def get_extra_state(self) -> Any:
        """Return what ``state_dict`` should keep beside tensors; overridden with its setter."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state: Any) -> None:
        """Take back what ``get_extra_state`` returned."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called.")

    def state_dict(self, *, destination: Any = None, prefix: str = "",
                   keep_vars: bool = False) -> dict[str, Any]:
        """Return every parameter and persistent buffer by dotted name; memory is shared."""
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
            if hook(self, destination, prefix, metadata) is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def _persistent_members(self) -> dict[str, Tensor | None]:
        buffers = {name: buffer for name, buffer in self._buffers.items()
                   if name not in self._non_persistent_buffers_set}
        return {**self._parameters, **buffers}

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not Module.get_extra_state

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, member in self._persistent_members().items():
            if member is not None:
                destination[prefix + name] = member if keep_vars else member.detach()
        if self._has_extra_state():
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> _IncompatibleKeys:
        """Copy values from ``state_dict`` into this module and all below it.

        With ``strict``, a key too many or too few is an error; with ``assign``, the tensors
        themselves are taken instead of their values.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        local = OrderedDict(state_dict)
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        self._load_tree(local, "", metadata, strict, assign, keys, errors)
        if strict:
            kinds = {"Missing": keys.missing_keys, "Unexpected": keys.unexpected_keys}
            errors[:0] = [f"{kind} key(s) in state_dict: {', '.join(map(_quoted, found))}. "
                          for kind, found in kinds.items() if found]
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return keys

    def _load_tree(self, state_dict: dict, prefix: str, metadata: Mapping | None, strict: bool,
                   assign: bool, keys: _IncompatibleKeys, errors: list[str]) -> None:
        local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local_metadata["assign_to_params_buffers"] = True
        self._load_from_state_dict(state_dict, prefix, local_metadata, True, *keys, errors)
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                part = {key: value for key, value in state_dict.items() if key.startswith(below)}
                child._load_tree(part, below, metadata, strict, assign, keys, errors)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not"
                    "expected to return new values, if incompatible_keys need to be modified,"
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
            if member is None:
                continue
            key = prefix + name
            if key in state_dict:
                self._load_member(name, member, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE
        if self._has_extra_state() or type(self).set_extra_state is not Module.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            known = {name for name, member in members.items() if member is not None}
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if name not in (self._modules if dot else known):
                        unexpected_keys.append(key)

    def _load_member(self, name: str, member: Tensor, key: str, value: Any, assign: bool,
                     errors: list[str]) -> None:
        if not isinstance(value, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                f"object from checkpoint but received {type(value)}")
            return
        if member.dim() == 0 and value.dim() == 1:
            value = value[0]
        if value.shape != member.shape:
            errors.append(f"size mismatch for {key}: copying a param with shape {value.shape} from "
                          f"checkpoint, the shape in current model is {member.shape}.")
            return
        try:
            if assign:
                if isinstance(member, Parameter) and not isinstance(value, Parameter):
                    value = Parameter(value, requires_grad=member.requires_grad)
                setattr(self, name, value)
            else:
                with no_grad():
                    member.copy_(value)
        except Exception as error:
            errors.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{member.size()} and whose dimensions in the checkpoint are {value.size()}, "
                f"an exception occurred : {error.args}.")

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
            f"({name}): {_indent(repr(module))}" for name, module in self._modules.items()]
        if len(extra_lines) == 1 and not child_lines:
            return f"{self._get_name()}({extra})"
        lines = extra_lines + child_lines
        body = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({body})"


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


class _HookHandle(RemovableHandle):
    """Removes a hook from its store and from the stores that mark how it is to be called."""

    def __init__(self, hooks: OrderedDict[int, Any], marks: list[OrderedDict[int, Any]]) -> None:
        super().__init__(hooks)
        self.marks = marks

    def remove(self) -> None:
        super().remove()
        for mark in self.marks:
            mark.pop(self.id, None)


def register_hook(hooks: OrderedDict[int, Any], hook: Callable,
                  marks: list[OrderedDict[int, Any]] | None = None,
                  prepend: bool = False) -> RemovableHandle:
    """Add ``hook`` at the end of ``hooks`` or before them all, and its handle's id to ``marks``."""
    handle = _HookHandle(hooks, marks or [])
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    for mark in handle.marks:
        mark[handle.id] = True
    return handle


def _wrong_kind(value: Any, kind: str, name: str, expected: str) -> TypeError:
    return TypeError(f"cannot assign '{typename(value)}' as {kind} '{name}' ({expected} expected)")


def _quoted(key: str) -> str:
    return f'"{key}"'


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Return the device and the dtype that the arguments of ``to`` name, None where they do not."""
    given = [*args, *(kwargs[key] for key in ("tensor", "device", "dtype") if key in kwargs)]
    device = dtype = None
    for value in given:
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, dtypes.dtype):
            dtype = value
        elif isinstance(value, (str, int, dtypes.device)) and not isinstance(value, bool):
            device = dtypes.device(value)
        elif value is not None and not isinstance(value, bool):
            raise _wrong_to_arguments(args, kwargs)
    if set(kwargs) - {"tensor", "device", "dtype", "non_blocking", "copy", "memory_format"}:
        raise _wrong_to_arguments(args, kwargs)
    return device, dtype


def _wrong_to_arguments(args: tuple, kwargs: dict[str, Any]) -> TypeError:
    shown = [type(value).__name__ for value in args]
    shown += [f"{key}={type(value).__name__}" for key, value in kwargs.items()]
    got = ", ".join(shown) + (", " if kwargs else "")
    options = "bool non_blocking = False, bool copy = False, *, "
    options += "torch.memory_format memory_format = None"
    return TypeError(
        f"to() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        f" * (torch.device device = None, torch.dtype dtype = None, {options})\n"
        f" * (torch.dtype dtype, {options})\n"
        f" * (Tensor tensor, {options})\n")
