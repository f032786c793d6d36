"""Subscripts: reading and writing through ints, slices, masks and index tensors."""

from __future__ import annotations

from typing import Any

from ...backend import index as index_kernels, xp
from ...backend.interface import kind_of
from ...base.errors import is_pytorch_tensor, type_name
from ...base.modes import GRAD, MODE, NO_GRAD
from ...base.warning import warn
from ...codegen.switch import GeneralPath
from ...core.graph import View
from ...core.inplace import write_by
from ...core.recording import attach_part
from ...core.tensor import PLAIN, Tensor, method, wrap, wrap_array
from ..creation.from_data import tensor
from ..memory.filling import (
    NUMBERS,
    copied_plainly,
    copy_,
    fill_,
    is_writable,
    was_written_to,
    writes_freely,
)
from ..memory.strides import alias
from ..shapes.dimensions import unsqueeze
from ..shapes.expanding import expand
from ..shapes.flipping import _flip
from ..shapes.reshaping import _view
from ..shapes.slicing import _select, _slice
from .index_tensors import index, is_mask, located, put_through, refuse_put

# ---------------------------------------------------------------- what stands between the brackets


def as_items(key: Any) -> tuple[Any, ...]:
    """The parts of a subscript; some lists are read as tuples, by NumPy's old rule."""
    if key.__class__ is tuple:
        return key
    if isinstance(key, tuple):
        return tuple(key)
    if reads_as_tuple(key):
        warn("Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
             "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this "
             "will be interpreted as tensor index, x[torch.tensor(seq)], which will result either "
             "in an error or a different result")
        return tuple(key)
    return (key,)


def reads_as_tuple(key: Any) -> bool:
    if isinstance(key, str):
        return bool(key)
    return isinstance(key, list) and len(key) < 32 and any(
        item is None or item is ... or isinstance(item, (Tensor, list, tuple, slice, range, str))
        for item in key)


def index_tensor(sequence: Any) -> Tensor:
    """A sequence between the brackets as an index tensor: a mask, or integers."""
    if isinstance(sequence, str):
        raise TypeError("new(): invalid data type 'str'")
    made = tensor(sequence if not isinstance(sequence, range) else list(sequence))
    data = made._data
    return made if kind_of(data.dtype) == "b" or data.dtype == xp.uint8 else wrap(
        data.astype(xp.INT64))


class Subscript:
    """A subscript applied to a tensor: the view that its basic parts give, and what index tensors
    are left, each with its dimension."""

    __slots__ = ("dim", "missing", "pairs", "view", "written")

    def __init__(self, tensor: Tensor, items: tuple[Any, ...], written: bool = False):
        self.view = tensor
        self.written = written
        self.dim = 0
        self.pairs: list[tuple[int, Tensor]] = []
        rank = tensor._data.ndim
        named = 0
        converted = []
        for item in items:
            item = self._converted(item)
            converted.append(item)
            named += self._consumed(item)
        if named > rank:
            raise IndexError(f"too many indices for tensor of dimension {rank}")
        self.missing = rank - named
        for position, item in enumerate(converted):
            self._apply(item, position, tensor)

    @staticmethod
    def _converted(item: Any) -> Any:
        """Sequences as tensors, and zero-dim integer tensors as ints."""
        kind = item.__class__
        if kind is int or kind is slice or item is None or item is ... or kind is bool:
            return item
        if isinstance(item, Tensor):
            data = item._data
            if not data.ndim and kind_of(data.dtype) in "iu" and data.dtype != xp.uint8 \
                    and not type(item)._is_traced:  # type: ignore[attr-defined]
                return int(data)
            return item
        if isinstance(item, (list, tuple, range, str)):
            return index_tensor(item)
        if xp.is_array(item):
            if not item.ndim and kind_of(item.dtype) in "iu":
                return int(item)
            return index_tensor(item)
        if isinstance(item, (slice, bool)):
            return item
        if is_pytorch_tensor(item) and item.ndim:
            raise TypeError(f"an index is {type_name(item)}")
        if hasattr(item, "__index__") and not isinstance(item, xp.bool_):
            return item.__index__()
        raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte "
                         f"Variables are valid indices (got {type_name(item)})")

    @staticmethod
    def _consumed(item: Any) -> int:
        """How many dimensions of the tensor an item names."""
        if item.__class__ is int or item.__class__ is slice:
            return 1
        if isinstance(item, Tensor):
            if is_mask(item):
                return item._data.ndim
            return 1
        return 0

    def _apply(self, item: Any, position: int, original: Tensor) -> None:
        if item.__class__ is int:
            self.view = _select(self.view, self.dim, checked_position(
                self.view, self.dim, item, position))
        elif item.__class__ is slice:
            self._cut(item)
        elif item is None:
            self.view = unsqueeze(self.view, self.dim)
            self.dim += 1
        elif item is ...:
            self.dim += self.missing
        elif item.__class__ is bool:
            self._choose(wrap(xp.asarray([item])))
        elif is_mask(item) and not item._data.ndim:
            self._choose(wrap(xp.asarray([bool(item._data)])))
        else:
            self.pairs.append((self.dim, item))
            self.dim += item._data.ndim if is_mask(item) else 1

    def _cut(self, cut: slice) -> None:
        n = self.view._data.shape[self.dim]
        start, stop, step = slice_bounds(cut, n)
        if step < 0:
            if self.written:
                raise ValueError("step must be greater than zero")
            self.view = backwards(self.view, self.dim, cut, n)
        elif cut.start or stop != n or step != 1:
            self.view = _slice(self.view, self.dim, start, stop, step)
        self.dim += 1

    def _choose(self, mask: Tensor) -> None:
        """True or False: a new dimension of length one or zero."""
        self.view = unsqueeze(self.view, self.dim)
        self.pairs.append((self.dim, mask))
        self.dim += 1


