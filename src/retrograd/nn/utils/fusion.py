"""A layer and the batch normalisation after it as one layer, for evaluation."""

from __future__ import annotations

import copy
from typing import Any

from ...core.tensor import Tensor
from ...ops.creation.filled import ones_like, zeros_like
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval",
           "fuse_linear_bn_weights"]

Fused = tuple[Parameter, Parameter]


def _fused(layer: Any, bn: Any, fuse: Any, *more: Any) -> Any:
    """A copy of ``layer`` with the weights that ``fuse`` makes of both."""
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    made = copy.deepcopy(layer)
    made.weight, made.bias = fuse(made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps,
                                  bn.weight, bn.bias, *more)
    return made


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """The convolution that does what ``conv`` and then ``bn`` do in evaluation."""
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """The linear layer that does what ``linear`` and then ``bn`` do in evaluation."""
    if not (linear.training or bn.training) and bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}")
    return _fused(linear, bn, fuse_linear_bn_weights)


def fuse_conv_bn_weights(conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor,
                         bn_eps: float, bn_w: Tensor | None, bn_b: Tensor | None,
                         transpose: bool = False) -> Fused:
    """The weight and bias of a convolution with a normalisation in them."""
    bn_w = ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * scale.reshape(shape + [1] * (conv_w.dim() - 2))
    return _parameters(conv_w, conv_b, weight, bn_rm, scale, bn_b)


def fuse_linear_bn_weights(linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor,
                           bn_eps: float, bn_w: Tensor, bn_b: Tensor) -> Fused:
    """The weight and bias of a linear layer with a normalisation in them."""
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    return _parameters(linear_w, linear_b, linear_w * scale.unsqueeze(-1), bn_rm, scale, bn_b)


def _parameters(layer_w: Tensor, layer_b: Tensor | None, weight: Tensor, bn_rm: Tensor,
                scale: Tensor, bn_b: Tensor) -> Fused:
    dtype = layer_w.dtype if layer_b is None else layer_b.dtype
    layer_b = zeros_like(bn_rm) if layer_b is None else layer_b
    bias = (layer_b - bn_rm) * scale + bn_b
    return (Parameter(weight.to(dtype=layer_w.dtype), layer_w.requires_grad),
            Parameter(bias.to(dtype=dtype), layer_b.requires_grad))
