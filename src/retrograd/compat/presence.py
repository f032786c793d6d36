"""What a program asks of PyTorch's build, and control flow by functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..base import dtypes
from ..base.layouts import contiguous_format as legacy_contiguous_format
from ..core.tensor import Tensor

has_lapack = has_spectral = True
has_mkl = has_openmp = False
"""What the arrays' library computes with, said in PyTorch's words."""


def compiled_with_cxx11_abi() -> bool:
    """Whether extensions in C++ would need the newer interface; there are none here."""
    return True


def is_vulkan_available() -> bool:
    """Whether there is a device that Vulkan drives."""
    return False


def is_distributed(input: Tensor) -> bool:
    """Whether a tensor lies on several machines, which none does."""
    return False


def get_file_path(*path_components: str) -> str:
    """The path of a file beside the package."""
    return str(Path(__file__).parents[2].joinpath(*path_components))


def get_device_module(device: Any = None) -> Any:
    """The module of a kind of device, such as ``torch.cpu``."""
    kind = dtypes.device(device).type if device is not None else "cpu"
    package = __name__.partition(".")[0]
    try:
        return import_module(f"{package}.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(f"Invalid device '{kind}', it does not have a corresponding module "
                           f"registered as 'torch.{kind}'.") from None


def cond(pred: bool | Tensor, true_fn: Callable[..., Any], false_fn: Callable[..., Any],
         operands: Sequence[Any] = ()) -> Any:
    """One of two functions of the operands, chosen by a condition."""
    return (true_fn if pred else false_fn)(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any],
               carried_inputs: Sequence[Any]) -> Any:
    """A function applied to what it gave before, as long as a condition of that holds."""
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        found = body_fn(*carried)
        carried = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    return carried


__all__ = ["compiled_with_cxx11_abi", "cond", "get_device_module", "get_file_path", "has_lapack",
           "has_mkl", "has_openmp", "has_spectral", "is_distributed", "is_vulkan_available",
           "legacy_contiguous_format", "while_loop"]
