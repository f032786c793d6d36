"""Batching rules of sorting, sorted sequences and sets."""

from __future__ import annotations

from typing import Any

from ...core.op import REGISTRY
from ...transforms import CannotBatch
from ..elementwise.comparison import eq
from ..reductions.truth import _any
from ..shapes.dimensions import unsqueeze
from ..shapes.reshaping import reshape
from ..shapes.slicing import _select
from ..sorting.searching import _searchsorted
from ..sorting.sorting import _put_along, _take_along
from .common import (
    all_batched,
    batched,
    behind_batch,
    flat,
    inner_rank,
    itself,
    rule,
    rule_by_name,
    run,
)

itself("_rank_range")
behind_batch("_with_quantiles_first")


@rule("_take_along")
def _(batch: Any, input: Any, index: Any, dim: int) -> Any:
    input, index = all_batched(batch, input=input, index=index)
    return input if input.ndim == 1 else _take_along(input, index, dim + 1)


@rule("_put_along")
def _(batch: Any, input: Any, index: Any, shape: Any, dim: int, unique: bool) -> Any:
    input, index = all_batched(batch, input=input, index=index)
    if input.ndim == 1:
        return input
    return _put_along(input, index, (batch.size, *shape), dim + 1, unique)


@rule("_searchsorted")
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


@rule("_isin")
def _(batch: Any, elements: Any, test_elements: Any, invert: bool) -> Any:
    if not batch["test_elements"]:
        return run("_isin", elements, test_elements, invert)
    elements = batched(batch, "elements", elements)
    wanted = flat(test_elements)
    wanted = reshape(wanted, (batch.size, *(1,) * inner_rank(elements), wanted.shape[1]))
    found = eq(unsqueeze(elements, elements.ndim), wanted)
    found = _any(found, (found.ndim - 1,), False)
    return ~found if invert else found


@rule_by_name("_unique2", "_unique_dim", "_unique_consecutive", "_counts", "_weighted_counts")
def _(name: str, batch: Any, *values: Any) -> Any:
    raise CannotBatch(f"vmap: the size of what {REGISTRY[name].title} returns depends on the "
                      "values, which differ in a batch.")
