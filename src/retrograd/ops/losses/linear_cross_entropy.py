"""Cross entropy of a linear layer's scores."""

from __future__ import annotations

import math
from typing import Any

from ...backend import chunked_entropy
from ...base import dtypes
from ...base.warning import warn
from ...core.op import Array, Index, composite, op
from ...core.tensor import Tensor
from ..checks.common import no_derivative
from ..products.linear_layers import linear
from ..shapes.dimensions import squeeze, unsqueeze
from ..shapes.reshaping import reshape
from .cross_entropy import cross_entropy
from .reduction import reduction_code

# ---------------------------------------------------------------- some rows at a time


@op()
def _chunked_entropy(input: Array, linear_weight: Array, bias: Array | None, target: Index,
                     weight: Index | None, reduction: int, ignore_index: int, chunk: int) -> Any:
    return chunked_entropy.chunked_entropy(input, linear_weight, bias, target, weight, reduction,
                                           ignore_index, chunk)


@op()
def _chunked_entropy_gradient(output: Array, input: Array, linear_weight: Array,
                              bias: Array | None, target: Index, weight: Index | None, of: str,
                              reduction: int, ignore_index: int, chunk: int) -> Any:
    return chunked_entropy.chunked_entropy_gradient(output, input, linear_weight, bias, target,
                                                    weight, of, reduction, ignore_index, chunk)


def _gradient_of(argument: str) -> Any:
    return lambda g, input, linear_weight, bias, target, weight, reduction, ignore_index, chunk: \
        _chunked_entropy_gradient(g, input, linear_weight, bias, target, weight, argument,
                                  reduction, ignore_index, chunk)


_chunked_entropy.vjp(**{name: _gradient_of(name) for name in ("input", "linear_weight", "bias")})
for _argument in ("output", "input", "linear_weight", "bias"):
    _chunked_entropy_gradient.vjp(
        **{_argument: lambda g: no_derivative("linear_cross_entropy with options")})


def _by_chunks(input: Tensor, linear_weight: Tensor, target: Tensor, bias: Tensor | None,
               weight: Tensor | None, reduction: str, ignore_index: int, options: Any) -> Tensor:
    if input.ndim == 1:
        return squeeze(_by_chunks(unsqueeze(input, 0), linear_weight, unsqueeze(target, 0), bias,
                                  weight, reduction, ignore_index, options), 0)
    if not hasattr(options, "_chunk_of"):
        raise TypeError("linear_cross_entropy(): argument 'options' must be "
                        "retrograd.nn.LinearCrossEntropyOptions or None, not "
                        f"{type(options).__module__}.{type(options).__name__}")
    chunk = options._chunk_of(input.shape[0], input.shape[1], linear_weight.shape[0], input.dtype)
    return _chunked_entropy(input, linear_weight, bias, target, weight, reduction_code(reduction),
                            ignore_index, chunk)


# ---------------------------------------------------------------- all at once


def _scores_shape(input: Tensor, linear_weight: Tensor, bias: Tensor | None) -> tuple[int, ...]:
    """The shape of the scores, with everything checked."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if linear_weight.ndim < 2:
        raise RuntimeError("expected linear_weight with dimensionality at least 2, got "
                           f"{linear_weight.ndim}")
    *classes, features = linear_weight.shape
    if input.shape[-1] != features:
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), "
                           f"got {input.shape[-1]} and {features}, respectively")
    if bias is not None and tuple(bias.shape) != tuple(classes):
        raise RuntimeError(f"expected linear_bias shape {tuple(classes)}, got "
                           f"{tuple(bias.shape)}")
    if len(classes) > 1 and input.ndim == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} "
            f"requires batched input, (N, {features}), got unbatched input with shape "
            f"{tuple(input.shape)}")
    return (*input.shape[:-1], *classes)


@composite(function="nn.functional")
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *,
                         linear_bias: Tensor | None = None, weight: Tensor | None = None,
                         reduction: str = "mean", ignore_index: int | None = None,
                         label_smoothing: float = 0.0, options: Any = None) -> Tensor:
    """:func:`cross_entropy` of the scores that a linear layer gives ``input``.

    With ``options`` the scores are computed some rows at a time, and again in the backward pass.
    """
    shape = _scores_shape(input, linear_weight, linear_bias)
    if ignore_index is None:
        ignore_index = -100
    elif tuple(target.shape) == shape:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    positions = tuple(linear_weight.shape[1:-1])
    if options is not None:
        if reduction in ("mean", "sum", "none") and label_smoothing == 0 and not positions \
                and target.dtype is dtypes.int64:
            return _by_chunks(input, linear_weight, target, linear_bias, weight, reduction,
                              ignore_index, options)
        warn("linear_cross_entropy: ``options`` ignored; chunked path needs reduction in "
             "{'mean','sum','none'}, label_smoothing == 0, target.dtype == int64, out_features == "
             f"(). Got reduction={reduction!r}, label_smoothing={label_smoothing}, "
             f"target.dtype={target.dtype}, out_features={positions}, tracing=False, "
             "linear_bias.shape="
             f"{tuple(linear_bias.shape) if linear_bias is not None else None}.")
    if positions:
        rows = math.prod(linear_weight.shape[:-1])
        linear_weight = reshape(linear_weight, (rows, linear_weight.shape[-1]))
        linear_bias = None if linear_bias is None else reshape(linear_bias, (rows,))
    return cross_entropy(reshape(linear(input, linear_weight, linear_bias), shape), target,
                         weight=weight, reduction=reduction, ignore_index=ignore_index,
                         label_smoothing=label_smoothing)
