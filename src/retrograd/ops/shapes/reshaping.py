"""Reshaping: view, reshape, flatten, unflatten."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...backend import xp
from ...backend.interface import library_of
from ...backend.numpy import LARGE, ndarray
from ...base import dtypes
from ...base.errors import (
    MOST_DIMS,
    as_int,
    canonical_dim,
    length_of,
    too_many_dims,
    unplaced,
)
from ...core.binding import universal
from ...core.op import Array, Ints, Sizes, composite, linear, public, view
from ...core.signatures import named
from ...core.tensor import Tensor, method, twin, wrap
from ..memory.casts import clone


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """``x.view(2, 3)`` and ``x.view((2, 3))`` alike, as a tuple of ints."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    if given and given[0].__class__ is bool:  # PyTorch looks no further
        raise unplaced("sizes and dims must be tuple of ints, but found bool")
    return tuple([n if n.__class__ in (int, bool) else as_int(n, "sizes and dims") for n in given])


def spread_method(keyword: str) -> Callable[[Any], Any]:
    """Give Tensor a method of the function below, its last argument spread out or one sequence."""

    def declare(function: Any) -> Any:
        name = function.__name__

        @named(name, function.__doc__)
        def method(self: Tensor, *given: Any, **named: Any) -> Tensor:
            if named:
                given = (named.pop(keyword),) if keyword in named else given
                return function(self, sizes(given), **named)
            if given and self.__class__ is Tensor:
                for n in given:
                    if n.__class__ is not int:
                        break
                else:
                    try:  # the usual call; where it fails, the function says why
                        return getattr(function, "unguarded", function)(self, given)
                    except Exception:
                        pass
            if not given and self.ndim:
                raise TypeError(f"{name}() missing 1 required positional arguments: \"{keyword}\"")
            return function(self, sizes(given))

        setattr(Tensor, name, method)
        return function

    return declare


@universal
def zeros_of(like: Any, shape: Any) -> Any:
    if isinstance(like, Tensor):
        return wrap(library_of(like._data).zeros(shape, like._data.dtype))
    return xp.zeros(shape, like.dtype)


