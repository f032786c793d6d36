"""What native Fourier transforms know, and the memory that they write to."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from . import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64

_LONGEST, _LONGEST_CHIRP, _LONGEST_COLUMN = 1 << 24, 1 << 20, 1 << 13
COMPLEX: dict[Any, Any] = {FLOAT32: COMPLEX64, FLOAT64: COMPLEX128}
REAL = {kind: real for real, kind in COMPLEX.items()}


SHORT_PRIME = 100
"""Up to this length a transform is a product with a matrix, where no kernel knows it."""
_RADICES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61)


@lru_cache(maxsize=1024)
def is_smooth(length: int, most: int = _RADICES[-1]) -> bool:
    """Whether a length has no prime factors above ``most``."""
    for prime in _RADICES:
        while length and length % prime == 0 and prime <= most:
            length //= prime
    return length == 1


@lru_cache(maxsize=1024)
def is_prime_length(length: int) -> bool:
    """Whether transforms of that length are best made of products, or of some one shorter."""
    return length > 7 and all(length % n for n in range(2, int(length ** 0.5) + 1)) and (
        length <= SHORT_PRIME or is_smooth(length - 1, 13))


@lru_cache(maxsize=1024)
def are_known(shape: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """Whether kernels know these lengths: those of columns have no prime factors above 61."""
    last = len(shape) - 1
    for dim in dims:
        length = shape[dim]
        if length > _LONGEST_COLUMN if dim != last else length > (
                _LONGEST if is_smooth(length) else _LONGEST_CHIRP):
            return False
        if not is_smooth(length) and (dim != last or is_prime_length(length)):
            return False
    return bool(dims) and 0 not in shape


@lru_cache(maxsize=1024)
def are_in_rows(shape: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """Whether kernels go from real numbers of that shape to half their spectrum."""
    return dims[-1] == len(shape) - 1 and are_known(shape, dims)


@lru_cache(maxsize=1024)
def are_halves(shape: tuple[int, ...], dims: tuple[int, ...], length: int) -> bool:
    """Whether they go back, to rows of that length, from halves of that shape."""
    return shape[dims[-1]] == length // 2 + 1 and are_in_rows((*shape[:-1], length), dims)


def as_complex(array: Any) -> Any:
    """Real numbers as complex ones."""
    return array.astype(COMPLEX[array.dtype], "C")


def empty_complex(array: Any) -> Any:
    """New memory for the spectrum of real numbers."""
    return np.empty(array.shape, COMPLEX[array.dtype])


def half_of(array: Any) -> Any:
    """New memory for half the spectrum of real numbers."""
    return np.empty((*array.shape[:-1], array.shape[-1] // 2 + 1), COMPLEX[array.dtype])


def real_of(array: Any, length: int) -> Any:
    """New memory for the real numbers of half a spectrum."""
    return np.empty((*array.shape[:-1], length), REAL[array.dtype])


@lru_cache(maxsize=1024)
def bits(dims: tuple[int, ...]) -> int:
    """A number with a bit for each dimension."""
    return sum([1 << dim for dim in dims])


@lru_cache(maxsize=1024)
def scale(shape: tuple[int, ...], dims: tuple[int, ...], normalization: int) -> float:
    """What plain sums over some dimensions are multiplied by."""
    count = math.prod([shape[dim] for dim in dims])
    return (1.0, count ** -0.5, 1 / count)[normalization]


HELPERS = (are_known, are_in_rows, are_halves, as_complex, empty_complex, half_of, real_of, bits)
"""What conditions and calls of the kernels say."""