def slice_bounds(cut: slice, length: int) -> tuple[int, int, int]:
    """A slice's start, stop and step in a dimension of ``length``.

    It leaves the dimension alone if it takes everything and its start is not spelt otherwise, as
    in ``x[-3:]``.
    """
    start, stop, step = cut.indices(length)
    return start, (stop if stop > start else start), step


def backwards(tensor: Tensor, dim: int, cut: slice, length: int) -> Tensor:
    """A slice with a negative step: the same elements in a copy, last to first."""
    places = range(*cut.indices(length))[::-1]
    start, stop = (places[0], places[-1] + 1) if places else (0, 0)
    return _flip(_slice(tensor, dim, start, stop, places.step), (dim,))


def checked_position(tensor: Tensor, dim: int, position: int, named: int | None = None) -> int:
    """``position`` counted from the front, or the error of one that is out of range."""
    shape = tensor._data.shape
    if not shape and not position:
        raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                         "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")
    n = shape[dim] if shape else 0
    if -n <= position < n:
        return position if position >= 0 else position + n
    if not -2**63 <= position < 2**63:
        raise ValueError("Overflow when unpacking long long")
    raise IndexError(f"index {position} is out of bounds for dimension "
                     f"{dim if named is None else named} with size {n}")


# ---------------------------------------------------------------- reading


@method("__getitem__")
def getitem(self: Tensor, key: Any) -> Tensor:
    """``self[key]``: a view for ints, slices and None, a copy for masks, index tensors and slices
    that go backwards."""
    kind = key.__class__
    if kind is int:
        shape = self._data.shape
        if shape and -shape[0] <= key < shape[0]:
            return _select(self, 0, key if key >= 0 else key + shape[0])
        return _select(self, 0, checked_position(self, 0, key))
    if kind is slice:
        shape = self._data.shape
        if not shape:
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        start, stop, step = key.indices(shape[0])
        return _slice(self, 0, start, stop if stop > start else start, step) if step > 0 \
            else backwards(self, 0, key, shape[0])
    if kind is tuple and self._data.ndim:
        parts = cut_plainly(self, key)
        if parts is not None:
            return parts
    elif key is None:
        return unsqueeze(self, 0)
    elif key is ...:
        return alias(self)
    elif isinstance(key, Tensor) and key._data.ndim and self._data.ndim and (
            key._data.dtype is xp.INT64 or not is_mask(key)
            or key._data.ndim <= self._data.ndim):
        return index(self, *located(self, [(0, key)]))
    found = Subscript(self, as_items(key))
    if found.pairs:
        return index(found.view, *located(found.view, found.pairs))
    return alias(self) if found.view is self else found.view


