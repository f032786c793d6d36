"""Batching rules of views: shapes, dims, parts and strides."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ...backend import xp
from ...base.errors import canonical_dim
from ..memory.casts import clone
from ..memory.strides import _as_strided, alias
from ..shapes.dimensions import _permute, _squeeze, transpose, unsqueeze
from ..shapes.expanding import expand, sum_to_size_of
from ..shapes.reshaping import _unsafe_view, _view, infer_size, reshape
from .common import (
    RULES,
    all_batched,
    behind_batch,
    inner_rank,
    itself,
    rule,
    rule_by_name,
    run,
    shifted,
    with_rank,
)

itself("alias", "view_as_real", "view_as_complex", "_real", "_imag", "complex_of", "_packed_clone")
behind_batch("_select", "select_backward", "_slice", "slice_backward", "diagonal_backward")


def _reshaped(function: Any, batch: Any, input: Any, size: Any) -> Any:
    count = math.prod(input.shape[1:])
    return function(input, (batch.size, *infer_size(tuple(size), count)))


RULES["_view"] = RULES["_reshape_alias"] = partial(_reshaped, _view)
RULES["_unsafe_view"] = RULES["_reshape"] = partial(_reshaped, _unsafe_view)
RULES["_reshape_copy"] = partial(_reshaped, lambda input, size: _unsafe_view(clone(input), size))


@rule("expand")
def _(batch: Any, input: Any, size: Any) -> Any:
    return expand(with_rank(input, len(size)), (batch.size, *size))


@rule("sum_to_size_of")
def _(batch: Any, input: Any, size: Any) -> Any:
    lead = inner_rank(input) - len(size)
    total = sum_to_size_of(input, (batch.size, *(1,) * lead, *size))
    return reshape(total, (batch.size, *size))


@rule("_permute")
def _(batch: Any, input: Any, dims: Any) -> Any:
    return _permute(input, (0, *shifted(dims)))


@rule("t", "t_in_place")
def _(batch: Any, input: Any) -> Any:
    if inner_rank(input) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is "
                           f"{inner_rank(input)}D")
    return transpose(input, 1, 2) if inner_rank(input) == 2 else alias(input)


@rule("unsqueeze", "unsqueeze_in_place")
def _(batch: Any, input: Any, dim: int) -> Any:
    return unsqueeze(input, canonical_dim(dim, input.ndim) + 1)


@rule("_squeeze", "_squeeze_dims", "squeeze_in_place", "squeeze_dims_in_place")
def _(batch: Any, input: Any, dim: Any) -> Any:
    return _squeeze(input, shifted(dim)) if inner_rank(input) else alias(input)


@rule("unfold_backward")
def _(batch: Any, input: Any, input_sizes: Any, dim: int, size: int, step: int) -> Any:
    if not input_sizes:
        return reshape(input, (batch.size,))
    return run("unfold_backward", input, (batch.size, *input_sizes), dim + 1, size, step)


@rule("unfold")
def _(batch: Any, input: Any, dimension: int, size: int, step: int) -> Any:
    if not inner_rank(input):
        return unsqueeze(input, 1)
    return run("unfold", input, dimension + 1, size, step)


# ---------------------------------------------------------------- strides


@rule("_as_strided", "as_strided_in_place")
def _(batch: Any, input: Any, size: Any, stride: Any, storage_offset: Any, source: Any) -> Any:
    return _as_strided(input, (batch.size, *size), (input.stride(0), *stride), storage_offset,
                       source)


def _laid_side_by_side(batch: Any, source: Any, size: Any, stride: Any,
                       offset: Any) -> tuple[Any, Any, Any]:
    """The layout of a batch whose values have one layout each, and of the batch of views."""
    shape, strides, own = source
    start = own if offset is None else offset
    length = 1 + max(own + xp.reach(shape, strides), start + xp.reach(size, stride))
    whole = (batch.size, *shape), (length, *strides), own
    return whole, (batch.size, *size), (length, *stride)


@rule_by_name("as_strided_backward", "strided_from")
def _(name: str, batch: Any, input: Any, source: Any, size: Any, stride: Any, offset: Any) -> Any:
    return run(name, input, *_laid_side_by_side(batch, source, size, stride, offset), offset)


@rule("_as_strided_scatter")
def _(batch: Any, input: Any, src: Any, size: Any, stride: Any, offset: int, source: Any) -> Any:
    input, src = all_batched(batch, input=input, src=src)
    whole, size, stride = _laid_side_by_side(batch, source, size, stride, offset)
    return run("_as_strided_scatter", input, src, size, stride, offset, whole)
