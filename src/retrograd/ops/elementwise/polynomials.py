"""Orthogonal polynomials, which PyTorch does not differentiate."""

from __future__ import annotations

from typing import Any

from ...backend import polynomials as polynomial_kernels
from ...base.errors import no_kernel, no_overload
from ...core.op import Number, elementwise, publish
from ...core.tensor import Tensor
from ..checks.common import kinds
from .number_operands import is_number, plain_number

_FAMILIES = {
    "hermite_polynomial_h": (
        "Hermite's polynomials, of physicists.",
        lambda x, n: polynomial_kernels.hermite_polynomial_h(x, n)),
    "hermite_polynomial_he": (
        "Hermite's polynomials, of probability.",
        lambda x, n: polynomial_kernels.hermite_polynomial_he(x, n)),
    "laguerre_polynomial_l": (
        "Laguerre's polynomials.",
        lambda x, n: polynomial_kernels.laguerre_polynomial_l(x, n)),
    "legendre_polynomial_p": (
        "Legendre's polynomials.",
        lambda x, n: polynomial_kernels.legendre_polynomial_p(x, n)),
    "chebyshev_polynomial_t": (
        "Chebyshev's polynomials of the first kind.",
        lambda x, n: polynomial_kernels.chebyshev_polynomial_t(x, n)),
    "chebyshev_polynomial_u": (
        "Chebyshev's polynomials of the second kind.",
        lambda x, n: polynomial_kernels.chebyshev_polynomial_u(x, n)),
    "chebyshev_polynomial_v": (
        "Chebyshev's polynomials of the third kind.",
        lambda x, n: polynomial_kernels.chebyshev_polynomial_v(x, n)),
    "chebyshev_polynomial_w": (
        "Chebyshev's polynomials of the fourth kind.",
        lambda x, n: polynomial_kernels.chebyshev_polynomial_w(x, n)),
    "shifted_chebyshev_polynomial_t": (
        ":func:`chebyshev_polynomial_t` of 2x - 1, for x from 0 to 1.",
        lambda x, n: polynomial_kernels.chebyshev_polynomial_t(x + x - 1, n)),
    "shifted_chebyshev_polynomial_u": (
        ":func:`chebyshev_polynomial_u` of 2x - 1, for x from 0 to 1.",
        lambda x, n: polynomial_kernels.chebyshev_polynomial_u(x + x - 1, n)),
    "shifted_chebyshev_polynomial_v": (
        ":func:`chebyshev_polynomial_v` of 2x - 1, for x from 0 to 1.",
        lambda x, n: polynomial_kernels.chebyshev_polynomial_v(x + x - 1, n)),
    "shifted_chebyshev_polynomial_w": (
        ":func:`chebyshev_polynomial_w` of 2x - 1, for x from 0 to 1.",
        lambda x, n: polynomial_kernels.chebyshev_polynomial_w(x + x - 1, n))}
"""Each family with what it is and its kernel."""
_FORMS = [f"{x} x, {n} n, *, Tensor out = None" for x, n in (
    ("Tensor", "Tensor"), ("Number", "Tensor"), ("Tensor", "Number"))]


def _declare(name: str, doc: str, kernel: Any) -> None:
    """Declare a family, of points and degrees that are tensors or numbers, not both numbers."""
    kernel.__annotations__ = {"x": "Array", "n": "Array"}
    made = elementwise(name=f"_{name}", doc=doc, promote="float", numbers=("x", "n"), title=name,
                       guard=kinds("f", f"{name}_cpu"))(kernel)

    def function(x: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        tensors = [value for value in (x, n) if isinstance(value, Tensor)]
        if not tensors or not all(isinstance(v, Tensor) or is_number(v) for v in (x, n)):
            raise no_overload(f"special_{name}", (x, n), *_FORMS)
        for tensor in tensors:
            if tensor.is_floating_point() and tensor.element_size() < 4:
                raise no_kernel(f"{name}_cpu", tensor.dtype)
        return made(plain_number(x), plain_number(n), out=out)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    publish(function, name, method=False, function="special")


for _name, (_doc, _kernel) in _FAMILIES.items():
    _declare(_name, _doc, _kernel)
