"""Normal numbers of random words, a few at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .native import native
from .streams import _polar_pair


@native("polar_normals(words, empty(shape, dtype))", when="words.flags.c_contiguous")
def polar_normals(words: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """As many normal numbers as half the words, which are integers of 32 bits in 64.

    The C library's functions, unlike NumPy's vectorised ones, give PyTorch's very bits.
    """
    found: list[float] = []
    for a, b, c, d in zip(*[iter(words.tolist())] * 4, strict=True):
        found += _polar_pair(math, ((a & 0x1F_FFFF) << 32 | b) * 2.0**-53,
                             ((c & 0x1F_FFFF) << 32 | d) * 2.0**-53)
    return np.array(found, dtype).reshape(shape)
