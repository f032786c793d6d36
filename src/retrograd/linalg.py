"""Linear algebra: the functions of ``torch.linalg``."""

from .base.errors import LinAlgError
from .core.op import PUBLIC as _PUBLIC

globals().update(_PUBLIC["linalg"])

__all__ = ["LinAlgError", *_PUBLIC["linalg"]]


def __dir__() -> list[str]:
    return sorted(__all__)
