"""Linear algebra: the functions of ``torch.linalg``."""

from .errors import LinAlgError
from .op import PUBLIC as _PUBLIC

globals().update(_PUBLIC["linalg"])

__all__ = ["LinAlgError", *_PUBLIC["linalg"]]
