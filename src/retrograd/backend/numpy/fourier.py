"""Fourier transforms of NumPy arrays; those of SciPy, where it is installed, for larger ones."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, fourier as plain
from ..plain.fourier import NORMS
from . import in_rows
from .native import native
from .primes import transformed
from .spectra import HELPERS, as_complex, is_prime_length, scale

# Below this many numbers NumPy's calls, which are cheaper, are the quicker ones.
_MANY = 1 << 11
# Kernels read numbers that lie in rows; of so many others a copy pays.
_AT_HAND = f"(in_order(array) or array.size >= {_MANY})"
_READ = "array if in_order(array) else array.copy()"


@cache
def _scipy() -> Any:
    """SciPy's transforms, which compute several rows at once, or None."""
    try:
        return import_module("scipy.fft")
    except ModuleNotFoundError:
        return None


def _is_for_scipy(array: Any) -> bool:
    return array.size >= _MANY and _scipy() is not None


def _has_primes(array: Any, dims: tuple[int, ...]) -> bool:
    return array.size >= _MANY and array.dtype.char in "fdFD" and any(
        is_prime_length(array.shape[dim]) for dim in dims)


def _by_primes(array: Any, dims: tuple[int, ...], forward: bool) -> Any:
    """Plain sums over one dimension after the other."""
    for dim in dims:
        if not is_prime_length(array.shape[dim]):
            array = complex_to_complex(array, (dim,), 0, forward)
            continue
        last = array.ndim - 1
        rows = np.ascontiguousarray(np.moveaxis(array, dim, last))
        found = transformed(rows, forward, complex_to_complex)
        array = np.ascontiguousarray(np.moveaxis(found, last, dim))
    return array


def _half(dim: int, length: int) -> tuple[slice, ...]:
    """The first half of the spectrum of real numbers along a dimension."""
    return (*(slice(None),) * dim, slice(0, length // 2 + 1))


def _scaled(found: Any, shape: Any, dims: tuple[int, ...], normalization: int) -> Any:
    factor = scale(shape, dims, normalization)
    return np.ascontiguousarray(found) if factor == 1 else found * found.real.dtype.type(factor)


def _whole(half: Any, dim: int) -> Any:
    """The spectrum, of odd length, of real numbers, of which half is known."""
    others = np.flip(half[(*(slice(None),) * dim, slice(1, None))], dim)
    return np.concatenate([half, others.conj()], dim)


@native(f"complex_spectrum({_READ}, like(array), bits(dims), normalization, forward)", *HELPERS,
        when=f"array.dtype.char in 'FD' and {_AT_HAND} and are_known(array.shape, dims)")
def complex_to_complex(array: Any, dims: tuple[int, ...], normalization: int, forward: bool) -> Any:
    if _has_primes(array, dims):
        return _scaled(_by_primes(array, dims, forward), array.shape, dims, normalization)
    if not dims or not _is_for_scipy(array):
        return plain.complex_to_complex(array, dims, normalization, forward)
    library = _scipy()
    transform = library.fftn if forward else library.ifftn
    return in_rows(transform(array, axes=dims, norm=NORMS[forward][normalization]))


@native(f"half_spectrum({_READ}, half_of(array), bits(dims), normalization, pairs)", *HELPERS,
        when=f"onesided and array.dtype.char in 'fd' and {_AT_HAND} "
             "and are_in_rows(array.shape, dims)")
def real_to_complex(array: Any, dims: tuple[int, ...], normalization: int, onesided: bool,
                    pairs: float) -> Any:
    if not onesided:
        return _whole_spectrum(array, dims, normalization)
    length = array.shape[dims[-1]]
    if _has_primes(array, dims):
        whole = complex_to_complex(as_complex(array), dims, normalization, True)
        found = whole[_half(dims[-1], length)].copy()
    elif _is_for_scipy(array):
        found = in_rows(_scipy().rfftn(array, axes=dims, norm=NORMS[True][normalization]))
    else:
        return plain.real_to_complex(array, dims, normalization, True, pairs)
    return plain.with_scaled_pairs(found, dims[-1], length, pairs)


@native("complex_spectrum(as_complex(array), empty_complex(array), bits(dims), normalization, "
        "True)", *HELPERS,
        when=f"array.dtype.char in 'fd' and {_AT_HAND} and are_known(array.shape, dims)")
def _whole_spectrum(array: Any, dims: tuple[int, ...], normalization: int) -> Any:
    if not _is_for_scipy(array):
        return plain.real_to_complex(array, dims, normalization, False, 1.0)
    return in_rows(_scipy().fftn(array, axes=dims, norm=NORMS[True][normalization]))


@native(f"real_of_half({_READ}, real_of(array, length), bits(dims), normalization, pairs)",
        *HELPERS, when=f"array.dtype.char in 'FD' and {_AT_HAND} "
                       "and are_halves(array.shape, dims, length)")
def complex_to_real(array: Any, dims: tuple[int, ...], normalization: int, length: int,
                    pairs: float) -> Any:
    if not _is_for_scipy(array) and not _is_half_of_prime(array, dims, length):
        return plain.complex_to_real(array, dims, normalization, length, pairs)
    if pairs != 1:
        array = plain.with_scaled_pairs(array.copy(), dims[-1], length, pairs)
    if _is_half_of_prime(array, dims, length):
        part = complex_to_complex(array, dims[:-1], 0, False) if dims[:-1] else array
        found = _by_primes(_whole(part, dims[-1]), dims[-1:], False).real
        return _scaled(found, found.shape, dims, normalization)
    sizes = (*[array.shape[dim] for dim in dims[:-1]], length)
    return in_rows(_scipy().irfftn(array, s=sizes, axes=dims, norm=NORMS[False][normalization]))


def _is_half_of_prime(array: Any, dims: tuple[int, ...], length: int) -> bool:
    return is_prime_length(length) and array.size >= _MANY and array.dtype.char in "FD" \
        and array.shape[dims[-1]] == length // 2 + 1


fill_with_plain_bodies(globals(), plain)
