"""Fourier transforms: the functions of ``torch.fft``."""

# Written by `make stubs` from the declared functions and docs/stub_types.py.
# ruff: noqa

from .base.dtypes import dtype
from .base.layouts import layout
from .core.tensor import Tensor
from .types import Device
from collections.abc import Sequence
from .core.tensor import Tensor as Tensor

def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
        out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform, along ``dim``."""
    ...
def fft2(input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] = ...,
         norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform, along two dims."""
    ...
def fftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: dtype | None = None,
            layout: layout | None = None, device: Device = None, pin_memory: bool = False,
            requires_grad: bool = False) -> Tensor:
    """The frequencies of a spectrum of ``n`` points that lie ``d`` apart."""
    ...
def fftn(input: Tensor, s: int | Sequence[int] | None = None,
         dim: int | Sequence[int] | None = None, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform, along several dims."""
    ...
def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A spectrum with the frequency zero moved from its start to its middle."""
    ...
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The real spectrum of a Hermitian signal, of which half is given, along ``dim``."""
    ...
def hfft2(input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] = ...,
          norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real spectrum of a Hermitian signal, of which half is given, along two dims."""
    ...
def hfftn(input: Tensor, s: int | Sequence[int] | None = None,
          dim: int | Sequence[int] | None = None, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The real spectrum of a Hermitian signal, of which half is given, along several dims."""
    ...
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`fft`, along ``dim``."""
    ...
def ifft2(input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] = ...,
          norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`fft2`, along two dims."""
    ...
def ifftn(input: Tensor, s: int | Sequence[int] | None = None,
          dim: int | Sequence[int] | None = None, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`fftn`, along several dims."""
    ...
def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A spectrum with the frequency zero moved back from its middle to its start."""
    ...
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`hfft`, along ``dim``."""
    ...
def ihfft2(input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] = ...,
           norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`hfft2`, along two dims."""
    ...
def ihfftn(input: Tensor, s: int | Sequence[int] | None = None,
           dim: int | Sequence[int] | None = None, norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`hfftn`, along several dims."""
    ...
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`rfft`, along ``dim``."""
    ...
def irfft2(input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] = ...,
           norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`rfft2`, along two dims."""
    ...
def irfftn(input: Tensor, s: int | Sequence[int] | None = None,
           dim: int | Sequence[int] | None = None, norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`rfftn`, along several dims."""
    ...
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The half of :func:`fft` that says all of a real signal, along ``dim``."""
    ...
def rfft2(input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] = ...,
          norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The half of :func:`fft2` that says all of a real signal, along two dims."""
    ...
def rfftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: dtype | None = None,
             layout: layout | None = None, device: Device = None, pin_memory: bool = False,
             requires_grad: bool = False) -> Tensor:
    """The frequencies of half a spectrum of ``n`` points that lie ``d`` apart."""
    ...
def rfftn(input: Tensor, s: int | Sequence[int] | None = None,
          dim: int | Sequence[int] | None = None, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The half of :func:`fftn` that says all of a real signal, along several dims."""
    ...
