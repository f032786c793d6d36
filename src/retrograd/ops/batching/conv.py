"""Batching rules of convolution, pooling, padding and resampling.

A batch of inputs is folded into the samples. A batch of weights becomes groups: each group's
channels meet their own weights.
"""

from __future__ import annotations

from typing import Any

from ..nn.convolution import _convolution, _convolution_input, _convolution_weight
from .common import (
    all_batched,
    batched,
    folded,
    itself,
    merged,
    on_planes,
    repeated,
    rule,
    rule_by_name,
    run,
    unfolded,
    unmerged,
)
from .norm import per_channel

itself("_im2col", "_col2im", "constant_pad_nd", "pixel_shuffle", "pixel_unshuffle")
on_planes("_take_from_planes", "_put_in_planes", "_max_positions", "_max_pool1d", "_max_pool2d",
          "_max_pool3d", "_spread_average", "_average_pool1d", "_average_pool2d",
          "_average_pool3d", "_adaptive_positions", "_adaptive_max1d", "_adaptive_max2d",
          "_adaptive_max3d", "_max_pool1d_with_places", "_max_pool2d_with_places",
          "_max_pool3d_with_places", "_plane_indices")


def _plus_bias(batch: Any, y: Any, bias: Any) -> Any:
    """``y`` (batch, samples, channels, *space) plus a number for each channel."""
    return y if bias is None else y + per_channel(batch, "bias", bias, y)


@rule("_convolution")
def _(batch: Any, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
      groups: int) -> Any:
    settings = (stride, padding, dilation)
    if not batch["weight"]:
        if not batch["input"]:
            y = repeated(batch.size, _convolution(input, weight, None, *settings, groups))
        else:
            y = unfolded(batch, _convolution(folded(input), weight, None, *settings, groups))
    elif not batch["input"] and groups == 1:
        y = unmerged(batch, _convolution(input, folded(weight), None, *settings, 1), 1)
    else:
        y = _convolution(merged(batched(batch, "input", input), 1), folded(weight), None, *settings,
                         groups * batch.size)
        y = unmerged(batch, y, 1)
    return _plus_bias(batch, y, bias)


@rule("_convolution_input")
def _to_input(batch: Any, output: Any, weight: Any, shape: Any, stride: Any, padding: Any,
              dilation: Any, groups: int) -> Any:
    settings = (stride, padding, dilation)
    if not batch["weight"]:
        whole = (batch.size * shape[0], *shape[1:])
        return unfolded(batch, _convolution_input(folded(output), weight, whole, *settings, groups))
    whole = (shape[0], batch.size * shape[1], *shape[2:])
    found = _convolution_input(merged(batched(batch, "output", output), 1), folded(weight), whole,
                               *settings, groups * batch.size)
    return unmerged(batch, found, 1)


@rule("_convolution_weight")
def _(batch: Any, output: Any, input: Any, shape: Any, stride: Any, padding: Any, dilation: Any,
      groups: int) -> Any:
    output, input = all_batched(batch, output=output, input=input)
    whole = (batch.size * shape[0], *shape[1:])
    found = _convolution_weight(merged(output, 1), merged(input, 1), whole, stride, padding,
                                dilation, groups * batch.size)
    return unfolded(batch, found)


@rule("_transposed")
def _(batch: Any, input: Any, weight: Any, bias: Any, shape: Any, stride: Any, padding: Any,
      dilation: Any, groups: int) -> Any:
    if not (batch["input"] or batch["weight"]):
        y = repeated(batch.size, _convolution_input(input, weight, shape, stride, padding, dilation,
                                                    groups))
    else:
        own = batch.but(output=batch["input"], weight=batch["weight"])
        y = _to_input(own, input, weight, shape, stride, padding, dilation, groups)
    return _plus_bias(batch, y, bias)


# ---------------------------------------------------------------- recipes along axes


def _shifted_recipe(recipe: Any) -> Any:
    return tuple([(axis + 1 if axis >= 0 else axis, *rest) for axis, *rest in recipe])


@rule_by_name("_take_axes", "_multiply_axes",
              *(f"_adaptive_average{n}d" for n in (1, 2, 3)),
              *(f"_pad_{mode}{n}d" for mode in ("reflect", "replicate", "circular")
                for n in (1, 2, 3)),
              *(f"_upsample_nearest{n}d" for n in (1, 2, 3)),
              *(f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)),
              "_upsample_linear1d", "_upsample_bilinear2d", "_upsample_bicubic2d",
              "_upsample_trilinear3d")
def _(name: str, batch: Any, input: Any, recipe: Any, *rest: Any) -> Any:
    return run(name, input, _shifted_recipe(recipe), *rest)


@rule("_spread_axes")
def _(batch: Any, input: Any, recipe: Any, sizes: Any) -> Any:
    return run("_spread_axes", input, _shifted_recipe(recipe), (batch.size, *sizes))
