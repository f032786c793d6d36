"""Normalisation of the last dims: layer norm and RMS norm."""

from __future__ import annotations

import math
from typing import Any

from ...backend import norm as norm_kernels
from ...base import dtypes
from ...core.op import Array, Index, Sizes, composite, linear, op
from ...core.tensor import PLAIN, Tensor
from ..batching import aligned, batched, inner_rank
from ..checks.common import no_complex, unsupported
from ..checks.norms import check_normalized, check_types
from ..elementwise.exponentials import rsqrt
from ..memory.casts import contiguous
from ..reductions.sums import mean
from ..shapes.expanding import expand, sum_to_size_of
from ..shapes.reshaping import reshape


def mean_over(input: Any, axes: Any) -> Any:
    """The mean over ``axes``, with their lengths kept as one."""
    shape = input.shape
    kept = tuple([1 if i in axes else n for i, n in enumerate(shape)])
    return sum_to_size_of(input, kept) * (math.prod(kept) / (math.prod(shape) or 1))


@op(node="NativeLayerNormBackward0", batches="dims",
    vjp=lambda g, input, axes, eps: _standardize_gradient(g, input, axes, eps))
def _standardize(input: Array, axes: Any, eps: float) -> Any:
    return norm_kernels.standardize(input, axes, eps)


@op(node="NativeLayerNormBackwardBackward0", batches="dims")
def _standardize_gradient(output: Array, input: Array, axes: Any, eps: float) -> Any:
    return norm_kernels.standardize_gradient(output, input, axes, eps)


@op(node="RsqrtBackward0", batches="dims")
def _inverse_deviation(input: Array, axes: Any, eps: float) -> Any:
    return norm_kernels.inverse_deviation(input, axes, eps)


def _curvature(g: Any, output: Any, input: Any, axes: Any, eps: float) -> Any:
    """How ``<g, standardize_gradient(output, input)>`` changes with ``input``."""
    scale = _inverse_deviation(input, axes, eps)
    unit = _standardize(input, axes, eps)
    along_g, along_output = mean_over(g * unit, axes), mean_over(output * unit, axes)
    common = mean_over(g * output, axes) - mean_over(g, axes) * mean_over(output, axes)
    return -scale * (unit * (common - along_g * along_output) * scale
                     + along_output * _standardize_gradient(g, input, axes, eps)
                     + along_g * _standardize_gradient(output, input, axes, eps))


_standardize_gradient.vjp(
    output=lambda g, input, axes, eps: _standardize_gradient(g, input, axes, eps),
    input=lambda g, output, input, axes, eps: _curvature(g, output, input, axes, eps))
_inverse_deviation.vjp(input=lambda g, input, y, axes, eps: -g * y * y * _standardize(
    input, axes, eps) * (math.prod(y.shape) / (math.prod(input.shape) or 1)))


def times(g: Any, weight: Any) -> Any:
    return g if weight is None else g * weight


@op(node="NativeLayerNormBackward0", guard=no_complex("LayerNormKernelImpl"))
def _layer_norm(input: Array, weight: Array | None, bias: Array | None, rank: int,
                eps: float) -> Any:
    check_types(input, weight, bias, "LayerNormKernelImpl")
    return norm_kernels.layer_normed(input, rank, eps, weight, bias)


_LARGE = 1 << 16  # elements from which it pays to keep the moments for the backward pass


