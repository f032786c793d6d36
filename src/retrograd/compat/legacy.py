"""The constructors from before ``tensor()``: ``Tensor(2, 3)``, ``FloatTensor([1, 2])``, and some
attributes of tensors that only old programs and tests look at."""

from __future__ import annotations

import gc
from typing import Any

from ..backend import xp
from ..base import dtypes
from ..base.errors import C_NAMES, type_name
from ..base.modes import MODE
from ..base.warning import warn
from ..core.extensions import extensions
from ..core.graph import INFERENCE, Node
from ..core.tensor import Size, Tensor, attach, fill
from ..ops.creation.nested_data import data_of
from ..storage import TypedStorage, UntypedStorage

_OVERLOADS = (
    " * (*, torch.device device = None)\n"
    "      didn't match because some of the keywords were incorrect: {wrong}\n"
    " * (torch.Storage storage)\n * (Tensor other)\n"
    " * (tuple of ints size, *, torch.device device = None)\n"
    " * (object data, *, torch.device device = None)\n"
)


def constructed(cls: type, args: tuple[Any, ...], named: dict[str, Any],
                dtype: dtypes.dtype | None = None) -> Any:
    """A tensor of ``cls`` from sizes, from data, or on the memory of another tensor."""
    wrong = [name for name in named if name != "device"]
    if wrong:
        got = ", ".join([type(a).__name__ for a in args]
                        + [f"{k}={type_name(v)}" for k, v in named.items()])
        raise TypeError(f"new() received an invalid combination of arguments - got ({got}), but "
                        "expected one of:\n" + _OVERLOADS.format(wrong=", ".join(wrong)))
    dtypes.as_device(named.get("device"))
    kind = dtype or dtypes.get_default_dtype()
    if len(args) == 1 and isinstance(args[0], Tensor):
        return _alias(cls, args[0], dtype)
    if len(args) == 1 and isinstance(args[0], TypedStorage | UntypedStorage):
        data = _untyped(args[0], kind).array_of(kind)
    else:
        data = _new_data(args, kind)
    out = fill(object.__new__(cls), data, None)
    if MODE.get().inference:
        out._vc = INFERENCE
    return out


extensions.fill(constructed=constructed)


def _untyped(storage: Any, kind: dtypes.dtype) -> UntypedStorage:
    """The memory of a storage, which may be one of ``kind``."""
    if isinstance(storage, UntypedStorage):
        return storage
    if storage.dtype is not kind:
        raise RuntimeError(f"Expected a Storage of type {kind.alias} or an UntypedStorage, but got "
                           f"type {storage.dtype.alias} for argument 1 'storage'")
    return storage.untyped()


def _alias(cls: type, other: Tensor, dtype: dtypes.dtype | None) -> Any:
    from ..ops.memory.strides import alias
    from ..overrides import as_subclass

    if dtype is not None and other.dtype is not dtype:
        raise TypeError(f"expected {_options(dtype)} (got {_options(other.dtype)})")
    out = alias(other)
    return out if cls is Tensor else as_subclass(out, cls)


def _options(dtype: dtypes.dtype) -> str:
    return (f"TensorOptions(dtype={C_NAMES.get(dtype.name, dtype.name)}, device=cpu, "
            "layout=Strided, requires_grad=false (default), pinned_memory=false (default), "
            "memory_format=(nullopt))")


def _new_data(args: tuple[Any, ...], kind: dtypes.dtype) -> Any:
    if len(args) == 1 and not isinstance(args[0], int):
        given = args[0]
        if isinstance(given, Size):
            return xp.zeros(tuple(given), kind.np)
        if isinstance(given, (float, complex, type(None))):
            raise TypeError(f"new(): data must be a sequence (got {type(given).__name__})")
        return data_of(given, kind)
    return xp.zeros(args or (0,), kind.np)


def _new(self: Tensor, *args: Any, **named: Any) -> Any:
    """A tensor of this one's dtype from sizes or data."""
    return constructed(Tensor, args, named, self.dtype)


attach(new=_new)


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by a legacy type or its name."""
    if isinstance(t, str):
        t = TENSOR_TYPES.get(t.removeprefix("torch."))
    dtypes.set_default_dtype(getattr(t, "dtype", None))  # type: ignore[arg-type]


class _TensorType(type):
    """The class of ``FloatTensor`` and its kind: a dtype that can be called and asked."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any, **named: Any) -> Tensor:
        return constructed(Tensor, args, named, cls.dtype)  # type: ignore[no-any-return]

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def tensor_type(dtype: dtypes.dtype) -> type:
    """The legacy type of tensors of one dtype."""
    name = f"{dtype.alias}Tensor"
    return _TensorType(name, (), {"dtype": dtype, "__doc__": f"Tensors of {dtype.name}.",
                                  "is_cuda": False})


TENSOR_TYPES = {f"{d.alias}Tensor": tensor_type(d) for d in (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.uint8, dtypes.int8,
    dtypes.int16, dtypes.int32, dtypes.int64, dtypes.bool)}
"""``FloatTensor``, ``LongTensor`` and so on, by name."""


# ---------------------------------------------------------------- attributes


def _volatile(self: Tensor) -> bool:
    warn("volatile was removed (Variable.volatile is always False)", UserWarning)
    return False


def _set_volatile(self: Tensor, value: object) -> None:
    warn("volatile was removed and now has no effect. Use `with torch.no_grad():` "
         "instead.", UserWarning)


def _keep_grad_fn(self: Tensor) -> None:
    raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")


def _use_count(self: Tensor) -> int:
    """How often this tensor is held: by the program, by a graph that ends in it, by each save."""
    nodes = [holder for holder in gc.get_referrers(self) if isinstance(holder, Node)]
    ends = any(edge is self for node in nodes for edge in node.edges())
    return 1 + ends + sum(getattr(node, slot, None) is self for node in nodes
                          for _, slot, kind in node.saved_names if kind == "input")


def _set_backward_hooks(self: Tensor, hooks: Any) -> None:
    self._hooks, self._is_watched = hooks, self._is_watched or hooks is not None


def _keep_backward_hooks(self: Tensor) -> None:
    raise RuntimeError("Deletion of _backwards_hooks not allowed!")


attach(volatile=property(_volatile, _set_volatile),
       _grad_fn=property(lambda self: self.grad_fn, None, _keep_grad_fn),
       _backward_hooks=property(lambda self: self._hooks, _set_backward_hooks,
                                _keep_backward_hooks), _use_count=_use_count)
