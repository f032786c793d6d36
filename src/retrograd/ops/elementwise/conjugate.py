"""The complex conjugate, and parts of complex values in memory of their own."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...backend.interface import kind_of
from ...core.op import Array, elementwise, publish


@elementwise(function=None, method=False, promote=None, quiet=True, node="RealBackward0")
def real_part(input: Array) -> Any:
    """The real part, in memory of its own."""
    return xp.array(input.real)


@elementwise(function=None, method=False, promote=None, quiet=True, node="ImagBackward0")
def imag_part(input: Array) -> Any:
    """The imaginary part, in memory of its own."""
    return xp.array(input.imag)


real_part.vjp(input=lambda g: g)
real_part.jvp(input=lambda tangent: real_part(tangent))
imag_part.vjp(input=lambda g: g * 1j)
imag_part.jvp(input=lambda tangent: imag_part(tangent))


@elementwise(quiet=True, function=None, method=False, keeps_reals=True)
def conj(input: Array) -> Any:
    """The complex conjugate."""
    return xp.conj(input)


conj.vjp(input=lambda g: conj(g))
_conj_complex = conj


def conj(input: Any) -> Any:  # type: ignore[no-redef]
    """The complex conjugate; a real tensor is its own."""
    return _conj_complex(input) if kind_of(input._data.dtype) == "c" else input


# Rules on raw arrays find the kernel by this.
conj.op = _conj_complex.op  # type: ignore[attr-defined]
publish(conj, "conj")
