"""The data that a transform puts under a tensor, the tensor that carries it, and levels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Self

from ..backend import xp
from ..backend.interface import library_of
from ..backend.numpy import ndarray
from ..base.errors import CannotBatch
from ..base.modes import ACTIVE, MODE, RUNNING, enter, next_level
from ..core.extensions import TENSOR_CLASS, TRACED_TENSORS, extensions
from ..core.graph import Node, next_sequence
from ..core.tensor import NATIVE, Tensor, edge_of, wrap_any

ROOMS: dict[int, Callable[[Any], Any]] = {}
"""For levels of other data than batches and dual numbers: makes data laid out as an array is."""


class TracedData:
    """What both kinds of data share: they answer questions about the value the program sees."""

    __slots__ = ("level", "outer")
    level: int
    outer: bool
    shape: Any
    ndim: Any
    dtype: Any
    reshape: Any
    primal: Any  # of a Dual
    tangent: Any
    value: Any  # of a Batched
    batch: Any
    constant: Any  # of any other kind: zeros or ones of its shape and dtype,
    part: Any  # what a view of a base looks at,
    overwrite: Any  # and a write to it
    __array_ufunc__ = None  # NumPy leaves arithmetic to the data itself

    size = property(lambda self: math.prod(self.shape))

    def parts(self) -> tuple[Any, ...] | None:
        """What the data is made of, where each part can be kept by itself; ``of_parts`` joins."""
        return None


class Unreadable(RuntimeError):
    """A rule looks at numbers where its tangents have none."""

    all_of: Any  # the tangents of an op of which nothing but that is known


class Dual(TracedData):
    """A value with its tangent."""

    __slots__ = ("primal", "tangent")

    def __init__(self, level: int, primal: Any, tangent: Any, outer: bool = False):
        self.level, self.primal, self.tangent, self.outer = level, primal, tangent, outer

    shape = property(lambda self: self.primal.shape)
    ndim = property(lambda self: self.primal.ndim)
    dtype = property(lambda self: self.primal.dtype)

    def parts(self) -> tuple[Any, ...]:
        return self.primal, self.tangent

    def of_parts(self, primal: Any, tangent: Any) -> Dual:
        return Dual(self.level, primal, tangent, self.outer)

    def mapped(self, change: Callable[[Any], Any]) -> Dual:
        return Dual(self.level, change(self.primal), change(self.tangent), self.outer)

    def __bool__(self) -> bool:
        return bool(self.primal)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a dual number is no array")

    def item(self) -> Any:
        return self.primal.item()

    def tolist(self) -> Any:
        return self.primal.tolist()

    def copy(self, order: str = "K") -> Dual:
        return Dual(self.level, self.primal.copy(), self.tangent.copy(), self.outer)


class Batched(TracedData):
    """Many values, along the first axis of ``value``."""

    __slots__ = ("value",)

    def __init__(self, level: int, value: Any, outer: bool = False):
        self.level, self.value, self.outer = level, value, outer

    shape = property(lambda self: self.value.shape[1:])
    ndim = property(lambda self: self.value.ndim - 1)
    dtype = property(lambda self: self.value.dtype)

    @property
    def batch(self) -> int:
        return self.value.shape[0]

    def mapped(self, change: Callable[[Any], Any]) -> Batched:
        return Batched(self.level, change(self.value), self.outer)

    def item(self) -> Any:
        raise CannotBatch("vmap: It looks like you're calling .item() on a Tensor. We don't "
                          "support vmap over calling .item() on a Tensor, please try to rewrite "
                          "what you're doing with other operations.").at(self.level)

    def __bool__(self) -> bool:
        raise CannotBatch("vmap: It looks like you're attempting to use a Tensor in some "
                          "data-dependent control flow.").at(self.level)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.read_directly()

    def read_directly(self, *args: Any, **kwargs: Any) -> CannotBatch:
        """The error of code that looks at the values themselves."""
        return CannotBatch("the function looks at the values of a batched tensor "
                           "themselves.").at(self.level)

    def copy(self, order: str = "K") -> Batched:
        return Batched(self.level, self.value.copy(), self.outer)


def _refuse(self: Batched, *args: Any, **kwargs: Any) -> Any:
    raise self.read_directly()


for _name in ("__array__", "__len__", "__iter__", "__getitem__", "__setitem__", "__int__",
              "__float__", "__index__", "__complex__", "__mod__"):
    setattr(Batched, _name, _refuse)


def with_memory(data: Any) -> Any:
    """Raw data whose numbers, which zero-dim results are, have become arrays in their places."""
    if isinstance(data, Dual):
        data.primal, data.tangent = with_memory(data.primal), with_memory(data.tangent)
    elif isinstance(data, Batched):
        data.value = with_memory(data.value)
    elif xp.is_scalar(data):
        return xp.asarray(data)
    return data


class TracedTensor(Tensor):
    """A tensor whose data belongs to a transform; never takes the fast path."""

    __slots__ = ()
    _is_traced = True

    def _array(self) -> Any:
        return with_memory(self._data)

    def numpy(self, *, force: bool = False) -> Any:
        data = value_of(self._data)
        if isinstance(data, Batched):
            raise data.read_directly()
        return wrap_any(data).numpy(force=force) if force or self._edge is None \
            else super().numpy()

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        from ..core.printing import tensor_repr, wrapper_repr

        data = self._data
        if isinstance(data, Batched):
            around = ACTIVE.get()
            depth = around.index(data.level) + 1 if data.level in around else data.level
            return wrapper_repr("BatchedTensor", depth, repr(wrap_any(data.value)), 0)
        from ..base import dtypes

        while isinstance(data, Dual) and data.level not in ACTIVE.get():
            data = data.primal
        value = value_of(data)
        return tensor_repr(library_of(value).as_array(value), self.dtype,
                           default_dtype=dtypes.get_default_dtype(),
                           requires_grad=self._edge is not None and self.grad_fn is None,
                           grad_fn_name=None if self.grad_fn is None else self.grad_fn.name(),
                           tangent=wrap_any(data.tangent) if isinstance(data, Dual) else None)

    def _strides(self) -> tuple[int, ...]:
        return strides_of(self._data)

    def _lies_in_rows(self) -> bool:
        array = innermost(self._data)
        return library_of(array).is_contiguous(array)  # type: ignore[no-any-return]

    def data_ptr(self) -> int:
        array = innermost(self._data)
        return library_of(array).address(array)

    def storage_offset(self) -> int:
        return wrap_any(innermost(self._data)).storage_offset()

    def untyped_storage(self) -> Any:
        return wrap_any(innermost(self._data)).untyped_storage()

    def storage(self) -> Any:
        return wrap_any(innermost(self._data)).storage()

    def detach(self) -> Tensor:
        """A tensor on the same memory, outside the graph and without tangents."""
        out = self._off_graph()
        if isinstance(self._data, TracedData):
            return _with_data(out, without_tangents(self._data))
        return out

    def detach_(self) -> Self:
        """Leave the graph in place, and let go of tangents."""
        super().detach_()
        if isinstance(self._data, TracedData) and not MODE.get().inference:
            _with_data(self, without_tangents(self._data))
        return self

    def _has_recorded_value(self) -> bool:
        """Whether the value, apart from its tangents, depends on something that requires grad."""
        from .tangent_history import VALUE, requires_grad

        return not any(isinstance(data, Dual) for data in spine(self._data).values()) \
            or requires_grad(edge_of(self), VALUE)

    @property
    def requires_grad(self) -> bool:
        return Tensor.requires_grad.fget(self) and (  # type: ignore[attr-defined,no-any-return]
            self._has_recorded_value())

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        Tensor.requires_grad.fset(self, value)  # type: ignore[attr-defined]

    @property
    def is_leaf(self) -> bool:
        return Tensor.is_leaf.fget(self) or (  # type: ignore[attr-defined,no-any-return]
            not self._has_recorded_value())

    @property
    def grad_fn(self) -> Any:
        found = Tensor.grad_fn.fget(self)  # type: ignore[attr-defined]
        return None if found is None or not self._has_recorded_value() else found

    @property
    def data(self) -> Tensor:
        """A tensor on the same memory, without graph, tangents, or a share in the version."""
        plain = Tensor.data.fget(self)  # type: ignore[attr-defined]
        return _with_data(plain, without_tangents(self._data))

    @data.setter
    def data(self, value: Tensor) -> None:
        Tensor.data.fset(self, value)  # type: ignore[attr-defined]


def _with_data(tensor: Tensor, data: Any) -> Tensor:
    tensor._replace_data(data)
    tensor.__class__ = TENSOR_CLASS.get(type(data), Tensor)
    return tensor


def value_of(data: Any) -> Any:
    """Raw data without the dual numbers that are outermost."""
    while isinstance(data, Dual):
        data = data.primal
    return data


def innermost(data: Any) -> Any:
    """The array at the bottom of nested traced data: of dual numbers, the values."""
    while isinstance(data, TracedData):
        data = data.primal if isinstance(data, Dual) else data.value
    return data


def strides_of(data: Any) -> tuple[int, ...]:
    """The strides, in elements, of the value that the program sees."""
    if isinstance(data, Dual):
        return strides_of(data.primal)
    if isinstance(data, Batched):
        return strides_of(data.value)[1:]
    return library_of(data).element_strides(data)  # type: ignore[no-any-return]


TracedTensor.__name__ = TracedTensor.__qualname__ = "Tensor"
NATIVE.add(TracedTensor)
TENSOR_CLASS[Dual] = TENSOR_CLASS[Batched] = TracedTensor
TRACED_TENSORS.add(TracedTensor)


def levels_of(data: Any) -> tuple[int, ...]:
    """The levels of all the traced data that ``data`` is made of."""
    if data.__class__ is ndarray:
        return ()
    if data.__class__ is Batched and data.value.__class__ is ndarray:
        return (data.level,)
    return tuple(sizes_of(data))


extensions.fill(levels_of=levels_of)


def sizes_of(data: Any) -> dict[int, int | None]:
    """The same, with the size of each batch (None for a level without one)."""
    found: dict[int, int | None] = {}
    while isinstance(data, TracedData):
        if isinstance(data, Dual):
            found[data.level] = None
            found.update(sizes_of(data.tangent))
            data = data.primal
        else:
            found[data.level] = data.batch
            data = data.value
    return found


def spine(data: Any) -> dict[int, Any]:
    """The traced data met on the way to the value itself by level, tangents left aside."""
    found = {}
    while isinstance(data, TracedData):
        found[data.level] = data
        data = data.primal if isinstance(data, Dual) else data.value
    return found


def mapped(values: list[Any], part: Callable[[Any], Any]) -> list[Any]:
    """``part`` of each value, and of each item of those that are lists."""
    return [type(v)(part(x) for x in v) if type(v) in (list, tuple) else part(v) for v in values]


def levels_of_any(values: list[Any]) -> tuple[int, ...]:
    """The levels of all data among ``values``, lists included."""
    found: set[int] = set()
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            found.update(levels_of(item))
    return tuple(sorted(found))


def levels_from_outside(values: list[Any]) -> list[int]:
    """The levels at which ``values``, lists included, are gradients that came from outside."""
    found: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, Dual):
            found |= {value.level} if value.outer else set()
            pending += [value.primal, value.tangent]
        elif isinstance(value, Batched):
            pending.append(value.value)
        elif type(value) in (list, tuple):
            pending += value
    return sorted(found)


def with_tangents(zeros: Any, levels: list[int]) -> Any:
    """Zeros with a tangent at each level, so that a gradient of theirs keeps its own there."""
    for level in levels:
        zeros = _with_tangent(zeros, level)
    return zeros


def _with_tangent(zeros: Any, level: int) -> Any:
    if isinstance(zeros, Batched) and zeros.level > level:
        return Batched(zeros.level, _with_tangent(zeros.value, level), zeros.outer)
    return Dual(level, zeros, zeros_like_data(zeros), True)


class as_inside:
    """Run a block as inside given levels, which may be closed already."""

    __slots__ = ("levels", "before")

    def __init__(self, levels: tuple[int, ...]):
        self.levels = levels

    def __enter__(self) -> None:
        self.before = enter(ACTIVE, (*ACTIVE.get(), *self.levels))

    def __exit__(self, *exc: object) -> None:
        ACTIVE.set(self.before)


class active:
    """Run a block inside a new level."""

    def __enter__(self) -> int:
        self.level = next_level()
        # A checkpoint that is asked for its values before it has ended runs the level in itself.
        self.begun = _BEGUN.get(self.level)
        _BEGUN[self.level] = next_sequence()
        self.before = enter(ACTIVE, (*ACTIVE.get(), self.level))
        return self.level

    def __exit__(self, *exc: object) -> None:
        ACTIVE.set(self.before)
        if self.begun is None:
            del _BEGUN[self.level]
        else:
            _BEGUN[self.level] = self.begun


_BEGUN: dict[int, int] = {}
"""The place in the order of all nodes where each level that is being run began."""


def made_inside(tensor: Tensor, level: int) -> bool:
    """Whether a tensor's history has a part inside ``level``."""
    edge = edge_of(tensor)
    maker = edge.node if edge is not None and getattr(edge, "is_output", False) else edge
    return isinstance(maker, Node) and maker.seq > _BEGUN.get(level, 0)


def has_tangents(level: int) -> bool:
    """Whether tangents of ``level`` count: not once it is closed, unless backward asks for them."""
    if RUNNING.get() is not None:
        return True
    mode = MODE.get()
    return level in ACTIVE.get() and mode.forward_grad and not mode.inference


def dual_levels(data: Any) -> list[int]:
    """The levels at which a value has tangents that count."""
    return [level for level, traced in spine(data).items()
            if isinstance(traced, Dual) and has_tangents(level)]


def without_tangents(data: Any) -> Any:
    """Raw data without any tangents."""
    if isinstance(data, Dual):
        return without_tangents(data.primal)
    if isinstance(data, Batched):
        return data.mapped(without_tangents)
    return data


def constant_like(data: Any, make: str) -> Any:
    """Zeros or ones in each of the batches that ``data`` is in; they have no tangents."""
    if isinstance(data, Dual):
        return constant_like(data.primal, make)
    if isinstance(data, Batched):
        return Batched(data.level, constant_like(data.value, make), data.outer)
    if isinstance(data, TracedData):
        return data.constant(make)
    return getattr(library_of(data), make)(data.shape, data.dtype)


zeros_like_data = partial(constant_like, make="zeros")
ones_like_data = partial(constant_like, make="ones")
