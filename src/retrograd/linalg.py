"""Linear algebra: the functions of ``torch.linalg``."""

from .base.errors import LinAlgError
from .base.missing_names import suggest_names as _suggest_names
from .core.op import PUBLIC as _PUBLIC

globals().update(_PUBLIC["linalg"])

__all__ = ["LinAlgError", *_PUBLIC["linalg"]]


def __dir__() -> list[str]:
    return sorted(__all__)


_suggest_names(__name__)
