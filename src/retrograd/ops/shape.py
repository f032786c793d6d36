"""Shapes, and views of memory."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from .. import dtypes
from ..backend import numpy as xp
from ..errors import canonical_dim, size_mismatch, type_name
from ..inplace import Geometry
from ..notices import warn
from ..op import Array, Arrays, Dim, Dims, Ints, composite, linear, publish, view
from ..tensor import Size, Tensor, twin, wrap


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """``x.view(2, 3)`` and ``x.view((2, 3))`` alike, as a tuple of ints."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    try:
        return tuple([n if n.__class__ is int else n.__index__() for n in given])
    except AttributeError:
        wrong = next(n for n in given if not hasattr(n, "__index__"))
        raise TypeError(f"sizes and dims must be tuple of ints, but found {type_name(wrong)}"
                        ) from None


def spread_method(function: Any, name: str, keyword: str) -> Any:
    """A method that takes its last argument spread out or as one sequence."""

    def method(self: Tensor, *given: Any, **named: Any) -> Tensor:
        if named:
            given = (named.pop(keyword),) if keyword in named else given
            return function(self, sizes(given), **named)
        if not given and self.ndim:
            raise TypeError(f"{name}() missing 1 required positional arguments: \"{keyword}\"")
        return function(self, sizes(given))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = function.__doc__
    setattr(Tensor, name, method)
    return method


# ---------------------------------------------------------------- views by geometry


@view(quiet=True, function=None, method=False, node="AsStridedBackward0")
def _as_strided(input: Array, size: Ints, stride: Ints, storage_offset: Any, source: Any) -> Any:
    own = source[2]
    return xp.as_strided(input, size, stride, 0 if storage_offset is None else storage_offset - own)


_as_strided.vjp(input=lambda g, size, stride, storage_offset, source:
                as_strided_backward(g, source, size, stride, storage_offset))


def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: Any = None) -> Tensor:
    """A view of ``input``'s memory with any shape, strides and offset (in elements)."""
    size, stride = sizes((size,)), sizes((stride,))
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    for n in stride:
        if n < 0:
            raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got "
                               f"strides: {list(stride)}")
    where = geometry(input)
    check_in_storage(input, size, stride, where[2] if storage_offset is None else storage_offset)
    return _as_strided(input, size, stride, storage_offset, where)


def check_in_storage(input: Tensor, size: tuple[int, ...], stride: tuple[int, ...],
                     offset: int) -> None:
    """Refuse a view that would leave its storage."""
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if not math.prod(size):
        return
    owner, itemsize = xp.storage_of(in_memory(input)), input.itemsize
    needed = (offset + xp.reach(size, stride) + 1) * itemsize
    held = owner.size * owner.dtype.itemsize
    if needed > held:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {itemsize} requiring a storage size of {needed} are out of bounds for "
            f"storage of size {held}")


publish(as_strided, "as_strided")


def geometry(input: Tensor) -> tuple[Any, ...]:
    """Shape, strides and offset, in elements, of a tensor in its storage."""
    data = in_memory(input)
    own = (xp.address(data) - xp.address(xp.storage_of(data))) // data.dtype.itemsize
    return (tuple(input.shape), tuple(input.stride()), own)


def in_memory(input: Tensor) -> Any:
    """The array behind a tensor, also where transforms hold it."""
    data = input._array()
    if type(input)._is_traced:  # type: ignore[attr-defined]
        from ..transforms import innermost

        return innermost(data)
    return data


@linear(function=None, method=False, node="AsStridedBackward0")
def as_strided_backward(input: Array, source: Any, size: Any, stride: Any, offset: Any) -> Any:
    """Scatter-add a strided view's gradient into the layout it was taken from."""
    shape, strides, own = source
    start = own if offset is None else offset
    reach = max(own + xp.reach(shape, strides), start + xp.reach(size, stride)) + 1
    memory = xp.zeros(reach, input.dtype)
    positions = xp.positions(size, stride, start)
    xp.add.at(memory, positions.reshape(-1), xp.as_array(input).reshape(-1))
    sharers = _sharers(source, reach)
    if sharers is not None:
        memory = (memory / sharers).astype(input.dtype)
    return xp.as_strided(memory, shape, strides, own).copy()


