"""Overwriting memory: copy_, fill_, zero_."""

from __future__ import annotations

from typing import Any

from ..backend import index as xi
from ..backend import xp
from ..base import dtypes
from ..base.errors import canonical_dim, size_mismatch
from ..base.modes import GRAD, MODE, NO_GRAD
from ..base.warning import warn
from ..core.graph import INFERENCE
from ..core.inplace import call_inplace
from ..core.op import Array, Dim, Ints, Number, op, publish
from ..core.tensor import PLAIN, Tensor, wrap
from .parts import _select, _slice, diagonal
from .shape import no_overload, sizes, zeros_of
from .strides import as_strided, check_in_storage, geometry, strided_from

NUMBERS = (bool, int, float, complex)


def writes_freely(target: Tensor, *sources: Any) -> bool:
    """Whether a write to ``target`` is only that: no graph, no transform, no override."""
    mode = MODE.get()
    if type(target) not in PLAIN or target._vc is INFERENCE \
            or (mode is not GRAD and mode is not NO_GRAD):
        return False
    for source in sources:
        if type(source) not in PLAIN or (source._edge is not None and mode is GRAD):
            return False
    if mode is NO_GRAD:
        return True
    view = target._view
    return target._edge is None and (view is None or view.base._edge is None)


def is_writable(array: Any) -> bool:
    """Whether each element of ``array`` may be written to, and lies in memory of its own."""
    flags = array.flags
    return flags.writeable and (flags.c_contiguous or not xp.has_overlap(array))


# ---------------------------------------------------------------- copying


@op(function=None, method=False, node="CopyBackwards", broadcasts=True, any_dtype=True)
def _copy(input: Array, src: Array) -> Any:
    """``src`` in the shape and dtype of ``input``, whose values do not matter."""
    out = xp.empty_like(xp.as_array(input))
    write_copy(out, src)
    return out


@_copy.write
def write_copy(array: Any, src: Any) -> None:
    check_copy(array, src)
    array[...] = real_part(src, array.dtype)


_copy.vjp(input=lambda g: zeros_of(g, g.shape),
          src=lambda g: g)


def check_copy(array: Any, src: Any) -> None:
    if src.shape == array.shape or not src.shape:
        return
    try:
        joint = xp.broadcast_shapes(array.shape, src.shape)
    except ValueError:
        raise size_mismatch([array.shape, src.shape]) from None
    if joint != array.shape:
        raise RuntimeError(f"output with shape {list(array.shape)} doesn't match the broadcast "
                           f"shape {list(joint)}")


def real_part(src: Any, dtype: Any) -> Any:
    """``src``, without its imaginary part where ``dtype`` has none."""
    if src.dtype.kind != "c" or dtype.kind in "cb":
        return src
    warn("Casting complex values to real discards the imaginary part", once=True)
    return src.real


