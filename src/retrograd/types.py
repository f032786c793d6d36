"""Names for annotations, as ``torch.types`` has them."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from .base.dtypes import device as _device, dtype as _dtype
from .base.layouts import layout as _layout
from .core.tensor import Size, Tensor
from .storage import TypedStorage, UntypedStorage

_int: TypeAlias = builtins.int
_float: TypeAlias = builtins.float
_bool: TypeAlias = builtins.bool
_complex: TypeAlias = builtins.complex

Number: TypeAlias = int | float | complex
"""What may stand beside a tensor in arithmetic."""
Device: TypeAlias = _device | str | int | None
Storage: TypeAlias = UntypedStorage | TypedStorage
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]


class SupportsArray(Protocol):
    """What NumPy makes an array of: its arrays and scalars, and much else."""

    def __array__(self) -> Any: ...


__all__ = ["Device", "Number", "Storage", "_TensorOrTensors", "_bool", "_complex", "_device",
           "_dtype", "_float", "_int", "_layout", "_size"]