def _sharers(source: Any, reach: int) -> Any:
    """How many elements of a layout lie at each place in memory; None if each has its own."""
    shape, strides, own = source
    covered = 0
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size > 1 and stride <= covered:
            break
        covered += (size - 1) * stride
    else:
        return None
    counts = xp.zeros(reach, xp.INT64)
    xp.add.at(counts, xp.positions(shape, strides, own).reshape(-1), 1)
    return xp.maximum(counts, 1)


as_strided_backward.vjp(input=lambda g, source, size, stride, offset:
                        strided_from(g, source, size, stride, offset))


@linear(function=None, method=False)
def strided_from(input: Array, source: Any, size: Any, stride: Any, offset: Any) -> Any:
    """What :func:`as_strided` would see if ``input`` were laid out as ``source`` says."""
    shape, strides, own = source
    start = own if offset is None else offset
    reach = max(own + xp.reach(shape, strides), start + xp.reach(size, stride)) + 1
    memory = xp.zeros(reach, input.dtype)
    sharers = _sharers(source, reach)
    if sharers is None:
        xp.as_strided(memory, shape, strides, own)[...] = input
    else:
        places = xp.positions(shape, strides, own).reshape(-1)
        xp.add.at(memory, places, xp.as_array(input).reshape(-1))
        memory = (memory / sharers).astype(input.dtype)
    return xp.as_strided(memory, tuple(size), tuple(stride), start).copy()


strided_from.vjp(input=lambda g, source, size, stride, offset:
                 as_strided_backward(g, source, size, stride, offset))


def replayed_view(base: Tensor, target: Tensor) -> Tensor:
    """The view ``target`` is, taken from ``base`` again and recorded."""
    where = Geometry(base, target)
    if where.chain:
        return geometry_of_tensor(base, where)
    own = base.storage_offset()
    return as_strided(base, where.shape, where.strides, own + where.offset)


def geometry_of_tensor(tensor: Tensor, where: Geometry) -> Tensor:
    """The part of ``tensor`` that a view of the same geometry looks at, recorded."""
    if where.chain:
        for step, static in where.chain:
            if step.outputs == ("list",):
                tensor = step.function(tensor, *static[:-1])[static[-1]]
            else:
                tensor = step.function(tensor, *static)
        return tensor
    if tensor.stride() != where.base_strides:
        laid_out = tensor.new_empty_strided(where.base_shape, where.base_strides)
        laid_out.copy_(tensor)
        tensor = laid_out
    return as_strided(tensor, where.shape, where.strides, tensor.storage_offset() + where.offset)


@view(quiet=True, function=None, method=False)
def alias(input: Array) -> Any:
    """The same memory under another tensor."""
    return input[...]


alias.vjp(input=lambda g: g)


def alias_of(tensor: Tensor, edge: Tensor) -> Tensor:
    """``tensor``'s data with leaf ``edge``'s place in the graph."""
    out = alias(edge)
    out._replace_data(tensor._data)
    return out


def detach_copy(input: Tensor) -> Tensor:
    return input.detach().clone()


# ---------------------------------------------------------------- reshaping


def _check_view(input: Any, size: Any) -> None:
    target = infer_size(tuple(size), input.size)
    if not xp.can_view(input, target):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at "
                           "least one dimension spans across two contiguous subspaces). Use "
                           ".reshape(...) instead.")


def infer_size(size: tuple[int, ...], count: int) -> tuple[int, ...]:
    """``size`` with its one -1 worked out."""
    if -1 not in size:
        if math.prod(size) != count or any(n < 0 for n in size):
            for i, n in enumerate(size):
                if n < 0:
                    raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape "
                                       f"{list(size)}")
            raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {count}")
        return size
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


@view(quiet=True, function=None, method=False, node="ViewBackward0")
def _view(input: Array, size: Ints) -> Any:
    target = size if -1 not in size and math.prod(size) == input.size else infer_size(
        tuple(size), input.size)
    if input.flags.c_contiguous:
        return input.reshape(target)
    found = xp.viewed(input, target)
    if found is None:
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at "
                           "least one dimension spans across two contiguous subspaces). Use "
                           ".reshape(...) instead.")
    return found


