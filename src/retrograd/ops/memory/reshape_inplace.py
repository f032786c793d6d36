"""Tensors that take another shape or other memory in place."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

from ...backend.interface import library_of
from ...base.errors import c_name, no_overload, wrong_type
from ...base.modes import MODE
from ...core.arguments import guard
from ...core.computing import compute
from ...core.graph import INFERENCE, View
from ...core.inplace import check_history, check_writable, packed_strides, resize
from ...core.op import Array, op, public, view
from ...core.operands import prepare
from ...core.recording import record
from ...core.tensor import Tensor, edge_of, method
from ...storage import TypedStorage, UntypedStorage
from ..checks.common import no_derivative
from ..shapes.dimensions import _squeeze, _squeeze_dim, _squeeze_dims, t, transpose, unsqueeze
from ..shapes.expanding import expands_to, sum_to_size_of
from ..shapes.reshaping import reshape, sizes
from .strides import _as_strided, as_strided_backward, check_in_storage, check_reach, geometry


def restride(function: Any, target: Tensor, *static: Any) -> Tensor:
    """Let ``target`` itself become the view that ``function`` takes of it."""
    declared = function.op
    mode = MODE.get()
    tensors, values = prepare(declared, (target, *static))
    edge, known = edge_of(target), target._view
    records = mode.records and edge is not None
    if records or target._vc is INFERENCE:
        check_history(target, records, mode)
    result = compute(declared, values)
    node = None
    has_history = edge is not None and edge is not target  # which is a leaf
    if records or (has_history and known is not None and edge_of(known.base) is None):
        node = record(declared, tensors, values, [edge], (target,), mode, attach=False)
    elif has_history and known is None:
        node = record(_former_shape.op, {"input": target}, [target._data], [edge], (target,), mode,
                      attach=False)
    counter = target._counter()
    target._replace_data(result)
    counter.bump()
    if known is not None:
        # What is not recorded is out of date: the history is found anew from the base's.
        version = known.version if node is None else counter.n
        target._view = View.of(known.base, known, declared, tuple(values[1:]), known.origin,
                               version)
    if node is not None:
        target._edge = node
    return target


def _of_former_shape(g: Any, like: Any) -> Any:
    """A gradient of a tensor that took another shape while nothing was recorded."""
    if not expands_to(tuple(like.shape), tuple(g.shape)):
        raise RuntimeError(
            f"a gradient of shape {list(g.shape)} does not fit what was recorded, of shape "
            f"{list(like.shape)}: the tensor took its present shape in place, under no_grad")
    return sum_to_size_of(g, tuple(like.shape))


@op(any_dtype=True, function=None, method=False, batches="leading", vjp=_of_former_shape)
def _former_shape(input: Array) -> Any:
    return input


def _twin_op(source: Any, node: str,
             vjp: Any = lambda g, like: reshape(g, like.shape)) -> Any:
    """``source`` under the name that PyTorch gives its in-place form's node."""
    kernel = source.op.kernel
    twin_kernel = FunctionType(kernel.__code__, kernel.__globals__,
                               f"{source.op.name.strip('_')}_in_place", kernel.__defaults__)
    twin_kernel.__annotations__ = kernel.__annotations__
    made = view(function=None, method=False, node=node, vjp=vjp)(twin_kernel)
    made.op.own_batch_rule = source.op.own_batch_rule
    return made


_t = _twin_op(t, "TBackward1", lambda g: t(g))
_transpose = _twin_op(transpose, "TransposeBackward1",
                      lambda g, dim0, dim1: transpose(g, dim0, dim1))
_unsqueeze = _twin_op(unsqueeze, "UnsqueezeBackward1")
_squeeze_all = _twin_op(_squeeze, "SqueezeBackward3")
_squeeze_one = _twin_op(_squeeze_dim, "SqueezeBackward4")
_squeeze_some = _twin_op(_squeeze_dims, "SqueezeBackward5")
_as_strided_self = _twin_op(_as_strided, "AsStridedBackward1",
                            lambda g, size, stride, storage_offset, source:
                            as_strided_backward(g, source, size, stride, storage_offset))


def t_(self: Tensor) -> Tensor:
    """Transpose this matrix in place."""
    if self.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return restride(_t, self)


