"""Native kernels for retrograd: the functions of the build that suits this processor.

Every kernel reads and writes arrays that support the buffer protocol, row by row in memory, and
returns what it wrote; see README.md for how they are made and :mod:`retrograd.backend.numpy.native`
for how they are used.
"""

import os
from importlib import import_module
from types import ModuleType

from ._cpu import variant as _best

__version__ = "0.1.0"

VARIANTS = ("v2", "v3", "v4") if _best() != "portable" else ("portable",)
"""The builds, from the one that every processor of its kind runs up."""


def _chosen() -> str:
    """The best build for this processor, or the one that RETROGRAD_KERNELS names, if it runs."""
    asked, best = os.environ.get("RETROGRAD_KERNELS", ""), _best()
    if best not in VARIANTS:
        raise ImportError("retrograd-kernels needs a processor with SSE 4.2")
    if asked not in VARIANTS:
        return best
    if VARIANTS.index(asked) > VARIANTS.index(best):
        raise ImportError(f"RETROGRAD_KERNELS={asked}: this processor runs at most {best}")
    return asked


variant = _chosen()
try:
    kernels: ModuleType = import_module(f"{__name__}._{variant}")
except ModuleNotFoundError:
    raise ImportError(f"retrograd-kernels was built without {variant}: "
                      "build it again, without RETROGRAD_KERNELS_BUILDS") from None
"""The module that holds the kernels."""