def copy_(input: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Overwrite with the values of ``src``, broadcast and cast."""
    if not isinstance(src, Tensor):
        if not isinstance(src, NUMBERS):
            raise TypeError("copy_(): argument 'other' (position 1) must be Tensor, not "
                            f"{type(src).__name__}")
        src = wrap(xp.asarray(src))
    if writes_freely(input, src):
        array, data = input._array(), src._data
        if array.dtype is data.dtype and array.shape == data.shape and is_writable(array):
            array[...] = data
            input._counter().bump()
            return input
    return call_inplace(_copy.op, (input, src))


Tensor.copy_ = copy_  # type: ignore[attr-defined]


# ---------------------------------------------------------------- filling


def _filled(input: Any, value: Any) -> Any:
    out = xp.empty_like(xp.as_array(input))
    out[...] = value
    return out


@op(function=None, method=False, node="FillBackward2", any_dtype=True)
def _fill_number(input: Array, value: Number) -> Any:
    return _filled(input, xi.number_as(value, input.dtype))


@_fill_number.write
def _write_number(array: Any, value: Any) -> None:
    array[...] = xi.number_as(value, array.dtype)


_fill_number.vjp(input=lambda g: zeros_of(g, g.shape))


@op(function=None, method=False, node="FillBackward3", broadcasts=True, any_dtype=True)
def _fill_tensor(input: Array, value: Array) -> Any:
    check_fill(value)
    return _filled(input, real_part(value, input.dtype))


@_fill_tensor.write
def _write_tensor(array: Any, value: Any) -> None:
    check_fill(value)
    array[...] = real_part(value, array.dtype)


_fill_tensor.vjp(input=lambda g: zeros_of(g, g.shape),
                 value=lambda g: g)


def fills_shared(function: str, target: Tensor, *others: Any) -> bool:
    """Whether this fill goes to memory that elements share: allowed where nothing is recorded."""
    array = target._data
    if not writes_freely(target, *others) or type(array) is not xp.ndarray \
            or not xp.has_overlap(array):
        return False
    warn(f"Use of {function} on expanded tensors is deprecated. Please clone() the tensor before "
         "performing this operation. This also applies to advanced indexing e.g. tensor[mask] = "
         "scalar")
    return True


def check_fill(value: Any) -> None:
    if value.ndim:
        raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                           f"{value.ndim} dimensions.")


def fill_(input: Tensor, value: Any) -> Tensor:
    """Overwrite every element with ``value``, a number or a zero-dim tensor."""
    if isinstance(value, Tensor):
        return call_inplace(_fill_tensor.op, (input, value))
    if not isinstance(value, NUMBERS):
        raise no_overload("fill_", [("Tensor value",), ("Number value",)], value)
    if writes_freely(input):
        array = input._array()
        # One value for all: it does not matter if elements share memory.
        if array.flags.writeable:
            array[...] = xi.number_as(value, array.dtype)
            input._counter().bump()
            return input
    return call_inplace(_fill_number.op, (input, value))


@op(function=None, method=False, node="FillBackward0", any_dtype=True)
def _full_of_number(input: Array, value: Number) -> Any:
    return _filled(input, xi.number_as(value, input.dtype))


_full_of_number.vjp(input=lambda g: zeros_of(g, g.shape))


@op(function=None, method=False, node="FillBackward1", broadcasts=True, any_dtype=True)
def _full_of_tensor(input: Array, value: Array) -> Any:
    check_fill(value)
    return _filled(input, real_part(value, input.dtype))


_full_of_tensor.vjp(input=lambda g: zeros_of(g, g.shape),
                    value=lambda g: g)


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor shaped like ``input`` with every element ``value``."""
    return (_full_of_tensor if isinstance(value, Tensor) else _full_of_number)(input, value)


Tensor.fill_ = fill_  # type: ignore[attr-defined]
publish(fill, "fill", method=False)
publish(fill_, "fill_", method=False)


@op(function=None, method=False, any_dtype=True, node="ZeroBackward0")
def _zero(input: Array) -> Any:
    """Zeros in the shape of ``input``."""
    return xp.zeros(input.shape, input.dtype)


@_zero.write
def _write_zero(array: Any) -> None:
    array[...] = 0


_zero.vjp(input=lambda g: zeros_of(g, g.shape))


def zero_(input: Tensor) -> Tensor:
    """Overwrite every element with zero."""
    if writes_freely(input):
        array = input._array()
        if array.flags.writeable:
            array[...] = 0
            input._counter().bump()
            return input
    return call_inplace(_zero.op, (input,))


Tensor.zero_ = zero_  # type: ignore[attr-defined]
publish(zero_, "zero_", method=False)


def dtype_name(array: Any) -> str:
    """PyTorch's class-like name of an array's dtype, for messages."""
    return dtypes.from_numpy_dtype(array.dtype).alias


# ---------------------------------------------------------------- copies with a part overwritten


def _check_source(src: Any, part: Any) -> None:
    if src.shape != part.shape:
        raise RuntimeError("expected src to have a size equal to the slice of self. src size = "
                           f"{list(src.shape)}, slice size = {list(part.shape)}")


def _overwritten(input: Any, src: Any, part_of: Any) -> Any:
    out = xp.array(input, order="C")
    part = part_of(out)
    _check_source(src, part)
    part[...] = src
    return out


@op(function=None, method=False, any_dtype=True, node="SelectScatterBackward0")
def _select_scatter(input: Array, src: Array, dim: Dim, index: int) -> Any:
    return _overwritten(input, src, lambda out: out[(slice(None),) * dim + (index, ...)])


_select_scatter.vjp(
    input=lambda g, like, dim, index: _select_scatter(
        g, zeros_of(g, without_dim(like.shape, dim)), dim, index),
    src=lambda g, dim, index: _select(g, dim, index))


def without_dim(shape: Any, dim: int) -> tuple[int, ...]:
    return tuple([n for i, n in enumerate(shape) if i != dim])


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """``input`` with ``src`` in place of one position along ``dim``."""
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = canonical_dim(dim, input.ndim)
    n = input.shape[d]
    if not -n <= index < n:
        raise IndexError(f"select(): index {index} out of range for tensor of size "
                         f"{list(input.shape)} at dimension {d}")
    return _select_scatter(input, src, d, index % n)


publish(select_scatter, "select_scatter")


@op(function=None, method=False, any_dtype=True, node="SliceScatterBackward0")
def _slice_scatter(input: Array, src: Array, dim: Dim, start: int, end: int, step: int) -> Any:
    return _overwritten(input, src, lambda out: out[(slice(None),) * dim
                                                    + (slice(start, end, step),)])


_slice_scatter.vjp(
    input=lambda g, dim, start, end, step: _slice_scatter(
        g, zeros_of(g, sliced_shape(g.shape, dim, start, end, step)), dim, start, end, step),
    src=lambda g, dim, start, end, step: _slice(g, dim, start, end, step))


def sliced_shape(shape: Any, dim: int, start: int, end: int, step: int) -> tuple[int, ...]:
    return tuple([len(range(start, end, step)) if i == dim else n for i, n in enumerate(shape)])


def slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None,
                  end: int | None = None, step: int = 1) -> Tensor:
    """``input`` with ``src`` in place of a slice along ``dim``."""
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    if not input.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    d = canonical_dim(dim, input.ndim)
    first, last, by = slice(start, end, step).indices(input.shape[d])
    return _slice_scatter(input, src, d, first, max(first, last), by)


