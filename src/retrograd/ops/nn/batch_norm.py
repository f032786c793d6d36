"""Normalisation of channels: batch, group, instance and local response norm."""

from __future__ import annotations

import math
from typing import Any

from ...backend import norm as norm_kernels
from ...base import call_sites
from ...base.errors import length_of
from ...base.modes import switched
from ...core.op import Array, Index, composite, op, public
from ...core.tensor import Tensor
from ..batching import all_batched, batched
from ..checks.common import no_complex, unsupported
from ..checks.norms import check_channels, check_types, check_vectors
from ..elementwise.exponentials import rsqrt
from ..reductions.sums import mean
from ..reductions.variance import var
from ..shapes.dimensions import movedim, unsqueeze
from ..shapes.expanding import expand, sum_to_size_of
from ..shapes.reshaping import reshape
from .convolution import channel_operand, channel_sums
from .layer_norm import _are_plain, _curvature, _keeps_moments, _standardize, times
from .padding import pad
from .pooling import avg_pool2d, avg_pool3d

# ---------------------------------------------------------------- batch norm


def per_channel(parameter: Any, rank: int) -> Any:
    """A number per channel, shaped to multiply (batch, channels, *space)."""
    return None if parameter is None else reshape(
        parameter, (1, parameter.shape[0]) + (1,) * (rank - 2))


def other_axes(rank: int) -> tuple[int, ...]:
    """All but the channels."""
    return (0, *range(2, rank))


def _declare_channel_norm(name: str, node: str, kernel: str, outputs: tuple[str, ...]) -> Any:
    """Two ops: the normalised channels, and these with moments, which make for a quick backward.

    Statistics over the whole batch have ``groups`` None.
    """
    @op(name=name, node=node, guard=no_complex(kernel))
    def alone(input: Array, weight: Array | None, bias: Array | None, groups: Any,
              eps: float) -> Any:
        check_types(input, weight, bias, kernel)
        return norm_kernels.channel_normed(input, weight, bias, groups, eps)

    @op(name=f"{name}_with_moments", node=node, differentiable=(0,), outputs=outputs,
        guard=no_complex(kernel))
    def with_moments(input: Array, weight: Array | None, bias: Array | None, groups: Any,
                     eps: float) -> Any:
        check_types(input, weight, bias, kernel)
        return norm_kernels.channel_norm(input, weight, bias, groups, eps)[:len(outputs)]

    alone.vjp(
        input=lambda g, input, weight, groups, eps, wanted: _channel_norm_input(
            g, input, weight, None, None, groups, eps, wanted),
        weight=lambda g, input, groups, eps: _channel_norm_weight(
            g, input, None, None, groups, eps),
        bias=lambda g: channel_sums(g))
    with_moments.vjp(
        input=lambda g, input, weight, mean, scale, groups, eps, wanted: _channel_norm_input(
            g[0], input, weight, mean, scale, groups, eps, wanted),
        weight=lambda g, input, mean, scale, groups, eps: _channel_norm_weight(
            g[0], input, mean, scale, groups, eps),
        bias=lambda g: channel_sums(g[0]))
    alone.vjp_jointly(lambda g, input, weight, groups, eps: _channel_gradients(
        g, input, weight, None, None, groups, eps))
    with_moments.vjp_jointly(
        lambda g, input, weight, mean, scale, groups, eps: _channel_gradients(
            g[0], input, weight, mean, scale, groups, eps))
    return alone, with_moments


def _channel_gradients(output: Any, input: Any, weight: Any, mean: Any, scale: Any, groups: Any,
                       eps: float) -> Any:
    """All three gradients, of raw arrays."""
    mean, scale = norm_kernels.kept_moments(input, weight, mean, scale, groups, eps)
    return norm_kernels.channel_gradients(output, input, weight, mean, scale, groups, eps)


_batch_norm, _batch_norm_with_moments = _declare_channel_norm(
    "_batch_norm", "NativeBatchNormBackward0", "batch_norm", ("output", "mean", "scale", "squares"))
_group_norm, _group_norm_with_moments = _declare_channel_norm(
    "_group_norm", "NativeGroupNormBackward0", "GroupNormKernelImpl", ("output", "mean", "scale"))


@op(node="NativeBatchNormBackwardBackward0")
def _channel_norm_input(output: Array, input: Array, weight: Array | None, mean: Index | None,
                        scale: Index | None, groups: Any, eps: float, asked: Any) -> Any:
    mean, scale = norm_kernels.kept_moments(input, weight, mean, scale, groups, eps)
    return norm_kernels.channel_gradient(output, input, weight, mean, scale, groups, eps, asked)


@op(node="NativeBatchNormBackwardBackward0")
def _channel_norm_weight(output: Array, input: Array, mean: Index | None, scale: Index | None,
                         groups: Any, eps: float) -> Any:
    return norm_kernels.channel_weight_gradient(output, input, mean, scale, groups, eps)


