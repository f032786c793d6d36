"""The gradients of convolutions as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import grad
from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ..core.signatures import named
from ..core.tensor import Tensor
from . import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
           "conv3d_weight"]


def _of_input(dims: int) -> Callable[..., Tensor]:
    @named(f"conv{dims}d_input",
           f"The gradient of a convolution over {dims} dimensions for its input.")
    def gradient(input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1,
                 padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
        blank = grad_output.new_zeros(tuple(input_size)).requires_grad_()
        return _gradient(dims, blank, blank, weight, grad_output, stride, padding, dilation, groups)

    return gradient


def _of_weight(dims: int) -> Callable[..., Tensor]:
    @named(f"conv{dims}d_weight",
           f"The gradient of a convolution over {dims} dimensions for its kernels.")
    def gradient(input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1,
                 padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
        blank = grad_output.new_zeros(tuple(weight_size)).requires_grad_()
        return _gradient(dims, blank, input, blank, grad_output, stride, padding, dilation, groups)

    return gradient


def _gradient(dims: int, wanted: Tensor, input: Tensor, weight: Tensor, grad_output: Tensor,
              *options: Any) -> Tensor:
    """A convolution is linear in what is wanted, so that zeros stand for it."""
    recorded = is_grad_enabled()
    with enable_grad():
        out = getattr(F, f"conv{dims}d")(input, weight, None, *options)
    (found,) = grad(out, wanted, grad_output, create_graph=recorded)
    return found


conv1d_input, conv2d_input, conv3d_input = map(_of_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_of_weight, (1, 2, 3))