_view.vjp(input=lambda g, like: reshape(g, like.shape))


@linear(function=None, method=False, node="UnsafeViewBackward0", any_dtype=True)
def _reshape_copy(input: Array, size: Ints) -> Any:
    return input.reshape(size).copy() if input.flags.c_contiguous else input.reshape(size)


_reshape_copy.vjp(input=lambda g, like: reshape(g, like.shape))


@linear(function=None, method=False, node="CloneBackward0", any_dtype=True)
def _packed_clone(input: Array) -> Any:
    return xp.array(input, order="C")


_packed_clone.vjp(input=lambda g: g)


@linear(function=None, method=False, node="UnsafeViewBackward0", any_dtype=True)
def _unsafe_view(input: Array, size: Ints) -> Any:
    return input.reshape(size)


_unsafe_view.vjp(input=lambda g, like: reshape(g, like.shape))


@linear(function=None, method=False, node="ReshapeAliasBackward0", any_dtype=True)
def _reshape(input: Array, shape: Ints) -> Any:
    return input.reshape(shape)


_reshape.vjp(input=lambda g, like: _reshape(g, like.shape))


def reshape(input: Array, shape: Any) -> Any:
    """``input`` in another shape; a view where its memory allows."""
    if not isinstance(input, Tensor):
        return input.reshape(shape)
    shape = shape if shape.__class__ is tuple else sizes((shape,))
    data = input._data
    target = infer_size(shape, data.size)
    if isinstance(data, (xp.ndarray, xp.generic)):
        viewable = xp.can_view(data, target)
        return _view(input, target) if viewable else _unsafe_view(_packed_clone(input), target)
    try:
        return _view(input, target)
    except RuntimeError:
        return _unsafe_view(_packed_clone(input), target)


publish(reshape, "reshape", method=False)
spread_method(reshape, "reshape", "shape")


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
        raise no_overload("view", [("torch.dtype dtype",), ("tuple of ints size",)], *given)
    return _view(self, size)


_view_method.__name__ = "view"
Tensor.view = _view_method  # type: ignore[attr-defined]


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
def view_as(input: Any, other: Any) -> Any:
    """``input`` viewed in ``other``'s shape."""
    return input.view(other.shape)


@composite(method=True)
def reshape_as(input: Any, other: Any) -> Any:
    """``input`` reshaped to ``other``'s shape."""
    return reshape(input, other.shape)


@composite(method=True)
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
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
def ravel(input: Any) -> Any:
    """All elements in one dimension."""
    return _view(input.contiguous(), (-1,))


@composite(method=True)
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """Split dimension ``dim`` into ``sizes``."""
    rank = input.ndim
    d = canonical_dim(dim, rank)
    shape = tuple(input.shape)
    if not len(sizes):
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        inner = infer_size(tuple(sizes), shape[d])
    except RuntimeError:
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size "
                           f"of dim {d} ({shape[d]}) in the input tensor") from None
    return input.view((*shape[:d], *inner, *shape[d + 1:]))


# ---------------------------------------------------------------- expanding


def _check_expand(input: Any, size: tuple[int, ...]) -> tuple[int, ...]:
    lead = len(size) - input.ndim
    if lead < 0:
        raise RuntimeError(f"expand(torch.FloatTensor{{{list(input.shape)}}}, size={list(size)}): "
                           f"the number of sizes provided ({len(size)}) must be greater or equal "
                           f"to the number of dimensions in the tensor ({input.ndim})")
    full = []
    for i, n in enumerate(size):
        own = input.shape[i - lead] if i >= lead else None
        if n == -1:
            if own is None:
                raise RuntimeError(f"The expanded size of the tensor (-1) isn't allowed in a "
                                   f"leading, non-existing dimension {i}")
            n = own
        elif own is not None and own not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({own}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: "
                f"{list(input.shape)}")
        full.append(n)
    return tuple(full)


