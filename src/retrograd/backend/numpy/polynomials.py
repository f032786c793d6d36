"""Orthogonal polynomials on NumPy arrays: those of one degree for all points have a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, polynomials as plain
from .native import native

_FAMILIES = {"chebyshev_polynomial_t": 6, "chebyshev_polynomial_u": 8, "chebyshev_polynomial_v": 8,
             "chebyshev_polynomial_w": 8, "hermite_polynomial_h": 1 << 20,
             "hermite_polynomial_he": 1 << 20, "laguerre_polynomial_l": 1 << 20,
             "legendre_polynomial_p": 1 << 20}
"""In the order of the kernel's numbers, with the degree up to which each goes by recurrence."""


def one_degree(x: Any, n: Any, most: int) -> bool:
    """Whether all points have one degree, up to ``most``."""
    if np.ndim(n) and (n.shape != x.shape or not (n == n.flat[0]).all()):
        return False
    return x.ndim > 0 and 0 <= (n.flat[0] if np.ndim(n) else n) <= most


def degree(n: Any) -> int:
    """The degree of all points."""
    return int(n.flat[0] if np.ndim(n) else n)


fill_with_plain_bodies(globals(), plain, **{
    name: native(f"orthogonal(x, like(x), degree(n), {number})", one_degree, degree,
                 when="x.size > 255 and x.dtype.char in 'fd' and in_order(x) "
                      f"and one_degree(x, n, {most})")
    for number, (name, most) in enumerate(_FAMILIES.items())})
