"""What embeddings refuse, and in which words."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...base import dtypes
from ...base.errors import length_of
from ...core.tensor import Tensor


def check_index_kind(name: str, indices: Tensor, argument: str = "indices",
                     position: int = 1) -> None:
    if indices.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            f"Expected tensor for argument #{position} '{argument}' to have one of the following "
            f"scalar types: Long, Int; but got torch.{indices.dtype.alias}Tensor instead (while "
            f"checking arguments for {name})")


def check_bags(weight: Tensor, indices: Tensor, offsets: Tensor, scale: Tensor | None) -> None:
    """Raise unless ``offsets`` divide ``indices`` into bags of rows."""
    check_index_kind("embedding_bag", indices)
    check_index_kind("embedding_bag", offsets, "offsets")
    if not weight.dtype.is_floating_point:
        kind = f"CPU{weight.dtype.alias}Type" if weight.dtype.is_complex \
            else f"torch.{weight.dtype.alias}Tensor"
        raise RuntimeError("Expected tensor for argument #1 'weight' to have one of the following "
                           f"scalar types: Half, BFloat16, Float, Double; but got {kind} instead "
                           "(while checking arguments for embedding_bag)")
    if scale is not None and scale.dtype is not weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type torch.{weight.dtype.alias}Tensor does not equal "
            f"torch.{scale.dtype.alias}Tensor (while checking arguments for embedding_bag)")


def checked_offsets(offsets: list[int], count: int, include_last_offset: bool) -> None:
    """Raise unless bags begin at ``offsets``, one behind the other, in ``count`` indices."""
    if include_last_offset and not offsets:
        raise RuntimeError("include_last_offset: numBags should be at least 1")
    if not offsets:
        if count:
            raise RuntimeError("embedding_bag: offsets must not be empty where there are indices")
        return
    if offsets[0]:
        raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has "
                           f"to start from position 0. However, got {offsets[0]}")
    if offsets[-1] > count:
        raise RuntimeError(f"offsets[-1] can not be greater than input's length {count} but got "
                           f"offsets[-1] of {offsets[-1]}")
    if any(a > b for a, b in pairwise(offsets)):
        raise RuntimeError("embedding_bag: offsets must not decrease")


def padding_within(padding_idx: Any, weight: Tensor) -> int:
    """The row that is left out, counted from the first; -1 for none."""
    rows = length_of(tuple(weight.shape), 0)
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise RuntimeError("padding_idx must be within the number of embeddings, "
                           f"-{rows} through {rows - 1}, but got {padding_idx}")
    return padding_idx % rows