@view(quiet=True, method=False, function=None)
def expand(input: Array, size: Ints) -> Any:
    """A view with length-one dimensions repeated to ``size``, without copying."""
    return xp.expanded(input, _check_expand(input, tuple(size)))


expand.vjp(input=lambda g, like: sum_to_size_of(g, like.shape))
spread_method(expand, "expand", "size")


@composite(method=True)
def expand_as(input: Any, other: Any) -> Any:
    """``input`` expanded to ``other``'s shape."""
    return expand(input, tuple(other.shape))


@composite()
def broadcast_tensors(*tensors: Any) -> Any:
    """The tensors, all expanded to the shape they broadcast to."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    joint: tuple[int, ...] = ()
    for shape in [tuple(t.shape) for t in tensors]:
        try:
            joint = xp.broadcast_shapes(joint, shape)
        except ValueError:
            raise size_mismatch([joint, shape]) from None
    return tuple([t if tuple(t.shape) == joint else expand(t, joint) for t in tensors])


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to."""
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    joint = [1] * max([len(s) for s in given], default=0)
    for position, shape in enumerate(given):
        for i in range(-1, -1 - len(shape), -1):
            if shape[i] < 0 or (shape[i] != 1 and joint[i] not in (1, shape[i])):
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching "
                    f"argument at index {position} had {shape}; but expected shape should be "
                    f"broadcastable to {joint}")
            if shape[i] != 1:
                joint[i] = shape[i]
    return Size(joint)


publish(broadcast_shapes, "broadcast_shapes", method=False)


@composite()
def broadcast_to(input: Any, size: Any) -> Any:
    """``input`` expanded to ``size``."""
    return expand(input, tuple(size))


Tensor.broadcast_to = broadcast_to  # type: ignore[attr-defined]


@linear(function=None, method=False, node="SumBackward1", any_dtype=True)
def sum_to_size_of(input: Array, size: Ints) -> Any:
    """Sum a broadcast array back down to ``size``."""
    return xp.unbroadcast(input, tuple(size))


sum_to_size_of.vjp(input=lambda g, like: expand(g, like.shape))


def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Sum ``input`` down to ``size``, which must broadcast to its shape."""
    target = sizes(size)
    shape = tuple(input.shape)
    lead = len(shape) - len(target)
    if lead < 0 or any(n not in (1, shape[i + lead]) for i, n in enumerate(target)):
        raise RuntimeError(f"size {{{list(target)}}} is not expandable to size {{{list(shape)}}}.")
    if target == shape:
        return input
    summed = sum_to_size_of(input, (1,) * lead + target)
    return _view(summed, target) if lead else summed


Tensor.sum_to_size = sum_to_size  # type: ignore[attr-defined]


def restore_dims(g: Any, like: Any, dim: Any, keepdim: bool) -> Any:
    """Give a reduction's gradient back the dimensions it lost, with length one."""
    if keepdim or not like.shape:
        return g
    if dim is None or dim == ():
        return reshape(g, (1,) * len(like.shape))
    lost = set(dim) if isinstance(dim, tuple) else {dim}
    return reshape(g, tuple([1 if i in lost else n for i, n in enumerate(like.shape)]))


# ---------------------------------------------------------------- reordering


@view(quiet=True, method=False, function=None)
def _permute(input: Array, dims: Ints) -> Any:
    return input.transpose(dims)


_permute.op.node_name = "PermuteBackward0"
_permute.vjp(input=lambda g, dims: _permute(g, inverse_permutation(dims)))


def inverse_permutation(dims: Any) -> tuple[int, ...]:
    inverse = [0] * len(dims)
    for i, d in enumerate(dims):
        inverse[d] = i
    return tuple(inverse)


@composite()
def permute(input: Any, dims: Any) -> Any:
    """A view with its dimensions in another order."""
    rank = input.ndim
    given = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(given) != rank:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not "
                           f"match the length of the desired ordering of dimensions i.e. "
                           f"input.dim() = {rank} is not equal to len(dims) = {len(given)}")
    order = tuple([canonical_dim(d, rank) for d in given])
    if len(set(order)) != rank:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permute(input, order)


spread_method(permute, "permute", "dims")


