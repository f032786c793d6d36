"""Orthogonal polynomials, which PyTorch does not differentiate."""

from __future__ import annotations

from typing import Any

from ...backend import polynomials as polynomial_kernels
from ...base.errors import no_kernel, no_overload
from ...core.op import Array, Number, elementwise, publish
from ...core.signatures import named
from ...core.tensor import Tensor
from ..checks.common import kinds
from .number_operands import is_number, plain_number

_FAMILIES = {
    "hermite_polynomial_h": "Hermite's polynomials, of physicists.",
    "hermite_polynomial_he": "Hermite's polynomials, of probability.",
    "laguerre_polynomial_l": "Laguerre's polynomials.",
    "legendre_polynomial_p": "Legendre's polynomials.",
    "chebyshev_polynomial_t": "Chebyshev's polynomials of the first kind.",
    "chebyshev_polynomial_u": "Chebyshev's polynomials of the second kind.",
    "chebyshev_polynomial_v": "Chebyshev's polynomials of the third kind.",
    "chebyshev_polynomial_w": "Chebyshev's polynomials of the fourth kind."}
_FORMS = [f"{x} x, {n} n, *, Tensor out = None" for x, n in (
    ("Tensor", "Tensor"), ("Number", "Tensor"), ("Tensor", "Number"))]


def _kernel(family: str) -> Any:
    def kernel(x: Array, n: Array) -> Any:
        return getattr(polynomial_kernels, family)(x, n)

    return kernel


def _shifted_kernel(family: str) -> Any:
    def kernel(x: Array, n: Array) -> Any:
        return getattr(polynomial_kernels, family)(x + x - 1, n)

    return kernel


def _declare(name: str, doc: str, kernel: Any) -> None:
    """Declare a family, of points and degrees that are tensors or numbers, not both numbers."""
    made = elementwise(name=f"_{name}", doc=doc, promote="float", numbers=("x", "n"), title=name,
                       guard=kinds("f", f"{name}_cpu"))(kernel)

    @named(name, doc)
    def function(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        tensors = [value for value in (x, n) if isinstance(value, Tensor)]
        if not tensors or not all(isinstance(v, Tensor) or is_number(v) for v in (x, n)):
            raise no_overload(f"special_{name}", (x, n), *_FORMS)
        for tensor in tensors:
            if tensor.is_floating_point() and tensor.element_size() < 4:
                raise no_kernel(f"{name}_cpu", tensor.dtype)
        return made(plain_number(x), plain_number(n), out=out)  # type: ignore[no-any-return]

    publish(function, name, method=False, function="special")


for _name, _doc in _FAMILIES.items():
    _declare(_name, _doc, _kernel(_name))
    if _name.startswith("chebyshev"):
        _declare(f"shifted_{_name}", f":func:`{_name}` of 2x - 1, for x from 0 to 1.",
                 _shifted_kernel(_name))
