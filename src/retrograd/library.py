"""``custom_op``: a user's function as an op, with its own gradient, batching rule and fake."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from . import ops
from .autograd.function import Function
from .autograd.grad_mode import no_grad
from .base.missing_names import suggest_names as _suggest_names
from .core.tensor import Tensor

_DEFINED: dict[str, CustomOpDef] = {}


class CustomOpDef:
    """A function that autograd sees as one op; what is registered says how."""

    def __init__(self, name: str, function: Callable[..., Any], mutates_args: Any):
        self._qualname, self._function = name, function
        self._signature = inspect.signature(function)
        unknown = set(() if isinstance(mutates_args, str) else mutates_args) - {
            *self._signature.parameters}
        if unknown:
            raise ValueError(f"custom_op {name}: mutates_args names {sorted(unknown)}, which are "
                             f"no parameters of {function.__name__}{self._signature}")
        self._mutated = tuple(self._signature.parameters) if mutates_args == "unknown" \
            else tuple(mutates_args)
        self._kernels: dict[str, Callable[..., Any]] = {}
        self._backward: Callable[..., Any] | None = None
        self._setup_context: Callable[..., Any] | None = None
        self._fake: Callable[..., Any] | None = None
        self._vmap: Callable[..., Any] | None = None
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if self._mutated:  # which has no gradient; its writes are counted as any other
            with no_grad():
                return self._run(bound.args, bound.kwargs)
        return self._node(bound.kwargs).apply(*bound.args)

    def _node(self, named: dict[str, Any]) -> type[Function]:
        """The custom function of one call; arguments given by keyword only are bound to it."""
        op = self

        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            if op._setup_context is None:
                return
            if named:
                op._setup_context(ctx, inputs, named, output)
            else:
                op._setup_context(ctx, inputs, output)

        def backward(ctx: Any, *gradients: Any) -> Any:
            if op._backward is None:
                raise RuntimeError("Trying to backward through "
                                   f"{op._qualname.replace('::', '.')}.default but no autograd "
                                   "formula was registered. Please use register_autograd to add "
                                   "one.")
            return op._backward(ctx, *gradients)

        members: dict[str, Any] = {
            "forward": staticmethod(lambda *args: op._run(args, named)),
            "setup_context": staticmethod(setup_context), "backward": staticmethod(backward)}
        if self._vmap is not None:
            members["vmap"] = staticmethod(self._vmap)
        return type(self._function.__name__, (Function,), members)

    def _run(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        result = self._kernels.get("cpu", self._function)(*args, **named)
        results = result if isinstance(result, (tuple, list)) else (result,)
        given = {id(value) for value in (*args, *named.values()) if isinstance(value, Tensor)}
        if any(isinstance(part, Tensor) and id(part) in given for part in results):
            raise RuntimeError(f"{self._qualname} (with implementation in "
                               f"{self._function.__module__}): The output of this custom operator "
                               "(1) must not also be an input to this custom operator and (2) may "
                               "not alias any inputs to this custom operator or other returns. The "
                               "most common way to trigger this error is if we have y = "
                               "custom_op(x) and y and x are the same Tensor. Please instead "
                               "return a clone of the offending output tensor(s) (e.g. return "
                               "x.clone()) or refactor the custom operator to not return y.")
        return result

    # ------------------------------------------------------------ what may be registered

    def register_autograd(self, backward: Callable[..., Any], /, *,
                          setup_context: Callable[..., Any] | None = None) -> None:
        """Give the op a gradient, and what is to be saved for it."""
        if self._mutated:
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator "
                               f"{self._qualname}. Please create a functional operator and "
                               "register an autograd formula for that.")
        self._backward, self._setup_context = backward, setup_context

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """Give the op another body on one or several types of devices; also a decorator."""
        if fn is None:
            return functools.partial(self.register_kernel, device_types)
        kinds = (device_types,) if isinstance(device_types, str) else device_types or ("cpu",)
        self._kernels.update(dict.fromkeys(kinds, fn))
        return fn

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Keep the function that tells shapes; nothing here asks for shapes without values."""
        self._fake = fn
        return fn

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Give the op a rule for batches: ``func(info, in_dims, *args)``; also a decorator."""
        if func is None:
            return self.register_vmap
        self._vmap = func
        return func


def custom_op(name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: Any,
              device_types: Any = None, schema: str | None = None, tags: Any = None) -> Any:
    """Make a function an op of the name ``namespace::name``; also a decorator."""
    if fn is None:
        return functools.partial(custom_op, name, mutates_args=mutates_args,
                                 device_types=device_types, schema=schema, tags=tags)
    space, separator, short = name.partition("::")
    if not separator or not space or not short:
        raise ValueError("torch.library.custom_op(name, ...): name must be of the form "
                         f"\"namespace::name\", got {name!r}")
    made = CustomOpDef(name, fn, mutates_args)
    _offer(space, short, made)
    _DEFINED[name] = made
    return made


class _Namespaces(SimpleNamespace):
    """What ``torch.ops`` is to a program: the namespaces of ops, PyTorch's own and custom ones."""

    aten = property(lambda self: ops.aten)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no custom op of the namespace '{name}': make it with "
                             "torch.library.custom_op")


