"""What mapped functions need in PyTorch's compiler."""

from __future__ import annotations

from contextlib import nullcontext

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(nullcontext[None]):
    """A block in which a mapped number may be a subscript: here it may be everywhere."""

    def __init__(self) -> None:
        super().__init__(None)
