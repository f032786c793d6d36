"""Half precision: float16 and bfloat16 are stored, and computed with in float32."""

from __future__ import annotations

from typing import Any

from .. import xp


def is_half(dtype: Any) -> bool:
    """Whether sums over this dtype are kept in float32: float16 and bfloat16."""
    return dtype.itemsize == 2 and dtype.kind not in "iu"


def wide(array: Any) -> Any:
    """Half precision as float32, in which it is computed with; anything else, and None, stays."""
    return array.astype(xp.FLOAT32) if array is not None and is_half(array.dtype) else array
