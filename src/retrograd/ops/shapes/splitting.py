"""Splitting into parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...base.errors import canonical_dim, no_dims, no_overload
from ...core.op import Array, Dim, Sizes, composite, view
from ...core.tensor import Tensor, method


def _split_along(name: str, input: Any, given: Any, dim: int, least: int) -> Any:
    if not isinstance(given, (int, tuple, list, Tensor)) and not hasattr(given, "__index__"):
        raise no_overload(name, (input, given), "Tensor input, int sections",
                          "Tensor input, tuple of ints indices")
    if input.ndim < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but "
                           f"got a tensor with {input.ndim} dimensions!")
    if isinstance(given, int) and (given <= 0 or input.shape[dim] % given):
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size "
                           f"of the dimension {input.shape[dim]} is not divisible by the "
                           f"split_size {given}!")
    return tensor_split(input, given, dim)


@composite(method=True)
def hsplit(input: Tensor, indices_or_sections: Any) -> Any:
    """Views of parts side by side."""
    return _split_along("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1, 1)


@composite(method=True)
def vsplit(input: Tensor, indices_or_sections: Any) -> Any:
    """Views of parts below each other."""
    return _split_along("vsplit", input, indices_or_sections, 0, 2)


@composite(method=True)
def dsplit(input: Tensor, indices_or_sections: Any) -> Any:
    """Views of parts behind each other."""
    return _split_along("dsplit", input, indices_or_sections, 2, 3)


@view(outputs=("list",), node="UnbindBackward0", batches=lambda batch, input, dim:
      unbind(input, dim + 1) if input.ndim > 1 else unbind(input[0], dim))
def unbind(input: Array, dim: Dim = 0) -> Any:
    """The views of each position along ``dim``, as a tuple."""
    if not input.ndim:
        raise no_dims(0)
    lead = (slice(None),) * dim
    return tuple([input[(*lead, i, ...)] for i in range(input.shape[dim])])


@view(outputs=("list",), node="SplitWithSizesBackward0", title="split_with_sizes")
def _split_with_sizes(input: Array, split_sizes: Any, dim: Dim = 0) -> Any:
    lead = (slice(None),) * dim
    parts, start = [], 0
    for n in split_sizes:
        parts.append(input[(*lead, slice(start, start + n))])
        start += n
    return tuple(parts)


@view(outputs=("list",), node="SplitBackward0")
def _split(input: Array, split_size: int, dim: Dim = 0) -> Any:
    n = input.shape[dim]
    lead = (slice(None),) * dim
    return tuple([input[(*lead, slice(i, i + split_size))]
                  for i in range(0, n, split_size)] or [input[...]])


def check_lengths(shape: Any, lengths: list[int], dim: int) -> None:
    """Refuse lengths of parts that do not make up the dimension they cut."""
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    n = shape[canonical_dim(dim, len(shape))]
    if any(x < 0 for x in lengths):
        raise RuntimeError("split_with_sizes expects split_sizes have only non-negative entries, "
                           f"but got split_sizes={lengths}")
    if sum(lengths) != n:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input "
                           f"tensor's size at dimension {dim}), but got split_sizes={lengths}")


@composite(method=True)
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """Views of consecutive parts of the given lengths along ``dim``."""
    check_lengths(input.shape, list(split_sizes), dim)
    return _split_with_sizes(input, tuple(split_sizes), dim)


def check_part_length(shape: Any, size: Any, dim: int) -> None:
    """Refuse a length that a dimension cannot be cut into."""
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    n = shape[canonical_dim(dim, len(shape))]
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension "
                           f"size of {n}")


@composite(method=True)
def split(tensor: Tensor, split_size_or_sections: Sizes, dim: int = 0) -> Any:
    """Views of parts of one length (the last may be shorter), or of the given lengths."""
    if isinstance(split_size_or_sections, (tuple, list)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    check_part_length(tensor.shape, split_size_or_sections, dim)
    return _split(tensor, split_size_or_sections or 1, dim)


@method("split")
def _split_method(self: Tensor, split_size: Sizes, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts of one length (the last may be shorter), or of the given lengths."""
    return split(self, split_size, dim)


def chunk_length(shape: Any, chunks: int, dim: int) -> int:
    """How long each of ``chunks`` parts is; the last may be shorter."""
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return -(-shape[canonical_dim(dim, len(shape))] // chunks)


@composite(method=True)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """At most ``chunks`` views of equal length along ``dim``; the last may be shorter."""
    length = chunk_length(input.shape, chunks, dim)
    # Nothing to share out: every chunk is empty, but they are all there.
    return _split(input, length, dim) if length else _split_with_sizes(input, (0,) * chunks, dim)


@composite(method=True)
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> Any:
    """Views of ``n`` nearly equal parts, or of the parts between the given indices."""
    if not input.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a "
                           "tensor with 0 dims")
    d = canonical_dim(dim, input.ndim)
    n = input.shape[d]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if hasattr(indices_or_sections, "__index__") and indices_or_sections.__class__ is not bool:
        count = indices_or_sections.__index__()
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