def cut_plainly(self: Tensor, key: tuple[Any, ...]) -> Tensor | None:
    """The view for a key of ints, slices and None; None for any other, or one that is wrong."""
    view = self
    goes_unrecorded = self._edge is None and self._view is None and self._cut is None
    if not goes_unrecorded:
        for item in key:
            if item.__class__ is not int:
                break
        else:  # ints alone: each takes the first dimension away
            for item in key:
                shape = view._data.shape
                if not shape or not -shape[0] <= item < shape[0]:
                    return None
                view = _select(view, 0, item if item >= 0 else item + shape[0])
            return view if key else None
    steps = steps_to(self._data.shape, key)
    if not steps:
        return None
    if goes_unrecorded and len(steps) > 1:
        part = cut_at_once(self, key, steps)
        if part is not None:
            return part
    for function, static in steps:
        view = function(view, *static)
    return view


def cut_at_once(self: Tensor, key: tuple[Any, ...], steps: list[tuple[Any, tuple[Any, ...]]]
                ) -> Tensor | None:
    """What steps lead to of which none is recorded: one array, and one tensor.

    None where a mode is on, or a step is not one that NumPy's subscripts take alike.
    """
    mode = MODE.get()
    if (mode is not GRAD and mode is not NO_GRAD) or type(self) not in PLAIN or GeneralPath.only:
        return None
    for function, _ in steps:
        if function is not _slice and function is not _select:
            return None
    part = wrap_array(self._data[(*key, ...)])
    attach_part(part, self, steps, mode)
    return part


def steps_to(shape: Any, key: tuple[Any, ...]) -> list[tuple[Any, tuple[Any, ...]]] | None:
    """The functions, each with its arguments, that :func:`cut_plainly` takes one after another."""
    steps: list[tuple[Any, tuple[Any, ...]]] = []
    axis = dim = 0
    for item in key:
        if item is None:
            steps.append((unsqueeze, (dim,)))
            dim += 1
            continue
        if axis == len(shape):
            return None
        n = shape[axis]
        axis += 1
        if item.__class__ is int:
            if not -n <= item < n:
                return None
            steps.append((_select, (dim, item if item >= 0 else item + n)))
        elif item.__class__ is slice:
            if item.stop is not None or item.start is not None or item.step is not None:
                start, stop, step = item.indices(n)
                if step < 0:
                    steps.append((backwards, (dim, item, n)))
                elif item.start or stop != n or step != 1:
                    steps.append((_slice, (dim, start, stop if stop > start else start, step)))
            dim += 1
        else:
            return None
    return steps


# ---------------------------------------------------------------- writing


