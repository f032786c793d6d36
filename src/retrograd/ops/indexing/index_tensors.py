"""Reading and writing through index tensors."""

from __future__ import annotations

import math
from typing import Any

from ...backend import index as index_kernels, xp
from ...backend.interface import kind_of, library_of
from ...base.errors import CannotBatch, dim_out_of_range, not_a_tensor
from ...base.modes import GRAD, MODE
from ...base.warning import warn
from ...codegen.switch import GeneralPath
from ...core.binding import universal
from ...core.inplace import call_inplace, recorded_plainly, write_by
from ...core.libraries import computed
from ...core.op import Array, Index, linear, op, public
from ...core.operands import as_operands
from ...core.tensor import Tensor, wrap
from ..batching import batched, inner_rank, shifted
from ..checks.common import scalar_type
from ..creation.ranges import arange
from ..elementwise.where import kept, where
from ..memory.casts import in_dtype_of
from ..memory.filling import writes_freely
from ..shapes.dimensions import movedim, unsqueeze
from ..shapes.expanding import broadcast_tensors, expand, fitted, sum_to_size_of
from ..shapes.joining import _cat, stack
from ..shapes.reshaping import reshape, with_rank, zeros_of


@linear(function=None, method=False, any_dtype=True, quiet=True, saved={"index": "indices"},
        vjp=lambda g, like, index, dims: index_backward(g, index, like.shape, dims))
def index(input: Array, index: Index, dims: Any) -> Any:
    """The elements that index tensors on ``dims`` reach."""
    return index_kernels.taken(input, index, dims)


@universal
def _is_mask(index: Any) -> bool:
    return kind_of((index._data if isinstance(index, Tensor) else index).dtype) == "b"


def _adjacent(dims: Any) -> bool:
    return dims[-1] - dims[0] == len(dims) - 1


def _stays_in_place(index: Any, dims: Any) -> bool:
    """Whether what an index without a batch reaches stands behind the batch of the input."""
    return _is_mask(index) or _adjacent(dims)


def _span(start: int, length: int) -> tuple[int, ...]:
    """``length`` dims from ``start`` on."""
    return tuple(range(start, start + length))


def _with_batch_index(batch: Any, index: Any, count: int) -> Any:
    """Index tensors for ``count`` dims, (count, batch, *inner), behind one that walks the batch."""
    inner = index if count > 1 else unsqueeze(index, 1)
    inner = movedim(inner, 0, 1)
    shape = inner.shape[1:]
    walk = reshape(arange(batch.size), (1, batch.size, *(1,) * (len(shape) - 1)))
    return _cat([expand(walk, (1, *shape)), inner], 0)


def _dims_to_front(input: Any, dims: Any, lead: int) -> Any:
    """``input`` with ``dims`` moved right behind the first ``lead`` dims."""
    return movedim(input, tuple([d + lead for d in dims]), _span(lead, len(dims)))


def _dims_back(output: Any, dims: Any) -> Any:
    return movedim(output, _span(1, len(dims)), shifted(dims))


