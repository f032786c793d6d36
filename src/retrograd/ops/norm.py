"""Normalisation, similarity and embedding."""

from __future__ import annotations

import math
from typing import Any

from ..backend import norm as arrays
from ..backend import xp
from ..base import dtypes
from ..base.errors import length_of, no_dims
from ..base.modes import switched
from ..core.op import Array, Index, composite, op, publish
from ..core.tensor import PLAIN, Tensor
from .conv import channel_sums
from .pointwise import rsqrt
from .product import scalar_type, sum_rows
from .shape import expand, movedim, reshape, sum_to_size_of, unsqueeze

# ---------------------------------------------------------------- mean 0 and variance 1


def mean_over(input: Any, axes: Any) -> Any:
    """The mean over ``axes``, with their lengths kept as one."""
    shape = input.shape
    kept = tuple([1 if i in axes else n for i, n in enumerate(shape)])
    return sum_to_size_of(input, kept) * (math.prod(kept) / (math.prod(shape) or 1))


@op(method=False, function=None, node="NativeLayerNormBackward0")
def _standardize(input: Array, axes: Any, eps: float) -> Any:
    return arrays.standardize(input, axes, eps)


@op(method=False, function=None, node="NativeLayerNormBackwardBackward0")
def _standardize_gradient(output: Array, input: Array, axes: Any, eps: float) -> Any:
    return arrays.standardize_gradient(output, input, axes, eps)


@op(method=False, function=None, node="RsqrtBackward0")
def _inverse_deviation(input: Array, axes: Any, eps: float) -> Any:
    return arrays.inverse_deviation(input, axes, eps)


def _curvature(g: Any, output: Any, input: Any, axes: Any, eps: float) -> Any:
    """How ``<g, standardize_gradient(output, input)>`` changes with ``input``."""
    scale = _inverse_deviation(input, axes, eps)
    unit = _standardize(input, axes, eps)
    along_g, along_output = mean_over(g * unit, axes), mean_over(output * unit, axes)
    common = mean_over(g * output, axes) - mean_over(g, axes) * mean_over(output, axes)
    return -scale * (unit * (common - along_g * along_output) * scale
                     + along_output * _standardize_gradient(g, input, axes, eps)
                     + along_g * _standardize_gradient(output, input, axes, eps))


_standardize.vjp(input=lambda g, input, axes, eps: _standardize_gradient(g, input, axes, eps))
_standardize_gradient.vjp(
    output=lambda g, input, axes, eps: _standardize_gradient(g, input, axes, eps),
    input=lambda g, output, input, axes, eps: _curvature(g, output, input, axes, eps))
_inverse_deviation.vjp(input=lambda g, input, y, axes, eps: -g * y * y * _standardize(
    input, axes, eps) * (math.prod(y.shape) / (math.prod(input.shape) or 1)))


def times(g: Any, weight: Any) -> Any:
    return g if weight is None else g * weight


# ---------------------------------------------------------------- layer norm


def _check_parameter_type(input: Any, *parameters: Any) -> None:
    """Parameters share the input's dtype; half precision may have float32 ones."""
    for parameter in parameters:
        if parameter is None or parameter.dtype == input.dtype:
            continue
        if input.dtype.itemsize == 2 and parameter.dtype == xp.FLOAT32:
            continue
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")


def _refuse_integers(input: Any, kernel: str) -> None:
    if input.dtype.kind in "biu":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(input)}'")


def _check_types(input: Any, weight: Any, bias: Any, kernel: str) -> None:
    dtype = input.dtype
    if dtype.kind != "f" or (weight is not None and weight.dtype is not dtype) or (
            bias is not None and bias.dtype is not dtype):
        _refuse_integers(input, kernel)
        _check_parameter_type(input, weight, bias)


@op(method=False, function=None, node="NativeLayerNormBackward0")
def _layer_norm(input: Array, weight: Array | None, bias: Array | None, rank: int,
                eps: float) -> Any:
    _check_types(input, weight, bias, "LayerNormKernelImpl")
    return arrays.layer_norm(input, rank, eps, weight, bias)[0]


_LARGE = 1 << 16  # elements from which it pays to keep the moments for the backward pass


