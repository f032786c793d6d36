"""Subscripts: reading and writing through ints, slices, masks and index tensors."""

from __future__ import annotations

import math
from typing import Any

from ..backend import index as xi
from ..backend import xp
from ..base import dtypes
from ..base.errors import dim_out_of_range, not_a_tensor
from ..base.warning import warn
from ..core.inplace import call_inplace
from ..core.op import Array, Index, linear, op, publish
from ..core.tensor import Tensor, wrap
from .join import stack
from .masking import kept
from .parts import _select, _slice
from .shape import _view, broadcast_tensors, expand, reshape, sum_to_size_of, unsqueeze, zeros_of
from .strides import alias
from .writing import NUMBERS, copy_, dtype_name, fill_, is_writable, writes_freely

# ---------------------------------------------------------------- index tensors
# ``index`` stands for dimension dims[0] alone (a mask for as many as it has), or holds the
# broadcast index tensors of several dimensions along a leading one.


@linear(function=None, method=False, any_dtype=True, quiet=True, saved={"index": "indices"})
def index(input: Array, index: Index, dims: Any) -> Any:
    """The elements that index tensors on ``dims`` reach."""
    return xi.taken(input, index, dims)


index.vjp(input=lambda g, like, index, dims: index_backward(g, index, like.shape, dims))


@linear(function=None, method=False, any_dtype=True, node="IndexPutBackward0")
def index_backward(input: Array, index: Index, shape: Any, dims: Any) -> Any:
    """Elements added up in zeros of ``shape``, where index tensors on ``dims`` point."""
    return xi.placed(input, shape, index, dims)


def index_of(input: Any, at: Any, dims: Any) -> Any:
    """:func:`index` for rules, which name an argument ``index``."""
    return index(input, at, dims)


index_backward.vjp(input=lambda g, index, dims: index_of(g, index, dims))


@op(function=None, method=False, any_dtype=True, node="IndexPutBackward0")
def _index_put(input: Array, values: Array, index: Index, dims: Any, accumulate: bool) -> Any:
    out = xp.copied(input)
    _write_indexed(out, values, index, dims, accumulate)
    return out


@_index_put.write
def _write_indexed(array: Any, values: Any, index: Any, dims: Any, accumulate: bool) -> None:
    if array.dtype != values.dtype:
        # One value under a mask is a masked fill, which casts.
        if index.dtype.kind != "b" or values.size != 1 or accumulate:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, got "
                f"{dtype_name(array)} for the destination and {dtype_name(values)} for the source.")
        values = values.astype(array.dtype)
    xi.put(array, values, index, dims, accumulate)


_index_put.vjp(
    input=lambda g, index, dims, accumulate:
        g if accumulate else _index_put(g, zeros_of(g, ()), index, dims, False),
    values=lambda g, like, index, dims: values_gradient(g, like, index, dims))


def values_gradient(g: Any, like: Any, index: Any, dims: Any) -> Any:
    """The gradient of what was put; one value under a mask is summed without selecting."""
    mask = index._data if isinstance(index, Tensor) else index
    if mask.dtype.kind != "b" or math.prod(like.shape) != 1:
        return fitted(index_of(g, index, dims), like)
    after = len(g.shape) - dims[0] - len(index.shape)
    shaped = reshape(index, (*(1,) * dims[0], *index.shape, *(1,) * after))
    return fitted(reshape(sum_to_size_of(kept(g, shaped), ()), like.shape), like)


def fitted(g: Any, like: Any) -> Any:
    """``g`` summed to the shape of what it is the gradient of, and in its dtype."""
    from ..core.graph import fit
    from ..core.saved_values import fit_tensor

    return fit_tensor(g, like) if isinstance(g, Tensor) else fit(g, like)


def located(tensor: Tensor, pairs: list[tuple[int, Tensor]]) -> tuple[Tensor, tuple[int, ...]]:
    """Index tensors at their dimensions as the one index and the dims that :func:`index` takes."""
    if len(pairs) == 1:
        dim, only = pairs[0]
        check_index(tensor, dim, only)
        return (as_mask(only) if is_mask(only) else only), (dim,)
    dims: list[int] = []
    parts: list[Tensor] = []
    for dim, one in pairs:
        check_index(tensor, dim, one)
        if is_mask(one):
            rows = xp.nonzero(one._array())
            dims += range(dim, dim + len(rows))
            parts += [wrap(row) for row in rows]
        else:
            dims.append(dim)
            parts.append(one)
    check_broadcast(parts)
    if any(type(part)._is_traced for part in parts):  # type: ignore[attr-defined]
        return stack(broadcast_tensors(*parts)), tuple(dims)
    return wrap(xi.stacked([part._data for part in parts])), tuple(dims)


