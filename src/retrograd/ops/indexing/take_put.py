"""Positions in the flattened tensor: take, put, take_along_dim."""

from __future__ import annotations

from typing import Any

from ...backend import index as index_kernels, xp
from ...base.errors import canonical_dim, no_dims
from ...core.inplace import call_inplace
from ...core.op import Array, Index, composite, linear, public
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import all_batched, batched, flat, run
from ..checks.common import scalar_type
from ..checks.indexing import check_flat, check_put
from ..elementwise.where import where
from ..memory.filling import written_op
from ..shapes.expanding import expand, joint_shape
from ..shapes.reshaping import _view, reshape, zeros_of
from .gather_scatter import _scatter_src, gather, scatter_add


@linear(any_dtype=True, out=Out(
    "take(): self and out expected to have the same dtype, but got self.dtype = {result} and "
    "out.dtype = {out}", apart=True),
    vjp=lambda g, like, index: _put(zeros_of(g, like.shape), index, g, True))
def take(input: Array, index: Index) -> Any:
    """The elements at ``index``, counted through the flattened ``input``."""
    check_flat("take", index, input.size)
    return xp.take(xp.as_array(input).reshape(-1), index)


def _from_front(at: Any, count: int) -> Any:
    """Flat positions counted from the front; those out of range are left for the op to refuse."""
    return where(at < 0, at + count, at)


@take.batch
def _(batch: Any, input: Any, at: Any) -> Any:
    if not batch["input"]:
        return run("take", input, at)
    at = batched(batch, "index", at)
    values = flat(input)
    return reshape(gather(values, 1, _from_front(flat(at), values.shape[1])), at.shape)


@written_op(node="PutBackward0", apart=True, replaces="put_")
def _put(input: Array, index: Index, source: Array, accumulate: bool) -> None:
    check_put(input, index, source)
    flat, copy = index_kernels.packed(input)
    index_kernels.put(flat, xp.as_array(source).reshape(-1), xp.as_array(index).reshape(-1), (0,),
                      accumulate)
    if copy is not None:
        input[...] = copy


_put.vjp(input=lambda g, index, accumulate:
         g if accumulate else _put(g, index, zeros_of(g, index.shape), False),
         source=lambda g, like, index: reshape(take(g, index), like.shape))


@_put.batch
def _(batch: Any, input: Any, at: Any, source: Any, accumulate: bool) -> Any:
    input, at, source = all_batched(batch, input=input, index=at, source=source)
    values = flat(input)
    write = scatter_add if accumulate else _scatter_src
    found = write(values, 1, _from_front(flat(at), values.shape[1]), flat(source))
    return reshape(found, input.shape)


@public("put")
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``input`` with ``source`` written at ``index``, counted through the flattened tensor."""
    return _put(input, index, source, accumulate)


@public("put_", function=None)
def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Write ``source`` at ``index``, counted through the flattened tensor, in place."""
    return call_inplace(_put.op, (input, index, source, accumulate))


@composite(method=True)
def take_along_dim(input: Tensor, indices: Any, dim: Any = None, *, out: Any = None) -> Any:
    """The elements whose coordinate along ``dim`` is given by ``indices``, broadcast together."""
    if indices._data.dtype != xp.INT64:
        raise RuntimeError("torch.take_along_dim(): dtype of indices should be Long but got "
                           f"{scalar_type(indices._data)}")
    if dim is None:
        return gather(_view(input, (-1,)) if input.is_contiguous() else reshape(input, (-1,)), 0,
                      reshape(indices, (-1,)), out=out)
    if input.ndim != indices.ndim:
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number "
                           f"of dimensions, but got {input.ndim} dimensions for input, and "
                           f"{indices.ndim} dimensions for indices")
    d = canonical_dim(dim, input.ndim)
    if not input.ndim:
        raise no_dims(d)
    own, given = list(input.shape), list(indices.shape)
    own[d] = given[d] = 1
    joint = list(joint_shape(tuple(own), tuple(given)))
    joint[d] = input.shape[d]
    wide = expand(input, tuple(joint))
    joint[d] = indices.shape[d]
    wrapped = indices % max(input.shape[d], 1)
    return gather(wide, d, expand(wrapped, tuple(joint)), out=out)
