"""The libraries that PyTorch may be built with, as modules that say which of them are here: none.

Each is made of a line of :data:`_LIBRARIES`. Their settings are kept, checked for their type, and
have no effect.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..base.missing_names import missing as _missing, suggest_names as _suggest_names
from ..base.warning import warn as _warn
from ..compat import settings as _settings


class _Library(ModuleType):
    """A library that is not here, with its settings."""

    def __init__(self, name: str, doc: str, settings: dict[str, Any], answers: dict[str, Any]):
        super().__init__(f"{__name__}.{name}", doc)
        self.__spec__ = ModuleSpec(self.__name__, None)
        vars(self).update(answers)
        vars(self)["_settings"] = settings

    def __getattr__(self, name: str) -> Any:
        if name in vars(self).get("_settings", ()):
            value = self._settings[name]
            return value.read() if isinstance(value, _Precision) else value
        raise _missing(f"module '{self.__name__}' has no attribute '{name}'", name,
                       self.__name__.partition(".")[2], self)

    def __setattr__(self, name: str, value: Any) -> None:
        known = vars(self).get("_settings", {})
        if isinstance(known.get(name), _Precision):
            known[name].write(value)
        elif name in known:
            if isinstance(known[name], bool) and not isinstance(value, bool):
                raise RuntimeError(f"set_{name}_{self.__name__.rpartition('.')[2]} expects a bool, "
                                   f"but got {type(value).__name__}")
            known[name] = value
        else:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self._settings})


class _Precision:
    """``allow_tf32`` of products: another way to say :func:`set_float32_matmul_precision`."""

    def read(self) -> bool:
        return _settings.get_float32_matmul_precision() != "highest"

    def write(self, value: bool) -> None:
        _settings.set_float32_matmul_precision("high" if value else "highest")


def _constant(value: Any) -> Callable[..., Any]:
    def answer(*args: Any, **kwargs: Any) -> Any:
        """What is so where the library is not here."""
        return value

    return answer


def _flags_of(library: str) -> Any:
    @contextlib.contextmanager
    def flags(**changes: Any) -> Iterator[None]:
        """A block with some settings changed."""
        module = sys.modules[f"{__name__}.{library}"]
        before = {name: getattr(module, name) for name in changes}
        for name, value in changes.items():
            setattr(module, name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(module, name, value)

    return flags


_NO = {"is_available": _constant(False)}
_KERNELS = ("flash", "mem_efficient", "math", "cudnn")


@contextlib.contextmanager
def _sdp_kernel(enable_flash: bool = True, enable_math: bool = True,
                enable_mem_efficient: bool = True, enable_cudnn: bool = True) -> Iterator[None]:
    """A block that would choose a GPU's kernel for attention."""
    _warn("`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager "
          "will be removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context "
          "manager, with updated signature.", FutureWarning)
    yield


_LIBRARIES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "cudnn": ("NVIDIA's library of kernels for networks: not here.",
              {"enabled": True, "benchmark": False, "benchmark_limit": None,
               "deterministic": False, "allow_tf32": True},
              {**_NO, "version": _constant(None), "is_acceptable": _constant(False),
               "flags": _flags_of("cudnn")}),
    "cuda": ("GPUs: not here.", {},
             {"is_built": _constant(False), "sdp_kernel": _sdp_kernel,
              **{f"enable_{kind}_sdp": _constant(None) for kind in _KERNELS},
              **{f"{kind}_sdp_enabled": _constant(True) for kind in _KERNELS},
              "is_flash_attention_available": _constant(False),
              "matmul": _Library("cuda.matmul", "Products on GPUs.",
                                 {"allow_tf32": _Precision(),
                                  "allow_fp16_reduced_precision_reduction": True,
                                  "allow_bf16_reduced_precision_reduction": True,
                                  "allow_fp16_accumulation": False}, {})}),
    "mps": ("Apple's GPUs: not here.", {}, {**_NO, "is_built": _constant(False)}),
    "mkl": ("Intel's library for products: NumPy's own is used.", {}, _NO),
    "mkldnn": ("Intel's library of kernels for networks: not here.",
               {"enabled": True, "deterministic": False, "allow_tf32": True},
               {**_NO, "flags": _flags_of("mkldnn")}),
    "openmp": ("Threads of compiled kernels: not here.", {}, _NO),
    "opt_einsum": ("The package of that name, which orders the products of an einsum: not used.",
                   {"enabled": False, "strategy": None}, _NO),
    "cusparselt": ("NVIDIA's library of sparse products: not here.", {}, _NO),
    "nnpack": ("A library of convolutions: not here.", {}, _NO),
    "xnnpack": ("A library of kernels for telephones: not here.", {}, _NO),
    "quantized": ("Kernels of quantized tensors: not here.",
                  {"engine": "none", "supported_engines": []}, {}),
}

for _name, (_doc, _known, _answers) in _LIBRARIES.items():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _Library(_name, _doc, _known, _answers)

__all__ = list(_LIBRARIES)

_suggest_names(__name__)
