"""Convolution on NumPy arrays, by native kernels."""

from __future__ import annotations

import math
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from ..plain import conv as plain, fill_with_plain_bodies
from ..plain.conv import Ints, output_space
from .index import placed  # noqa: F401 - in the plain bodies
from .matrices import product  # noqa: F401 - in the plain bodies
from .native import native
from .threads import one_thread

_ALONE = range(1 << 18, 1 << 22)
"""For so many products of numbers for a sample BLAS would wake up threads that do not help."""


@lru_cache(maxsize=256)
def settings(stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Ints:
    """What the native kernels are told: three dimensions, the first of which may be idle."""
    idle = 3 - len(stride)
    return (*(1,) * idle, *stride, *(0,) * idle, *padding, *(1,) * idle, *dilation, groups)


def _threads_for(multiplications: int) -> Any:
    return one_thread if multiplications in _ALONE else nullcontext()


def _convolving(body: Any) -> Any:
    def convolve(x: Any, weight: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints,
                 groups: int) -> Any:
        out = output_space(x.shape[2:], weight.shape[2:], stride, padding, dilation)
        with _threads_for(weight.size * math.prod(out)):
            return body(x, weight, bias, stride, padding, dilation, groups)

    return convolve


def _convolving_weights(body: Any) -> Any:
    def convolve_weight_gradient(g: Any, x: Any, shape: Ints, stride: Ints, padding: Ints,
                                 dilation: Ints, groups: int) -> Any:
        with _threads_for(math.prod(shape) * math.prod(g.shape[2:])):
            return body(g, x, shape, stride, padding, dilation, groups)

    return convolve_weight_gradient


# What lies in another order (a gradient that a sum has spread, a permuted image) is copied: that
# takes a small part of what the kernels spare.
fill_with_plain_bodies(
    globals(), plain, take_sides=lru_cache(maxsize=32),
    convolve=lambda body: native(
        "convolved(in_rows(x), in_rows(weight), bias, empty((x.shape[0], weight.shape[0], "
        "*output_space(x.shape[2:], weight.shape[2:], stride, padding, dilation)), x.dtype), "
        "*settings(stride, padding, dilation, groups))", settings, output_space,
        when="x.size and x.ndim < 6 and strided(x, weight) and "
             "(bias is None or (bias.dtype is x.dtype and ready(bias)))")(_convolving(body)),
    convolve_input_gradient=native(
        "convolved_input_gradient(in_rows(g), in_rows(weight), empty(shape, g.dtype), "
        "*settings(stride, padding, dilation, groups))", settings,
        when="g.size and g.ndim < 6 and strided(g, weight)"),
    convolve_weight_gradient=lambda body: native(
        "convolved_weight_gradient(in_rows(g), in_rows(x), empty(shape, g.dtype), "
        "*settings(stride, padding, dilation, groups))", settings,
        when="g.size and g.ndim < 6 and strided(g, x)")(_convolving_weights(body)))
