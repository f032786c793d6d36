"""``make_tensor``: tensors of drawn values in a given range, dtype and layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import retrograd

from ..base import dtypes
from ..base.warning import warn
from ..core.tensor import Tensor


def make_tensor(*shape: Any, dtype: dtypes.dtype, device: Any, low: float | None = None,
                high: float | None = None, requires_grad: bool = False, noncontiguous: bool = False,
                exclude_zero: bool = False, memory_format: Any = None) -> Tensor:
    """A tensor of values drawn uniformly from ``[low, high)``."""
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = tuple(shape[0])
    is_whole = not dtype.is_floating_point and not dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually "
                         f"exclusive, but got {noncontiguous=} and {memory_format=}")
    if requires_grad and is_whole:
        raise ValueError("`requires_grad=True` is not supported for boolean and integral dtypes, "
                         f"but got {dtype=}")
    noncontiguous = noncontiguous and math.prod(shape) > 1
    # Twice as many along the last dim, of which every second is taken.
    drawn = (*shape[:-1], 2 * shape[-1]) if noncontiguous else shape
    low, high = _range(dtype, low, high)
    if is_whole:
        made = retrograd.randint(math.ceil(low), math.ceil(high), drawn, device=device, dtype=dtype)
    else:
        made = retrograd.empty(drawn, device=device, dtype=dtype)
        _fill_uniformly(retrograd.view_as_real(made) if dtype.is_complex else made, low, high)
    if noncontiguous:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = 1 if is_whole else retrograd.finfo(dtype).tiny
    return made if is_whole else made.requires_grad_(requires_grad)


def _range(dtype: dtypes.dtype, low: float | None, high: float | None) -> tuple[float, float]:
    """The bounds of the values: those given, or usual ones, as far as the dtype has them."""
    least, greatest, usual = _limits(dtype)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and (dtype.is_floating_point or dtype.is_complex):
        warn("Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
             "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
             FutureWarning)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= greatest:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), "
                         f"but {dtype} only supports [{least}, {greatest})")
    return min(max(low, least), greatest), min(max(high, least), greatest)


def _limits(dtype: dtypes.dtype) -> tuple[float, float, tuple[float, float]]:
    """A dtype's least and greatest value (of whole numbers: what lies above it), and usual ones."""
    if dtype is dtypes.bool:
        return 0, 2, (0, 2)
    if dtype.is_floating_point or dtype.is_complex:
        known = retrograd.finfo(dtype)
        return known.min, known.max, (-9, 9)
    whole = retrograd.iinfo(dtype)
    # No bound above int64's greatest value can be handed to randint.
    return whole.min, whole.max + (dtype is not dtypes.int64), (-9, 10)


def _fill_uniformly(values: Tensor, low: float, high: float) -> None:
    if high - low >= retrograd.finfo(values.dtype).max:  # more than uniform_ can span at once
        values.uniform_(low / 2, high / 2).mul_(2)
    else:
        values.uniform_(low, high)