def is_mask(tensor: Tensor) -> bool:
    return tensor._data.dtype == xp.BOOL or tensor._data.dtype == xp.uint8


def as_mask(tensor: Tensor) -> Tensor:
    return tensor if tensor._data.dtype == xp.BOOL else wrap(tensor._data != 0)


def check_index(tensor: Tensor, dim: int, one: Tensor) -> None:
    data = one._data
    if is_mask(one):
        if data.dtype == xp.uint8:
            warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                 "torch.bool instead.")
        shape = tensor._data.shape
        for i, n in enumerate(data.shape):
            if dim + i >= len(shape) or shape[dim + i] != n:
                raise IndexError(f"The shape of the mask {list(data.shape)} at index {i} does not "
                                 f"match the shape of the indexed tensor {list(shape)} at index "
                                 f"{dim + i}")
    elif data.dtype != xp.INT64 and data.dtype != xp.int32:
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")


def check_broadcast(parts: list[Tensor]) -> None:
    shapes = [part._data.shape for part in parts]
    try:
        xp.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(str(list(s)) for s in shapes)
        raise IndexError("shape mismatch: indexing tensors could not be broadcast together with "
                         f"shapes {listed}") from None


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
    from .create import tensor

    if isinstance(sequence, str):
        raise TypeError("new(): invalid data type 'str'")
    made = tensor(sequence if not isinstance(sequence, range) else list(sequence))
    data = made._data
    return made if data.dtype.kind == "b" or data.dtype == xp.uint8 else wrap(
        data.astype(xp.INT64))


class Subscript:
    """A subscript applied to a tensor: the view that its basic parts give, and what index tensors
    are left, each with its dimension."""

    __slots__ = ("dim", "missing", "pairs", "view")

    def __init__(self, tensor: Tensor, items: tuple[Any, ...]):
        self.view = tensor
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
            if not data.ndim and data.dtype.kind in "iu" and data.dtype != xp.uint8 \
                    and not type(item)._is_traced:  # type: ignore[attr-defined]
                return int(data)
            return item
        if isinstance(item, (list, tuple, range, str)):
            return index_tensor(item)
        if isinstance(item, xp.ndarray):
            if not item.ndim and item.dtype.kind in "iu":
                return int(item)
            return index_tensor(item)
        if isinstance(item, (slice, bool)):
            return item
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
        if cut.start or stop != n or step != 1:
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
    if step < 0:
        raise ValueError("step must be greater than zero")
    return start, (stop if stop > start else start), step


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


def type_name(value: Any) -> str:
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


# ---------------------------------------------------------------- reading


def getitem(self: Tensor, key: Any) -> Tensor:
    """``self[key]``: a view for ints, slices and None, a copy for masks and index tensors."""
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
        return _slice(self, 0, *slice_bounds(key, shape[0]))
    if key is None:
        return unsqueeze(self, 0)
    if key is ...:
        return alias(self)
    if isinstance(key, Tensor) and key._data.ndim and self._data.ndim and (
            not is_mask(key) or key._data.ndim <= self._data.ndim):
        return index(self, *located(self, [(0, key)]))
    if kind is tuple and self._data.ndim:
        parts = cut_plainly(self, key)
        if parts is not None:
            return parts
    found = Subscript(self, as_items(key))
    if found.pairs:
        return index(found.view, *located(found.view, found.pairs))
    return alias(self) if found.view is self else found.view


def cut_plainly(self: Tensor, key: tuple[Any, ...]) -> Tensor | None:
    """The view for a key of ints and slices only; None for any other, or one that is wrong."""
    shape = self._data.shape
    if len(key) > len(shape):
        return None
    view, dim = self, 0
    for item, n in zip(key, shape, strict=False):
        if item.__class__ is int:
            if not -n <= item < n:
                return None
            view = _select(view, dim, item if item >= 0 else item + n)
        elif item.__class__ is slice:
            if item != _EVERYTHING:
                start, stop, step = slice_bounds(item, n)
                if item.start or stop != n or step != 1:
                    view = _slice(view, dim, start, stop, step)
            dim += 1
        else:
            return None
    return None if view is self else view


_EVERYTHING = slice(None)
Tensor.__getitem__ = getitem  # type: ignore[attr-defined,misc]