def _keeps_moments(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> bool:
    return _are_plain(input, weight, bias) and input._data.size > _LARGE and (
        input._edge is not None or (weight is not None and weight._edge is not None))


def _are_plain(*tensors: Tensor | None) -> bool:
    """Whether no transform is at work: the ops that keep moments know none."""
    return all(t is None or type(t) in PLAIN for t in tensors)


@op(method=False, function=None, node="NativeLayerNormBackward0", differentiable=(0,),
    outputs=("output", "mean", "scale"))
def _layer_norm_with_moments(input: Array, weight: Array | None, bias: Array | None, rank: int,
                             eps: float) -> Any:
    _check_types(input, weight, bias, "LayerNormKernelImpl")
    return arrays.layer_norm(input, rank, eps, weight, bias)


@op(method=False, function=None, node="NativeLayerNormBackwardBackward0")
def _layer_norm_input(output: Array, input: Array, weight: Array | None, mean: Index | None,
                      scale: Index | None, rank: int, eps: float) -> Any:
    return arrays.layer_input_gradient(output, input, weight, mean, scale, rank, eps)


@op(method=False, function=None, node="NativeLayerNormBackwardBackward0")
def _layer_norm_weight(output: Array, input: Array, mean: Index | None, scale: Index | None,
                       rank: int, eps: float) -> Any:
    return arrays.layer_weight_gradient(output, input, mean, scale, rank, eps)


def layer_rows(input: Any, rank: int) -> Any:
    shape = input.shape
    split = len(shape) - rank
    return reshape(input, (math.prod(shape[:split]), math.prod(shape[split:])))


def layer_sums(input: Any, rank: int) -> Any:
    """The sum over all but the last ``rank`` dimensions."""
    shape = input.shape
    if rank == 1:
        return sum_rows(input if len(shape) == 2 else layer_rows(input, 1))
    return reshape(sum_rows(layer_rows(input, rank)), shape[len(shape) - rank:])


def layer_curvature(g: Any, output: Any, input: Any, rank: int, eps: float) -> Any:
    rows = [layer_rows(value, rank) for value in (g, output, input)]
    return reshape(_curvature(rows[0], rows[1], rows[2], (1,), eps), input.shape)


_layer_norm.vjp(
    input=lambda g, input, weight, rank, eps: _layer_norm_input(
        g, input, weight, None, None, rank, eps),
    weight=lambda g, input, rank, eps: _layer_norm_weight(g, input, None, None, rank, eps),
    bias=lambda g, rank: layer_sums(g, rank))
_layer_norm_with_moments.vjp(
    input=lambda g, input, weight, mean, scale, rank, eps: _layer_norm_input(
        g[0], input, weight, mean, scale, rank, eps),
    weight=lambda g, input, mean, scale, rank, eps: _layer_norm_weight(
        g[0], input, mean, scale, rank, eps),
    bias=lambda g, rank: layer_sums(g[0], rank))
_layer_norm_input.vjp(
    output=lambda g, input, weight, mean, scale, rank, eps: times(
        _layer_norm_input(g, input, None, mean, scale, rank, eps), weight),
    input=lambda g, output, input, weight, rank, eps: layer_curvature(
        g, times(output, weight), input, rank, eps),
    weight=lambda g, output, input, mean, scale, rank, eps: layer_sums(
        output * _layer_norm_input(g, input, None, mean, scale, rank, eps), rank))
_layer_norm_weight.vjp(
    output=lambda g, input, rank, eps: _layer_norm(input, g, None, rank, eps),
    input=lambda g, output, input, mean, scale, rank, eps: _layer_norm_input(
        output, input, g, mean, scale, rank, eps))


def with_batch(batch: Any, name: str, value: Any) -> Any:
    """An argument of a batching rule, with the batch in front even if it had none."""
    if value is None or batch[name]:
        return value
    return expand(unsqueeze(value, 0), (batch.size, *value.shape))


def layer_scaled(batch: Any, value: Any, weight: Any, rank: int) -> Any:
    """A batch of values times their weights, which may be a batch too."""
    if weight is None or not batch["weight"]:
        return times(value, weight)
    lead = value.ndim - rank - 1
    return value * reshape(weight, (batch.size, *(1,) * lead, *weight.shape[1:]))


@_layer_norm_input.batch
def _(batch: Any, output: Any, input: Any, weight: Any, mean: Any, scale: Any, rank: int,
      eps: float) -> Any:
    output = layer_scaled(batch, with_batch(batch, "output", output), weight, rank)
    return _layer_norm_input(output, with_batch(batch, "input", input), None, None, None, rank, eps)


@_layer_norm_weight.batch
def _(batch: Any, output: Any, input: Any, mean: Any, scale: Any, rank: int, eps: float) -> Any:
    unit = _layer_norm(with_batch(batch, "input", input), None, None, rank, eps)
    product = with_batch(batch, "output", output) * unit
    shape = product.shape[product.ndim - rank:]
    kept = (batch.size, *(1,) * (product.ndim - rank - 1), *shape)
    return reshape(sum_to_size_of(product, kept), (batch.size, *shape))


def _check_normalized(input: Tensor, shape: tuple[int, ...], separator: str,
                      **parameters: Tensor | None) -> None:
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []")
    for name, parameter in parameters.items():
        if parameter is not None and tuple(parameter.shape) != shape:
            raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got "
                               f"{name} of shape {list(parameter.shape)} and normalized_shape = "
                               f"{list(shape)}")
    if tuple(input.shape[-len(shape):]) != shape:
        if not separator and input.ndim < len(shape):
            raise ValueError(f"Input tensor must have at least {len(shape)} dimensions, but got "
                             f"{input.ndim}")
        sizes = ", ".join(map(str, shape))
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape "
                           f"[*{separator}{sizes}], but got input of size{list(input.shape)}")


