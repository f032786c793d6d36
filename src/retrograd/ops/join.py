"""Joining tensors."""

from __future__ import annotations

from typing import Any

from ..backend import numpy as xp
from ..errors import canonical_dim
from ..op import Arrays, linear
from .shape import _split, split_with_sizes, unbind, zeros_of


def _cat_axis(tensors: Any, dim: int) -> int:
    rank = max(t.ndim for t in tensors)
    return canonical_dim(dim, rank)


@linear(promote="same", aliases=("concat", "concatenate"), method=False)
def cat(tensors: Arrays, dim: int = 0) -> Any:
    """Join tensors along an existing dimension."""
    if not tensors:
        raise RuntimeError("torch.cat(): expected a non-empty list of Tensors")
    for i, t in enumerate(tensors):
        if not t.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    # One-dimensional empty tensors join with anything, by PyTorch's legacy rule.
    used = [t for t in tensors if t.shape != (0,)] or list(tensors)
    axis = _cat_axis(used, dim)
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
    return xp.concatenate(used, axis=axis)


cat.vjp(tensors=lambda g, like, dim: _cat_parts(g, like, dim))


def _cat_parts(g: Any, like: Any, dim: int) -> Any:
    axis = canonical_dim(dim, g.ndim)
    lengths = [0 if s.shape == (0,) else s.shape[axis] for s in like]
    parts = split_with_sizes(g, lengths, axis)
    return [fitted_part(p, s) for p, s in zip(parts, like, strict=True)]


def fitted_part(part: Any, like: Any) -> Any:
    """A part of a joined gradient in the shape and dtype of the tensor it belongs to."""
    from ..graph import fit
    from ..replaying import fit_tensor
    from ..tensor import Tensor

    if like.shape == (0,) and part.shape != (0,):
        part = zeros_of(part, (0,))
    return fit_tensor(part, like) if isinstance(part, Tensor) else fit(part, like)


@linear(promote="same", method=False)
def stack(tensors: Arrays, dim: int = 0) -> Any:
    """Join tensors of one shape along a new dimension."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]
    for i, t in enumerate(tensors):
        if t.shape != first.shape:
            raise RuntimeError("stack expects each tensor to be equal size, but got "
                               f"{list(first.shape)} at entry 0 and {list(t.shape)} at entry {i}")
    return xp.stack(tensors, axis=canonical_dim(dim, first.ndim + 1))


stack.vjp(tensors=lambda g, like, dim: [
    fitted_part(p, s) for p, s in zip(unbind(g, canonical_dim(dim, g.ndim)), like, strict=True)])


# ---------------------------------------------------------------- what cutting has for a rule


unbind.vjp(input=lambda g, like, dim: stack_parts(g, like, dim))
split_with_sizes.vjp(input=lambda g, like, split_sizes, dim: join_parts(g, like, split_sizes, dim))
_split.vjp(input=lambda g, like, split_size, dim:
           join_parts(g, like, chunk_lengths(like.shape[dim], split_size), dim))


def stack_parts(g: Any, like: Any, dim: int) -> Any:
    """The gradients of every position along ``dim``, zeros where none arrived."""
    g = as_list(g)
    shape = tuple([n for i, n in enumerate(like.shape) if i != dim])
    present = next(x for x in g if x is not None)
    return stack([zeros_of(present, shape) if x is None else x for x in g], dim)


def join_parts(g: Any, like: Any, lengths: Any, dim: int) -> Any:
    """The gradients of consecutive parts, zeros where none arrived."""
    g = as_list(g)
    present = next(x for x in g if x is not None)
    return cat([zeros_of(present, part_shape(like.shape, dim, n)) if x is None else x
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
