"""Classes that take over calls: ``__torch_function__``, for subclasses of Tensor and for others.

Ops notice such arguments on their general path. Public functions made of ops, and methods, would
cost more if each call looked for them, so they only start to do so when the first subclass of
Tensor is defined: their code is exchanged then (see :func:`watch_calls`).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from types import FunctionType
from typing import Any

from .base.missing_names import suggest_names as _suggest_names
from .base.modes import MODE, enter, switched
from .core.arguments import put_in_front
from .core.extensions import extensions
from .core.op import PUBLIC, home_of
from .core.overriding import DISABLED, overriding
from .core.tensor import Tensor, attach
from .ops import late

# ---------------------------------------------------------------- who handles a call

_handled: ContextVar[tuple[Any, ...]] = ContextVar("handled", default=())
"""The calls that classes are being asked about."""


def handle(function: Any, found: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Offer a call to the classes that override it: subclasses first, then left to right."""
    ordered: list[Any] = []
    for item in found:
        if any(type(item) is type(known) for known in ordered):
            continue
        place = next((i for i, known in enumerate(ordered)
                      if issubclass(type(item), type(known))), len(ordered))
        ordered.insert(place, item)
    types = tuple(type(item) for item in ordered)
    function = public_function(function)
    functions = MODE.get().functions
    if functions:
        with switched(functions=functions[:-1]):
            result = functions[-1].__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    call = (function, *map(id, args), *((name, id(value)) for name, value in kwargs.items()))
    outer = _handled.get()
    if call in outer:
        raise TypeError(f"{function.__name__}() does not know what to do with "
                        f"{' and '.join(t.__name__ for t in types)}, whose __torch_function__ "
                        "calls it again with the same arguments")
    try:
        _handled.set((*outer, call))
        for item in ordered:
            result = type(item).__torch_function__(function, types, args, kwargs)
            if result is not NotImplemented:
                return result
    finally:
        _handled.set(outer)
    refusals = "".join(f"  - tensor subclass {t}\n" for t in types)
    error: Any = TypeError(
        f"Multiple dispatch failed for 'torch.{function.__name__}'; all __torch_function__ "
        f"handlers returned NotImplemented:\n\n{refusals}\nFor more information, try re-running "
        "with TORCH_LOGS=not_implemented")
    error.unknown_operand = True
    raise error


def public_function(function: Any) -> Any:
    """The public function behind one of its private variants (``_sum``, ``_sum_dim``)."""
    name = function.__name__
    if name.startswith("_") and not name.startswith("__"):
        parts = name.strip("_").split("_")
        for end in range(len(parts), 0, -1):
            found = PUBLIC["torch"].get("_".join(parts[:end]))
            if found is not None:
                return found
    return function


def default_torch_function(cls: type, func: Any, types: Any, args: Any, kwargs: dict[str, Any]
                           ) -> Any:
    """Run the call as on plain tensors, and give its results the subclass."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    if _is_pytorch_s(func):
        raise TypeError(f"{func.__name__}() of PyTorch was given a tensor of retrograd; "
                        "torch.from_numpy(t.detach().numpy()) makes one of PyTorch's of it")
    with switched(override=False):
        result = func(*args, **kwargs)
    return result if getattr(func, "__name__", "") in _UNCONVERTED else converted(result, cls)


def _is_pytorch_s(function: Any) -> bool:
    """Whether a function, method or descriptor is PyTorch's."""
    owners = [getattr(function, name, None) for name in ("__self__", "__objclass__")]
    return any(str(getattr(place, "__module__", "")).partition(".")[0] == "torch"
               for place in (function, *owners))


_UNCONVERTED = {"grad", "as_subclass"}


def converted(result: Any, cls: type) -> Any:
    """The tensors in ``result`` as instances of ``cls``."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else as_subclass(result, cls)
    if isinstance(result, (tuple, list)):
        items = [converted(item, cls) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


def as_subclass(tensor: Tensor, cls: type) -> Any:
    """``tensor``'s data and place in the graph as an instance of ``cls``."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError("as_subclass(): argument 'cls' (position 1) must be type, not "
                        f"{type(cls).__name__}" if not isinstance(cls, type) else
                        f"cls must be a type that inherits from Tensor, but got {cls.__name__}")
    out = object.__new__(cls)
    if tensor._edge is not None and tensor.is_leaf:
        from .ops.memory.strides import alias

        tensor = alias(tensor)
    out._data, out._edge, out._view, out._vc = tensor._data, tensor._edge, tensor._view, tensor._vc
    out._form = out._cut = None
    return out


def numpy_ufunc(*call: Any) -> Any:
    """A ufunc or an operator of NumPy met a tensor; what answers is loaded when first asked."""
    from .numpy_code import array_ufunc

    return array_ufunc(*call)


