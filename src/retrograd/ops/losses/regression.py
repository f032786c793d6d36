"""Losses of differences."""

from __future__ import annotations

from typing import Any

from ...backend import loss as loss_kernels
from ...core.binding import raw_body
from ...core.op import Array, composite, op
from ...core.tensor import Tensor
from ..checks.common import kinds, unsupported
from ..elementwise.arithmetic import abs
from ..elementwise.clamping import _clamp_numbers
from ..reductions.sums import sum
from .reduction import (
    NONE,
    SUM,
    _broadcast_pair,
    _pair,
    element_count,
    of_each,
    reduced,
    reduction_code,
    share,
)


@op(batches=of_each)
def _mse_loss(input: Array, target: Array, reduction: int) -> Any:
    unsupported("mse_cpu", input.dtype, "biuc")
    return loss_kernels.squared_error(input, target, reduction)


_mse_loss.vjp(
    input=lambda g, input, target, reduction: (input - target) * share(
        g, element_count(input), reduction, 2.0),
    target=lambda g, input, target, reduction: (target - input) * share(
        g, element_count(input), reduction, 2.0))


@composite(function="nn.functional")
def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
             reduce: bool | None = None, reduction: str = "mean",
             weight: Tensor | None = None) -> Tensor:
    """The mean of the squared differences."""
    if weight is not None or size_average is not None or reduce is not None \
            or input._data.shape != target._data.shape \
            or input._data.dtype is not target._data.dtype:
        code = reduction_code(reduction, size_average, reduce)
        input, target = _pair(input, target)
        if weight is not None:
            return _weighted((input - target) ** 2, weight, code)
        return _mse_loss(input, target, code)
    return _mse_loss(input, target, reduction_code(reduction))


def _check_weight(weight: Tensor, values: Tensor) -> None:
    if tuple(weight.shape) != tuple(values.shape):
        raise ValueError("Weights and input must have the same size.")


def _weighted(values: Tensor, weight: Tensor, reduction: int) -> Tensor:
    _check_weight(weight, values)
    values = values * weight
    return values if reduction == NONE else sum(values) if reduction == SUM \
        else sum(values) / sum(weight)


@composite(function="nn.functional")
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
            reduce: bool | None = None, reduction: str = "mean",
            weight: Tensor | None = None) -> Tensor:
    """The mean of the absolute differences."""
    code = reduction_code(reduction, size_average, reduce)
    if input._data.shape != target._data.shape:
        input, target = _broadcast_pair(input, target)
    values = abs(input - target)
    return reduced(values, code) if weight is None else _weighted(values, weight, code)


@op(node="SmoothL1LossBackward0", guard=kinds("f", "smooth_l1_cpu"), batches=of_each)
def _smooth_l1_loss(input: Array, target: Array, reduction: int, beta: float) -> Any:
    return loss_kernels.smooth_error(input, target, beta, 1.0 / beta, 1.0, reduction)


_smooth_l1_loss.vjp(
    input=lambda g, input, target, reduction, beta: _slope(
        share(g, element_count(input), reduction), input, target, 1.0 / beta, 1.0),
    target=lambda g, input, target, reduction, beta: _slope(
        share(g, element_count(input), reduction), target, input, 1.0 / beta, 1.0))


def _slope(g: Any, input: Any, target: Any, bend: float, steepest: float) -> Any:
    return _clamp_numbers((input - target) * bend, -steepest, steepest) * g


@raw_body(_slope)
def _(g: Any, input: Any, target: Any, bend: float, steepest: float) -> Any:
    return loss_kernels.smooth_gradient(g, input, target, bend, steepest)


@composite(function="nn.functional")
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                   reduce: bool | None = None, reduction: str = "mean",
                   beta: float = 1.0) -> Tensor:
    """Squared differences below ``beta``, absolute ones above it."""
    code = reduction_code(reduction, size_average, reduce)
    if not beta >= 0:  # it may be NaN
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _pair(input, target)
    if beta == 0:
        return reduced(abs(input - target), code)
    return _smooth_l1_loss(input, target, code, float(beta))


@op(node="HuberLossBackward0", guard=kinds("f", "huber_cpu"), batches=of_each)
def _huber_loss(input: Array, target: Array, reduction: int, delta: float) -> Any:
    return loss_kernels.smooth_error(input, target, delta, 1.0, delta, reduction)


_huber_loss.vjp(
    input=lambda g, input, target, reduction, delta: _slope(
        share(g, element_count(input), reduction), input, target, 1.0, delta),
    target=lambda g, input, target, reduction, delta: _slope(
        share(g, element_count(input), reduction), target, input, 1.0, delta))


@composite(function="nn.functional")
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
               weight: Tensor | None = None) -> Tensor:
    """Squared differences below ``delta``, ``delta`` times absolute ones above it."""
    code = reduction_code(reduction)
    input, target = _pair(input, target)
    if not delta > 0:  # it may be NaN
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return _huber_loss(input, target, code, float(delta))
    _check_weight(weight, input)
    return reduced(_huber_loss(input, target, NONE, float(delta)) * weight, code)
