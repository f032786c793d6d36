"""Filling under masks."""

from __future__ import annotations

from typing import Any

from ...backend import index as index_kernels, xp
from ...backend.interface import kind_of
from ...core.inplace import call_inplace, write_by
from ...core.op import Array, Index, Number, op, public
from ...core.tensor import Tensor
from ..batching import all_aligned, run
from ..checks.indexing import check_fill_value, check_mask
from ..elementwise.where import kept, where
from ..memory.filling import NUMBERS, _fill_value, fills_shared
from ..shapes.expanding import joint_shape
from ..shapes.reshaping import no_overload


def _joint_shape(mask: Any, input: Any) -> tuple[int, ...]:
    return joint_shape(mask.shape, input.shape)


def _fill_masked(array: Any, mask: Any, value: Any) -> None:
    shape = _joint_shape(mask, array)
    if shape != array.shape:
        raise RuntimeError(f"output with shape {list(array.shape)} doesn't match the broadcast "
                           f"shape {list(shape)}")
    array[xp.broadcast_to(mask, array.shape)] = value  # a store, amid which no interrupt comes


def _masked(input: Any, mask: Any, value: Any) -> Any:
    if mask.shape != input.shape:
        _joint_shape(mask, input)
    return xp.in_rows(xp.where(mask, value, input))


@op(any_dtype=True, broadcasts=True, node="MaskedFillBackward0", quiet=True,
    vjp=lambda g, mask: _masked_fill_value(g, mask, 0.0), batches=lambda batch, input, mask, value:
    run("_masked_fill_value", *all_aligned(batch, input=input, mask=mask), value))
def _masked_fill_value(input: Array, mask: Index, value: Number) -> Any:
    check_mask(mask)
    return _masked(input, mask, index_kernels.number_as(value, input.dtype))


@_masked_fill_value.write
def _write_masked_fill(array: Any, mask: Any, value: Any) -> None:
    check_mask(mask)
    _fill_masked(array, mask, index_kernels.number_as(value, array.dtype))


def _fitting(value: Any, dtype: Any) -> Any:
    """A value in the dtype of what it fills; an imaginary part has to fit there too."""
    if kind_of(value.dtype) == "c" and kind_of(dtype) != "c":
        return index_kernels.number_as(value.item(), dtype)
    return xp.cast(value, dtype)


@op(any_dtype=True, broadcasts=True, node="MaskedFillBackward1", apart=None,
    replaces="masked_fill_")
def _masked_fill_tensor(input: Array, mask: Index, value: Array) -> Any:
    check_mask(mask)
    check_fill_value("masked_fill_", value.ndim)
    return _masked(input, mask, _fitting(value, input.dtype))


@_masked_fill_tensor.write
def _write_masked_fill_tensor(array: Any, mask: Any, value: Any) -> None:
    check_mask(mask)
    check_fill_value("masked_fill_", value.ndim)
    _fill_masked(array, mask, _fitting(value, array.dtype))


_masked_fill_tensor.vjp(input=lambda g, mask: _masked_fill_value(g, mask, 0.0),
                        value=lambda g, mask: kept(g, mask))


@_masked_fill_tensor.batch
def _(batch: Any, input: Any, mask: Any, value: Any) -> Any:
    value = _fill_value("masked_fill_", batch, value, input)
    input, mask, value = all_aligned(batch, input=input, mask=mask, value=value)
    return where(mask, value, input)


def _masked_fill_op(name: str, mask: Any, value: Any) -> Any:
    if isinstance(value, Tensor):
        return _masked_fill_tensor
    if not isinstance(value, NUMBERS):
        raise no_overload(name, [("Tensor mask", "Tensor value"), ("Tensor mask", "Number value")],
                          mask, value)
    return _masked_fill_value


@public("masked_fill")
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``input`` with ``value`` where ``mask`` is true."""
    return _masked_fill_op("masked_fill", mask, value)(input, mask, value)


@public("masked_fill_", function=None)
def masked_fill_(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Write ``value`` where ``mask`` is true, in place."""
    declared = _masked_fill_op("masked_fill_", mask, value).op
    if fills_shared("masked_fill_", input, value, mask):
        write_by(declared.writer, input, mask._data, getattr(value, "_data", value))
        return input
    return call_inplace(declared, (input, mask, value))
