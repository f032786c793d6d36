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
    return xp.in_rows(array) if dims else xp.copied(array)


def real_to_complex(array: Any, dims: tuple[int, ...], normalization: int, onesided: bool,
                    pairs: float) -> Any:
    """The transform of a real array; of its last dim only the first half, if ``onesided``.

    Those frequencies of the half that stand for two are scaled by ``pairs``.
    """
    transform, norm = xp.fft("rfft" if onesided else "fft"), NORMS[True][normalization]
    found = transform(array, axis=dims[-1], norm=norm)
    found = complex_to_complex(found, dims[:-1], normalization, True) if dims[1:] \
        else xp.in_rows(found)
    return with_scaled_pairs(found, dims[-1], array.shape[dims[-1]], pairs)


def complex_to_real(array: Any, dims: tuple[int, ...], normalization: int, length: int,
                    pairs: float) -> Any:
    """The inverse transform of a spectrum whose last dim is given by half, ``length`` long.

    Those frequencies of the half that stand for two are scaled by ``pairs`` beforehand.
    """
    if pairs != 1:
        array = with_scaled_pairs(xp.copied(array), dims[-1], length, pairs)
    if dims[1:]:
        array = complex_to_complex(array, dims[:-1], normalization, False)
    return xp.in_rows(xp.fft("irfft")(array, n=length, axis=dims[-1],
                                      norm=NORMS[False][normalization]))


def with_scaled_pairs(half: Any, dim: int, length: int, factor: float) -> Any:
    """Half a spectrum with those frequencies scaled, in place, that stand for two of ``length``."""
    if factor != 1:
        half[(slice(None),) * dim + (slice(1, (length + 1) // 2),)] *= factor
    return half
