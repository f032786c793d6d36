"""There is no CUDA here; programs that ask are told so."""

from __future__ import annotations

from typing import Any

from ..base.errors import OutOfMemoryError
from ..base.missing_names import suggest_names as _suggest_names
from ..compat.accelerators import absent as _absent
from ..compat.legacy import TENSOR_TYPES as _TENSOR_TYPES
from . import amp, nvtx

_NAMES = _absent(__name__, "CUDA", AssertionError, "Torch not compiled with CUDA enabled",
                 ("CUDAGraph", "ExternalStream", "StreamContext", "graph"))
globals().update(_NAMES)


class _TensorType(type):
    """The class of ``cuda.FloatTensor`` and its kind, of which there are no instances."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with "
                        "CUDA enabled.")


for _name in _TENSOR_TYPES:
    globals()[_name] = _TensorType(_name, (), {"__doc__": "Tensors on a GPU: there are none.",
                                               "is_cuda": True})

__all__ = ["OutOfMemoryError", "amp", "nvtx", *_NAMES, *_TENSOR_TYPES]

_suggest_names(__name__)
