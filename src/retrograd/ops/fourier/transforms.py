"""The three elementary Fourier transforms, each the derivative of another one.

``normalization`` is 0 for a plain sum, 1 to divide it by √n, 2 by n, as PyTorch has it.
"""

from __future__ import annotations

from typing import Any

from ...backend import fourier as fourier_kernels, xp
from ...core.op import Array, linear
from ..elementwise.conjugate import real_part


@linear(node="FftC2CBackward0", of_complex=True, batches="dims",
        vjp=lambda g, dim, normalization, forward: _fft_c2c(g, dim, normalization, not forward))
def _fft_c2c(input: Array, dim: Any, normalization: int, forward: bool) -> Any:
    """Complex numbers to complex ones, forwards or backwards."""
    return xp.in_rows(fourier_kernels.complex_to_complex(input, dim, normalization, forward))


@linear(node="FftR2CBackward0", batches="dims",
        vjp=lambda g, like, dim, normalization, onesided:
        _from_half(g, dim, normalization, like.shape[dim[-1]]) if onesided else
        real_part(_fft_c2c(g, dim, normalization, False)))
def _fft_r2c(input: Array, dim: Any, normalization: int, onesided: bool) -> Any:
    """Real numbers to their spectrum, or to that half of it which says all."""
    return xp.in_rows(fourier_kernels.real_to_complex(input, dim, normalization, onesided))


@linear(node="FftC2RBackward0", of_complex=True, batches="dims",
        vjp=lambda g, dim, normalization, last_dim_size:
        _scale_pairs(_fft_r2c(g, dim, normalization, True), dim[-1], last_dim_size, 2.0))
def _fft_c2r(input: Array, dim: Any, normalization: int, last_dim_size: int) -> Any:
    """Half a spectrum to real numbers, backwards."""
    return xp.in_rows(fourier_kernels.complex_to_real(input, dim, normalization, last_dim_size))


@linear(batches="dims",
        vjp=lambda g, dim, length, factor: _scale_pairs(g, dim, length, factor))
def _scale_pairs(input: Array, dim: int, length: int, factor: float) -> Any:
    """Scale what stands for two frequencies in half a spectrum: itself and its conjugate."""
    return fourier_kernels.scaled_pairs(input, dim, length, factor)


def _from_half(g: Any, dim: Any, normalization: int, length: int) -> Any:
    """The gradient of real numbers: what counts twice in a half was there only once."""
    return _fft_c2r(_scale_pairs(g, dim[-1], length, 0.5), dim, normalization, length)
