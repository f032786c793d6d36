"""Discrete Fourier transforms of raw arrays, one dimension after the other."""

from __future__ import annotations

from typing import Any

from .. import xp

NORMS = {True: ("backward", "ortho", "forward"), False: ("forward", "ortho", "backward")}
"""What a library calls no scaling, division by √n and division by n, by direction."""


def complex_to_complex(array: Any, dims: tuple[int, ...], normalization: int, forward: bool) -> Any:
    """The transform of an array over ``dims``, or the inverse one; both may be scaled."""
    transform, norm = xp.fft("fft" if forward else "ifft"), NORMS[forward][normalization]
    for dim in dims:
        array = transform(array, axis=dim, norm=norm)
    return array if dims else xp.copied(array)


def real_to_complex(array: Any, dims: tuple[int, ...], normalization: int, onesided: bool) -> Any:
    """The transform of a real array; of its last dim only the first half, if ``onesided``."""
    transform, norm = xp.fft("rfft" if onesided else "fft"), NORMS[True][normalization]
    found = transform(array, axis=dims[-1], norm=norm)
    return complex_to_complex(found, dims[:-1], normalization, True) if dims[1:] else found


def complex_to_real(array: Any, dims: tuple[int, ...], normalization: int, length: int) -> Any:
    """The inverse transform of a spectrum whose last dim is given by half, ``length`` long."""
    if dims[1:]:
        array = complex_to_complex(array, dims[:-1], normalization, False)
    return xp.fft("irfft")(array, n=length, axis=dims[-1], norm=NORMS[False][normalization])


def scaled_pairs(array: Any, dim: int, length: int, factor: float) -> Any:
    """Half a spectrum with those frequencies scaled that stand for two of the ``length``."""
    made = xp.copied(array)
    made[(slice(None),) * dim + (slice(1, (length + 1) // 2),)] *= factor
    return made