def numpy_function(*call: Any) -> Any:
    """The same for any other function."""
    from .numpy_code import array_function

    return array_function(*call)


extensions.fill(take_over=handle, default_torch_function=default_torch_function,
                as_subclass=as_subclass, numpy_ufunc=numpy_ufunc, numpy_function=numpy_function)


def make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Any:
    """A leaf of class ``cls`` on the memory of ``data``."""
    out = as_subclass(data.detach().as_subclass(Tensor), cls)
    out.requires_grad = require_grad
    return out


attach(_make_subclass=staticmethod(make_subclass))


# ---------------------------------------------------------------- public functions that look out

_METHODS = {"backward", "detach", "detach_", "item", "numpy", "register_hook", "requires_grad_",
            "retain_grad", "tolist", "__contains__", "__len__", "__iter__", "__bool__",
            "__float__", "__int__", "__complex__"}
_watching = False


def _asks_in_ops(value: Any) -> bool:
    """Whether it is of a class of this library, which takes ops over and needs no more."""
    return type(value).__module__.startswith("retrograd.ops.")


class _Watched:
    """A public function and the plain one that it runs when nobody takes the call over."""

    __slots__ = ("plain", "public")

    def __init__(self, plain: Any, public: Any):
        self.plain, self.public = plain, public

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        mode = MODE.get()
        if mode.override or mode.functions:
            found = overriding((*args, *kwargs.values()))
            if mode.functions or not all(map(_asks_in_ops, found)):
                return handle(self.public, found, args, kwargs)
        return self.plain(*args, **kwargs)


def watch_calls() -> None:
    """From now on every public function asks its arguments' classes."""
    global _watching
    if _watching:
        return
    _watching = True
    late.load_all()
    functions = [f for names in PUBLIC.values() for f in names.values()]
    for function in dict.fromkeys(filter(_is_ours, functions)):
        _exchange(function)
    for name, method in list(vars(Tensor).items()):
        if _is_ours(method) and (home_of(method).startswith("retrograd.ops")
                                 or name in _METHODS):
            _watch_method(name, method)


def _is_ours(function: Any) -> bool:
    return isinstance(function, FunctionType) and not hasattr(function, "op") \
        and not hasattr(function, "plain")


def _exchange(function: FunctionType) -> None:
    """Give a function code that looks out, and keep what it did as its ``plain``."""
    function.plain = put_in_front(  # type: ignore[attr-defined]
        function, lambda plain: _Watched(plain, function))


def _watch_method(name: str, method: FunctionType) -> None:
    if not method.__closure__ and method.__name__ == name:
        _exchange(method)
        return

    def watching(*args: Any, **kwargs: Any) -> Any:
        return watched(args, kwargs)

    watched = _Watched(method, watching)
    watching.__name__ = name
    watching.__qualname__ = f"Tensor.{name}"
    watching.__doc__ = method.__doc__
    watching.__wrapped__ = method  # type: ignore[attr-defined]
    watching.plain = method  # type: ignore[attr-defined]
    setattr(Tensor, name, watching)


def _subclass_defined(cls: type, **options: Any) -> None:
    super(Tensor, cls).__init_subclass__(**options)  # type: ignore[misc]
    hook = cls.__torch_function__  # type: ignore[attr-defined]
    if hook is not DISABLED and not cls.__module__.startswith("retrograd."):
        watch_calls()


Tensor.__init_subclass__ = classmethod(_subclass_defined)  # type: ignore[assignment]


# ---------------------------------------------------------------- for other libraries


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of these arguments would take a call over."""
    mode = MODE.get()
    return bool(mode.functions or (mode.override and overriding(tuple(relevant_args))))


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any,
                          **kwargs: Any) -> Any:
    """Offer a call of ``public_api`` to the arguments that take calls over."""
    return handle(public_api, overriding(tuple(relevant_args)), args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Whether ``inp`` is a tensor or takes calls over as one."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


class TorchFunctionMode:
    """Inside the block, ``__torch_function__`` of this object takes every public function over.

    It is off while it handles a call, so that it can run what it was given.
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: Any = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        watch_calls()
        mode = MODE.get()
        self._outside = enter(MODE, mode.but(functions=(*mode.functions, self)))
        return self

    def __exit__(self, *exc: object) -> None:
        after = self._outside
        try:  # other switches may have been changed for good
            after = MODE.get().but(functions=MODE.get().functions[:-1])
        finally:
            MODE.set(after)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every function do what it does."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass(switched):
    """Inside the block, subclasses do not take calls over."""

    def __init__(self) -> None:
        super().__init__(override=False)


__all__ = ["BaseTorchFunctionMode", "DisableTorchFunctionSubclass", "TorchFunctionMode",
           "handle_torch_function", "has_torch_function", "is_tensor_like"]

_suggest_names(__name__)
