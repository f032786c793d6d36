"""One index for a whole slice: index_select, index_add, index_copy, index_fill."""

from __future__ import annotations

from typing import Any

from ...backend import index as xi
from ...backend import xp
from ...base.errors import canonical_dim
from ...core.inplace import call_inplace
from ...core.op import Array, Dim, Index, Number, linear, op, publish
from ...core.tensor import Tensor
from ..memory.filling import NUMBERS, _check_fill_value, _on_copy, dtype_name, fills_shared
from ..shapes.expanding import sum_to_size_of
from ..shapes.reshaping import reshape, zeros_of


def _check_in_range(array: Any, dim: int, index: Any) -> None:
    """Refuse a negative index, too, which NumPy would count from the end."""
    xi.check_range(xp.as_array(index), array.shape[dim] if array.ndim else 1, dim)


def _slices_are_empty(array: Any, dim: int) -> bool:
    return not array.size and array.shape[dim] > 0


def _overwrite_slices(array: Any, dim: int, index: Any, values: Any) -> None:
    if _slices_are_empty(array, dim):
        return
    array = array if array.ndim else array.reshape(1)
    index = xp.atleast_1d(index)
    try:
        xi.put(array, values, index, (dim,), False)
    except IndexError:
        raise xi.out_of_bounds(array, index, (dim,), dim) from None


def _slice_shape(array: Any, dim: int) -> tuple[int, ...]:
    return (*array.shape[:dim], *array.shape[dim + 1:])


@linear(any_dtype=True, quiet=True)
def index_select(input: Array, dim: Dim, index: Index) -> Any:
    """The slices of ``input`` along ``dim`` that ``index`` lists."""
    _check_selection(input, index)
    try:
        _check_in_range(input, dim, index)
    except RuntimeError:
        raise _outside(input, dim, index) from None
    return xp.take(input, xp.atleast_1d(index), axis=dim) if input.ndim else input


index_select.vjp(input=lambda g, like, dim, index:
                 index_add(zeros_of(g, like.shape), dim, index, g))


def _outside(input: Any, dim: int, index: Any) -> Exception:
    """PyTorch's error of an index that is out of range, which has three forms."""
    if input.ndim < 2:
        return IndexError("index out of range in self")
    length = input.shape[dim]
    if not length:
        return RuntimeError("index_select(): self indexing axis dim should be positive")
    if dim != 1 and input.size:
        return IndexError("index out of range in self")
    wrong = xp.as_array(index)[(index < 0) | (index >= length)].flat[0]
    return RuntimeError("INDICES element is out of DATA bounds, "
                        f"id={wrong} axis_dim={length}")


def _check_selection(input: Any, index: Any) -> None:
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype != xp.INT64 and index.dtype != xp.int32:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not input.ndim and index.size != 1:
        raise RuntimeError("index_select(): Index to scalar can have only 1 value, got "
                           f"{index.size} value(s)")


@op(any_dtype=True, inplace=True)
def index_add(input: Array, dim: Dim, index: Index, source: Array, *, alpha: Number = 1) -> Any:
    """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` says."""
    return _on_copy(_write_index_add, input, dim, index, source, alpha)


@index_add.write
def _write_index_add(array: Any, dim: int, index: Any, source: Any, alpha: Any) -> None:
    _check_index_add(array, dim, index, source)
    if not array.size and array.ndim > 1:
        return
    try:
        _check_in_range(array, dim, index)
    except RuntimeError:
        if alpha == 1 and array.ndim > 1 and dim in (0, array.ndim - 1):
            raise
        raise IndexError("index out of range in self") from None
    if alpha != 1:
        source = source * (int(alpha) if array.dtype.kind in "iu" else alpha)
        source = xp.cast(source, array.dtype)
    if not array.ndim:
        array[...] = array + source
        return
    xi.put(array, source, xp.atleast_1d(index), (dim,), True)


index_add.vjp(input=lambda g: g,
              source=lambda g, like, dim, index, alpha: reshape(
                  index_select(g, dim, index) if alpha == 1
                  else index_select(g, dim, index) * alpha, like.shape))


def _check_index_add(array: Any, dim: int, index: Any, source: Any) -> None:
    if index.ndim > 1:
        raise IndexError(f"index_add_(): Index is supposed to be a vector, but got dim: "
                         f"{index.ndim} with type: {dtype_name(index)} and size: "
                         f"{list(index.shape)}")
    if index.dtype != xp.INT64 and index.dtype != xp.int32:
        raise RuntimeError("index_add_(): Expected dtype int32/int64 for index but got: "
                           f"{dtype_name(index)}")
    if array.dtype != source.dtype:
        raise RuntimeError(f"index_add_(): self ({dtype_name(array)}) and source "
                           f"({dtype_name(source)}) must have the same scalar type")
    own, given = _slice_shape(array, dim), _slice_shape(source, dim)
    if array.ndim != source.ndim or own != given:
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the "
                           f"specified dimension. Got self.shape = {list(array.shape)} "
                           f"source.shape = {list(source.shape)}")
    length = source.shape[dim] if source.ndim else 1
    if index.size != length:
        raise RuntimeError(f"index_add_(): Number of indices ({index.size}) should be equal to "
                           f"source.size(dim): ({length}), for dim: {dim}")


