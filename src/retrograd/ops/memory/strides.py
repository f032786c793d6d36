"""Views of memory with any shape, strides and offset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...backend import xp
from ...backend.interface import library_of
from ...core.op import Array, Ints, linear, public, view
from ...core.tensor import Tensor
from ..batching import run
from ..shapes.reshaping import sizes


@view(quiet=True, node="AsStridedBackward0", vjp=lambda g, size, stride, storage_offset, source:
      as_strided_backward(g, source, size, stride, storage_offset),
      batches=lambda batch, input, size, stride, storage_offset, source:
      _as_strided(input, (batch.size, *size), (input.stride(0), *stride), storage_offset, source))
def _as_strided(input: Array, size: Ints, stride: Ints, storage_offset: Any, source: Any) -> Any:
    own = source[2]
    return xp.as_strided(input, size, stride, 0 if storage_offset is None else storage_offset - own)


@public("as_strided")
def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int],
               storage_offset: int | None = None) -> Tensor:
    """A view of ``input``'s memory with any shape, strides and offset (in elements)."""
    size, stride = sizes((size,)), sizes((stride,))
    where = geometry(input)
    check_in_storage(input, size, stride, where[2] if storage_offset is None else storage_offset)
    return _as_strided(input, size, stride, storage_offset, where)


def check_in_storage(input: Tensor, size: tuple[int, ...], stride: tuple[int, ...],
                     offset: int) -> None:
    """Refuse a view that would leave its storage."""
    if len(size) != len(stride):
        raise RuntimeError(
            "mismatch in length of strides and shape" if xp.is_array(input._data) else
            "Tensor.as_strided(size, stride, ...): size and stride must have the same length! Got "
            f"size {list(size)} and stride {list(stride)}")
    for n in stride:
        if n < 0:
            raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got "
                               f"strides: {list(stride)}")
    check_reach(in_memory(input), size, stride, offset)


def check_reach(data: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> None:
    """Refuse sizes and strides, none of them negative, that would leave an array's storage."""
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if not math.prod(size):
        return
    owner, itemsize = library_of(data).storage_of(data), data.dtype.itemsize
    needed = (offset + xp.reach(size, stride) + 1) * itemsize
    held = owner.size * owner.dtype.itemsize
    if needed > held:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {itemsize} requiring a storage size of {needed} are out of bounds for "
            f"storage of size {held}")


def geometry(input: Tensor) -> tuple[Any, ...]:
    """Shape, strides and offset, in elements, of a tensor in its storage."""
    data = in_memory(input)
    library = library_of(data)
    own = library.offset_in(data, library.storage_of(data))
    return (tuple(input.shape), tuple(input.stride()), own)


def in_memory(input: Tensor) -> Any:
    """The array behind a tensor, also where transforms hold it."""
    data = input._array()
    if type(input)._is_traced:  # type: ignore[attr-defined]
        from ...transforms import innermost

        return innermost(data)
    return data


@linear(function=None, method=False, node="AsStridedBackward0",
        vjp=lambda g, source, size, stride, offset: strided_from(g, source, size, stride, offset))
def as_strided_backward(input: Array, source: Any, size: Any, stride: Any, offset: Any) -> Any:
    """Scatter-add a strided view's gradient into the layout it was taken from."""
    memory, start, sharers = _memory(source, size, stride, offset, input.dtype)
    _add_at(memory, input, size, stride, start)
    if sharers is not None:
        memory = (memory / sharers).astype(input.dtype)
    return xp.as_strided(memory, *source).copy()


def _memory(source: Any, size: Any, stride: Any, offset: Any, dtype: Any) -> tuple[Any, int, Any]:
    """Zeros for a layout and a view of it, where the view starts, and the layout's sharers."""
    shape, strides, own = source
    start = own if offset is None else offset
    reach = max(own + xp.reach(shape, strides), start + xp.reach(size, stride)) + 1
    return xp.zeros(reach, dtype), start, _sharers(source, reach)


def _add_at(memory: Any, values: Any, shape: Any, strides: Any, offset: int) -> None:
    xp.add_at(memory, xp.positions(shape, strides, offset).reshape(-1),
              xp.as_array(values).reshape(-1))


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
    xp.add_at(counts, xp.positions(shape, strides, own).reshape(-1), 1)
    return xp.maximum(counts, 1)


@linear(function=None, method=False, vjp=lambda g, source, size, stride, offset:
        as_strided_backward(g, source, size, stride, offset))
def strided_from(input: Array, source: Any, size: Any, stride: Any, offset: Any) -> Any:
    """What :func:`as_strided` would see if ``input`` were laid out as ``source`` says."""
    memory, start, sharers = _memory(source, size, stride, offset, input.dtype)
    if sharers is None:
        xp.as_strided(memory, *source)[...] = input
    else:
        _add_at(memory, input, *source)
        memory = (memory / sharers).astype(input.dtype)
    return xp.as_strided(memory, tuple(size), tuple(stride), start).copy()


def _laid_side_by_side(batch: Any, source: Any, size: Any, stride: Any,
                       offset: Any) -> tuple[Any, Any, Any]:
    """The layout of a batch whose values have one layout each, and of the batch of views."""
    shape, strides, own = source
    start = own if offset is None else offset
    length = 1 + max(own + xp.reach(shape, strides), start + xp.reach(size, stride))
    whole = (batch.size, *shape), (length, *strides), own
    return whole, (batch.size, *size), (length, *stride)


@as_strided_backward.batch
@strided_from.batch
def _(batch: Any, input: Any, source: Any, size: Any, stride: Any, offset: Any) -> Any:
    return run(batch.name, input, *_laid_side_by_side(batch, source, size, stride, offset), offset)


@view(quiet=True, function=None, method=False, batches="leading", vjp=lambda g: g)
def alias(input: Array) -> Any:
    """The same memory under another tensor."""
    return input[...]
