"""How a module is called, and the hooks around it: its own and those of every module."""

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...base.warning import warn
from ...core.graph import RemovableHandle
from ...core.tensor import Tensor
from ._backward_hooks import BackwardHooks

Hooks = OrderedDict[int, Any]

_MIXED_KINDS = ("Cannot use both regular backward hooks and full backward hooks {where}. Please "
                "use only one of them.")
_DEPRECATED = " is deprecated and will be removed in future versions. This hook will be missing "
_INSTEAD = " Please use register_full_backward_hook to get the documented behavior."


def register_hook(hooks: Hooks, hook: Callable, marks: tuple[Hooks, ...] = (),
                  prepend: bool = False) -> RemovableHandle:
    """Add ``hook`` at the end of ``hooks`` or before them all, and its handle's id to ``marks``."""
    handle = RemovableHandle(hooks, extra_dict=marks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    for mark in marks:
        mark[handle.id] = True
    return handle


class _GlobalHooks:
    """The hooks that every module has; ``around_calls`` knows those that a call has to mind."""

    def __init__(self) -> None:
        self.around_calls: Hooks = OrderedDict()
        self.forward_pre: Hooks = OrderedDict()
        self.forward: Hooks = OrderedDict()
        self.forward_with_kwargs: Hooks = OrderedDict()
        self.forward_always: Hooks = OrderedDict()
        self.backward_pre: Hooks = OrderedDict()
        self.backward: Hooks = OrderedDict()
        self.full_backward: bool | None = None
        self.registration: dict[str, Hooks] = {
            kind: OrderedDict() for kind in ("buffer", "module", "parameter")}


GLOBAL = _GlobalHooks()


def registered(module: Any, kind: str, name: str, value: Any) -> Any:
    """What the registration hooks make of a member that ``module`` is about to take."""
    for hook in list(GLOBAL.registration[kind].values()):
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` before any module takes a buffer."""
    return register_hook(GLOBAL.registration["buffer"], hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` before any module takes a submodule."""
    return register_hook(GLOBAL.registration["module"], hook)


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` before any module takes a parameter."""
    return register_hook(GLOBAL.registration["parameter"], hook)


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, args)`` before the ``forward`` of every module."""
    return register_hook(GLOBAL.forward_pre, hook, (GLOBAL.around_calls,))


def register_module_forward_hook(hook: Callable, *, with_kwargs: bool = False,
                                 always_call: bool = False) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the ``forward`` of every module."""
    marks = _chosen((GLOBAL.forward_with_kwargs, with_kwargs), (GLOBAL.forward_always, always_call))
    return register_hook(GLOBAL.forward, hook, (GLOBAL.around_calls, *marks))


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the gradients of every module are computed."""
    return register_hook(GLOBAL.backward_pre, hook, (GLOBAL.around_calls,))


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` once the gradients of a module are known."""
    return _register_global_backward(hook, full=True)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Hook the last node of every module: an older, incomplete view of its gradients."""
    return _register_global_backward(hook, full=False)


def _register_global_backward(hook: Callable, full: bool) -> RemovableHandle:
    if GLOBAL.full_backward is (not full):
        raise RuntimeError(_MIXED_KINDS.format(where="as a global Module hook"))
    GLOBAL.full_backward = full
    return register_hook(GLOBAL.backward, hook, (GLOBAL.around_calls,))


def _chosen(*choices: tuple[Hooks, bool]) -> tuple[Hooks, ...]:
    return tuple(hooks for hooks, chosen in choices if chosen)


class _WrappedHook:
    """A hook that is given its module, without keeping it alive."""

    def __init__(self, hook: Callable, module: Any = None) -> None:
        functools.update_wrapper(self, hook)
        self.hook = hook
        self.with_module = module is not None
        self.module: Any = None if module is None else weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        return {**state, "module": self.module()} if self.with_module else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["with_module"] and state["module"] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        self.__init__(state["hook"], state.get("module"))  # type: ignore[misc]


class Calling:
    """The part of a module that is called: ``forward`` between hooks."""

    _forward_pre_hooks: Hooks
    _forward_pre_hooks_with_kwargs: Hooks
    _forward_hooks: Hooks
    _forward_hooks_with_kwargs: Hooks
    _forward_hooks_always_called: Hooks
    _backward_pre_hooks: Hooks
    _backward_hooks: Hooks
    _is_full_backward_hook: bool | None
    _compiled_call_impl: Callable | None = None

    def forward(self, *input: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (self._backward_hooks or self._backward_pre_hooks or self._forward_hooks
                or self._forward_pre_hooks or GLOBAL.around_calls):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    _call_impl = __call__

    def _wrapped_call_impl(self, *args: Any, **kwargs: Any) -> Any:
        compiled = self._compiled_call_impl
        return (self._call_impl if compiled is None else compiled)(*args, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Have calls of this module run what ``torch.compile`` makes of them."""
        from ... import compile

        self._compiled_call_impl = compile(self._call_impl, *args, **kwargs)
        # Only programs that compile a module pay for asking each whether it was.
        Calling.__call__ = Calling._wrapped_call_impl  # type: ignore[method-assign]

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> Any:
        called: set[int] = set()
        output = None
        try:
            args, kwargs = self._call_forward_pre_hooks(args, kwargs)
            full_hooks, last_node_hooks = self._get_backward_hooks()
            backward = BackwardHooks(self, full_hooks, self._get_backward_pre_hooks())
            args = backward.watch_inputs(args)
            output = self.forward(*args, **kwargs)
            for key, hook in (*GLOBAL.forward.items(), *self._forward_hooks.items()):
                called.add(key)
                replaced = self._call_forward_hook(key, hook, args, kwargs, output)
                if replaced is not None:
                    output = replaced
            output = backward.watch_outputs(output)
            if last_node_hooks:
                _hook_last_node(self, last_node_hooks, args, output)
            return output
        except Exception:
            self._call_remaining_always_hooks(args, kwargs, output, called)
            raise

    def _call_forward_pre_hooks(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        for key, hook in (*GLOBAL.forward_pre.items(), *self._forward_pre_hooks.items()):
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
        if key in self._forward_hooks_with_kwargs or key in GLOBAL.forward_with_kwargs:
            return hook(self, args, kwargs, output)
        return hook(self, args, output)

    def _call_remaining_always_hooks(self, args: tuple, kwargs: dict, output: Any,
                                     called: set[int]) -> None:
        for whose, hooks, always in (
                ("global ", GLOBAL.forward, GLOBAL.forward_always),
                ("", self._forward_hooks, self._forward_hooks_always_called)):
            for key, hook in list(hooks.items()):
                if key not in always or key in called:
                    continue
                try:
                    replaced = self._call_forward_hook(key, hook, args, kwargs, output)
                    output = output if replaced is None else replaced
                except Exception as error:
                    warn(
                        f"{whose}module forward hook with ``always_call=True`` raised an exception "
                        f"that was silenced as another error was raised in forward: {error}")

    # ------------------------------------------------------------------ registering

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; a result replaces the arguments."""
        marks = _chosen((self._forward_pre_hooks_with_kwargs, with_kwargs))
        return register_hook(self._forward_pre_hooks, hook, marks, prepend)

    def register_forward_hook(self, hook: Callable, *, prepend: bool = False,
                              with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``; a result replaces the output."""
        marks = _chosen((self._forward_hooks_with_kwargs, with_kwargs),
                        (self._forward_hooks_always_called, always_call))
        return register_hook(self._forward_hooks, hook, marks, prepend)

    def register_full_backward_pre_hook(self, hook: Callable,
                                        prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's gradients are computed."""
        return register_hook(self._backward_pre_hooks, hook, (), prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` once the input gradients are known."""
        self._choose_backward_hooks(full=True)
        return register_hook(self._backward_hooks, hook, (), prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Hook the module's last node: an older, incomplete view of its gradients."""
        self._choose_backward_hooks(full=False)
        return register_hook(self._backward_hooks, hook)

    def _choose_backward_hooks(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(_MIXED_KINDS.format(where="on a single Module"))
        self._is_full_backward_hook = full

    def _get_backward_pre_hooks(self) -> list[Callable]:
        return [*GLOBAL.backward_pre.values(), *self._backward_pre_hooks.values()]

    def _get_backward_hooks(self) -> tuple[list[Callable], list[Callable]]:
        """The full backward hooks, and those of the older kind."""
        by_kind: dict[bool | None, list[Callable]] = {True: [], False: [], None: []}
        by_kind[GLOBAL.full_backward] += GLOBAL.backward.values()
        by_kind[self._is_full_backward_hook] += self._backward_hooks.values()
        return by_kind[True], by_kind[False]


def _hook_last_node(module: Any, hooks: list[Callable], args: Any, output: Any) -> None:
    found = output
    while not isinstance(found, Tensor):
        found = next(v for v in found.values() if isinstance(v, Tensor)) \
            if isinstance(found, dict) else found[0]
    node = found.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(_WrappedHook(hook, module))
    missed = _missed_by_last_node(args, output, node)
    if missed is not None:
        warn(missed, FutureWarning)


def _missed_by_last_node(args: Any, output: Any, node: Any) -> str | None:
    """What hooks on the last node alone will not see, if anything."""
    outputs = (output,) if isinstance(output, Tensor) else output
    if not _all_tensors(outputs):
        return ("Using non-full backward hooks on a Module that does not return a single Tensor or "
                f"a tuple of Tensors{_DEPRECATED}some of the grad_output.{_INSTEAD}")
    if not _all_tensors(args):
        return ("Using non-full backward hooks on a Module that does not take as input a single "
                f"Tensor or a tuple of Tensors{_DEPRECATED}some of the grad_input.{_INSTEAD}")
    nodes = _nodes(outputs)
    if nodes != {node} and len(nodes) < 2:
        return ("Using a non-full backward hook when outputs are nested in python data structure"
                f"{_DEPRECATED}some grad_output.")
    if len(nodes) > 1:
        return ("Using a non-full backward hook when outputs are generated by different autograd "
                f"Nodes{_DEPRECATED}some grad_output.{_INSTEAD}")
    if _nodes(args) != {before for before, _ in node.next_functions}:
        return ("Using a non-full backward hook when the forward contains multiple autograd Nodes"
                f"{_DEPRECATED}some grad_input.{_INSTEAD}")
    return None


def _all_tensors(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, Tensor) for value in values)


def _nodes(tensors: tuple[Tensor, ...]) -> set[Any]:
    return {tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None}
