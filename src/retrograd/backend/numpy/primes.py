"""Fourier transforms whose lengths are prime, made of products and of transforms one shorter."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .native import native
from .spectra import SHORT_PRIME

_AT_ONCE = 1 << 16  # numbers

Transform = Callable[[Any, tuple[int, ...], int, bool], Any]
"""Of some dimensions, with a normalization, forward or back."""


def transformed(array: Any, forward: bool, transform: Transform) -> Any:
    """The plain sums of a transform along the last dimension; ``transform`` does others."""
    length = array.shape[-1]
    if length <= SHORT_PRIME:
        return array @ _matrix(length, array.dtype.char, forward)
    return convolved(array, forward, transform)


def _roots(length: int, forward: bool) -> Any:
    return np.exp((-2j if forward else 2j) * np.pi / length * np.arange(length))


@lru_cache(maxsize=64)
def _matrix(length: int, dtype: str, forward: bool) -> Any:
    places = np.arange(length)
    return _roots(length, forward)[np.outer(places, places) % length].astype(dtype)


@lru_cache(maxsize=64)
def convolution(length: int, dtype: str, forward: bool) -> tuple[Any, Any, Any]:
    """The powers of a generator of the numbers below a prime, and where those of its inverse are.

    Also the spectrum of the roots in the order of these, over its length.
    """
    generator = next(g for g in range(2, length) if len(set(_powers(g, length))) == length - 1)
    powers = np.array(_powers(generator, length))
    inverse = np.roll(powers[::-1], 1)
    spectrum = np.fft.fft(_roots(length, forward)[inverse]) / (length - 1)
    places = np.zeros(length, np.int64)  # the first number is none of them
    places[inverse] = np.arange(length - 1)
    return powers, places, spectrum.astype(dtype)


def _powers(base: int, modulus: int) -> list[int]:
    found = [1]
    for _ in range(modulus - 2):
        found.append(found[-1] * base % modulus)
    return found


@native("prime_fourier(array, like(array), "
        "*convolution(array.shape[-1], array.dtype.char, forward))", convolution,
        when="array.dtype.char in 'FD' and in_order(array)")
def convolved(array: Any, forward: bool, transform: Transform) -> Any:
    """The same for long rows.

    A power of a generator stands at each place but the first: what is left is a convolution. Some
    rows at a time, so that they stay in the cache.
    """
    length = array.shape[-1]
    powers, places, factors = convolution(length, array.dtype.char, forward)
    found = np.empty(array.shape, array.dtype)
    rows, targets = array.reshape(-1, length), found.reshape(-1, length)
    step = max(1, _AT_ONCE // length)
    for start in range(0, len(rows), step):
        some, target = rows[start:start + step], targets[start:start + step]
        spectrum = transform(some.take(powers, -1), (1,), 0, True)
        total = some[:, 0] + spectrum[:, 0]
        spectrum *= factors
        spectrum[:, 0] += some[:, 0]
        transform(spectrum, (1,), 0, False).take(places, -1, target, "clip")
        target[:, 0] = total
    return found
