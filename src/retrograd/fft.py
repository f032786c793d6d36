"""Fourier transforms: the functions of ``torch.fft``."""

from .base.missing_names import suggest_names as _suggest_names
from .core.op import PUBLIC as _PUBLIC
from .core.tensor import Tensor
from .ops import fourier as _fourier  # noqa: F401 - declares them

globals().update(_PUBLIC["fft"])

__all__ = ["Tensor", *_PUBLIC["fft"]]


def __dir__() -> list[str]:
    return sorted(__all__)


_suggest_names(__name__)
