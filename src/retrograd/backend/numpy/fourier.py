"""Fourier transforms of NumPy arrays; those of SciPy, where it is installed, for larger ones."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, fourier as plain
from ..plain.fourier import NORMS
from .native import native
from .primes import transformed
from .spectra import HELPERS, as_complex, is_prime_length, scale

# Below this many numbers NumPy's calls, which are cheaper, are the quicker ones.
_MANY = 1 << 11


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


@native("fourier(in_rows(array), like(array), bits(dims), "
        "scale(array.shape, dims, normalization), forward)", *HELPERS,
        when="transformable(array, 'FD', dims)")
def complex_to_complex(array: Any, dims: tuple[int, ...], normalization: int, forward: bool) -> Any:
    if _has_primes(array, dims):
        return _scaled(_by_primes(array, dims, forward), array.shape, dims, normalization)
    if not dims or not _is_for_scipy(array):
        return plain.complex_to_complex(array, dims, normalization, forward)
    library = _scipy()
    transform = library.fftn if forward else library.ifftn
    return transform(array, axes=dims, norm=NORMS[forward][normalization])


@native("half_fourier(in_rows(array), half_of(array), bits(dims), "
        "scale(array.shape, dims, normalization))", *HELPERS,
        when="onesided and halved(array, 'fd', array.shape, dims)")
def real_to_complex(array: Any, dims: tuple[int, ...], normalization: int, onesided: bool) -> Any:
    if not onesided:
        return _whole_spectrum(array, dims, normalization)
    if _has_primes(array, dims):
        whole = complex_to_complex(as_complex(array), dims, normalization, True)
        return whole[_half(dims[-1], array.shape[dims[-1]])].copy()
    if not _is_for_scipy(array):
        return plain.real_to_complex(array, dims, normalization, True)
    return _scipy().rfftn(array, axes=dims, norm=NORMS[True][normalization])


@native("fourier(as_complex(array), empty_complex(array), bits(dims), "
        "scale(array.shape, dims, normalization), True)", *HELPERS,
        when="transformable(array, 'fd', dims)")
def _whole_spectrum(array: Any, dims: tuple[int, ...], normalization: int) -> Any:
    if not _is_for_scipy(array):
        return plain.real_to_complex(array, dims, normalization, False)
    return _scipy().fftn(array, axes=dims, norm=NORMS[True][normalization])


@native("real_fourier(in_rows(array), real_of(array, length), bits(dims), "
        "scale(long(array, length), dims, normalization))", *HELPERS,
        when="halved(array, 'FD', long(array, length), dims)")
def complex_to_real(array: Any, dims: tuple[int, ...], normalization: int, length: int) -> Any:
    if is_prime_length(length) and array.size >= _MANY and array.dtype.char in "FD" \
            and array.shape[dims[-1]] == length // 2 + 1:
        part = complex_to_complex(array, dims[:-1], 0, False) if dims[:-1] else array
        found = _by_primes(_whole(part, dims[-1]), dims[-1:], False).real
        return _scaled(found, found.shape, dims, normalization)
    if not _is_for_scipy(array):
        return plain.complex_to_real(array, dims, normalization, length)
    sizes = (*[array.shape[dim] for dim in dims[:-1]], length)
    return _scipy().irfftn(array, s=sizes, axes=dims, norm=NORMS[False][normalization])


fill_with_plain_bodies(globals(), plain, scaled_pairs=native(
    "scaled_pairs(array, like(array), length, factor)",
    when="array.size and dim == array.ndim - 1 and array.dtype.char in 'FD' "
         "and in_order(array) and (length + 1) // 2 <= array.shape[-1]"))