def _sizes(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


@composite()
def layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5,
               cudnn_enable: bool = True) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""
    shape = normalized_shape if type(normalized_shape) is tuple else _sizes(normalized_shape)
    rank = len(shape)
    if not rank or input._data.shape[-rank:] != shape \
            or (weight is not None and weight._data.shape != shape) \
            or (bias is not None and bias._data.shape != shape):
        _check_normalized(input, shape, ", ", weight=weight, bias=bias)
    if _keeps_moments(input, weight, bias):
        return _layer_norm_with_moments(input, weight, bias, rank, eps)[0]
    return _layer_norm(input, weight, bias, rank, eps)


@composite()
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """Divided by the root mean square over the last dimensions, then scaled."""
    from .reduce import mean

    shape = _sizes(normalized_shape)
    _check_normalized(input, shape, "", weight=weight)
    _refuse_integers(input._data, "rms_norm")
    if eps is None:
        eps = dtypes.finfo(input.dtype).eps
    kind = input.dtype
    x = input.float() if kind.itemsize == 2 and kind.is_floating_point else input
    square = mean(x ** 2, tuple(range(-len(shape), 0)), keepdim=True)
    result = x * rsqrt(square + eps)
    result = result if weight is None else result * weight
    return result if result.dtype == kind or x is input else result.to(kind)


# ---------------------------------------------------------------- batch norm


def per_channel(parameter: Any, rank: int) -> Any:
    """A number per channel, shaped to multiply (batch, channels, *space)."""
    return None if parameter is None else reshape(
        parameter, (1, parameter.shape[0]) + (1,) * (rank - 2))


def other_axes(rank: int) -> tuple[int, ...]:
    """All but the channels."""
    return (0, *range(2, rank))


@op(method=False, function=None, node="NativeBatchNormBackward0")
def _batch_norm(input: Array, weight: Array | None, bias: Array | None, eps: float) -> Any:
    _check_types(input, weight, bias, "batch_norm")
    return arrays.channel_norm(input, weight, bias, None, eps)[0]


@op(method=False, function=None, node="NativeBatchNormBackward0", differentiable=(0,),
    outputs=("output", "mean", "scale", "squares"))
def _batch_norm_with_moments(input: Array, weight: Array | None, bias: Array | None,
                             eps: float) -> Any:
    _check_types(input, weight, bias, "batch_norm")
    return arrays.channel_norm(input, weight, bias, None, eps)


