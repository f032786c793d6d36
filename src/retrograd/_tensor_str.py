"""How tensors are printed, where PyTorch has it."""

from __future__ import annotations

from typing import Any

from .core.printing import format_data, get_printoptions, printoptions, set_printoptions
from .core.tensor import Tensor

__all__ = ["PRINT_OPTS", "printoptions", "set_printoptions"]


class _Options:
    """The options of the moment, by their names."""

    def __getattr__(self, name: str) -> Any:
        try:
            return get_printoptions()[name]
        except KeyError:
            raise AttributeError(name) from None


PRINT_OPTS = _Options()


def _tensor_str(self: Tensor, indent: int) -> str:
    """The numbers of a tensor, in brackets."""
    return format_data(self.detach()._array(), self.dtype, indent)
