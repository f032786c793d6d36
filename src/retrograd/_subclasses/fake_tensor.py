"""Tensors without data, by which PyTorch's compiler follows a program: there are none here."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]

_REFUSAL = "retrograd follows programs on their data: make tensors with device=\"meta\" for shapes"


class FakeTensor(Tensor):
    """A tensor without data."""

    def __new__(cls, *args: Any, **kwargs: Any) -> FakeTensor:
        raise NotImplementedError(_REFUSAL)


class FakeTensorMode:
    """A block whose tensors have no data: refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_REFUSAL)


def is_fake(x: Any) -> bool:
    """Whether a value is a tensor without data: no."""
    return isinstance(x, FakeTensor)