@method("swapaxes_", "swapdims_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions in place."""
    return restride(_transpose, self, dim0, dim1)


def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """Insert a dimension of length one in place."""
    return restride(_unsqueeze, self, dim)


def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """Drop dimensions of length one in place."""
    if dim is None:
        return restride(_squeeze_all, self, tuple(range(self.ndim)))
    if isinstance(dim, (tuple, list)):
        return restride(_squeeze_some, self, tuple(dim))
    return restride(_squeeze_one, self, dim)


def as_strided_(self: Tensor, size: Sequence[int], stride: Sequence[int],
                storage_offset: Any = None) -> Tensor:
    """Take any shape, strides and offset in this tensor's storage, in place."""
    size, stride = sizes((size,)), sizes((stride,))
    where = geometry(self)
    check_in_storage(self, size, stride, where[2] if storage_offset is None else storage_offset)
    return restride(_as_strided_self, self, size, stride, storage_offset, where)


def resize_(self: Tensor, *given: Any, memory_format: Any = None) -> Tensor:
    """Take another size in place: the same memory where it suffices, grown where not."""
    size = sizes(given)
    if self._edge is not None and not MODE.get().inference:
        raise RuntimeError("cannot resize variables that require grad")
    if any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")
    resize(self, size)
    return self


@public("resize_as_", method=False)
def resize_as_(self: Tensor, the_template: Tensor, memory_format: Any = None) -> Tensor:
    """Take ``the_template``'s size in place."""
    return resize_(self, tuple(the_template.shape))


@op(any_dtype=True, node="NotImplemented", vjp=lambda g: no_derivative("set_"))
def _set(input: Array, source: Array) -> Any:
    return source


_SET_FORMS = ("", "torch.Storage source",
              "torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride"
              " = None",
              "Tensor source", "Tensor source, int storage_offset, tuple of ints size, tuple of "
              "ints stride = None")


def set_(self: Tensor, source: Any = None, storage_offset: int = 0,
         size: Sequence[int] | None = None, stride: Sequence[int] | None = None) -> Tensor:
    """Share the memory of ``source`` from now on."""
    if source is None:
        array = library_of(self._data).empty((0,), self._data.dtype)
    else:
        if not isinstance(source, Tensor | TypedStorage | UntypedStorage):
            raise wrong_type("set_", "source", 1, "Tensor or Storage", source)
        array = source.array_of(self.dtype) if isinstance(source, UntypedStorage) \
            else source._array()
        if array.dtype != self._data.dtype:
            raise RuntimeError(f"Could not set tensor of type {c_name(array)} to a tensor of type "
                               f"{c_name(self)}")
    if size is None and storage_offset:
        raise no_overload("set_", (source, storage_offset), *_SET_FORMS)
    if size is not None:
        size = sizes((size,))
        strides = packed_strides(size) if stride is None else sizes((stride,))
        library = library_of(array)
        if len(size) != len(strides):
            raise RuntimeError(f"unequal size length ({len(size)}) and stride length "
                               f"({len(strides)})")
        if min((*size, *strides), default=0) < 0:
            raise RuntimeError("numel: integer multiplication overflow" if min(size) < 0 else
                               f"Storage size calculation overflowed with sizes={list(size)} and "
                               f"strides={list(strides)}")
        if storage_offset < 0:
            raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
        check_reach(array, size, strides,
                    library.offset_in(array, library.storage_of(array)) + storage_offset)
        array = library.as_strided(array, size, strides, storage_offset)
    mode = MODE.get()
    edge, other = edge_of(self), edge_of(source) if isinstance(source, Tensor) else None
    node = None
    if mode.records and (edge is not None or other is not None):
        check_writable(self, True, mode)
        tensors = {"input": self, "source": source}
        node = record(_set.op, tensors, [self._data, array], [edge, other], (self,), mode,
                                attach=False)
    self._replace_data(array)
    self._counter().bump()
    if node is not None:
        self._edge = node
    return self


for _method in (t_, transpose_, unsqueeze_, squeeze_, as_strided_, resize_, resize_as_, set_):
    guard(_method)
    setattr(Tensor, _method.__name__, _method)
