"""Complex numbers: their parts, angles and polar form."""

from __future__ import annotations

import math
from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...backend.interface import kind_of
from ...core.op import Array, composite, elementwise, publish
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..checks.elementwise import check_parts
from .arithmetic import is_complex_value
from .conjugate import conj, imag_part, real_part
from .exponentials import exp
from .expressions import unary
from .number_operands import in_place
from .trigonometry import cos, sin
from .where import zeroed, zeros_as


def _conjugated(input: Any) -> Any:
    return xp.conj(input) if kind_of(input.dtype) == "c" else input.copy()


_conj_physical = unary("_conj_physical", None, lambda input: _conjugated(input),
                       lambda g: conj(g), quiet=True, node="ConjPhysicalBackward0")
_conj_physical_written = unary("_conj_physical_written", None, lambda input: _conjugated(input),
                               lambda g: conj(g), inplace=True, quiet=True,
                               node="ConjPhysicalBackward1", title="conj_physical")


@composite(method=True)
def conj_physical(input: Tensor, *, out: Any = None) -> Tensor:
    """The complex conjugate in memory of its own; a real tensor is its own."""
    return _conj_physical(input, out=out) if out is not None or input.is_complex() else input


publish(in_place(_conj_physical_written), "conj_physical_")


@composite(method=True)
def resolve_conj(input: Tensor) -> Tensor:
    """``input`` itself: conjugates are never pending here."""
    return input


@composite(method=True)
def resolve_neg(input: Tensor) -> Tensor:
    """``input`` itself: negations are never pending here."""
    return input


@elementwise(promote="float", quiet=True)
def angle(input: Array) -> Any:
    """The angle of a complex number; of a real one 0, or π below zero."""
    if kind_of(input.dtype) == "c":
        return xp.angle(input)
    flat = xp.where(input < 0, math.pi, 0.0).astype(input.dtype)
    return xp.where(xp.isnan(input), input, flat)


angle.vjp(input=lambda g, input, like: _angle_gradient(g, input, like))
angle.jvp(input=lambda tangent, input: real_part(tangent * conj(_turn(input)))
          if is_complex_value(input) else zeros_as(tangent))


def _angle_gradient(g: Any, input: Any, like: Any) -> Any:
    return g * _turn(input) if kind_of(like.dtype) == "c" else zeros_as(g)


def _turn(input: Any) -> Any:
    return zeroed(input * 1j / (input * conj(input)), input == 0)


_COMPLEX_OUT = Out("Expected object of scalar type {result} but got scalar type {out} for argument "
                   "'out'")


@elementwise(method=False, quiet=True, numbers=(), promote=None, guard=check_parts, halves=False,
             out=_COMPLEX_OUT)
def complex(real: Array, imag: Array) -> Any:
    """The complex numbers with the given parts."""
    if real.dtype.itemsize == 2:  # pairs of halves, which no kernel computes with
        return xp.pairs_as_complex(xp.stack(xp.broadcast_arrays(real, imag), axis=-1))
    return pointwise_kernels.made_complex(real, imag)


complex.vjp(real=lambda g: real_part(g), imag=lambda g: imag_part(g))
complex.jvp(real=lambda tangent: tangent + 0j, imag=lambda tangent: tangent * 1j)


@elementwise(method=False, quiet=True, numbers=(), promote=None, guard=check_parts,
             out=_COMPLEX_OUT)
def polar(abs: Array, angle: Array) -> Any:
    """The complex numbers with the given distances and angles."""
    return pointwise_kernels.made_complex(abs * xp.cos(angle), abs * xp.sin(angle))


polar.vjp(abs=lambda g, angle: real_part(g) * cos(angle) + imag_part(g) * sin(angle),
          angle=lambda g, abs, angle: abs * (imag_part(g) * cos(angle) - real_part(g) * sin(angle)))
polar.jvp(abs=lambda tangent, angle: tangent * exp(angle * 1j),
          angle=lambda tangent, y: tangent * (y * 1j))
