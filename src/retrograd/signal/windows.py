"""Windows of a given number of points: weights that let a signal begin and end gently.

Each one is a function of evenly spaced points, from ``first`` to ``last``. ``sym=False`` leaves out
the last point of a period, which is the first of the next one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ..base import dtypes, layouts
from ..base.missing_names import suggest_names as _suggest_names
from ..core.signatures import named
from ..core.tensor import Tensor
from ..ops.creation.filled import empty, ones
from ..ops.creation.from_data import tensor
from ..ops.creation.ranges import arange, linspace
from ..ops.elementwise.special import i0

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
           "general_hamming", "hamming", "hann", "kaiser", "nuttall"]


def _options(name: str, M: int, dtype: Any, layout: Any, device: Any, requires_grad: bool
             ) -> dict[str, Any]:
    """What is asked of the tensor, with everything checked."""
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not layouts.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}


def _weights(M: int, first: float, factor: float, options: dict[str, Any],
             shape: Callable[[Tensor], Tensor], one_is_one: bool = False) -> Tensor:
    """``shape`` of the points from ``first`` in steps of 1, all times ``factor``."""
    if not M:
        return empty(0, **options)
    if M == 1 and one_is_one:
        return ones(1, **options)
    return shape(linspace(first * factor, (first + (M - 1)) * factor, M, **options))


def _period(M: int, sym: bool) -> int:
    """How many steps one period of the window has."""
    return M if not sym and M > 1 else M - 1


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True,
                dtype: Any = None, layout: Any = layouts.strided, device: Any = None,
                requires_grad: bool = False) -> Tensor:
    """Decays from ``center`` on both sides, by a factor of e every ``tau`` points."""
    options = _options("exponential", M, dtype, layout, device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = _period(M, sym) / 2.0 if center is None else center
    return _weights(M, -middle, 1 / tau, options, lambda k: (-k.abs()).exp())


def cosine(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = layouts.strided,
           device: Any = None, requires_grad: bool = False) -> Tensor:
    """Half a period of a sine."""
    options = _options("cosine", M, dtype, layout, device, requires_grad)
    points = max(_period(M, sym) + 1, 1)
    return _weights(M, 0.5, math.pi / points, options, lambda k: k.sin())


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None,
             layout: Any = layouts.strided, device: Any = None,
             requires_grad: bool = False) -> Tensor:
    """A normal density of ``std`` points, with 1 at its middle."""
    options = _options("gaussian", M, dtype, layout, device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _weights(M, -_period(M, sym) / 2.0, 1 / (std * math.sqrt(2)), options,
                    lambda k: (-(k ** 2)).exp())


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None,
           layout: Any = layouts.strided, device: Any = None,
           requires_grad: bool = False) -> Tensor:
    """Bessel's function of a semicircle; the larger ``beta``, the narrower."""
    options = _options("kaiser", M, dtype, layout, device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return _weights(M, 0.0, 1.0, options, Tensor.exp)  # type: ignore[arg-type]
    # In the dtype of the window, so that no point lies outside of the semicircle.
    radius = tensor(beta, dtype=options["dtype"], device=device)
    last = radius.minimum((M - 1) * (2.0 * radius / _period(M, sym)) - radius)
    k = linspace(-radius, last, M, **options)
    return i0((radius * radius - k ** 2).sqrt()) / i0(radius)  # type: ignore[no-any-return]


def bartlett(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = layouts.strided,
             device: Any = None, requires_grad: bool = False) -> Tensor:
    """A triangle."""
    options = _options("bartlett", M, dtype, layout, device, requires_grad)
    period = _period(M, sym)
    return _weights(M, -period / 2, 2 / max(period, 1), options, lambda k: 1 - k.abs(),
                    one_is_one=True)


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None,
                   layout: Any = layouts.strided, device: Any = None,
                   requires_grad: bool = False) -> Tensor:
    """The sum of cosines of 0, 1, 2 ... periods, weighted by ``a`` with signs that alternate."""
    return _sum_of_cosines(M, a, sym, _options("general_cosine", M, dtype, layout, device,
                                               requires_grad))


def _sum_of_cosines(M: int, a: Any, sym: bool, options: dict[str, Any]) -> Tensor:
    if M > 1:
        if not isinstance(a, Iterable):
            raise TypeError("Coefficients must be a list/tuple")
        if not a:
            raise ValueError("Coefficients cannot be empty")

    def shape(k: Tensor) -> Tensor:
        others = {name: options[name] for name in ("dtype", "device", "requires_grad")}
        weights = tensor([(-1) ** i * w for i, w in enumerate(a)], **others)
        periods = arange(weights.shape[0], **others)
        found = (weights.unsqueeze(-1) * (periods.unsqueeze(-1) * k).cos()).sum(0)
        return found  # type: ignore[no-any-return]

    return _weights(M, 0, 2 * math.pi / max(_period(M, sym), 1), options, shape, one_is_one=True)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None,
                    layout: Any = layouts.strided, device: Any = None,
                    requires_grad: bool = False) -> Tensor:
    """``alpha`` less 1 - ``alpha`` times one period of a cosine."""
    return _sum_of_cosines(M, (alpha, 1.0 - alpha), sym, _options(
        "general_cosine", M, dtype, layout, device, requires_grad))


def _fixed(name: str, doc: str, a: tuple[float, ...], checked: str = "general_cosine") -> Any:
    """A sum of cosines that has a name."""

    @named(name, doc)
    def window(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = layouts.strided,
               device: Any = None, requires_grad: bool = False) -> Tensor:
        return _sum_of_cosines(M, a, sym, _options(checked, M, dtype, layout, device,
                                                   requires_grad))

    return window


hamming = _fixed("hamming", "A raised cosine that begins a little above zero.", (0.54, 0.46))
hann = _fixed("hann", "A raised cosine that begins at zero.", (0.5, 0.5))
blackman = _fixed("blackman", "The sum of a cosine of one period and one of two.",
                  (0.42, 0.5, 0.08), "blackman")
nuttall = _fixed("nuttall", "The sum of cosines of up to three periods.",
                 (0.3635819, 0.4891775, 0.1365995, 0.0106411))

_suggest_names(__name__)
