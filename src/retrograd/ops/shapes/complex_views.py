"""Views of real and imaginary parts."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...core.op import Array, composite, linear, publish, view
from ...core.tensor import Tensor, attach
from .slicing import _select


def _complex_guard(condition: bool, message: str) -> None:
    if not condition:
        raise RuntimeError(message)


@view(quiet=True, method=False, function=None, batches="leading",
      vjp=lambda g: view_as_complex(contiguous_pairs(g)))
def view_as_real(input: Array) -> Any:
    """A complex tensor's memory as pairs of real numbers."""
    _complex_guard(dtypes.from_numpy_dtype(input.dtype).is_complex,
                   "view_as_real is only supported for complex tensors")
    return xp.complex_pairs(input)


@view(quiet=True, method=False, function=None, batches="vectors", vjp=lambda g: view_as_real(g))
def view_as_complex(input: Array) -> Any:
    """Pairs of real numbers as complex ones, on the same memory."""
    _complex_guard(kind_of(input.dtype) == "f", "view_as_complex is only supported for half, float "
                   "and double tensors, but got a tensor of scalar type: "
                   f"{dtypes.from_numpy_dtype(input.dtype).alias}")
    _complex_guard(input.ndim > 0, "Input tensor must have one or more dimensions")
    _complex_guard(input.shape[-1] == 2, "Tensor must have a last dimension of size 2")
    _complex_guard(xp.element_strides(input)[-1] == 1,
                   "Tensor must have a last dimension with stride 1")
    return xp.pairs_as_complex(input)


def contiguous_pairs(g: Any) -> Any:
    return g.contiguous() if isinstance(g, Tensor) else xp.ascontiguousarray(g)


publish(view_as_real, "view_as_real", method=False)
publish(view_as_complex, "view_as_complex", method=False)


# Rules use these two; users get a view of the pairs, whose history PyTorch shows.


@view(quiet=True, node="SelectBackward0", batches="leading", vjp=lambda g: complex_of(g))
def _real(input: Array) -> Any:
    return input.real


@view(quiet=True, node="SelectBackward0", batches="leading", vjp=lambda g: complex_of(g) * 1j)
def _imag(input: Array) -> Any:
    return input.imag


@linear(method=False, function=None, node="ToCopyBackward0", batches="leading",
        vjp=lambda g: _real(g))
def complex_of(input: Array) -> Any:
    """A real tensor as a complex one."""
    return input.astype(xp.complex64 if input.dtype == xp.FLOAT32 else xp.complex128)


@composite()
def real(input: Tensor) -> Any:
    """The real part, as a view; a real tensor is its own."""
    return _part(input, 0) if input.is_complex() else input


@composite()
def imag(input: Tensor) -> Any:
    """The imaginary part, as a view."""
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _part(input, 1)


def _part(input: Tensor, which: int) -> Tensor:
    return _select(view_as_real(input), input.ndim, which)


attach(real=property(real, lambda self, v: real(self).copy_(v)))
attach(imag=property(imag, lambda self, v: imag(self).copy_(v)))
