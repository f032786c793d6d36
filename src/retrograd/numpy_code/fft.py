"""``np.fft`` on tensors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..core.op import PUBLIC
from ..ops import fourier as _fourier  # noqa: F401 - declares them
from .operands import axes_of, given, inexact, operand, torch

of: Any = SimpleNamespace(**PUBLIC["fft"])


def _line(name: str) -> Any:
    """A transform along one axis."""

    def called(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        return given(getattr(of, name)(inexact(a), n, axis, norm), out, f"fft.{name}")

    return called


def _space(name: str, axes: Any) -> Any:
    """A transform along several axes, these unless told otherwise."""
    default = axes

    def called(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None
               ) -> Any:
        return given(getattr(of, name)(inexact(a), s, axes, norm), out, f"fft.{name}")

    return called


fft, ifft, rfft, irfft, hfft, ihfft = map(_line, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fft2, ifft2, rfft2, irfft2 = [_space(name + "n", (-2, -1))
                              for name in ("fft", "ifft", "rfft", "irfft")]
fftn, ifftn, rfftn, irfftn = [_space(name + "n", None)
                              for name in ("fft", "ifft", "rfft", "irfft")]


def fftshift(x: Any, axes: Any = None, back: bool = False) -> Any:
    x = operand(x)
    dims = axes_of(x, axes)
    return torch.roll(x, [-(x.shape[i] // 2) if back else x.shape[i] // 2 for i in dims], dims)


def ifftshift(x: Any, axes: Any = None) -> Any:
    return fftshift(x, axes, back=True)