@op(any_dtype=True, inplace=True)
def index_copy(input: Array, dim: Dim, index: Index, source: Array) -> Any:
    """``input`` with the slices of ``source`` written where ``index`` says."""
    return _on_copy(_write_index_copy, input, dim, index, source)


@index_copy.write
def _write_index_copy(array: Any, dim: int, index: Any, source: Any) -> None:
    _check_index_copy(array, dim, index, source)
    _overwrite_slices(array, dim, index, source)


index_copy.vjp(input=lambda g, dim, index: _index_fill_value(g, dim, index, 0.0),
               source=lambda g, like, dim, index:
               reshape(index_select(g, dim, index), like.shape))


def _check_index_copy(array: Any, dim: int, index: Any, source: Any) -> None:
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexError("index_copy_(): When source is scalar, index should have one element (got "
                         f"{index.size})")
    if array.ndim != source.ndim and array.ndim and source.ndim:
        raise IndexError("index_copy_(): When source and destination are not scalars, their "
                         f"dimensionality must match. Source dimensionality ({source.ndim}), "
                         f"destination dimensionality ({array.ndim})")
    if index.dtype != xp.INT64:
        raise RuntimeError("index_copy_(): Expected a long tensor for index, but got "
                           f"{dtype_name(index)}")
    if array.dtype != source.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but "
                           f"got (self) {dtype_name(array)} and (source) {dtype_name(source)}")
    own, given = _slice_shape(array, dim), _slice_shape(source, dim)
    if own != given:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, own))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, given))} at dimension {dim if source.ndim else 0}.")
    if source.ndim and index.size != source.shape[dim]:
        raise IndexError(f"index_copy_(): Number of indices ({index.size}) should be equal to "
                         f"source.size(dim) ({source.shape[dim]})")
    if _slices_are_empty(array, dim):
        return
    try:
        _check_in_range(array, dim, index)
    except RuntimeError as error:
        raise IndexError(f"index_copy_(): {error}") from None


@op(function=None, method=False, any_dtype=True, node="IndexFillBackward0")
def _index_fill_value(input: Array, dim: Dim, index: Index, value: Number) -> Any:
    return _on_copy(_write_index_fill, input, dim, index, value)


@_index_fill_value.write
def _write_index_fill(array: Any, dim: int, index: Any, value: Any) -> None:
    _check_index_fill(index)
    if isinstance(value, complex) and array.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not "
                           "supported")
    _overwrite_slices(array, dim, index, xi.number_as(value, array.dtype))


_index_fill_value.vjp(input=lambda g, dim, index: _index_fill_value(g, dim, index, 0.0))


@op(function=None, method=False, any_dtype=True, node="IndexFillBackward1")
def _index_fill_tensor(input: Array, dim: Dim, index: Index, value: Array) -> Any:
    return _on_copy(_write_index_fill_tensor, input, dim, index, value)


@_index_fill_tensor.write
def _write_index_fill_tensor(array: Any, dim: int, index: Any, value: Any) -> None:
    _check_index_fill(index)
    _check_fill_value("index_fill_", value)
    _overwrite_slices(array, dim, index, xp.cast(value, array.dtype))


_index_fill_tensor.vjp(
    input=lambda g, dim, index: _index_fill_value(g, dim, index, 0.0),
    value=lambda g, like, dim, index: cast_to(sum_to_size_of(
        g - _index_fill_value(g, dim, index, 0.0), ()), like))


def cast_to(g: Any, like: Any) -> Any:
    from ...core.graph import fit
    from ...core.saved_values import fit_tensor

    return fit_tensor(g, like) if isinstance(g, Tensor) else fit(g, like)


def _check_index_fill(index: Any) -> None:
    if index.dtype != xp.INT64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """``input`` with the slices along ``dim`` that ``index`` lists set to ``value``."""
    function = _index_fill_tensor if isinstance(value, Tensor) else _index_fill_value
    return function(input, dim, index, value)


def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Set the slices along ``dim`` that ``index`` lists to ``value``, in place."""
    function = _index_fill_tensor if isinstance(value, Tensor) else _index_fill_value
    if isinstance(value, NUMBERS) and fills_shared("index_fill_", input, index):
        function.op.writer(input._data, canonical_dim(dim, input.ndim), index._data, value)
        input._counter().bump()
        return input
    return call_inplace(function.op, (input, dim, index, value))


publish(index_fill, "index_fill")
publish(index_fill_, "index_fill_", function=None)
