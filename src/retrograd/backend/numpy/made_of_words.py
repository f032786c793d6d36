"""Numbers made of random words: a few normal ones, and masks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .native import native
from .streams import _MANTISSA64, _paired, _polar_pair


@native("polar_normals(words, empty(shape, dtype))", when="in_order(words)")
def polar_normals(words: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """As many normal numbers as half the words, which are integers of 32 bits in 64.

    The C library's functions, unlike NumPy's vectorised ones, give PyTorch's very bits.
    """
    found: list[float] = []
    for a, b, c, d in zip(*[iter(words.tolist())] * 4, strict=True):
        found += _polar_pair(math, ((a & 0x1F_FFFF) << 32 | b) * 2.0**-53,
                             ((c & 0x1F_FFFF) << 32 | d) * 2.0**-53)
    return np.array(found, dtype).reshape(shape)


@native("mask(words, empty(shape, dtype), below, value)", when="in_order(words)")
def mask(words: Any, shape: tuple[int, ...], dtype: Any, below: int, value: Any) -> Any:
    """``value`` where the last 53 bits are ``below`` a number, and zeros.

    There is a word of 64 bits for each element, or a pair of words of 32 bits.
    """
    longs = words.view(np.uint64)
    longs = longs if longs.size == math.prod(shape) else _paired(longs)
    flags = longs & _MANTISSA64 < np.uint64(below)
    return flags.astype(dtype).reshape(shape) * value