def infer_size(size: tuple[int, ...], count: int) -> tuple[int, ...]:
    """``size`` with its one -1 worked out."""
    if -1 not in size:
        if math.prod(size) == count and (not size or min(size) >= 0):
            return size
        for i, n in enumerate(size):
            if n < 0:
                raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape "
                                   f"{list(size)}")
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {count}")
    if size.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    rest = -math.prod(size)
    if rest == 0:
        raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(size)} because "
                           "the unspecified dimension size -1 can be any value and is ambiguous"
                           if count == 0 else
                           f"shape '{list(size)}' is invalid for input of size {count}")
    if rest < 0 or count % rest:
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {count}")
    return tuple([count // rest if n == -1 else n for n in size])


@view(quiet=True, node="ViewBackward0", vjp=lambda g, like: reshape(g, like.shape))
def _view(input: Array, size: Ints) -> Any:
    # Libraries work a length of -1 out, and some any other negative one.
    found = None if size and min(size) < -1 else xp.viewed(input, size)
    if found is None:
        found = xp.viewed(input, infer_size(tuple(size), input.size))
    if found is None:
        if len(size) > MOST_DIMS:
            raise too_many_dims("view")
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at "
                           "least one dimension spans across two contiguous subspaces). Use "
                           ".reshape(...) instead.")
    return found


@view(quiet=True, node="ReshapeAliasBackward0", vjp=lambda g, like: reshape(g, like.shape))
def _reshape_alias(input: Array, size: Ints) -> Any:
    return xp.viewed(input, size)


def with_rank(value: Any, rank: int) -> Any:
    """A batched tensor whose values get leading dims of length one up to ``rank``; a view."""
    missing = rank + 1 - value.ndim
    if missing <= 0:
        return value
    return reshape(value, (value.shape[0], *(1,) * missing, *value.shape[1:]))


def _behind_batch(batch: Any, input: Any, size: Any) -> Any:
    """The size of a batch of values of ``size``, where one length may be left open."""
    return (batch.size, *infer_size(tuple(size), math.prod(input.shape[1:])))


@_view.batch
@_reshape_alias.batch
def _(batch: Any, input: Any, size: Any) -> Any:
    return _view(input, _behind_batch(batch, input, size))


@linear(node="UnsafeViewBackward0", any_dtype=True, vjp=lambda g, like: reshape(g, like.shape),
        batches=lambda batch, input, size:
        _unsafe_view(clone(input), _behind_batch(batch, input, size)))
def _reshape_copy(input: Array, size: Ints) -> Any:
    return input.reshape(size).copy() if xp.is_contiguous(input) else input.reshape(size)


@linear(node="CloneBackward0", any_dtype=True, batches="leading", vjp=lambda g: g)
def _packed_clone(input: Array) -> Any:
    return xp.as_array(input).copy()


@linear(node="UnsafeViewBackward0", any_dtype=True, vjp=lambda g, like: reshape(g, like.shape))
def _unsafe_view(input: Array, size: Ints) -> Any:
    return input.reshape(size)


@linear(node="ReshapeAliasBackward0", any_dtype=True, vjp=lambda g, like: _reshape(g, like.shape))
def _reshape(input: Array, shape: Ints) -> Any:
    return input.reshape(shape)


@_unsafe_view.batch
@_reshape.batch
def _(batch: Any, input: Any, size: Any) -> Any:
    return _unsafe_view(input, _behind_batch(batch, input, size))


@public("reshape", method=False)
@universal
@spread_method("shape")
def reshape(input: Tensor, shape: Sizes) -> Any:
    """``input`` in another shape; a view where its memory allows."""
    if not isinstance(input, Tensor):
        if input.size >= LARGE and xp.is_array(input) and xp.viewed(input, shape) is None:
            input = xp.in_rows(input)  # by all threads
        return input.reshape(shape)
    shape = shape if shape.__class__ is tuple else sizes((shape,))
    data = input._data
    if data.__class__ is ndarray and xp.is_contiguous(data):
        return _view(input, shape)
    target = infer_size(shape, data.size)
    if not type(input)._is_traced:  # type: ignore[attr-defined]
        library = library_of(data)
        if library.is_contiguous(data):
            return _view(input, target)
        if library.viewed(data, target) is not None:
            return _reshape_alias(input, target)
        return _unsafe_view(_packed_clone(input), target)
    try:
        return _view(input, target)
    except RuntimeError:
        return _unsafe_view(_packed_clone(input), target)


@method("view")
def _view_method(self: Tensor, *given: Any, **named: Any) -> Tensor:
    """A view in another shape, or of the same memory as another dtype."""
    if "dtype" in named:
        given = (named.pop("dtype"),)
    if "size" in named:
        given = (named.pop("size"),)
    if len(given) == 1 and isinstance(given[0], dtypes.dtype):
        return view_as_dtype(self, given[0])
    try:
        size = sizes(given)
    except (AttributeError, TypeError):
        size = None
    if size is None or not given:
        if len(given) == 1 and isinstance(given[0], type) and given[0] in dtypes.PYTHON_TYPES:
            return view_as_dtype(self, dtypes.PYTHON_TYPES[given[0]])
        raise no_overload("view", [("torch.dtype dtype",), ("tuple of ints size",)], *given)
    return _view(self, size)


_view_method.__name__ = "view"


def no_overload(function: str, overloads: list[tuple[str, ...]], *given: Any) -> TypeError:
    """The error of arguments that fit none of a function's signatures."""
    names = ", ".join(type(v).__name__ for v in given)
    marked = ", ".join(type(v).__name__ if isinstance(v, Tensor) else f"!{type(v).__name__}!"
                       for v in given)
    reason = "" if not given else ("      didn't match because some of the arguments have invalid "
                                   f"types: ({marked})\n")
    lines = "".join(f" * ({', '.join(overload)})\n{reason}" for overload in overloads)
    return TypeError(f"{function}() received an invalid combination of arguments - got ({names}), "
                     f"but expected one of:\n{lines}")


def view_as_dtype(input: Tensor, dtype: Any) -> Tensor:
    """The same memory read as another dtype; outside the graph."""
    array = input._array()
    own, wanted = array.dtype.itemsize, dtype.itemsize
    if own != wanted:
        check_rereading(input, array, dtype)
    out = twin(input, input._counter(), Tensor)
    out._replace_data(array.view(dtype.np))
    return out


def check_rereading(input: Tensor, array: Any, dtype: Any) -> None:
    """Whether memory can be read in elements of another size: only along a packed last dim."""
    own, wanted = array.dtype.itemsize, dtype.itemsize
    names = f"view {input.dtype.alias} as {dtype.alias} (different element sizes)"
    if not array.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 to {names}")
    if xp.element_strides(array)[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 to {names}, but got "
                           f"{xp.element_strides(array)[-1]}")
    if wanted > own and array.shape[-1] % (wanted // own):
        raise RuntimeError(f"self.size(-1) must be divisible by {wanted // own} to {names}, but "
                           f"got {array.shape[-1]}")


@composite(method=True)
def view_as(input: Tensor, other: Tensor) -> Any:
    """``input`` viewed in ``other``'s shape."""
    return input.view(other.shape)


@composite(method=True)
def reshape_as(input: Tensor, other: Tensor) -> Any:
    """``input`` reshaped to ``other``'s shape."""
    return reshape(input, other.shape)


@composite(method=True)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Merge the dimensions from ``start_dim`` to ``end_dim``."""
    rank = input.ndim
    first, last = canonical_dim(start_dim, rank), canonical_dim(end_dim, rank)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = tuple(input.shape)
    if rank == 0:
        return reshape(input, (1,))
    if first == last:
        return input
    return reshape(input, (*shape[:first], math.prod(shape[first:last + 1]), *shape[last + 1:]))


@composite(method=True)
def ravel(input: Tensor) -> Any:
    """All elements in one dimension."""
    return _view(input.contiguous(), (-1,))


@composite(method=True)
def unflatten(input: Tensor, dim: int, sizes: Any) -> Any:
    """Split dimension ``dim`` into ``sizes``."""
    rank = input.ndim
    d = canonical_dim(dim, rank)
    shape = tuple(input.shape)
    if not len(sizes):
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        inner = infer_size(tuple(sizes), length_of(shape, d))
    except (RuntimeError, IndexError) as error:
        if "is invalid for input of size" not in str(error):
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size "
                           f"of dim {d} ({shape[d]}) in the input tensor") from None
    return input.view((*shape[:d], *inner, *shape[d + 1:]))
