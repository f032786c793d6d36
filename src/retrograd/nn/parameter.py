"""Parameters and buffers: tensors that a module registers as its own."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ..base.errors import is_pytorch_tensor, not_a_tensor
from ..base.layouts import preserve_format
from ..core.extensions import extensions
from ..core.overriding import DISABLED
from ..core.tensor import NATIVE, PLAIN, Tensor, is_defined_here, twin
from ..ops.creation.filled import empty

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter",
           "UninitializedTensorMixin", "is_lazy"]


class _Marked(type):
    """Knows by its mark what is made from an instance of a Tensor subclass and keeps that class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        mark = vars(cls).get("_mark")
        return mark is not None and isinstance(instance, Tensor) and mark in vars(instance)


class Parameter(Tensor, metaclass=_Marked):
    """A tensor that becomes a parameter of the module it is assigned to.

    It requires grad unless told otherwise, shares the memory of ``data``, and operations on it
    return plain tensors.
    """

    __torch_function__ = DISABLED
    _mark, _is_param = "_is_param", True

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = empty(0)
        if type(data) not in PLAIN:
            if is_pytorch_tensor(data):
                raise not_a_tensor("Parameter", "data", 1, data)
            marked: Any = data.detach().requires_grad_(requires_grad)
            marked._is_param = True
            return marked
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients")
        parameter: Any = twin(data, data._counter(), cls)
        parameter._edge = None
        return parameter.requires_grad_(requires_grad)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do: ``__new__``, which a subclass may have its own of, built it."""

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:
            data = self.data.clone(memory_format=preserve_format)
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()


def empty_parameter(shape: int | tuple[int, ...], device: Any, dtype: Any) -> Parameter:
    """Return a parameter whose values are still to be set."""
    return Parameter(empty(shape, device=device, dtype=dtype))


def add_parameters(module: Any, shapes: dict[str, Any], device: Any, dtype: Any,
                   **wanted: bool) -> None:
    """Register parameters whose values are still to be set, and None for those not ``wanted``."""
    for name, shape in shapes.items():
        module.register_parameter(
            name, empty_parameter(shape, device, dtype) if wanted.get(name, True) else None)


class Buffer(Tensor, metaclass=_Marked):
    """A tensor that becomes a buffer of the module it is assigned to."""

    __torch_function__ = DISABLED
    _mark = "_is_buffer"
    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = empty(0)
        marked: Any = data.detach().requires_grad_(data.requires_grad)
        marked.persistent = persistent
        marked._is_buffer = True
        return marked


class UninitializedTensorMixin:
    """A parameter or buffer whose shape is not known yet; little can be asked of it."""

    __slots__ = ()
    cls_to_become: type
    _allowed: ClassVar = {"_to_copy", "_to_exact", "copy_", "to", "half", "float", "double",
                          "bfloat16", "char", "short", "int", "long", "cuda", "cpu", "type"}

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Take a shape, and with it memory whose values are still to be set."""
        known = self.data
        self.data = empty(shape, device=known.device if device is None else device,
                          dtype=known.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes.")

    def share_memory_(self) -> Any:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`.")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return (type(self), (self.requires_grad,))

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ in cls._allowed or is_defined_here(func):
            return extensions.default_torch_function(cls, func, types, args, kwargs or {})
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you "
            "are using a `LazyModule` or explicitly manipulating `torch.nn.parameter."
            f"{cls.__name__}` objects. When using LazyModules Call `forward` with a dummy batch to "
            "initialize the parameters before calling torch functions")


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose shape is not known yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Self:
        return super().__new__(cls, empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        """Nothing is left to do: ``__new__`` has built the parameter."""

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:
            known = self.data
            memo[id(self)] = type(self)(self.requires_grad, known.device, known.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer whose shape is not known yet."""

    cls_to_become = Tensor
    persistent: bool

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None,
                persistent: bool = True) -> Self:
        made: Any = twin(empty(0, device=device, dtype=dtype), None, cls)
        made.requires_grad_(requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


# Parameters take the fast path of recording, as plain tensors do.
PLAIN.add(Parameter)
NATIVE.add(Parameter)
