"""The complex conjugate, and parts of complex values in memory of their own."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...backend import xp
from ...core.op import public
from .expressions import unary

_part = partial(unary, function=None, method=False, promote=None, quiet=True, stored="any")
real_part = _part("real_part", "The real part, in memory of its own.",
                  lambda input: xp.array(input.real), lambda g: g, node="RealBackward0")
imag_part = _part("imag_part", "The imaginary part, in memory of its own.",
                  lambda input: xp.array(input.imag), lambda g: g * 1j, node="ImagBackward0")
real_part.jvp(input=lambda tangent: real_part(tangent))
imag_part.jvp(input=lambda tangent: imag_part(tangent))
_conj_complex = unary("conj", "The complex conjugate.", lambda input: xp.conj(input),
                      lambda g: conj(g), quiet=True, function=None, method=False,
                      keeps_reals=True, of_complex=True, stored="complex")


@public("conj")
def conj(input: Any) -> Any:
    """The complex conjugate; a real tensor is its own."""
    return _conj_complex(input) if input.is_complex() else input


# Rules on raw arrays find the kernel by this.
conj.op = _conj_complex.op  # type: ignore[attr-defined]