# ---------------------------------------------------------------- writing


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``self[key] = value``, broadcast and cast; in place, and part of the graph."""
    if written_plainly(self, key, value):
        return
    if key.__class__ is Tensor and put_plainly(self, key, value):
        return
    value = assigned_value(self, value)
    if key is False:
        return
    if key is True:
        key = None
    if not self._data.ndim and key.__class__ in (int, slice):
        getitem(self, key)  # words the refusal
    found = Subscript(self, as_items(key))
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
        data = value
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
            if part.ndim < data.ndim:
                return False
            part[...] = data
        else:
            array[key] = data
    except (IndexError, ValueError, TypeError):
        return False
    self._counter().bump()
    return True


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
        xi.put(array, value._data, at, (0,), False)
    except (IndexError, RuntimeError):
        return False
    self._counter().bump()
    return True


def assigned_value(self: Tensor, value: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, NUMBERS):
        return wrap(xi.number_as(value, self._data.dtype, saturate=True))
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


Tensor.__setitem__ = setitem  # type: ignore[attr-defined]


def delitem(self: Tensor, key: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


Tensor.__delitem__ = delitem  # type: ignore[attr-defined]


# ---------------------------------------------------------------- index_put


def _put_place(name: str, input: Tensor, indices: Any, values: Any) -> tuple[Any, Any]:
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"{name}(): argument 'indices' (position 1) must be tuple of Tensors, not "
                        f"{type(indices).__name__}")
    for i, one in enumerate(indices):
        if not isinstance(one, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got "
                            f"{type(one).__name__}")
    if not isinstance(values, Tensor):
        raise not_a_tensor(name, "values", 2, values)
    if len(indices) > input._data.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim} (got "
                         f"{len(indices)})")
    pairs, dim = [], 0
    for one in indices:
        pairs.append((dim, one))
        dim += one._data.ndim if is_mask(one) else 1
    if dim > input._data.ndim:
        raise dim_out_of_range(input.ndim, input.ndim)
    return located(input, pairs)


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with ``values`` written (or added) where ``indices`` point."""
    place, dims = _put_place("index_put", input, indices, values)
    return _index_put(input, values, place, dims, accumulate)


def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or add) ``values`` where ``indices`` point, in place."""
    place, dims = _put_place("index_put_", input, indices, values)
    return put_through(input, values, place, dims, accumulate)


def put_through(target: Tensor, values: Tensor, place: Tensor, dims: tuple[int, ...],
                accumulate: bool) -> Tensor:
    """Write in place; memory that several elements share is written to as well, with a warning."""
    array = target._data
    if writes_freely(target, values) and type(array) is xp.ndarray and xp.has_overlap(array):
        warn("Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor "
             "before performing this operation. This also applies to advanced indexing e.g. "
             "tensor[indices] = tensor")
        _write_indexed(array, values._data, place._data, dims, accumulate)
        target._counter().bump()
        return target
    return call_inplace(_index_put.op, (target, values, place, dims, accumulate))


publish(index_put, "index_put")
publish(index_put_, "index_put_")


# ---------------------------------------------------------------- where things are


def _nonzero(input: Tensor) -> Tensor:
    return wrap(xi.nonzero_rows(input._data))


def nonzero(input: Tensor, *, out: Any = None, as_tuple: bool = False) -> Any:
    """The coordinates of the non-zero elements: one row each, or one tensor per dimension."""
    if not as_tuple:
        return given_or(out, "nonzero", _nonzero(input))
    rows = input._array() if input._data.ndim else input._array().reshape(1)
    return tuple([wrap(xp.in_rows(row)) for row in xp.nonzero(rows)])


def given_or(out: Any, function: str, result: Tensor) -> Tensor:
    """``result``, or ``out`` with its values."""
    if out is None:
        return result
    from ..core.general import store_out

    return store_out(function, result._data, out)


publish(nonzero, "nonzero")


def argwhere(input: Tensor) -> Tensor:
    """The coordinates of the non-zero elements, one row each."""
    return _nonzero(input)


publish(argwhere, "argwhere")


def _triangle(name: str, row: int, col: int, offset: int, dtype: Any, lower: bool) -> Tensor:
    for label, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{label} must be non-negative, got{n}")
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind.alias}'")
    found = xp.tril_indices(row, offset, col) if lower else xp.triu_indices(row, offset, col)
    return wrap(xp.stack(found).astype(kind.np))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, layout: Any = None,
                 device: Any = None, pin_memory: bool = False) -> Tensor:
    """The coordinates of a matrix's lower triangle, as two rows."""
    return _triangle("tril_indices", row, col, offset, dtype, True)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, layout: Any = None,
                 device: Any = None, pin_memory: bool = False) -> Tensor:
    """The coordinates of a matrix's upper triangle, as two rows."""
    return _triangle("triu_indices", row, col, offset, dtype, False)


publish(tril_indices, "tril_indices", method=False)
publish(triu_indices, "triu_indices", method=False)