def _inner_dims(index: Any, dims: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dims of what a batch of indices reaches: right behind the batch, and in the result."""
    rank = _index_rank(index, len(dims))
    return _span(1, rank), _span(1 + (dims[0] if _adjacent(dims) else 0), rank)


def _index_rank(index: Any, count: int) -> int:
    """The rank of what each value of a batch of indices reaches."""
    return inner_rank(index) - (count > 1)


@index.batch
def index_rule(batch: Any, input: Any, at: Any, dims: Any) -> Any:
    if not batch["index"]:
        found = index(input, at, shifted(dims))
        return found if _stays_in_place(at, dims) else movedim(found, at.ndim - 1, 0)
    if _is_mask(at):
        raise CannotBatch("vmap: It looks like you're indexing with a batched mask, whose values "
                          "select different numbers of elements.")
    count, lead = len(dims), int(bool(batch["input"]))
    moved = _dims_to_front(input, dims, lead)
    if lead:
        at_front = _with_batch_index(batch, at, count)
    else:
        at_front = movedim(at, 0, 1) if count > 1 else at
    found = index(moved, at_front, _span(0, count + lead))
    front, place = _inner_dims(at, dims)
    return found if front == place else movedim(found, front, place)


@linear(function=None, method=False, any_dtype=True, node="IndexPutBackward0",
        vjp=lambda g, index, dims: index_of(g, index, dims))
def index_backward(input: Array, index: Index, shape: Any, dims: Any) -> Any:
    """Elements added up in zeros of ``shape``, where index tensors on ``dims`` point."""
    return index_kernels.placed(input, shape, index, dims)


def index_of(input: Any, at: Any, dims: Any) -> Any:
    """:func:`index` for rules, which name an argument ``index``."""
    return index(input, at, dims)


@index_backward.batch
def _(batch: Any, input: Any, at: Any, shape: Any, dims: Any) -> Any:
    if not batch["index"]:
        input = input if _stays_in_place(at, dims) else movedim(input, 0, at.ndim - 1)
        return index_backward(input, at, (batch.size, *shape), shifted(dims))
    if _is_mask(at):
        return NotImplemented
    input = _inner_to_front(batched(batch, "input", input), at, dims)
    rest = [n for d, n in enumerate(shape) if d not in dims]
    whole = (batch.size, *(shape[d] for d in dims), *rest)
    found = index_backward(input, _with_batch_index(batch, at, len(dims)), whole,
                           _span(0, len(dims) + 1))
    return _dims_back(found, dims)


@op(any_dtype=True, node="IndexPutBackward0", apart=True, replaces="index_put_")
def _index_put(input: Array, values: Array, index: Index, dims: Any, accumulate: bool) -> Any:
    values = _in_dtype_put(input, values, index, accumulate)
    return index_kernels.with_put(input, values, index, dims, accumulate)


def _in_dtype_put(array: Any, values: Any, index: Any, accumulate: bool) -> Any:
    """What is put, in the dtype of what it is put into, which it must have."""
    if array.dtype == values.dtype:
        return values
    # One value under a mask is a masked fill, which casts.
    if kind_of(index.dtype) != "b" or values.size != 1 or accumulate:
        refuse_put(array, values)
    return index_kernels.number_as(values.item(), array.dtype).reshape(values.shape)


def refuse_put(array: Any, values: Any) -> None:
    raise RuntimeError("Index put requires the source and destination dtypes match, got "
                       f"{scalar_type(array)} for the destination and {scalar_type(values)} for "
                       "the source.")


@_index_put.write
def _write_indexed(array: Any, values: Any, index: Any, dims: Any, accumulate: bool) -> None:
    values = _in_dtype_put(array, values, index, accumulate)
    index_kernels.put(array, values, index, dims, accumulate)


_index_put.vjp(
    input=lambda g, index, dims, accumulate:
        g if accumulate else _index_put(g, zeros_of(g, ()), index, dims, False),
    values=lambda g, like, index, dims: values_gradient(g, like, index, dims))


def _inner_to_front(values: Any, index: Any, dims: Any) -> Any:
    """Batched values of an indexing result with what the index reached right behind the batch."""
    front, place = _inner_dims(index, dims)
    return values if front == place else movedim(values, place, front)


@_index_put.batch
def _(batch: Any, input: Any, values: Any, at: Any, dims: Any, accumulate: bool) -> Any:
    if batch["index"]:
        put = _put_under_masks if _is_mask(at) else _put_at_batched
        return put(batch, input, values, at, dims, accumulate)
    input = batched(batch, "input", input)
    if batch["values"]:
        reached = 1 - at.ndim if _is_mask(at) else at.ndim - (len(dims) > 1) - len(dims)
        values = with_rank(values, inner_rank(input) + reached)
        values = values if _stays_in_place(at, dims) else movedim(values, 0, at.ndim - 1)
    return _index_put(input, values, at, shifted(dims), accumulate)


def _put_at_batched(batch: Any, input: Any, values: Any, at: Any, dims: Any,
                    accumulate: bool) -> Any:
    input = _dims_to_front(batched(batch, "input", input), dims, 1)
    rank = inner_rank(input) - len(dims) + _index_rank(at, len(dims))
    values = _inner_to_front(with_rank(batched(batch, "values", values), rank), at, dims)
    found = _index_put(input, values, _with_batch_index(batch, at, len(dims)),
                       _span(0, len(dims) + 1), accumulate)
    return _dims_back(found, dims)


def _put_under_masks(batch: Any, input: Any, values: Any, mask: Any, dims: Any,
                     accumulate: bool) -> Any:
    """One value for all elements under a mask; several would differ in number."""
    if math.prod(values.shape[bool(batch["values"]):]) != 1:
        raise CannotBatch("vmap: It looks like you're writing several values under a batched mask, "
                          "whose values select different numbers of elements.")
    input = batched(batch, "input", input)
    rank = inner_rank(input)
    after = rank - dims[0] - inner_rank(mask)
    mask = reshape(mask, (mask.shape[0], *(1,) * dims[0], *mask.shape[1:], *(1,) * after))
    values = reshape(values, (batch.size, *(1,) * rank) if batch["values"] else ())
    values = in_dtype_of(input, values)
    return input + kept(values, mask) if accumulate else where(mask, values, input)


def values_gradient(g: Any, like: Any, index: Any, dims: Any) -> Any:
    """The gradient of what was put; one value under a mask is summed without selecting."""
    if not _is_mask(index) or math.prod(like.shape) != 1:
        return fitted(index_of(g, index, dims), like)
    after = len(g.shape) - dims[0] - len(index.shape)
    shaped = reshape(index, (*index.shape, *(1,) * after))
    return fitted(reshape(sum_to_size_of(kept(g, shaped), ()), like.shape), like)


def located(tensor: Tensor, pairs: list[tuple[int, Tensor]]) -> tuple[Tensor, tuple[int, ...]]:
    """Index tensors at their dimensions as the one index and the dims that :func:`index` takes."""
    if len(pairs) == 1:
        dim, only = pairs[0]
        if only._data.dtype is xp.INT64:
            return only, (dim,)
        check_index(tensor, dim, only)
        return (as_mask(only) if is_mask(only) else only), (dim,)
    dims: list[int] = []
    parts: list[Tensor] = []
    for dim, one in pairs:
        check_index(tensor, dim, one)
        if is_mask(one):
            rows = library_of(one._data).nonzero(one._array())
            dims += range(dim, dim + len(rows))
            parts += [wrap(row) for row in rows]
        else:
            dims.append(dim)
            parts.append(one)
    check_broadcast(parts)
    if any(type(part)._is_traced for part in parts):  # type: ignore[attr-defined]
        return stack(broadcast_tensors(*parts)), tuple(dims)
    return wrap(computed(index_kernels.stacked, [part._data for part in parts])), tuple(dims)


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


def _put_place(name: str, input: Tensor, indices: Any, values: Any) -> tuple[Any, Any]:
    if type(indices) is tuple and len(indices) == 1 and type(indices[0]) is Tensor \
            and indices[0]._data.dtype is xp.INT64 and type(values) is Tensor and input._data.ndim:
        return indices[0], (0,)  # the usual call
    indices = as_operands(name, "indices", 1, indices)
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


@public("index_put")
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with ``values`` written (or added) where ``indices`` point."""
    place, dims = _put_place("index_put", input, indices, values)
    return _index_put(input, values, place, dims, accumulate)


@public("index_put_")
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or add) ``values`` where ``indices`` point, in place."""
    place, dims = _put_place("index_put_", input, indices, values)
    return put_through(input, values, place, dims, accumulate)


_FEW = 4096
"""Up to so many elements are copied sooner than the general path has looked at a write."""


def put_through(target: Tensor, values: Tensor, place: Tensor, dims: tuple[int, ...],
                accumulate: bool) -> Tensor:
    """Write in place; memory that several elements share is written to as well, with a warning."""
    array = target._data
    if writes_freely(target, values) and xp.is_array(array) and xp.has_overlap(array):
        warn("Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor "
             "before performing this operation. This also applies to advanced indexing e.g. "
             "tensor[indices] = tensor")
        write_by(_write_indexed, target, values._data, place._data, dims, accumulate)
        return target
    if MODE.get() is GRAD and array.size <= _FEW and type(place) is Tensor \
            and not GeneralPath.only and recorded_plainly(
                _index_put.op, target, (target, values, place, dims, accumulate)):
        return target
    return call_inplace(_index_put.op, (target, values, place, dims, accumulate))