publish(slice_scatter, "slice_scatter")


@op(any_dtype=True)
def diagonal_scatter(input: Array, src: Array, offset: int = 0, dim1: Dim = 0,
                     dim2: Dim = 1) -> Any:
    """``input`` with ``src`` in place of a diagonal."""
    return _overwritten(input, src,
                        lambda out: xp.writable_diagonal(out, offset, dim1, dim2))


diagonal_scatter.vjp(
    input=lambda g, offset, dim1, dim2: without_diagonal(g, offset, dim1, dim2),
    src=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2))


def without_diagonal(g: Any, offset: int, dim1: int, dim2: int) -> Any:
    part = diagonal(g, offset, dim1, dim2)
    return diagonal_scatter(g, zeros_of(g, part.shape), offset, dim1, dim2)


@op(function=None, method=False, any_dtype=True, node="AsStridedScatterBackward0")
def _as_strided_scatter(input: Array, src: Array, size: Ints, stride: Ints, offset: int,
                        source: Any) -> Any:
    shape, strides, own = source
    reach = max(own + xp.reach(shape, strides), offset + xp.reach(size, stride)) + 1
    memory = xp.zeros(reach, input.dtype)
    whole = xp.as_strided(memory, shape, strides, own)
    whole[...] = input
    part = xp.as_strided(memory, size, stride, offset)
    _check_source(src, part)
    part[...] = src
    return whole.copy()


_as_strided_scatter.vjp(
    input=lambda g, size, stride, offset, source: _as_strided_scatter(
        g, zeros_of(g, size), size, stride, offset, source),
    src=lambda g, size, stride, offset, source: strided_from(g, source, size, stride, offset))


def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any,
                       storage_offset: int | None = None) -> Tensor:
    """``input`` with ``src`` in place of a strided view of its memory."""
    size, stride = sizes((size,)), sizes((stride,))
    where = geometry(input)
    offset = where[2] if storage_offset is None else storage_offset
    check_in_storage(input, size, stride, offset)
    return _as_strided_scatter(input, src, size, stride, offset, where)


publish(as_strided_scatter, "as_strided_scatter")


def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the main diagonal to ``fill_value``, in place; ``wrap`` goes on below a tall matrix."""
    if input.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    shape = tuple(input.shape)
    if input.ndim > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step = sum(input.stride())
    count = min(shape)
    offset = input.storage_offset()
    parts = [as_strided(input, (count,), (step,), offset)]
    if wrap and input.ndim == 2 and shape[0] > shape[1] + 1:
        jump = (shape[1] + 1) * input.stride(0)
        start = jump
        while start < input.numel():
            left = -(-(input.numel() - start) // step)
            parts.append(as_strided(input, (min(left, count),), (step,), offset + start))
            start += jump
    for part in parts:
        fill_(part, fill_value)
    return input


Tensor.fill_diagonal_ = fill_diagonal_  # type: ignore[attr-defined]