def channel_norm(input: Any, weight: Any, groups: Any, eps: float) -> Any:
    return _batch_norm(input, weight, None, None, eps) if groups is None \
        else _group_norm(input, weight, None, groups, eps)


def grouped(input: Any, groups: int) -> Any:
    shape = input.shape
    return reshape(input, (shape[0] * groups, math.prod(shape[1:]) // groups))


def channel_curvature(g: Any, output: Any, input: Any, groups: Any, eps: float) -> Any:
    if groups is None:
        return _curvature(g, output, input, other_axes(len(input.shape)), eps)
    rows = [grouped(value, groups) for value in (g, output, input)]
    return reshape(_curvature(rows[0], rows[1], rows[2], (1,), eps), input.shape)


def _scaled_channels(batch: Any, y: Any, weight: Any, bias: Any) -> Any:
    if weight is not None:
        y = y * channel_operand(batch, "weight", weight, y)
    return y if bias is None else y + channel_operand(batch, "bias", bias, y)


@_batch_norm.batch
def _(batch: Any, input: Any, weight: Any, bias: Any, groups: None, eps: float) -> Any:
    input = batched(batch, "input", input)
    axes = (1, *range(3, input.ndim))
    return _scaled_channels(batch, _standardize(input, axes, eps), weight, bias)


@_group_norm.batch
def _(batch: Any, input: Any, weight: Any, bias: Any, groups: int, eps: float) -> Any:
    input = batched(batch, "input", input)
    _, samples, *rest = input.shape
    rows = reshape(input, (batch.size, samples * groups, math.prod(rest) // groups))
    y = reshape(_standardize(rows, (2,), eps), input.shape)
    return _scaled_channels(batch, y, weight, bias)


_channel_norm_input.vjp(
    output=lambda g, input, weight, mean, scale, groups, eps: times(
        _channel_norm_input(g, input, None, mean, scale, groups, eps, None),
        per_channel(weight, len(g.shape))),
    input=lambda g, output, input, weight, groups, eps: channel_curvature(
        g, times(output, per_channel(weight, len(g.shape))), input, groups, eps),
    weight=lambda g, output, input, mean, scale, groups, eps: channel_sums(
        output * _channel_norm_input(g, input, None, mean, scale, groups, eps, None)))
_channel_norm_weight.vjp(
    output=lambda g, input, groups, eps: channel_norm(input, g, groups, eps),
    input=lambda g, output, input, mean, scale, groups, eps: _channel_norm_input(
        output, input, g, mean, scale, groups, eps, None))


def all_at_once(value: Any, groups: Any) -> Any:
    """A batch of (samples, channels, *space) in one: as more samples, or as more channels."""
    if groups is None:
        value = movedim(value, 0, 1)
    a, b, c, *space = value.shape
    return reshape(value, (a, b * c, *space) if groups is None else (a * b, c, *space))


def one_by_one(value: Any, like: Any, groups: Any) -> Any:
    """What :func:`all_at_once` put together, taken apart again."""
    count, samples, channels, *space = like.shape
    if groups is not None:
        return reshape(value, like.shape)
    return movedim(reshape(value, (samples, count, channels, *space)), 1, 0)


def channel_scaled(batch: Any, value: Any, weight: Any) -> Any:
    """A batch of values times the weights of their channels, which may be a batch too."""
    if weight is None:
        return value
    lead = (batch.size, 1) if batch["weight"] else (1, 1)
    return value * reshape(weight, (*lead, weight.shape[-1], *(1,) * (value.ndim - 3)))


@_channel_norm_input.batch
def _(batch: Any, output: Any, input: Any, weight: Any, mean: Any, scale: Any, groups: Any,
      eps: float, asked: Any) -> Any:
    output = channel_scaled(batch, batched(batch, "output", output), weight)
    input = batched(batch, "input", input)
    found = _channel_norm_input(all_at_once(output, groups), all_at_once(input, groups), None,
                                None, None, groups, eps, None)
    return one_by_one(found, input, groups)


@_channel_norm_weight.batch
def _(batch: Any, output: Any, input: Any, mean: Any, scale: Any, groups: Any,
      eps: float) -> Any:
    output, input = all_batched(batch, output=output, input=input)
    channels = input.shape[2]
    if groups is None:
        found = _channel_norm_weight(all_at_once(output, None), all_at_once(input, None), None,
                                     None, None, eps)
        return reshape(found, (batch.size, channels))
    unit = one_by_one(_group_norm(all_at_once(input, groups), None, None, groups, eps), input,
                      groups)
    kept = (batch.size, 1, channels, *(1,) * (input.ndim - 3))
    return reshape(sum_to_size_of(output * unit, kept), (batch.size, channels))


@op(node="NativeBatchNormBackward0", guard=no_complex("batch_norm"))
def _batch_norm_fixed(input: Array, weight: Array | None, bias: Array | None, mean: Index,
                      var: Index, eps: float) -> Any:
    check_types(input, weight, bias, "batch_norm")
    return norm_kernels.fixed_channel_norm(input, weight, bias, mean, var, eps)


@op(node="NativeBatchNormBackwardBackward0")
def _fixed_norm_weight(output: Array, input: Array, mean: Index, var: Index, eps: float) -> Any:
    return norm_kernels.fixed_weight_gradient(output, input, mean, var, eps)


_batch_norm_fixed.vjp(
    input=lambda g, weight, var, eps: g * per_channel(
        times(rsqrt(var + eps), weight), len(g.shape)),
    weight=lambda g, input, mean, var, eps: _fixed_norm_weight(g, input, mean, var, eps),
    bias=lambda g: channel_sums(g))


@_batch_norm_fixed.batch
def _(batch: Any, input: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    input = batched(batch, "input", input)
    y = (input - channel_operand(batch, "mean", mean, input)) * rsqrt(
        channel_operand(batch, "var", var, input) + eps)
    return _scaled_channels(batch, y, weight, bias)


_fixed_norm_weight.vjp(
    output=lambda g, input, mean, var, eps: _batch_norm_fixed(input, g, None, mean, var, eps),
    input=lambda g, output, var, eps: output * per_channel(
        g * rsqrt(var + eps), len(output.shape)))


@_fixed_norm_weight.batch
def _(batch: Any, output: Any, input: Any, mean: Any, var: Any, eps: float) -> Any:
    output, input, mean, var = all_batched(batch, output=output, input=input, mean=mean, var=var)
    found = _fixed_norm_weight(all_at_once(output, None), all_at_once(input, None),
                               reshape(mean, (-1,)), reshape(var, (-1,)), eps)
    return reshape(found, (batch.size, input.shape[2]))


def _update_running(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
                    momentum: float, instances: int = 0) -> None:
    """Blend the statistics of this batch into the running ones, in place."""
    if running_mean is None:
        return
    with switched(grad=False):
        input = input.detach()
        axes = tuple(range(2, input.ndim)) if instances else other_axes(input.ndim)
        both: Any = (running_mean, mean), (running_var, var)
        for running, fresh in both:
            found = fresh(input, axes)
            found = mean(found, 0) if instances else found
            running.mul_(1 - momentum).add_(found.to(running.dtype) * momentum)


def _batch_norm_of_nothing(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Empty input as it is, and a part of the graph of its parameters."""
    y = input.clone()
    y = y if weight is None else y * weight.select(0, 0)
    return y if bias is None else y + bias.select(0, 0)


def _normalized(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
                weight: Tensor | None, bias: Tensor | None, training: bool,
                momentum: float | None, eps: float) -> Tensor:
    """Normalised channels; the running statistics are left alone if ``momentum`` is None."""
    if not input._data.size:
        return _batch_norm_of_nothing(input, weight, bias)
    if not training and (running_mean is None or running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(f"{missing} must be defined in evaluation mode")
    if (running_mean is None) is not (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    shape = input._data.shape
    if len(shape) < 2 or not all([p is None or p._data.size == shape[1]
                                  for p in (running_mean, running_var, weight, bias)]):
        check_channels(input, running_mean=running_mean, running_var=running_var, weight=weight,
                       bias=bias)
        length_of(shape, 1)  # there is none
    unsupported("batch_norm", input._data.dtype, "biu")
    if not training:
        return _batch_norm_fixed(input, weight, bias, running_mean, running_var, eps)
    if _are_plain(input, weight, bias, running_mean, running_var):
        y, means, _, squares = _batch_norm_with_moments(input, weight, bias, None, eps)
        if momentum is not None and running_mean is not None:
            assert running_var is not None
            count, site = input._data.size // shape[1], call_sites.here()
            norm_kernels.blend(running_mean._array(), running_var._array(), means._data,
                               squares._data, count, momentum)
            running_mean._counter().bump(site)
            running_var._counter().bump(site)
        return y
    if momentum is not None:
        _update_running(input, running_mean, running_var, momentum)
    return _batch_norm(input, weight, bias, None, eps)


@composite(function="nn.functional")
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
               weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 for each channel over the batch, then scaled and shifted.

    Without ``training`` the running statistics take the place of the batch's own.
    """
    if eps < 0 or (training and not eps):
        raise ValueError("batch_norm eps must be "
                         f"{'positive during training' if training else 'non-negative'}, but got "
                         f"{eps}")
    if training:
        size = input._data.shape
        if size[0] * math.prod(size[2:]) == 1:
            raise ValueError("Expected more than 1 value per channel when training, got input size "
                             f"{input.shape}")
    return _normalized(input, running_mean, running_var, weight, bias, training, momentum, eps)


@public("batch_norm", method=False)
def _torch_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                      running_mean: Tensor | None, running_var: Tensor | None, training: bool,
                      momentum: float, eps: float, cudnn_enabled: bool) -> Tensor:
    """:func:`batch_norm` with the argument order of ``torch.batch_norm``, and for any batch."""
    return _normalized(input, running_mean, running_var, weight, bias, training, momentum, eps)


# ---------------------------------------------------------------- group and instance norm


@public("group_norm", method=False)
def _torch_group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None,
                      bias: Tensor | None = None, eps: float = 1e-5,
                      cudnn_enabled: bool = True) -> Tensor:
    """:func:`group_norm` for any batch."""
    return _groups_normalized(input, num_groups, weight, bias, eps)


def _groups_normalized(input: Tensor, num_groups: int, weight: Tensor | None,
                       bias: Tensor | None, eps: float) -> Tensor:
    shape = input._data.shape
    if len(shape) < 2:
        length_of(shape, len(shape))  # the first dimension that is missing
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if shape[1] % num_groups:
        raise RuntimeError("Expected number of channels in input to be divisible by num_groups, "
                           f"but got input of shape {list(shape)} and num_groups={num_groups}")
    if not all([p is None or p._data.shape == shape[1:2] for p in (weight, bias)]):
        check_vectors(input, shape[1], weight=weight, bias=bias)
    if _keeps_moments(input, weight, bias):
        return _group_norm_with_moments(input, weight, bias, num_groups, eps)[0]
    return _group_norm(input, weight, bias, num_groups, eps)


@composite(function="nn.functional")
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 over each group of channels, then scaled and shifted."""
    shape = input._data.shape
    if len(shape) < 2:
        raise RuntimeError("Expected at least 2 dimensions for input tensor but received "
                           f"{input.ndim}")
    shared = shape[0] * shape[1] // num_groups
    if shared * math.prod(shape[2:]) == 1:
        raise ValueError("Expected more than 1 value per channel when training, got input size "
                         f"{[shared, num_groups, *shape[2:]]}")
    return _groups_normalized(input, num_groups, weight, bias, eps)


def _for_each_instance(parameter: Tensor, batch: int) -> Any:
    count = parameter.numel()
    return reshape(expand(parameter, (batch, count)), (batch * count,))


@composite(function="nn.functional")
def instance_norm(input: Tensor, running_mean: Tensor | None = None,
                  running_var: Tensor | None = None, weight: Tensor | None = None,
                  bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1,
                  eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 for each channel of each sample, then scaled and shifted."""
    shape = tuple(input.shape)
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise ValueError("Expected more than 1 spatial element when training, got input size "
                         f"{input.shape}")
    return instances_normalized(input, running_mean, running_var, weight, bias, use_input_stats,
                                momentum, eps)


def instances_normalized(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
                         weight: Tensor | None, bias: Tensor | None, use_input_stats: bool,
                         momentum: float, eps: float) -> Tensor:
    """:func:`instance_norm` of any number of elements."""
    shape = tuple(input.shape)
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when "
                           "use_input_stats is false")
    if len(shape) < 2:
        length_of(shape, len(shape))  # the first dimension that is missing
    batch, channels = shape[:2]
    together = reshape(input, (1, batch * channels, *shape[2:]))
    means, variances, weights, biases = [
        None if parameter is None else _for_each_instance(parameter, batch)
        for parameter in (running_mean, running_var, weight, bias)]
    y = _normalized(together, means, variances, weights, biases, use_input_stats, None, eps)
    if use_input_stats and input.numel():
        _update_running(input, running_mean, running_var, momentum, instances=batch)
    return reshape(y, shape)


@composite(function="nn.functional")
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75,
                        k: float = 1.0) -> Tensor:
    """Each element divided by a power of the mean square over neighbouring channels."""
    if input.ndim < 3:
        raise ValueError("Expected 3D or higher dimensionality                          input "
                         f"(got {input.ndim} dimensions)")
    if not input.numel():
        return input
    square = unsqueeze(input * input, 1)
    if input.ndim == 3:
        padded = pad(square, (0, 0, size // 2, (size - 1) // 2))
        mean_square = avg_pool2d(padded, (size, 1), stride=1).squeeze(1)
    else:
        shape = tuple(input.shape)
        square = reshape(square, (shape[0], 1, shape[1], shape[2], -1))
        padded = pad(square, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        mean_square = reshape(avg_pool3d(padded, (size, 1, 1), stride=1).squeeze(1), shape)
    return input / (mean_square * alpha + k) ** beta
