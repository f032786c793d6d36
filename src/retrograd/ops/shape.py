"""Shapes: reshaping, expanding, reordering, dimensions of length one."""

from __future__ import annotations

import math
from typing import Any

from ..backend import xp
from ..base import dtypes
from ..base.errors import canonical_dim, length_of, size_mismatch, type_name
from ..base.warning import warn
from ..core.op import Array, Dim, Dims, Ints, composite, linear, publish, view
from ..core.tensor import Size, Tensor, twin, wrap


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


def zeros_of(like: Any, shape: Any) -> Any:
    zeros = xp.zeros(shape, like._data.dtype if isinstance(like, Tensor) else like.dtype)
    return wrap(zeros) if isinstance(like, Tensor) else zeros


# ---------------------------------------------------------------- reshaping


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


@view(quiet=True, function=None, method=False, node="ReshapeAliasBackward0")
def _reshape_alias(input: Array, size: Ints) -> Any:
    return xp.viewed(input, size)


_reshape_alias.vjp(input=lambda g, like: reshape(g, like.shape))


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
        if isinstance(data, xp.generic) or data.flags.c_contiguous:
            return _view(input, target)
        if xp.viewed(data, target) is not None:
            return _reshape_alias(input, target)
        return _unsafe_view(_packed_clone(input), target)
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
        inner = infer_size(tuple(sizes), length_of(shape, d))
    except (RuntimeError, IndexError) as error:
        if "is invalid for input of size" not in str(error):
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
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
    full = list(size)
    for i in range(len(size) - 1, -1, -1):
        n = size[i]
        own = input.shape[i - lead] if i >= lead else None
        if n == -1 and input.ndim:
            if own is None:
                raise RuntimeError(f"The expanded size of the tensor (-1) isn't allowed in a "
                                   f"leading, non-existing dimension {i}")
            full[i] = own
        elif own is not None and own not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({own}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: "
                f"{list(input.shape)}")
    if full and min(full) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    return tuple(full)


@view(quiet=True, method=False, function=None)
def expand(input: Array, size: Ints) -> Any:
    """A view with length-one dimensions repeated to ``size``, without copying."""
    return xp.expanded(input, _check_expand(input, tuple(size)))


expand.vjp(input=lambda g, like: sum_to_size_of(g, like.shape))
spread_method(expand, "expand", "size")


def joint_shape(first: Any, second: Any) -> tuple[int, ...]:
    """The shape that two shapes broadcast to."""
    try:
        return xp.broadcast_shapes(first, second)
    except ValueError:
        raise size_mismatch([tuple(first), tuple(second)]) from None


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
    for t in tensors:
        joint = joint_shape(joint, tuple(t.shape))
    return tuple([t if tuple(t.shape) == joint else expand(t, joint) for t in tensors])


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to."""
    given = [(s,) if isinstance(s, int) else s for s in shapes]
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
    if not rank:
        return _permute(input, ())
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
        _identity_of_scalar(self, "T")
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