@op(method=False, function=None, node="NativeGroupNormBackward0")
def _group_norm(input: Array, weight: Array | None, bias: Array | None, groups: int,
                eps: float) -> Any:
    _check_types(input, weight, bias, "GroupNormKernelImpl")
    return arrays.channel_norm(input, weight, bias, groups, eps)[0]


@op(method=False, function=None, node="NativeGroupNormBackward0", differentiable=(0,),
    outputs=("output", "mean", "scale"))
def _group_norm_with_moments(input: Array, weight: Array | None, bias: Array | None, groups: int,
                             eps: float) -> Any:
    _check_types(input, weight, bias, "GroupNormKernelImpl")
    return arrays.channel_norm(input, weight, bias, groups, eps)[:3]


# The gradients of all four, where statistics over the whole batch have ``groups`` None.


@op(method=False, function=None, node="NativeBatchNormBackwardBackward0")
def _channel_norm_input(output: Array, input: Array, weight: Array | None, mean: Index | None,
                        scale: Index | None, groups: Any, eps: float) -> Any:
    return arrays.channel_input_gradient(output, input, weight, mean, scale, groups, eps)


@op(method=False, function=None, node="NativeBatchNormBackwardBackward0")
def _channel_norm_weight(output: Array, input: Array, mean: Index | None, scale: Index | None,
                         groups: Any, eps: float) -> Any:
    return arrays.channel_weight_gradient(output, input, mean, scale, groups, eps)


def channel_norm(input: Any, weight: Any, groups: Any, eps: float) -> Any:
    return _batch_norm(input, weight, None, eps) if groups is None \
        else _group_norm(input, weight, None, groups, eps)


