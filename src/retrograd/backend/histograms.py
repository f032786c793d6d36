"""How many values lie in each bin, for bins as NumPy's users describe them."""

from __future__ import annotations

from typing import Any

import numpy as np


def histogram(values: np.ndarray, bins: Any, max_bins: int | None) -> tuple[Any, Any]:
    """The counts and limits of bins; neighbours are joined where there are too many."""
    counts, limits = np.histogram(values, bins)
    if max_bins is not None and len(counts) > max_bins:
        together = len(counts) // max_bins
        counts = np.add.reduceat(counts, range(0, len(counts), together))
        limits = np.append(limits[:-1:together], limits[-1])
    return counts, limits
