"""The three elementary Fourier transforms, each the derivative of another one.

``normalization`` is 0 for a plain sum, 1 to divide it by √n, 2 by n, as PyTorch has it. Half a
spectrum says most frequencies for two, itself and its conjugate: these are scaled by ``pairs``,
since what counts twice in a gradient was there only once.
"""

from __future__ import annotations

from typing import Any

from ...backend import fourier as fourier_kernels
from ...core.op import Array, linear
from ..elementwise.conjugate import real_part


@linear(node="FftC2CBackward0", of_complex=True, batches="dims",
        vjp=lambda g, dim, normalization, forward: _fft_c2c(g, dim, normalization, not forward))
def _fft_c2c(input: Array, dim: Any, normalization: int, forward: bool) -> Any:
    """Complex numbers to complex ones, forwards or backwards."""
    return fourier_kernels.complex_to_complex(input, dim, normalization, forward)


@linear(node="FftR2CBackward0", batches="dims",
        vjp=lambda g, like, dim, normalization, onesided, pairs:
        _fft_c2r(g, dim, normalization, like.shape[dim[-1]], 0.5 * pairs) if onesided else
        real_part(_fft_c2c(g, dim, normalization, False)))
def _fft_r2c(input: Array, dim: Any, normalization: int, onesided: bool,
             pairs: float = 1.0) -> Any:
    """Real numbers to their spectrum, or to that half of it which says all."""
    return fourier_kernels.real_to_complex(input, dim, normalization, onesided, pairs)


@linear(node="FftC2RBackward0", of_complex=True, batches="dims",
        vjp=lambda g, dim, normalization, pairs:
        _fft_r2c(g, dim, normalization, True, 2.0 * pairs))
def _fft_c2r(input: Array, dim: Any, normalization: int, last_dim_size: int,
             pairs: float = 1.0) -> Any:
    """Half a spectrum to real numbers, backwards."""
    return fourier_kernels.complex_to_real(input, dim, normalization, last_dim_size, pairs)