def grouped(input: Any, groups: int) -> Any:
    shape = input.shape
    return reshape(input, (shape[0] * groups, math.prod(shape[1:]) // groups))


def channel_curvature(g: Any, output: Any, input: Any, groups: Any, eps: float) -> Any:
    if groups is None:
        return _curvature(g, output, input, other_axes(len(input.shape)), eps)
    rows = [grouped(value, groups) for value in (g, output, input)]
    return reshape(_curvature(rows[0], rows[1], rows[2], (1,), eps), input.shape)


_batch_norm.vjp(
    input=lambda g, input, weight, eps: _channel_norm_input(
        g, input, weight, None, None, None, eps),
    weight=lambda g, input, eps: _channel_norm_weight(g, input, None, None, None, eps),
    bias=lambda g: channel_sums(g))
_batch_norm_with_moments.vjp(
    input=lambda g, input, weight, mean, scale, eps: _channel_norm_input(
        g[0], input, weight, mean, scale, None, eps),
    weight=lambda g, input, mean, scale, eps: _channel_norm_weight(
        g[0], input, mean, scale, None, eps),
    bias=lambda g: channel_sums(g[0]))
_group_norm.vjp(
    input=lambda g, input, weight, groups, eps: _channel_norm_input(
        g, input, weight, None, None, groups, eps),
    weight=lambda g, input, groups, eps: _channel_norm_weight(g, input, None, None, groups, eps),
    bias=lambda g: channel_sums(g))
_group_norm_with_moments.vjp(
    input=lambda g, input, weight, mean, scale, groups, eps: _channel_norm_input(
        g[0], input, weight, mean, scale, groups, eps),
    weight=lambda g, input, mean, scale, groups, eps: _channel_norm_weight(
        g[0], input, mean, scale, groups, eps),
    bias=lambda g: channel_sums(g[0]))
_channel_norm_input.vjp(
    output=lambda g, input, weight, mean, scale, groups, eps: times(
        _channel_norm_input(g, input, None, mean, scale, groups, eps),
        per_channel(weight, len(g.shape))),
    input=lambda g, output, input, weight, groups, eps: channel_curvature(
        g, times(output, per_channel(weight, len(g.shape))), input, groups, eps),
    weight=lambda g, output, input, mean, scale, groups, eps: channel_sums(
        output * _channel_norm_input(g, input, None, mean, scale, groups, eps)))
_channel_norm_weight.vjp(
    output=lambda g, input, groups, eps: channel_norm(input, g, groups, eps),
    input=lambda g, output, input, mean, scale, groups, eps: _channel_norm_input(
        output, input, g, mean, scale, groups, eps))


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
      eps: float) -> Any:
    output = channel_scaled(batch, with_batch(batch, "output", output), weight)
    input = with_batch(batch, "input", input)
    found = _channel_norm_input(all_at_once(output, groups), all_at_once(input, groups), None,
                                None, None, groups, eps)
    return one_by_one(found, input, groups)


@_channel_norm_weight.batch
def _(batch: Any, output: Any, input: Any, mean: Any, scale: Any, groups: Any,
      eps: float) -> Any:
    output, input = (with_batch(batch, *given) for given in (("output", output),
                                                             ("input", input)))
    channels = input.shape[2]
    if groups is None:
        found = _channel_norm_weight(all_at_once(output, None), all_at_once(input, None), None,
                                     None, None, eps)
        return reshape(found, (batch.size, channels))
    unit = one_by_one(_group_norm(all_at_once(input, groups), None, None, groups, eps), input,
                      groups)
    kept = (batch.size, 1, channels, *(1,) * (input.ndim - 3))
    return reshape(sum_to_size_of(output * unit, kept), (batch.size, channels))


@op(method=False, function=None, node="NativeBatchNormBackward0")
def _batch_norm_fixed(input: Array, weight: Array | None, bias: Array | None, mean: Index,
                      var: Index, eps: float) -> Any:
    _check_types(input, weight, bias, "batch_norm")
    return arrays.fixed_channel_norm(input, weight, bias, mean, var, eps)


@op(method=False, function=None, node="NativeBatchNormBackwardBackward0")
def _fixed_norm_weight(output: Array, input: Array, mean: Index, var: Index, eps: float) -> Any:
    return arrays.fixed_weight_gradient(output, input, mean, var, eps)


_batch_norm_fixed.vjp(
    input=lambda g, weight, var, eps: g * per_channel(
        times(rsqrt(var + eps), weight), len(g.shape)),
    weight=lambda g, input, mean, var, eps: _fixed_norm_weight(g, input, mean, var, eps),
    bias=lambda g: channel_sums(g))
_fixed_norm_weight.vjp(
    output=lambda g, input, mean, var, eps: _batch_norm_fixed(input, g, None, mean, var, eps),
    input=lambda g, output, var, eps: output * per_channel(
        g * rsqrt(var + eps), len(output.shape)))


@_fixed_norm_weight.batch
def _(batch: Any, output: Any, input: Any, mean: Any, var: Any, eps: float) -> Any:
    output, input, mean, var = (with_batch(batch, *given) for given in (
        ("output", output), ("input", input), ("mean", mean), ("var", var)))
    found = _fixed_norm_weight(all_at_once(output, None), all_at_once(input, None),
                               reshape(mean, (-1,)), reshape(var, (-1,)), eps)
    return reshape(found, (batch.size, input.shape[2]))


def _check_channels(input: Tensor, **parameters: Tensor | None) -> None:
    channels = input.shape[1] if input.ndim > 1 else 0
    for name, parameter in parameters.items():
        if parameter is not None and parameter.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not "
                               f"{parameter.numel()}")


def _update_running(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
                    momentum: float, instances: int = 0) -> None:
    """Blend the statistics of this batch into the running ones, in place."""
    if running_mean is None and running_var is None:
        return
    from .reduce import mean, var

    with switched(grad=False):
        input = input.detach()
        axes = tuple(range(2, input.ndim)) if instances else other_axes(input.ndim)
        for running, fresh in ((running_mean, mean), (running_var, var)):
            if running is not None:
                found = fresh(input, axes)
                found = mean(found, 0) if instances else found
                running.mul_(1 - momentum).add_(found.to(running.dtype) * momentum)


def _blend(both: Any, fresh: Any, momentum: float) -> None:
    """Blend statistics that are known into the running ones."""
    for running, found in zip(both, fresh, strict=True):
        if running is not None:
            arrays.blend(running._array(), found, momentum)
            running._bump_version()


