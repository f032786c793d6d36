"""Which accelerators there are (none), in the places where programs look for them."""

from __future__ import annotations

from .base.missing_names import suggest_names as _suggest_names


class _Absent:
    """An accelerator library that is not here; its settings are kept and have no effect."""

    enabled = True
    benchmark = False
    deterministic = False
    allow_tf32 = False

    @staticmethod
    def is_available() -> bool:
        return False

    @staticmethod
    def is_built() -> bool:
        return False


class _Cudnn(_Absent):
    pass


class _Cuda(_Absent):
    class matmul:
        allow_tf32 = False


class _Mps(_Absent):
    pass


cudnn = _Cudnn()
cuda = _Cuda()
mps = _Mps()

_suggest_names(__name__)
