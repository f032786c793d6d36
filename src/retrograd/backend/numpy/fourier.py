"""Fourier transforms of NumPy arrays; those of SciPy, where it is installed, for larger ones."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from ..plain import fill_with_plain_bodies
from ..plain import fourier as plain
from ..plain.fourier import NORMS

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


def complex_to_complex(array: Any, dims: tuple[int, ...], normalization: int, forward: bool) -> Any:
    if not dims or not _is_for_scipy(array):
        return plain.complex_to_complex(array, dims, normalization, forward)
    library = _scipy()
    transform = library.fftn if forward else library.ifftn
    return transform(array, axes=dims, norm=NORMS[forward][normalization])


def real_to_complex(array: Any, dims: tuple[int, ...], normalization: int, onesided: bool) -> Any:
    if not _is_for_scipy(array):
        return plain.real_to_complex(array, dims, normalization, onesided)
    transform = _scipy().rfftn if onesided else _scipy().fftn
    return transform(array, axes=dims, norm=NORMS[True][normalization])


def complex_to_real(array: Any, dims: tuple[int, ...], normalization: int, length: int) -> Any:
    if not _is_for_scipy(array):
        return plain.complex_to_real(array, dims, normalization, length)
    sizes = (*[array.shape[dim] for dim in dims[:-1]], length)
    return _scipy().irfftn(array, s=sizes, axes=dims, norm=NORMS[False][normalization])


fill_with_plain_bodies(globals(), plain)