def _batch_norm_of_nothing(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Empty input as it is, and a part of the graph of its parameters."""
    y = input.clone()
    y = y if weight is None else y * weight.select(0, 0)
    return y if bias is None else y + bias.select(0, 0)


def _normalized(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
                weight: Tensor | None, bias: Tensor | None, training: bool,
                momentum: float | None, eps: float) -> Tensor:
    """Normalised channels; the running statistics are left alone if ``momentum`` is None."""
    if not input.numel():
        return _batch_norm_of_nothing(input, weight, bias)
    if not training and (running_mean is None or running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(f"{missing} must be defined in evaluation mode")
    _check_channels(input, running_mean=running_mean, running_var=running_var, weight=weight,
                    bias=bias)
    if input.ndim < 2:
        length_of(tuple(input.shape), 1)  # there is none
    _refuse_integers(input._data, "batch_norm")
    if not training:
        return _batch_norm_fixed(input, weight, bias, running_mean, running_var, eps)
    if _are_plain(input, weight, bias, running_mean, running_var):
        y, means, _, squares = _batch_norm_with_moments(input, weight, bias, eps)
        if momentum is not None and (running_mean is not None or running_var is not None):
            fresh = arrays.mean_and_variance(means._data, squares._data, input._data.shape)
            _blend((running_mean, running_var), fresh, momentum)
        return y
    if momentum is not None:
        _update_running(input, running_mean, running_var, momentum)
    return _batch_norm(input, weight, bias, eps)


@composite(function="nn.functional")
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
               weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 for each channel over the batch, then scaled and shifted.

    Without ``training`` the running statistics take the place of the batch's own.
    """
    if training:
        size = tuple(input.shape)
        if size[0] * math.prod(size[2:]) == 1:
            raise ValueError("Expected more than 1 value per channel when training, got input size "
                             f"{input.shape}")
    return _normalized(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _torch_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                      running_mean: Tensor | None, running_var: Tensor | None, training: bool,
                      momentum: float, eps: float, cudnn_enabled: bool) -> Tensor:
    """:func:`batch_norm` with the argument order of ``torch.batch_norm``, and for any batch."""
    return _normalized(input, running_mean, running_var, weight, bias, training, momentum, eps)


publish(_torch_batch_norm, "batch_norm", method=False)


# ---------------------------------------------------------------- group and instance norm


def _torch_group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None,
                      bias: Tensor | None = None, eps: float = 1e-5,
                      cudnn_enabled: bool = True) -> Tensor:
    """:func:`group_norm` for any batch."""
    shape = tuple(input.shape)
    if len(shape) < 2:
        length_of(shape, len(shape))  # the first dimension that is missing
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if shape[1] % num_groups:
        raise RuntimeError("Expected number of channels in input to be divisible by num_groups, "
                           f"but got input of shape {list(shape)} and num_groups={num_groups}")
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter.shape) != shape[1:2]:
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(parameter.shape)} and input of shape "
                f"{list(shape)}")
    if _keeps_moments(input, weight, bias):
        return _group_norm_with_moments(input, weight, bias, num_groups, eps)[0]
    return _group_norm(input, weight, bias, num_groups, eps)


publish(_torch_group_norm, "group_norm", method=False)


@composite(function="nn.functional")
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 over each group of channels, then scaled and shifted."""
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise RuntimeError("Expected at least 2 dimensions for input tensor but received "
                           f"{input.ndim}")
    shared = shape[0] * shape[1] // num_groups
    if shared * math.prod(shape[2:]) == 1:
        raise ValueError("Expected more than 1 value per channel when training, got input size "
                         f"{[shared, num_groups, *shape[2:]]}")
    return _torch_group_norm(input, num_groups, weight, bias, eps)


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
    from .conv import avg_pool2d, avg_pool3d, pad

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


# ---------------------------------------------------------------- lengths and similarity


@composite(function="nn.functional")
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12,
              out: Tensor | None = None) -> Tensor:
    """``input`` divided by its ``p``-norm over ``dim``."""
    from .distance import vector_norm
    from .pointwise import clamp_min

    length = clamp_min(vector_norm(input, p, dim, keepdim=True), eps)
    if out is None:
        return input / expand(length, tuple(input.shape))
    return out.copy_(input / length)


def _common_float(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    kind = dtypes.promote_types(x1.dtype, x2.dtype)
    if not kind.is_floating_point:
        raise RuntimeError("expected common dtype to be floating point, yet common dtype is "
                           f"{kind.alias}")
    return x1.to(kind), x2.to(kind)


@composite()
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between ``x1`` and ``x2`` along ``dim``."""
    from .distance import vector_norm
    from .pointwise import clamp_min
    from .reduce import sum

    x1, x2 = _common_float(x1, x2)
    shape = xp.broadcast_shapes(tuple(x1.shape), tuple(x2.shape))
    x1, x2 = (x if tuple(x.shape) == shape else expand(x, shape) for x in (x1, x2))
    left, right = (x / clamp_min(vector_norm(x, 2, dim, keepdim=True), eps) for x in (x1, x2))
    return sum(left * right, dim)


