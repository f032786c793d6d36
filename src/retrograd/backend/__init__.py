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
    matrices,
    norm,
    pointwise,
    pool,
    reduce,
    smooth,
    softmax,
    sorting,
)

__all__ = ["attention", "conv", "create", "distance", "index", "loss", "matrices", "norm"]
__all__ += ["pointwise", "pool", "reduce", "smooth", "softmax", "sorting", "xp"]
