"""What modules need of PyTorch's compiled module."""

from __future__ import annotations

from typing import Any

from ..nn.modules._conversions import _parse_to as _parsed


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Device, dtype, whether to return at once, and memory format, of a call of ``to``."""
    device, dtype, memory_format = _parsed(*args, **kwargs)
    positions = [value for value in args[1:] if isinstance(value, bool)]
    return device, dtype, kwargs.get("non_blocking", any(positions)), memory_format
