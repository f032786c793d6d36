"""Tensors without data, by which PyTorch's compiler follows a program: there are none here."""

from .fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["FakeTensor", "FakeTensorMode"]
