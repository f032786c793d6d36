"""Array libraries: the only place that names NumPy, SciPy or ml_dtypes; kernels say ``xp``."""

from __future__ import annotations

from .numpy import xp

# isort: split
from .numpy import (
    attention,
    conv,
    create,
    distance,
    index,
    loss,
    norm,
    pointwise,
    pool,
    reduce,
    smooth,
    softmax,
)
from .numpy import matrices as linalg
from .numpy import sorting as sort

__all__ = ["attention", "conv", "create", "distance", "index", "linalg", "loss", "norm"]
__all__ += ["pointwise", "pool", "reduce", "smooth", "softmax", "sort", "xp"]
