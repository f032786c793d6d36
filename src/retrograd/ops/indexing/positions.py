"""Where things are: in a number of rows that is known beforehand, and from flat positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...base import dtypes
from ...core.op import composite
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..shapes.joining import stack


@composite(method=True, out=Out(
    "nonzero_static: Expected out tensor to have scalar type {result} but got scalar type{out}"))
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The coordinates of the first ``size`` non-zero elements, filled up with ``fill_value``."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = (input != 0).reshape(-1)
    places = found.cumsum(0) - 1
    # The coordinates of all elements, written where they are wanted or to a row that is cut off.
    rows = places.where(found & (places < size), size)
    flat = found.new_ones(found.shape, dtype=dtypes.int64).cumsum(0) - 1
    filled = flat.new_full((size + 1, input.ndim), fill_value)
    if input.ndim:
        all_rows = stack(unravel_index(flat, tuple(input.shape)), 1)
        filled = filled.scatter(0, rows.unsqueeze(1).expand(all_rows.shape), all_rows)
    return filled[:size]  # type: ignore[no-any-return]


@composite()
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The coordinates of positions that count through a tensor of ``shape``, one for each dim."""
    if dtypes.category(indices.dtype) != 1:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes: Any = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError("expected 'shape' sequence to only contain ints, but got "
                            f"{type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    steps = [math.prod(sizes[d + 1:]) for d in range(len(sizes))]
    return tuple([indices.div(step, rounding_mode="floor") % size
                  for step, size in zip(steps, sizes, strict=True)])
