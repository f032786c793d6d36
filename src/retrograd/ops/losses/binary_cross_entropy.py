"""The likelihood of two outcomes."""

from __future__ import annotations

from typing import Any

from ...backend import loss as loss_kernels, xp
from ...base.errors import no_kernel
from ...base.modes import MODE
from ...core.op import Array, Index, composite, elementwise, op
from ...core.tensor import Tensor
from ..checks.common import kinds
from ..checks.losses import check_fits
from ..elementwise.clamping import _clamp_min_number
from ..elementwise.exponentials import log, log1p, sigmoid
from ..shapes.expanding import broadcast_shapes, expand, joint_shape
from .reduction import _pair, element_count, of_each, reduction_code, share


@op(guard=kinds("f", "binary_cross_entropy"), batches=of_each)
def _binary_cross_entropy(input: Array, target: Array, weight: Index | None,
                          reduction: int) -> Any:
    return loss_kernels.binary_cross_entropy(input, target, weight, reduction)


def weighted_share(g: Any, weight: Any, input: Any, reduction: int) -> Any:
    g = share(g, element_count(input), reduction)
    return g if weight is None else g * weight


_binary_cross_entropy.vjp(
    input=lambda g, input, target, weight, reduction: (input - target) / _clamp_min_number(
        (1 - input) * input, 1e-12) * weighted_share(g, weight, input, reduction),
    target=lambda g, input, weight, reduction: (log1p(-input) - log(input)) * weighted_share(
        g, weight, input, reduction))


@composite(function="nn.functional")
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                         size_average: bool | None = None, reduce: bool | None = None,
                         reduction: str = "mean") -> Tensor:
    """Minus the log-likelihood of ``target`` under the probabilities ``input``."""
    code = reduction_code(reduction, size_average, reduce)
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input "
                         f"size ({input.shape}) is deprecated. Please ensure they have the same "
                         "size.")
    for other in (target, weight):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(f"Found dtype {other.dtype.alias} but expected "
                               f"{input.dtype.alias}")
    if weight is not None and tuple(weight.shape) != tuple(input.shape):
        whole = tuple(broadcast_shapes(target.shape, weight.shape))
        check_fits(tuple(input.shape), whole)
        weight = expand(weight, whole)
    return _binary_cross_entropy(input, target, weight, code)


@elementwise(method=False, function=None, promote="float", node="LogSigmoidBackward0",
             vjp=lambda g, input: -g * sigmoid(-input))
def softplus_of_negative(input: Array) -> Any:
    """``log(1 + exp(-x))``."""
    return xp.log1p(xp.exp(-xp.absolute(input))) + xp.maximum(-input, 0)


@op(node="BinaryCrossEntropyWithLogitsBackward0", batches=of_each)
def _logistic_loss(input: Array, target: Array, weight: Index | None, pos_weight: Index | None,
                   reduction: int) -> Any:
    return loss_kernels.logistic_loss(input, target, weight, pos_weight, reduction)


def logistic_slope(input: Any, target: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return sigmoid(input) - target
    favoured = pos_weight * target
    return (favoured + 1 - target) * sigmoid(input) - favoured


def logistic_target_slope(input: Any, pos_weight: Any) -> Any:
    return -input if pos_weight is None else (
        pos_weight - 1) * softplus_of_negative(input) - input


_logistic_loss.vjp(
    input=lambda g, input, target, weight, pos_weight, reduction: logistic_slope(
        input, target, pos_weight) * weighted_share(g, weight, input, reduction),
    target=lambda g, input, weight, pos_weight, reduction: logistic_target_slope(
        input, pos_weight) * weighted_share(g, weight, input, reduction))


def _refuse_slopes(**weights: Tensor | None) -> None:
    """Refuse weights that want a gradient, which there is none of."""
    for name, weight in weights.items():
        if weight is not None and weight.requires_grad and MODE.get().grad:
            raise RuntimeError("The function 'binary_cross_entropy_with_logits' is not "
                               f"differentiable with respect to argument '{name}'. This input "
                               "cannot have requires_grad True.")


@composite(function="nn.functional")
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None,
                                     reduce: bool | None = None, reduction: str = "mean",
                                     pos_weight: Tensor | None = None) -> Tensor:
    """Binary cross entropy of ``target`` under the sigmoid of ``input``."""
    code = reduction_code(reduction, size_average, reduce)
    _refuse_slopes(weight=weight, pos_weight=pos_weight)
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size "
                         f"({input.shape})")
    if not target.dtype.is_floating_point:
        if not input.dtype.is_floating_point:
            raise no_kernel("log_sigmoid_cpu", input.dtype)
        raise RuntimeError(f"result type {input.dtype.alias} can't be cast to the desired output "
                           f"type {target.dtype.alias}")
    kind = target.dtype  # of the loss, which PyTorch writes to memory made for the target
    input, target = _pair(input, target)
    shape = tuple(input.shape)
    if pos_weight is not None and tuple(pos_weight.shape) != shape:
        check_fits(shape, joint_shape(tuple(pos_weight.shape), shape))
    if weight is not None and tuple(weight.shape) != shape:
        check_fits(shape, joint_shape(shape, tuple(weight.shape)))
    loss = _logistic_loss(input, target, weight, pos_weight, code)
    return loss if loss.dtype is kind else loss.to(kind)
