"""Views of parts: positions, slices, diagonals, windows, real and imaginary parts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ..backend import xp
from ..base import dtypes
from ..base.errors import canonical_dim, no_dims
from ..core.op import Array, Dim, composite, linear, publish, view
from ..core.tensor import Tensor


@view(quiet=True, method=False, function=None)
def _select(input: Array, dim: int, index: int) -> Any:
    return input[(slice(None),) * dim + (index, ...)]


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
        raise no_dims(0)
    lead = (slice(None),) * dim
    return tuple([input[(*lead, i, ...)] for i in range(input.shape[dim])])


@view(outputs=("list",), function=None, method=False, node="SplitWithSizesBackward0",
      title="split_with_sizes")
def _split_with_sizes(input: Array, split_sizes: Any, dim: Dim = 0) -> Any:
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
def split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> Any:
    """Views of consecutive parts of the given lengths along ``dim``."""
    check_lengths(input.shape, list(split_sizes), dim)
    return _split_with_sizes(input, tuple(split_sizes), dim)


def check_part_length(shape: Any, size: int, dim: int) -> None:
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
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Views of parts of one length (the last may be shorter), or of the given lengths."""
    if isinstance(split_size_or_sections, (tuple, list)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    check_part_length(tensor.shape, split_size_or_sections, dim)
    return _split(tensor, split_size_or_sections or 1, dim)


def _split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts of one length (the last may be shorter), or of the given lengths."""
    return split(self, split_size, dim)


Tensor.split = _split_method  # type: ignore[attr-defined]


def chunk_length(shape: Any, chunks: int, dim: int) -> int:
    """How long each of ``chunks`` parts is; the last may be shorter."""
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return -(-shape[canonical_dim(dim, len(shape))] // chunks)


@composite(method=True)
def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """At most ``chunks`` views of equal length along ``dim``; the last may be shorter."""
    length = chunk_length(input.shape, chunks, dim)
    # Nothing to share out: every chunk is empty, but they are all there.
    return _split(input, length, dim) if length else _split_with_sizes(input, (0,) * chunks, dim)


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


# ---------------------------------------------------------------- real and complex


def _complex_guard(condition: bool, message: str) -> None:
    if not condition:
        raise RuntimeError(message)


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
