"""Windows: weights that let a signal begin and end gently."""

from __future__ import annotations

import math
from typing import Any

from ...base.errors import C_NAMES
from ...core.op import composite, publish
from ...core.tensor import Tensor
from ..elementwise.special import i0
from .filled import empty, ones
from .options import dtype_for
from .ranges import arange


def _window(name: str, shape: Any, own: tuple[float, ...], length: int, periodic: bool,
            options: dict[str, Any]) -> Tensor:
    """``shape(points, last, *own)``, where the points go from 0 to ``last``."""
    kind = options["dtype"] = dtype_for(name, options["dtype"])
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype="
            f"{C_NAMES[kind.name]}, device=cpu, layout=Strided (default), "
            "requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length="
                           f"{length}")
    if length < 2:
        return ones(length, **options) if length else empty(0, **options)
    requires_grad = options.pop("requires_grad")
    count = length + bool(periodic)  # the last point of a period is the first of the next one
    found = shape(arange(count, **options), count - 1, *own)
    return found[:length].requires_grad_(requires_grad)  # type: ignore[no-any-return]


def _raised_cosine(points: Tensor, last: int, alpha: float, beta: float) -> Tensor:
    return points.mul_(2 * math.pi / last).cos_().mul_(-beta).add_(alpha)


def _two_cosines(points: Tensor, last: int) -> Tensor:
    points.mul_(math.pi / last)
    return (points * 4).cos_().mul_(0.08).sub_((points * 2).cos_().mul_(0.5)).add_(0.42)


def _triangle(points: Tensor, last: int) -> Tensor:
    points.mul_(2 / last)[last // 2 + 1:].neg_().add_(2)
    return points


def _bessel(points: Tensor, last: int, beta: float) -> Tensor:
    wide = points.float() if points.element_size() == 2 else points
    from_middle = wide * (2 / last) - 1
    found = i0(beta * (1 - from_middle * from_middle).sqrt()) / i0(wide.new_full((), beta))
    return found.to(points.dtype)  # type: ignore[no-any-return]


def _plain_window(name: str, doc: str, shape: Any, *own: float) -> Any:
    """A window that has no parameters."""

    @composite(name=name, doc=doc)
    def window(window_length: int, periodic: bool = True, *, dtype: Any = None,
               layout: Any = None, device: Any = None, pin_memory: bool = False,
               requires_grad: bool = False) -> Tensor:
        return _window(name, shape, own, window_length, periodic, {
            "dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad})

    return window


hann_window = _plain_window(
    "hann_window", "One period of a cosine, raised to begin at zero.", _raised_cosine, 0.5, 0.5)
blackman_window = _plain_window(
    "blackman_window", "The sum of a cosine of one period and one of two.", _two_cosines)
bartlett_window = _plain_window("bartlett_window", "A triangle.", _triangle)


def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54,
                   beta: float = 0.46, *, dtype: Any = None, layout: Any = None,
                   device: Any = None, pin_memory: bool = False,
                   requires_grad: bool = False) -> Tensor:
    """One period of a cosine: ``alpha`` less ``beta`` times it."""
    return _window("hamming_window", _raised_cosine, (alpha, beta), window_length, periodic, {
        "dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad})


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *,
                  dtype: Any = None, layout: Any = None, device: Any = None,
                  pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Bessel's function of a semicircle; the larger ``beta``, the narrower."""
    return _window("kaiser_window", _bessel, (beta,), window_length, periodic, {
        "dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad})


for _function in (hamming_window, kaiser_window):
    publish(_function, _function.__name__, method=False)
