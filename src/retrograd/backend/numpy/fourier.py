"""Fourier transforms of NumPy arrays; those of SciPy, where it is installed, for larger ones."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from ..plain import fill_with_plain_bodies
from ..plain import fourier as plain
from ..plain.fourier import NORMS
from .native import native
from .spectra import HELPERS

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


@native("fourier(array, like(array), bits(dims), scale(array.shape, dims, normalization), forward)",
        *HELPERS, when="transformable(array, 'FD', dims)")
def complex_to_complex(array: Any, dims: tuple[int, ...], normalization: int, forward: bool) -> Any:
    if not dims or not _is_for_scipy(array):
        return plain.complex_to_complex(array, dims, normalization, forward)
    library = _scipy()
    transform = library.fftn if forward else library.ifftn
    return transform(array, axes=dims, norm=NORMS[forward][normalization])


@native("half_fourier(array, half_of(array), bits(dims), scale(array.shape, dims, normalization))",
        *HELPERS, when="onesided and halved(array, 'fd', array.shape, dims)")
def real_to_complex(array: Any, dims: tuple[int, ...], normalization: int, onesided: bool) -> Any:
    if not onesided:
        return _whole_spectrum(array, dims, normalization)
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


@native("real_fourier(array, real_of(array, length), bits(dims), "
        "scale(long(array, length), dims, normalization))", *HELPERS,
        when="halved(array, 'FD', long(array, length), dims)")
def complex_to_real(array: Any, dims: tuple[int, ...], normalization: int, length: int) -> Any:
    if not _is_for_scipy(array):
        return plain.complex_to_real(array, dims, normalization, length)
    sizes = (*[array.shape[dim] for dim in dims[:-1]], length)
    return _scipy().irfftn(array, s=sizes, axes=dims, norm=NORMS[False][normalization])


fill_with_plain_bodies(globals(), plain)
