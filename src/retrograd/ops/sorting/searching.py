"""Searching in sorted sequences and sets."""

from __future__ import annotations

from typing import Any

from ...backend import sorting as sorting_kernels, xp
from ...backend.interface import kind_of
from ...core.op import Array, Index, Number, composite, op
from ...core.operands import result_type_of
from ...core.out_rules import Out
from ...core.tensor import Tensor, wrap
from ..batching import all_batched, batched, flat, inner_rank, run
from ..checks.common import unsupported
from ..checks.reductions import check_search
from ..elementwise.comparison import eq
from ..reductions.truth import _any
from ..shapes.dimensions import unsqueeze
from ..shapes.reshaping import reshape
from ..shapes.slicing import _select


def _sorted_by(boundaries: Any, sorter: Any) -> Any:
    if sorter is None:
        return boundaries
    if sorter.size and (sorter.min() < 0 or sorter.max() >= boundaries.shape[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
    return xp.take_along_axis(boundaries, sorter, -1)


@op(title="searchsorted", out=Out(
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
    "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype "
    "{out} and out_int32 flag is {is_short}"))
def _searchsorted(sorted_sequence: Array, input: Index, out_int32: bool, right: bool,
                  sorter: Index | None) -> Any:
    unsupported("searchsorted_out_cpu", sorted_sequence.dtype, "bc")
    check_search(sorted_sequence, input, sorter)
    if input.size:
        unsupported("searchsorted_out_cpu", input.dtype, "c")
    return sorting_kernels.insertion_points(_sorted_by(sorted_sequence, sorter), input, right,
                                            xp.int32 if out_int32 else xp.INT64)


@_searchsorted.batch
def _(batch: Any, sorted_sequence: Any, input: Any, out_int32: bool, right: bool,
      sorter: Any) -> Any:
    rows, values = all_batched(batch, sorted_sequence=sorted_sequence, input=input)
    sorter = batched(batch, "sorter", sorter)
    if inner_rank(rows) == 1 and not batch["sorted_sequence"] and not (
            sorter is not None and batch["sorter"]):
        return _searchsorted(sorted_sequence, values, out_int32, right,
                             None if sorter is None else _select(sorter, 0, 0))
    if inner_rank(rows) == 1:
        found = _searchsorted(rows, flat(values), out_int32, right, sorter)
        return reshape(found, values.shape)
    return _searchsorted(rows, values, out_int32, right, sorter)


def _as_values(value: Any, boundaries: Any = None) -> Any:
    """A tensor; one without dims, or a number, yields to the dtype of the ``boundaries``."""
    value = value if isinstance(value, Tensor) else wrap(xp.asarray(value))
    if value.ndim or boundaries is None or not boundaries.ndim:
        return value
    kind = result_type_of([boundaries, value])
    return value if value.dtype is kind else value.to(kind)


@composite()
def searchsorted(sorted_sequence: Tensor, input: Tensor | Number, *, out_int32: bool = False,
                 right: bool = False, side: str | None = None, sorter: Any = None,
                 out: Any = None) -> Any:
    """Where each value of ``input`` would be inserted to keep the last dimension sorted."""
    if side not in (None, "left", "right"):
        raise RuntimeError("torch.searchsorted(): side can only be 'left' or 'right' but got "
                           f"{side}")
    if side == "left" and right:
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got "
                           "side of left while right was True")
    return _searchsorted(sorted_sequence, _as_values(input, sorted_sequence), out_int32,
                         right or side == "right", sorter, out=out)


@composite()
def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False,
              right: bool = False, out: Any = None) -> Any:
    """The index of the bucket between ``boundaries`` that each value falls into."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _searchsorted(boundaries, _as_values(input, boundaries), out_int32, right, None, out=out)


@op()
def _isin(elements: Array, test_elements: Index, invert: bool) -> Any:
    found = xp.isin(sorting_kernels.comparable(elements), sorting_kernels.comparable(test_elements))
    return xp.logical_not(found) if invert else found


@_isin.batch
def _(batch: Any, elements: Any, test_elements: Any, invert: bool) -> Any:
    if not batch["test_elements"]:
        return run("_isin", elements, test_elements, invert)
    elements = batched(batch, "elements", elements)
    wanted = flat(test_elements)
    wanted = reshape(wanted, (batch.size, *(1,) * inner_rank(elements), wanted.shape[1]))
    found = eq(unsqueeze(elements, elements.ndim), wanted)
    found = _any(found, (found.ndim - 1,), False)
    return ~found if invert else found


@composite(out=Out())
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False,
         invert: bool = False) -> Any:
    """Whether each element is among ``test_elements``."""
    values = _as_values(elements), _as_values(test_elements)
    for given in values:
        if kind_of(given._data.dtype) in "bc":
            raise RuntimeError("Unsupported input type encountered for isin(): "
                               f"{given.dtype.alias}")
    return _isin(*values, invert)