@method("__setitem__")
def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``self[key] = value``, broadcast and cast; in place, and part of the graph."""
    if written_plainly(self, key, value):
        return
    if key.__class__ is Tensor:
        if put_plainly(self, key, value):
            return
    elif value.__class__ is Tensor and copied_to_part(self, key, value):
        return
    value = assigned_value(self, value)
    if key.__class__ is Tensor and key._data.dtype is xp.BOOL and not key._data.ndim \
            and value._data.dtype != self._data.dtype:
        refuse_put(self._data, value._data)  # a mask without dims is no mask to PyTorch
    if key is False:
        return
    if key is True:
        key = None
    if not self._data.ndim and key.__class__ in (int, slice):
        getitem(self, key)  # words the refusal
    found = Subscript(self, as_items(key), written=True)
    if not found.pairs:
        assign(found.view, value)
        return
    place, dims = located(found.view, found.pairs)
    put_through(found.view, without_leading_ones(value), place, dims, False)


def written_plainly(self: Tensor, key: Any, value: Any) -> bool:
    """Do the commonest assignment straight on the array: basic key, nothing to record."""
    kind = key.__class__
    if kind is tuple:
        for item in key:
            if item.__class__ is not int and (item.__class__ is not slice or item.step is not None):
                return False
    elif kind is not int and (kind is not slice or key.step is not None):
        return False
    if value.__class__ is float or value.__class__ is int:
        if not writes_freely(self) or self._data.dtype not in (xp.FLOAT32, xp.FLOAT64):
            return False
        if not -1e38 < value < 1e38:
            return False
        data: Any = value
    elif isinstance(value, Tensor):
        if not writes_freely(self, value):
            return False
        data = value._data
        if data.dtype is not self._data.dtype:
            return False
    else:
        return False
    array = self._array()
    if not is_writable(array):
        return False
    try:
        if isinstance(value, Tensor) and data.ndim:
            part = array[key]
            if part.ndim < data.ndim or xp.may_share_memory(part, data):
                return False
            self._counter().store(part, ..., data)
        else:
            self._counter().store(array, key, data)
    except (IndexError, ValueError, TypeError):
        return False
    return True


def copied_to_part(self: Tensor, key: Any, value: Tensor) -> bool:
    """Do the ordinary recorded assignment, to a part that an int or slices name."""
    shape = self._data.shape
    if type(self) not in PLAIN or MODE.get() is not GRAD or not shape or GeneralPath.only:
        return False
    kind = key.__class__
    if kind is slice and key.step is None:
        start, stop, step = slice_bounds(key, shape[0])
        steps: Any = [(_slice, (0, start, stop, step))]
    else:
        steps = steps_to(shape, key if kind is tuple else (key,)) if kind in (int, tuple) else None
    if not steps:
        return False
    if is_cut_again(self, steps, value):
        self._counter().bump()
        return True
    part = self
    for function, static in steps:
        part = function(part, *static)
    return part._view is not None and copied_plainly(part, value)


def is_cut_again(self: Tensor, steps: Any, value: Tensor) -> bool:
    """Whether ``value`` is what these steps lead to, and has been written to since it was cut."""
    view, known = self._view, value._view
    if known is None or (view is not None and view.origin) or not was_written_to(value):
        return False
    for function, static in reversed(steps):
        if known is None or known.__class__ is not View or known.static != static \
                or known.op is not getattr(function, "op", None):
            return False
        base, known = known.base, known.parent
    return known is view and base is (self if view is None else view.base)


def put_plainly(self: Tensor, key: Tensor, value: Any) -> bool:
    """Write through one index tensor or mask straight on the array, if there is nothing more."""
    at, array = key._data, self._data
    if not isinstance(value, Tensor) or not writes_freely(self, value) or not at.ndim \
            or value._data.dtype is not array.dtype or at.ndim > array.ndim \
            or (at.dtype is not xp.INT64 and at.dtype is not xp.BOOL):
        return False
    if not is_writable(array):
        return False
    if at.dtype is xp.BOOL and array.shape[:at.ndim] != at.shape:
        return False
    try:
        write_by(index_kernels.put, self, value._data, at, (0,), False)
    except (IndexError, RuntimeError):
        return False
    return True


def assigned_value(self: Tensor, value: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, NUMBERS):
        return wrap(index_kernels.number_as(value, self._data.dtype, saturate=True))
    if xp.is_array(value) or xp.is_scalar(value):
        return wrap(xp.asarray(value).copy())
    raise TypeError(f"can't assign a {type_name(value)} to a torch.{self.dtype.alias}Tensor")


def assign(target: Tensor, value: Tensor) -> None:
    """Write a value over a view that a basic subscript gave."""
    shape = target._data.shape
    if value._data.shape == shape:
        copy_(target, value)
    elif not value._data.shape:
        fill_(target, value)
    else:
        value = without_leading_ones(value)
        copy_(target, expand(value, shape))


def without_leading_ones(value: Tensor) -> Tensor:
    """``value`` without the length-one dimensions in front, which broadcasting would add again."""
    shape = value._data.shape
    if not shape or shape[0] != 1:
        return value
    first = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return _view(value, shape[first:])


@method("__delitem__")
def delitem(self: Tensor, key: Any) -> None:
    raise TypeError("Tensor does not support deleting items")
