"""Kernels of convolutions in another memory format."""

from typing import Any

from ...base.layouts import memory_format as MemoryFormat
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Any, kinds: tuple[type, ...], memory_format: MemoryFormat) -> Any:
    for part in module.modules():
        if isinstance(part, kinds):
            weight: Any = part.weight  # type: ignore[attr-defined]
            weight.data = weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: MemoryFormat) -> Any:
    """Lay the kernels of all convolutions over images out in ``memory_format``."""
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Any, memory_format: MemoryFormat) -> Any:
    """Lay the kernels of all convolutions over volumes out in ``memory_format``."""
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)
