"""Array libraries: the only place that names NumPy, SciPy or ml_dtypes; kernels say ``xp``."""

from __future__ import annotations

from . import numpy as xp

__all__ = ["xp"]
