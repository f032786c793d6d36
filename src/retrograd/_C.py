"""The few names that programs take from PyTorch's compiled module."""

from __future__ import annotations

from .core.overriding import DISABLED as _disabled_torch_function_impl
from .overrides import DisableTorchFunctionSubclass

DisableTorchFunction = DisableTorchFunctionSubclass

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass",
           "_disabled_torch_function_impl"]
