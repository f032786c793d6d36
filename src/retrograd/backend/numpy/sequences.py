"""The direction numbers of Sobol's sequences, which SciPy ships."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import optional


def sobol_directions(dimension: int, bits: int) -> Any:
    """For each dimension, the numbers whose sums without carry are the sequence."""
    qmc = optional("scipy.stats.qmc", "quasirandom.SobolEngine")
    return qmc.Sobol(dimension, scramble=False, bits=bits)._sv.astype(np.int64)