@composite()
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6,
                      keepdim: bool = False) -> Tensor:
    """The ``p``-norm of the differences along the last dimension."""
    from .distance import norm

    return norm(x1 - x2 + eps, p, -1, keepdim)


# ---------------------------------------------------------------- embedding


@op(method=False, function=None, saved={"weight": "weight"})
def _embedding(weight: Array, indices: Index, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    return arrays.look_up(weight, xp.as_array(indices))


@op(method=False, function=None)
def _embedding_gradient(output: Array, indices: Index, rows: int, padding_idx: int,
                        scale_grad_by_freq: bool) -> Any:
    return arrays.add_rows(output, xp.as_array(indices), rows, padding_idx, scale_grad_by_freq)


@op(method=False, function=None)
def _weighted_rows(weight: Array, indices: Index, padding_idx: int,
                   scale_grad_by_freq: bool) -> Any:
    return arrays.weighted_rows(weight, xp.as_array(indices), padding_idx, scale_grad_by_freq)


_embedding.op.node_name = "EmbeddingBackward0"
for _rows in (_embedding, _weighted_rows):
    _rows.vjp(weight=lambda g, indices, like, padding_idx, scale_grad_by_freq: _embedding_gradient(
        g, indices, like.shape[0], padding_idx, scale_grad_by_freq))
_embedding_gradient.vjp(
    output=lambda g, indices, padding_idx, scale_grad_by_freq: _weighted_rows(
        g, indices, padding_idx, scale_grad_by_freq))
_embedding.jvp(weight=lambda tangent, indices: _embedding(tangent, indices, -1, False))


def _torch_embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1,
                     scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """:func:`embedding` with the argument order of ``torch.embedding``."""
    if sparse:
        raise NotImplementedError("embedding: sparse gradients are not supported")
    if weight.ndim != 2:
        # To record a gradient needs the number of rows, before anything is checked.
        recorded = weight.requires_grad and not weight.ndim
        raise no_dims(0) if recorded else RuntimeError("'weight' must be 2-D")
    if indices.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got torch.{indices.dtype.alias}Tensor instead (while checking "
            "arguments for embedding)")
    return _embedding(weight, indices, padding_idx, scale_grad_by_freq)


publish(_torch_embedding, "embedding", method=False)


def _padding_row(padding_idx: int, weight: Tensor) -> int:
    """The row that gets no gradient, counted from the first."""
    if padding_idx == 0:
        return 0
    count = length_of(tuple(weight.shape), 0)
    if not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % count


@composite(function="nn.functional")
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """The rows of ``weight`` at the indices ``input``; no gradient reaches row ``padding_idx``."""
    padding = -1 if padding_idx is None else _padding_row(padding_idx, weight)
    if max_norm is not None:
        with switched(grad=False):
            arrays.shorten_rows(weight._array(), input._data, max_norm, norm_type)
            weight._bump_version()
    return _torch_embedding(weight, input, padding, scale_grad_by_freq, sparse)


@op(method=False, function=None)
def _one_hot(input: Index, classes: int) -> Any:
    return arrays.one_hot(xp.as_array(input), classes)


@composite(function="nn.functional")
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Zeros with a one at each index, along a new last dimension."""
    if input.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not input.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return _one_hot(input, num_classes)
    if num_classes > 0 and type(input)._is_traced:  # type: ignore[attr-defined]
        return _one_hot(input, num_classes)
    if int(input.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    largest = int(input.max())
    if num_classes == -1:
        num_classes = largest + 1
    elif num_classes <= largest:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return _one_hot(input, num_classes)