NAMESPACES = _Namespaces()


def _offer(space: str, name: str, made: CustomOpDef) -> None:
    """Have ``torch.ops.space.name`` find the op, in this package too, whose ops are there."""
    known = vars(NAMESPACES).setdefault(space, SimpleNamespace())
    if vars(sys.modules[f"{__package__}.ops"]).setdefault(space, known) is not known:
        raise ValueError(f"the namespace '{space}' is retrograd's own; choose another")
    setattr(known, name, made)


def _defined(op: Any) -> CustomOpDef:
    found = op if isinstance(op, CustomOpDef) else _DEFINED.get(op)
    if found is None:
        raise RuntimeError(f"there is no custom op called {op!r}: make it with "
                           "torch.library.custom_op")
    return found


def register_autograd(op: Any, backward: Callable[..., Any], /, *,
                      setup_context: Callable[..., Any] | None = None, lib: Any = None) -> None:
    """Give a custom op a gradient."""
    _defined(op).register_autograd(backward, setup_context=setup_context)


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *,
                    lib: Any = None) -> Any:
    """Give a custom op another body; also a decorator."""
    return _defined(op).register_kernel(device_types, func) if func is not None \
        else _defined(op).register_kernel(device_types)


def register_fake(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None,
                  _stacklevel: int = 1, allow_override: bool = False) -> Any:
    """Keep the function that tells a custom op's shapes; also a decorator."""
    return _defined(op).register_fake if func is None else _defined(op).register_fake(func)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """Give a custom op a rule for batches; also a decorator."""
    return _defined(op).register_vmap(func)


def opcheck(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *,
            test_utils: Any = None, raise_exception: bool = True, atol: float | None = None,
            rtol: float | None = None) -> dict[str, str]:
    """Try a custom op: that it changes what it says and no more, its gradient, and its fake."""
    made, named, found = _defined(op), kwargs or {}, {}
    for name, check in (("test_schema", _check_changes), ("test_autograd_registration",
                                                          _check_gradient),
                        ("test_faketensor", _check_fake)):
        try:
            check(made, args, named)
            found[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise
            found[name] = f"FAILURE: {error}"
    return found


def _tensors(values: Iterable[Any]) -> list[Tensor]:
    return [value for value in values if isinstance(value, Tensor)]


def _copies(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    def copy(value: Any) -> Any:
        return value.detach().clone().requires_grad_(value.requires_grad) \
            if isinstance(value, Tensor) else value

    return tuple(map(copy, args)), {name: copy(value) for name, value in named.items()}


def _check_changes(op: CustomOpDef, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    args, named = _copies(args, named)
    bound = op._signature.bind(*args, **named).arguments
    before = {name: value.detach().clone() for name, value in bound.items()
              if isinstance(value, Tensor) and name not in op._mutated}
    op._run(args, named)
    for name, value in before.items():
        if not value.equal(bound[name].detach()):
            raise RuntimeError(f"{op._qualname}: argument '{name}' was written to, which "
                               "mutates_args does not say")


def _check_gradient(op: CustomOpDef, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    args, named = _copies(args, named)
    watched = [t for t in _tensors((*args, *named.values())) if t.requires_grad]
    if not watched or op._backward is None:
        return
    result = op(*args, **named)
    outs = [t for t in _tensors(result if isinstance(result, (tuple, list)) else (result,))
            if t.requires_grad]
    sum(out.sum() for out in outs).backward()  # type: ignore[union-attr]


def _check_fake(op: CustomOpDef, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    if op._fake is None:
        return
    args, named = _copies(args, named)
    results = [value if isinstance(value, (tuple, list)) else (value,)
               for value in (op._run(args, named), op._fake(*args, **named))]
    for real, fake in zip(*map(_tensors, results), strict=True):
        if real.shape != fake.shape or real.dtype != fake.dtype:
            raise RuntimeError(f"{op._qualname}: the fake gives {tuple(fake.shape)} of "
                               f"{fake.dtype}, the op {tuple(real.shape)} of {real.dtype}")


__all__ = ["CustomOpDef", "custom_op", "opcheck", "register_autograd", "register_fake",
           "register_kernel", "register_vmap"]

_suggest_names(__name__)
