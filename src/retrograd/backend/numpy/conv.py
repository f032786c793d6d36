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

_WORTH_THREADS = 1 << 22  # products of numbers


@lru_cache(maxsize=256)
def settings(stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Ints:
    """What the native kernels are told: three dimensions, the first of which may be idle."""
    idle = 3 - len(stride)
    return (*(1,) * idle, *stride, *(0,) * idle, *padding, *(1,) * idle, *dilation, groups)


def _with_one_thread(body: Any) -> Any:
    """``body``, whose products are of single samples, with none of BLAS's threads in small ones."""

    def convolve_weight_gradient(g: Any, x: Any, shape: Ints, stride: Ints, padding: Ints,
                                 dilation: Ints, groups: int) -> Any:
        of_a_sample = math.prod(shape) // (groups or 1) * math.prod(g.shape[2:])
        with one_thread if of_a_sample < _WORTH_THREADS else nullcontext():
            return body(g, x, shape, stride, padding, dilation, groups)

    return convolve_weight_gradient


fill_with_plain_bodies(
    globals(), plain, take_sides=lru_cache(maxsize=32),
    convolve=native(
        "convolved(x, weight, bias, empty((x.shape[0], weight.shape[0], *output_space("
        "x.shape[2:], weight.shape[2:], stride, padding, dilation)), x.dtype), "
        "*settings(stride, padding, dilation, groups))", settings, output_space,
        when="x.size and x.ndim < 6 and ready(x, weight, bias)"),
    convolve_input_gradient=native(
        "convolved_input_gradient(g, weight, empty(shape, g.dtype), "
        "*settings(stride, padding, dilation, groups))", settings,
        when="g.size and g.ndim < 6 and ready(g, weight)"),
    convolve_weight_gradient=lambda body: native(
        "convolved_weight_gradient(g, x, empty(shape, g.dtype), "
        "*settings(stride, padding, dilation, groups))", settings,
        when="g.size and g.ndim < 6 and ready(g, x)")(_with_one_thread(body)))