def _keeps_moments(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> bool:
    return input._data.size > _LARGE and _are_plain(input, weight, bias) and (
        input._edge is not None or (weight is not None and weight._edge is not None))


def _are_plain(*tensors: Tensor | None) -> bool:
    """Whether no transform is at work: the ops that keep moments know none."""
    return all([t is None or type(t) in PLAIN for t in tensors])


@op(node="NativeLayerNormBackward0", differentiable=(0,), outputs=("output", "mean", "scale"),
    guard=no_complex("LayerNormKernelImpl"))
def _layer_norm_with_moments(input: Array, weight: Array | None, bias: Array | None, rank: int,
                             eps: float) -> Any:
    check_types(input, weight, bias, "LayerNormKernelImpl")
    return norm_kernels.layer_norm(input, rank, eps, weight, bias)


@op(node="NativeLayerNormBackwardBackward0")
def _layer_norm_input(output: Array, input: Array, weight: Array | None, mean: Index | None,
                      scale: Index | None, rank: int, eps: float, asked: Any) -> Any:
    return norm_kernels.layer_gradient(output, input, weight, mean, scale, rank, eps, asked)


@op(node="NativeLayerNormBackwardBackward0")
def _layer_norm_weight(output: Array, input: Array, mean: Index | None, scale: Index | None,
                       rank: int, eps: float) -> Any:
    return norm_kernels.layer_weight_gradient(output, input, mean, scale, rank, eps)


def layer_rows(input: Any, rank: int) -> Any:
    shape = input.shape
    split = len(shape) - rank
    return reshape(input, (math.prod(shape[:split]), math.prod(shape[split:])))


@linear(function=None, method=False, node="SumBackward1",
        vjp=lambda g, like: expand(g, like.shape))
def layer_sums(input: Array, rank: int) -> Any:
    """The sum over all but the last ``rank`` dimensions."""
    return norm_kernels.layer_sums(input, rank)


@layer_sums.batch
def _(batch: Any, input: Any, rank: int) -> Any:
    shape = input.shape[input.ndim - rank:]
    kept = (batch.size, *(1,) * (input.ndim - rank - 1), *shape)
    return reshape(sum_to_size_of(input, kept), (batch.size, *shape))


def layer_curvature(g: Any, output: Any, input: Any, rank: int, eps: float) -> Any:
    rows = [layer_rows(value, rank) for value in (g, output, input)]
    return reshape(_curvature(rows[0], rows[1], rows[2], (1,), eps), input.shape)


_layer_norm.vjp(
    input=lambda g, input, weight, rank, eps, wanted: _layer_norm_input(
        g, input, weight, None, None, rank, eps, wanted),
    weight=lambda g, input, rank, eps: _layer_norm_weight(g, input, None, None, rank, eps),
    bias=lambda g, rank: layer_sums(g, rank))

_layer_norm.vjp_jointly(lambda g, input, weight, rank, eps: norm_kernels.layer_gradients(
    g, input, weight, None, None, rank, eps))


@_layer_norm.batch
def _(batch: Any, input: Any, weight: Any, bias: Any, rank: int, eps: float) -> Any:
    if batch["input"] and not (batch["weight"] or batch["bias"]):
        return _layer_norm(input, weight, bias, rank, eps)
    y = _layer_norm(batched(batch, "input", input), None, None, rank, eps)
    if weight is not None:
        y = y * aligned(batch, "weight", weight, inner_rank(y))
    return y if bias is None else y + aligned(batch, "bias", bias, inner_rank(y))


_layer_norm_with_moments.vjp(
    input=lambda g, input, weight, mean, scale, rank, eps, wanted: _layer_norm_input(
        g[0], input, weight, mean, scale, rank, eps, wanted),
    weight=lambda g, input, mean, scale, rank, eps: _layer_norm_weight(
        g[0], input, mean, scale, rank, eps),
    bias=lambda g, rank: layer_sums(g[0], rank))
_layer_norm_with_moments.vjp_jointly(
    lambda g, input, weight, mean, scale, rank, eps: norm_kernels.layer_gradients(
        g[0], input, weight, mean, scale, rank, eps))
_layer_norm_input.vjp(
    output=lambda g, input, weight, mean, scale, rank, eps: times(
        _layer_norm_input(g, input, None, mean, scale, rank, eps, None), weight),
    input=lambda g, output, input, weight, rank, eps: layer_curvature(
        g, times(output, weight), input, rank, eps),
    weight=lambda g, output, input, mean, scale, rank, eps: layer_sums(
        output * _layer_norm_input(g, input, None, mean, scale, rank, eps, None), rank))
_layer_norm_weight.vjp(
    output=lambda g, input, rank, eps: _layer_norm(input, g, None, rank, eps),
    input=lambda g, output, input, mean, scale, rank, eps: _layer_norm_input(
        output, input, g, mean, scale, rank, eps, None))


def layer_scaled(batch: Any, value: Any, weight: Any, rank: int) -> Any:
    """A batch of values times their weights, which may be a batch too."""
    if weight is None or not batch["weight"]:
        return times(value, weight)
    lead = value.ndim - rank - 1
    return value * reshape(weight, (batch.size, *(1,) * lead, *weight.shape[1:]))


@_layer_norm_input.batch
def _(batch: Any, output: Any, input: Any, weight: Any, mean: Any, scale: Any, rank: int,
      eps: float, asked: Any) -> Any:
    output = layer_scaled(batch, batched(batch, "output", output), weight, rank)
    return _layer_norm_input(output, batched(batch, "input", input), None, None, None, rank, eps,
                             None)


@_layer_norm_weight.batch
def _(batch: Any, output: Any, input: Any, mean: Any, scale: Any, rank: int, eps: float) -> Any:
    unit = _layer_norm(batched(batch, "input", input), None, None, rank, eps)
    product = batched(batch, "output", output) * unit
    shape = product.shape[product.ndim - rank:]
    kept = (batch.size, *(1,) * (product.ndim - rank - 1), *shape)
    return reshape(sum_to_size_of(product, kept), (batch.size, *shape))


def _sizes(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


@composite()
def layer_norm(input: Tensor, normalized_shape: Sizes, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5,
               cudnn_enable: bool = True) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""
    shape = normalized_shape if type(normalized_shape) is tuple else _sizes(normalized_shape)
    rank = len(shape)
    if not rank or input._data.shape[-rank:] != shape \
            or (weight is not None and weight._data.shape != shape) \
            or (bias is not None and bias._data.shape != shape):
        check_normalized(input, shape, ", ", weight=weight, bias=bias)
    if _keeps_moments(input, weight, bias):
        return _layer_norm_with_moments(input, weight, bias, rank, eps)[0]
    return _layer_norm(input, weight, bias, rank, eps)


@composite()
def rms_norm(input: Tensor, normalized_shape: Sizes, weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """Divided by the root mean square over the last dimensions, then scaled."""
    shape = _sizes(normalized_shape)
    check_normalized(input, shape, "", weight=weight)
    unsupported("rms_norm", input._data.dtype, "biu")
    if eps is None:
        eps = dtypes.finfo(input.dtype).eps
    kind = input.dtype
    is_narrow = kind.itemsize == 2 and kind.is_floating_point
    x = contiguous(input.float() if is_narrow else input)
    square = mean(x ** 2, tuple(range(-len(shape), 0)), keepdim=True)
    result = x * rsqrt(square + eps)
    result = result if weight is None else result * weight
    return result.to(kind) if is_narrow else result
