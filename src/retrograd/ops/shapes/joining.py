"""Joining tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import index as index_kernels, xp
from ...base.errors import canonical_dim, wrong_type
from ...core.op import Array, Arrays, Dim, composite, linear, public
from ...core.operands import as_operands
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import each_batched, inner_rank
from .dimensions import unsqueeze
from .expanding import fitted
from .reshaping import reshape, zeros_of
from .splitting import (
    _split,
    _split_with_sizes,
    check_lengths,
    check_part_length,
    chunk_length,
    unbind,
)

_CAT_OUT = Out("torch.cat(): input types can't be cast to the desired output type {out}", TypeError,
               apart=True)


@linear(promote="same", node="CatBackward0", quiet=True, out=_CAT_OUT, stored="any",
        vjp=lambda g, like, dim: _cat_parts(g, like, dim))
def _cat(tensors: Arrays, dim: int = 0) -> Any:
    if tensors[0].ndim < 4:
        try:
            return xp.in_rows(xp.concatenate(tensors, axis=dim))
        except ValueError:
            pass  # which is put into words below, or is no error
    for i, t in enumerate(tensors):
        if not t.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    # One-dimensional empty tensors join with anything, by PyTorch's legacy rule.
    used = [t for t in tensors if t.shape != (0,)]
    if not used:
        return xp.empty((0,), tensors[0].dtype)
    axis = canonical_dim(dim, max(t.ndim for t in used))
    first = used[0]
    for i, t in enumerate(used[1:], 1):
        if t.ndim != first.ndim:
            raise RuntimeError("Tensors must have same number of dimensions: got "
                               f"{first.ndim} and {t.ndim}")
        for d in range(t.ndim):
            if d != axis and t.shape[d] != first.shape[d]:
                raise RuntimeError(
                    "Sizes of tensors must match except in dimension "
                    f"{axis}. Expected size {first.shape[d]} but got size {t.shape[d]} for tensor "
                    f"number {i} in the list.")
    if first.ndim in (4, 5) and all(map(_channels_lie_last, tensors)):
        last = [xp.moveaxis(t, 1, -1) for t in used]
        joined = xp.concatenate(last, axis=axis - 1 if axis > 1 else axis and first.ndim - 1)
        return xp.moveaxis(xp.in_rows(joined), -1, 1)
    return xp.in_rows(xp.concatenate(used, axis=axis))


def _channels_lie_last(array: Any) -> bool:
    """Whether the elements of an image or volume lie in memory with the channels together."""
    return array.ndim in (4, 5) and not xp.is_contiguous(array) \
        and xp.is_contiguous(xp.moveaxis(array, 1, -1))


@public("cat", method=False, aliases=("concat", "concatenate"))
def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None,
        out: Any = None) -> Any:
    """Join tensors along an existing dimension."""
    dim = dim if axis is None else axis
    if isinstance(tensors, (tuple, list)) and not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    # In a rule on raw arrays it is the kernel, which knows no ``out``.
    return _cat(tensors, dim) if out is None else _cat(tensors, dim, out=out)


@_cat.batch
def _(batch: Any, tensors: Any, dim: int) -> Any:
    parts = each_batched(batch, tensors)
    for i, part in enumerate(parts):
        if part.ndim == 1:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    # One-dimensional empty values join with anything, by PyTorch's legacy rule.
    used = [p for p in parts if p.ndim != 2 or p.shape[1] != 0] or parts
    return _cat(used, canonical_dim(dim, max(inner_rank(p) for p in used)) + 1)


def _cat_parts(g: Any, like: Any, dim: int) -> Any:
    axis = canonical_dim(dim, g.ndim) if g.shape != (0,) else 0
    lengths = [0 if s.shape == (0,) else s.shape[axis] for s in like]
    parts = _split_with_sizes(g, lengths, axis)
    return [fitted_part(p, s) for p, s in zip(parts, like, strict=True)]


def fitted_part(part: Any, like: Any) -> Any:
    """A part of a joined gradient in the shape and dtype of the tensor it belongs to."""
    if like.shape == (0,) and part.shape != (0,):
        part = zeros_of(part, (0,))
    return fitted(part, like)


@linear(promote="same", node="StackBackward0", quiet=True, out=_CAT_OUT, stored="any")
def _stack(tensors: Arrays, dim: int = 0) -> Any:
    try:
        return index_kernels.side_by_side(
            tensors, dim and canonical_dim(dim, tensors[0].ndim + 1))
    except (ValueError, IndexError) as error:
        refusal = error  # looked into outside, so that one traceback is shown
    check_equal_sizes(tensors)
    raise refusal


def check_equal_sizes(tensors: Any) -> None:
    shape = tensors[0].shape
    for i, t in enumerate(tensors):
        if t.shape != shape:
            raise RuntimeError("stack expects each tensor to be equal size, but got "
                               f"{list(shape)} at entry 0 and {list(t.shape)} at entry {i}")


@public("stack", method=False)
def stack(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None,
          out: Any = None) -> Any:
    """Join tensors of one shape along a new dimension."""
    dim = dim if axis is None else axis
    if type(tensors) is not list or not tensors:
        check_not_empty("stack", tensors)
    return _stack(tensors, dim) if out is None else _stack(tensors, dim, out=out)


def check_not_empty(name: str, tensors: Any) -> None:
    if isinstance(tensors, Tensor):
        raise wrong_type(name, "tensors", 1, "tuple of Tensors", tensors)
    if isinstance(tensors, (tuple, list)) and not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


def _members(name: str, tensors: Any) -> list[Tensor]:
    """The tensors of a sequence, of which there has to be one."""
    members = as_operands(name, "tensors", 1, tensors)
    check_not_empty(name, members)
    return members


_stack.vjp(tensors=lambda g, like, dim: [
    fitted_part(p, s) for p, s in zip(unbind(g, canonical_dim(dim, g.ndim)), like, strict=True)])


@_stack.batch
def _(batch: Any, tensors: Any, dim: int) -> Any:
    parts = each_batched(batch, tensors)
    return _stack(parts, canonical_dim(dim, parts[0].ndim) + 1)


# ---------------------------------------------------------------- what cutting has for a rule


def stack_parts(g: Any, like: Any, dim: int) -> Any:
    """The gradients of every position along ``dim``, zeros where none arrived."""
    g = as_list(g)
    shape = tuple([n for i, n in enumerate(like.shape) if i != dim])
    present = next(x for x in g if x is not None)
    return _stack([zeros_of(present, shape) if x is None else x for x in g], dim)


def join_parts(g: Any, like: Any, lengths: Any, dim: int) -> Any:
    """The gradients of consecutive parts, zeros where none arrived."""
    g = as_list(g)
    present = next(x for x in g if x is not None)
    return _cat([zeros_of(present, part_shape(like.shape, dim, n)) if x is None else x
                for x, n in zip(g, lengths, strict=True)], dim)


def as_list(g: Any) -> list[Any]:
    """A cut into one part has one gradient, not a list of them."""
    return g if isinstance(g, list) else [g]


def part_shape(shape: Any, dim: int, length: int) -> tuple[int, ...]:
    return tuple([length if i == dim else n for i, n in enumerate(shape)])


def chunk_lengths(n: int, size: int) -> list[int]:
    if not n:
        return [0]
    return [min(size, n - i) for i in range(0, n, size)]


# ---------------------------------------------------------------- cut without being views


@linear(outputs=("list",), any_dtype=True, node="UnsafeSplitWithSizesBackward0")
def _unsafe_parts(input: Array, split_sizes: Any, dim: Dim = 0) -> Any:
    parts, start = [], 0
    for n in split_sizes:
        parts.append(input[(slice(None),) * dim + (slice(start, start + n),)])
        start += n
    return tuple(parts)


@linear(outputs=("list",), any_dtype=True, node="UnsafeSplitBackward0")
def _unsafe_split(input: Array, split_size: int, dim: Dim = 0) -> Any:
    lead = (slice(None),) * dim
    return tuple([input[(*lead, slice(i, i + split_size))]
                  for i in range(0, input.shape[dim], split_size)] or [input])


unbind.vjp(input=stack_parts)
for _cut in (_split_with_sizes, _unsafe_parts):
    _cut.vjp(input=lambda g, like, split_sizes, dim: join_parts(g, like, split_sizes, dim))
for _cut in (_split, _unsafe_split):
    _cut.vjp(input=lambda g, like, split_size, dim: join_parts(
        g, like, chunk_lengths(like.shape[dim], split_size), dim))


@composite(method=True)
def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> Any:
    """:func:`split` whose parts may be written to without the others noticing."""
    check_part_length(tensor.shape, split_size, dim)
    return _unsafe_split(tensor, split_size or 1, dim)


@composite(method=True)
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """:func:`split` by lengths whose parts may be written to without the others noticing."""
    check_lengths(input.shape, list(split_sizes), dim)
    return _unsafe_parts(input, tuple(split_sizes), dim)


@composite(method=True)
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """:func:`chunk` whose parts may be written to without the others noticing."""
    length = chunk_length(input.shape, chunks, dim)
    return _unsafe_split(input, length, dim) if length else _unsafe_parts(
        input, (0,) * chunks, dim)


# ---------------------------------------------------------------- by rows, columns and layers


def _each(name: str, tensors: Any, change: Any) -> Any:
    """``change`` of one tensor, or of each of several."""
    is_one = len(tensors) == 1
    if is_one and isinstance(tensors[0], (tuple, list)):
        is_one, tensors = False, tensors[0]
    changed = [change(t) for t in as_operands(name, "tensors", 1, tensors)]
    return changed[0] if is_one else tuple(changed)


def _at_least_1d(tensor: Any) -> Any:
    return tensor if tensor.ndim else reshape(tensor, (1,))


def _at_least_2d(tensor: Any) -> Any:
    if tensor.ndim > 1:
        return tensor
    return unsqueeze(tensor, 0) if tensor.ndim else reshape(tensor, (1, 1))


def _at_least_3d(tensor: Any) -> Any:
    if tensor.ndim > 2:
        return tensor
    if tensor.ndim == 2:
        return unsqueeze(tensor, -1)
    if tensor.ndim == 1:
        return unsqueeze(unsqueeze(tensor, 0), -1)
    return reshape(tensor, (1, 1, 1))


def _declare_at_least(rank: int, words: str, change: Any) -> None:
    @composite(name=f"atleast_{rank}d",
               doc=f"The tensor (or each of several) with at least {words}.")
    def at_least(*tensors: Tensor) -> Any:
        return _each(f"atleast_{rank}d", tensors, change)


_declare_at_least(1, "one dimension", _at_least_1d)
_declare_at_least(2, "two dimensions", _at_least_2d)
_declare_at_least(3, "three dimensions", _at_least_3d)


@composite()
def hstack(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """Join tensors side by side."""
    parts = [_at_least_1d(t) for t in _members("hstack", tensors)]
    return cat(parts, 0 if parts[0].ndim == 1 else 1, out=out)


@composite(aliases=("row_stack",))
def vstack(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """Join tensors below each other."""
    return cat([_at_least_2d(t) for t in _members("vstack", tensors)], 0, out=out)


@composite()
def dstack(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """Join tensors behind each other."""
    return cat([_at_least_3d(t) for t in _members("dstack", tensors)], 2, out=out)


@composite()
def column_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """Join vectors as columns, and matrices side by side."""
    return hstack([t if t.ndim > 1 else reshape(t, (t.numel(), 1))
                   for t in _members("column_stack", tensors)], out=out)