@view(quiet=True, aliases=("swapaxes", "swapdims"))
def transpose(input: Array, dim0: Dim, dim1: Dim) -> Any:
    """A view with two dimensions exchanged."""
    return input.swapaxes(dim0, dim1) if input.ndim else input[...]


transpose.vjp(input=lambda g, dim0, dim1: transpose(g, dim0, dim1))


@view(quiet=True)
def t(input: Array) -> Any:
    """The transpose of a matrix; a vector is left as it is."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return input.T


t.op.node_name = "TBackward0"
t.vjp(input=lambda g: t(g))


@composite(method=True, aliases=("moveaxis",))
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Move dimensions to other positions; the others keep their order."""
    rank = input.ndim
    src = tuple(source) if isinstance(source, (tuple, list)) else (source,)
    dst = tuple(destination) if isinstance(destination, (tuple, list)) else (destination,)
    if len(src) != len(dst):
        raise RuntimeError("movedim: Invalid source or destination dims: source "
                           f"({list(src)} dims) should contain the same number of dims as "
                           f"destination ({list(dst)} dims)")
    src = tuple([canonical_dim(d, rank) for d in src])
    dst = tuple([canonical_dim(d, rank) for d in dst])
    if len(set(src)) != len(src):
        raise RuntimeError(f"movedim: repeated dim in `source` ({list(src)})")
    if len(set(dst)) != len(dst):
        raise RuntimeError(f"movedim: repeated dim in `destination` ({list(dst)})")
    order = [d for d in range(rank) if d not in src]
    for to, frm in sorted(zip(dst, src, strict=True)):
        order.insert(to, frm)
    return _permute(input, tuple(order))


def _identity_of_scalar(self: Tensor, name: str) -> Tensor:
    warn(f"Tensor.{name} is deprecated on 0-D tensors. This function is the identity in these "
         "cases.", once=True)
    return self


def _matrix_transpose(self: Tensor) -> Tensor:
    """A view with the last two dimensions exchanged."""
    if not self.ndim:
        return _identity_of_scalar(self, "mT")
    if self.ndim < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got "
                           f"{self.ndim}-D tensor.")
    return transpose(self, -2, -1)


def _full_transpose(self: Tensor) -> Tensor:
    """A view with all dimensions in reverse order."""
    if not self.ndim:
        warn("Tensor.T is deprecated on 0-D tensors. This function is the identity in these "
             "cases.", once=True)
    elif self.ndim != 2:
        warn("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
             "deprecated and it will throw an error in a future release. Consider `x.mT` to "
             "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
             "reverse the dimensions of a tensor.", once=True)
    return _permute(self, tuple(range(self.ndim - 1, -1, -1)))


def _conjugated(self: Tensor) -> Tensor:
    from .pointwise import conj

    return conj(self) if self.is_complex() else self


