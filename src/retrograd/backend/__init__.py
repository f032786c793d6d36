"""Array libraries: the only place that names NumPy, SciPy or ml_dtypes; kernels say ``xp``."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .numpy import xp

if TYPE_CHECKING:
    def __getattr__(name: str) -> Any: ...  # a module of kernels, mostly of plain bodies

_TUNED = ("attention", "conv", "copies", "create", "distance", "fourier", "index", "loss",
          "matrices", "norm", "pointwise", "polynomials", "pool", "reduce", "smooth", "softmax",
          "sorting", "systems")
_PLAIN = ("bags", "chunked_entropy", "ctc", "grids", "implicit")


class _Kernels(ModuleType):
    """The names of a module of kernels, which is loaded when the first one is asked for.

    It becomes an ordinary module then, so that later calls find their kernels as quickly as ever.
    A thread that asks meanwhile waits for the import: no name is here before all of them are.
    """

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        vars(self).update(vars(module))
        self.__class__ = ModuleType  # type: ignore[assignment]
        return getattr(module, name)


globals().update({subject: _Kernels(f"{__name__}.{library}.{subject}")
                  for library, subjects in (("numpy", _TUNED), ("plain", _PLAIN))
                  for subject in subjects})

__all__ = ["xp"]
