"""Automatic differentiation with PyTorch's API and semantics, on NumPy arrays."""

from __future__ import annotations

from .ops import shape, join, create, pointwise, reduce  # noqa
from .op import PUBLIC
from .tensor import Tensor, Size
globals().update(PUBLIC["torch"])
from . import autograd
from .autograd import no_grad