def _adjoint(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix."""
    if not self.ndim:
        return _conjugated(_identity_of_scalar(self, "H"))
    if self.ndim != 2:
        tail = ". For batches of matrices, consider using tensor.mH" if self.ndim > 2 else "."
        raise RuntimeError("tensor.H is only supported on matrices (2-D tensors). Got "
                           f"{self.ndim}-D tensor{tail}")
    return _conjugated(transpose(self, 0, 1))


def _matrix_adjoint(self: Tensor) -> Tensor:
    """The conjugate transpose of the last two dimensions."""
    if not self.ndim:
        return _conjugated(_identity_of_scalar(self, "mH"))
    if self.ndim < 2:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of "
                           f"matrices. Got {self.ndim}-D tensor.")
    return _conjugated(transpose(self, -2, -1))


Tensor.T = property(_full_transpose)  # type: ignore[attr-defined]
Tensor.mT = property(_matrix_transpose)  # type: ignore[attr-defined]
Tensor.H = property(_adjoint)  # type: ignore[attr-defined]
Tensor.mH = property(_matrix_adjoint)  # type: ignore[attr-defined]
Tensor.adjoint = _matrix_adjoint  # type: ignore[attr-defined]
publish(_matrix_adjoint, "adjoint", method=False)


# ---------------------------------------------------------------- length-one dimensions


@view(quiet=True)
def unsqueeze(input: Array, dim: int) -> Any:
    """A view with a dimension of length one inserted at ``dim``."""
    return xp.expand_dims(input, canonical_dim(dim, input.ndim + 1))


unsqueeze.vjp(input=lambda g, dim: _squeeze_dim(g, dim if dim >= 0 else dim + g.ndim))


@view(quiet=True, method=False, function=None)
def _squeeze(input: Array, dim: Any) -> Any:
    keep = tuple([n for i, n in enumerate(input.shape) if not (n == 1 and i in dim)])
    return xp.viewed(input, keep)


_squeeze.op.node_name = "SqueezeBackward0"
_squeeze.vjp(input=lambda g, like: reshape(g, like.shape))


@view(quiet=True, method=False, function=None, node="SqueezeBackward2")
def _squeeze_dims(input: Array, dim: Dims) -> Any:
    keep = tuple([n for i, n in enumerate(input.shape) if not (n == 1 and i in dim)])
    return xp.viewed(input, keep)


_squeeze_dims.vjp(input=lambda g, like: reshape(g, like.shape))


@view(quiet=True, method=False, function=None, node="SqueezeBackward1")
def _squeeze_dim(input: Array, dim: Dim) -> Any:
    keep = tuple([n for i, n in enumerate(input.shape) if not (n == 1 and i == dim)])
    return xp.viewed(input, keep)


_squeeze_dim.vjp(input=lambda g, like: reshape(g, like.shape))


@composite(method=True)
def squeeze(input: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """A view without its dimensions of length one."""
    dim = axis if dim is None else dim
    if dim is None:
        return _squeeze(input, tuple(range(input.ndim)))
    if isinstance(dim, (tuple, list)):
        return _squeeze_dims(input, tuple(dim))
    return _squeeze_dim(input, dim)


# ---------------------------------------------------------------- parts


@view(quiet=True, method=False, function=None)
def _select(input: Array, dim: int, index: int) -> Any:
    return input[(slice(None),) * dim + (index, ...)]


_select.op.node_name = "SelectBackward0"
_select.vjp(input=lambda g, like, dim, index: select_backward(g, like.shape, dim, index))


@linear(function=None, method=False, any_dtype=True)
def select_backward(input: Array, input_sizes: Any, dim: int, index: int) -> Any:
    """A selected part's gradient, in zeros of the whole's shape."""
    whole = xp.zeros(input_sizes, input.dtype)
    whole[(slice(None),) * dim + (index,)] = input
    return whole


select_backward.vjp(input=lambda g, dim, index: _select(g, dim, index))


@composite(method=True)
def select(input: Any, dim: int, index: int) -> Any:
    """A view of one position along ``dim``, which disappears."""
    rank = input.ndim
    if not rank:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = canonical_dim(dim, rank)
    n = input.shape[d]
    index = index.__index__()
    if not -n <= index < n:
        raise IndexError(f"select(): index {index} out of range for tensor of size "
                         f"{list(input.shape)} at dimension {d}")
    return _select(input, d, index % n if n else index)


@view(quiet=True, method=False, function=None, node="SliceBackward0")
def _slice(input: Array, dim: int, start: int, end: int, step: int = 1) -> Any:
    return input[(slice(None),) * dim + (slice(start, end, step),)]


_slice.vjp(input=lambda g, like, dim, start, end, step:
           slice_backward(g, like.shape, dim, start, end, step))


@linear(function=None, method=False, any_dtype=True)
def slice_backward(input: Array, input_sizes: Any, dim: int, start: int, end: int,
                   step: int) -> Any:
    """A slice's gradient, in zeros of the whole's shape."""
    whole = xp.zeros(input_sizes, input.dtype)
    whole[(slice(None),) * dim + (slice(start, end, step),)] = input
    return whole


slice_backward.vjp(input=lambda g, dim, start, end, step: _slice(g, dim, start, end, step))


@composite(method=True)
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """A view of ``length`` positions along ``dim``, from ``start``."""
    rank = input.ndim
    if not rank:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    d = canonical_dim(dim, rank)
    n = input.shape[d]
    if isinstance(start, Tensor) and (start.ndim or start._data.dtype.kind not in "iub"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start = int(start)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got "
                         f"{start})")
    if start < 0:
        start += n
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return _slice(input, d, start, start + length, 1)


@view(quiet=True, aliases=())
def diagonal(input: Array, offset: int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Any:
    """A view of a diagonal, as the last dimension."""
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return xp.writable_diagonal(input, offset, dim1, dim2)


diagonal.vjp(input=lambda g, like, offset, dim1, dim2:
             diagonal_backward(g, like.shape, offset, dim1, dim2))


@linear(function=None, method=False, any_dtype=True)
def diagonal_backward(input: Array, input_sizes: Any, offset: int, dim1: int, dim2: int) -> Any:
    """A diagonal's gradient, in zeros of the whole's shape."""
    whole = xp.zeros(input_sizes, input.dtype)
    xp.writable_diagonal(whole, offset, dim1, dim2)[...] = input
    return whole


diagonal_backward.vjp(input=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2))


@view(quiet=True, function=None)
def unfold(input: Array, dimension: Dim, size: int, step: int) -> Any:
    """A view of sliding windows along ``dimension``, as a new last dimension."""
    length = input.shape[dimension] if input.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dimension} is {length} but size "
                           f"is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return xp.windows(input, dimension, size, step)


unfold.vjp(input=lambda g, like, dimension, size, step:
           unfold_backward(g, like.shape, dimension, size, step))


@linear(function=None, method=False)
def unfold_backward(input: Array, input_sizes: Any, dim: int, size: int, step: int) -> Any:
    """Overlapping windows' gradients, added up where they overlap."""
    return xp.add_windows(input, input_sizes, dim, size, step)


unfold_backward.vjp(input=lambda g, dim, size, step: unfold(g, dim, size, step))


# ---------------------------------------------------------------- several parts at once


@view(outputs=("list",), node="UnbindBackward0")
def unbind(input: Array, dim: Dim = 0) -> Any:
    """The views of each position along ``dim``, as a tuple."""
    if not input.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    lead = (slice(None),) * dim
    return tuple([input[(*lead, i, ...)] for i in range(input.shape[dim])])


def zeros_of(like: Any, shape: Any) -> Any:
    zeros = xp.zeros(shape, like._data.dtype if isinstance(like, Tensor) else like.dtype)
    return wrap(zeros) if isinstance(like, Tensor) else zeros


@view(outputs=("list",), node="SplitWithSizesBackward0")
def split_with_sizes(input: Array, split_sizes: Any, dim: Dim = 0) -> Any:
    """Views of consecutive parts of the given lengths along ``dim``."""
    lead = (slice(None),) * dim
    parts, start = [], 0
    for n in split_sizes:
        parts.append(input[(*lead, slice(start, start + n))])
        start += n
    return tuple(parts)


@view(outputs=("list",), function=None, method=False, node="SplitBackward0")
def _split(input: Array, split_size: int, dim: Dim = 0) -> Any:
    n = input.shape[dim]
    lead = (slice(None),) * dim
    return tuple([input[(*lead, slice(i, i + split_size))]
                  for i in range(0, n, split_size)] or [input[...]])


@composite(method=True)
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Views of parts of one length (the last may be shorter), or of the given lengths."""
    if not tensor.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = canonical_dim(dim, tensor.ndim)
    n = tensor.shape[d]
    if isinstance(split_size_or_sections, (tuple, list)):
        lengths = list(split_size_or_sections)
        if any(x < 0 for x in lengths):
            raise RuntimeError("split_with_sizes expects split_sizes have only non-negative "
                               f"entries, but got split_sizes={lengths}")
        if sum_of(lengths) != n:
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input "
                               f"tensor's size at dimension {d}), but got split_sizes={lengths}")
        return split_with_sizes(tensor, tuple(lengths), d)
    size = split_size_or_sections
    if size < 0:
        raise RuntimeError("split expects split_size be non-negative, but got split_size="
                           f"{size}")
    if size == 0 and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension "
                           f"size of {n}")
    return _split(tensor, size or 1, d)


def _split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts of one length (the last may be shorter), or of the given lengths."""
    return split(self, split_size, dim)


Tensor.split = _split_method  # type: ignore[attr-defined]


def sum_of(numbers: Any) -> int:
    total = 0
    for n in numbers:
        total += n
    return total


@composite(method=True)
def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """At most ``chunks`` views of equal length along ``dim``; the last may be shorter."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input.shape[canonical_dim(dim, input.ndim)]
    return split(input, max(-(-n // chunks), 1), dim)


@composite(method=True)
def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    """Views of ``n`` nearly equal parts, or of the parts between the given indices."""
    if not input.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a "
                           "tensor with 0 dims")
    d = canonical_dim(dim, input.ndim)
    n = input.shape[d]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {count}")
        ends, start = [], 0
        for i in range(count):
            start += n // count + (1 if i < n % count else 0)
            ends.append(start)
        ends = ends[:-1]
    else:
        ends = list(indices_or_sections)
    bounds = [0, *ends, n]
    return tuple([input[(slice(None),) * d + (slice(a, b),)]
                  for a, b in pairwise(bounds)])


def _complex_guard(condition: bool, message: str) -> None:
    if not condition:
        raise RuntimeError(message)


# ---------------------------------------------------------------- real and complex


@view(quiet=True, method=False, function=None)
def view_as_real(input: Array) -> Any:
    """A complex tensor's memory as pairs of real numbers."""
    _complex_guard(input.dtype.kind == "c", "view_as_real is only supported for complex tensors")
    return xp.complex_pairs(input)


view_as_real.vjp(input=lambda g: view_as_complex(contiguous_pairs(g)))


@view(quiet=True, method=False, function=None)
def view_as_complex(input: Array) -> Any:
    """Pairs of real numbers as complex ones, on the same memory."""
    _complex_guard(input.dtype.kind == "f", "view_as_complex is only supported for half, float "
                   "and double tensors, but got a tensor of scalar type: "
                   f"{dtypes.from_numpy_dtype(input.dtype).alias}")
    _complex_guard(input.ndim > 0, "Input tensor must have one or more dimensions")
    _complex_guard(input.shape[-1] == 2, "Tensor must have a last dimension of size 2")
    _complex_guard(xp.element_strides(input)[-1] == 1,
                   "Tensor must have a last dimension with stride 1")
    return xp.pairs_as_complex(input)


view_as_complex.vjp(input=lambda g: view_as_real(g))


def contiguous_pairs(g: Any) -> Any:
    return g.contiguous() if isinstance(g, Tensor) else xp.ascontiguousarray(g)


publish(view_as_real, "view_as_real", method=False)
publish(view_as_complex, "view_as_complex", method=False)


# Rules use these two; users get a view of the pairs, whose history PyTorch shows.


@view(quiet=True, method=False, function=None, node="SelectBackward0")
def _real(input: Array) -> Any:
    return input.real


_real.vjp(input=lambda g: complex_of(g))


@view(quiet=True, method=False, function=None, node="SelectBackward0")
def _imag(input: Array) -> Any:
    return input.imag


_imag.vjp(input=lambda g: complex_of(g) * 1j)


@linear(method=False, function=None, node="ToCopyBackward0")
def complex_of(input: Array) -> Any:
    """A real tensor as a complex one."""
    return input.astype(xp.complex64 if input.dtype == xp.FLOAT32 else xp.complex128)


complex_of.vjp(input=lambda g: _real(g))


@composite()
def real(input: Any) -> Any:
    """The real part, as a view; a real tensor is its own."""
    return _part(input, 0) if input.is_complex() else input


@composite()
def imag(input: Any) -> Any:
    """The imaginary part, as a view."""
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _part(input, 1)


def _part(input: Tensor, which: int) -> Tensor:
    return _select(view_as_real(input), input.ndim, which)


Tensor.real = property(real, lambda self, v: real(self).copy_(v))  # type: ignore[attr-defined]
Tensor.imag = property(imag, lambda self, v: imag(self).copy_(v))  # type: ignore[attr-defined]

__all__ = ["Arrays", "Dims", "Size", "alias_of", "expand", "reshape", "restore_dims", "sizes"]
