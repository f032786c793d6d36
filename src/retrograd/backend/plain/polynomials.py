"""Orthogonal polynomials of raw arrays ``x``, of degrees ``n`` that are whole numbers.

Beyond a few degrees Chebyshev's are computed from angles, inside (-1, 1); all else, and all other
families, by the recurrence of each degree from the two before it, in the dtype of ``x``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import xp


def by_recurrence(x: Any, n: Any, first: Any, step: Callable[[int, Any, Any, Any], Any]) -> Any:
    """The polynomial whose degree 0 is 1, degree 1 is ``first``, and the others follow by ``step``.

    ``step(k, x, q, p)`` is degree k + 1, of degrees k and k - 1. What became nan remains it.
    """
    p, q = xp.ones_like(x), first
    found = xp.where(n < 1, p, q)
    left = n > 1
    k = 1
    while xp.any(left & ~xp.isnan(q)):
        p, q = q, step(k, x, q, p)
        k += 1
        found = xp.where(left, q, found)
        left = left & (n > k)
    return found


def _whole(x: Any, n: Any) -> tuple[Any, Any]:
    """Points and degrees of one shape, the degrees cut off to whole numbers."""
    x, n = xp.broadcast_arrays(x, n)
    return x, xp.trunc(n)


def _family(x: Any, n: Any, first: Any, step: Any) -> Any:
    return xp.where(n < 0, xp.zeros_like(x), by_recurrence(x, n, first, step))


def _chebyshev(x: Any, n: Any, first: Callable[[Any], Any], ends: Callable[[Any, Any], Any],
               by_angle: Callable[[Any, Any], Any], few: int) -> Any:
    """A family of Chebyshev's: at the ends of [-1, 1], inside by angles, and by recurrence."""
    x, n = _whole(x, n)
    size = xp.abs(x)
    inside = (size < 1) & (n > few)
    at_end = size == 1
    rest = ~(inside | at_end)
    found = xp.zeros_like(x)
    found[inside] = by_angle(n[inside], xp.arccos(x[inside]))
    found[at_end] = ends(x[at_end] > 0, n[at_end])
    found[rest] = by_recurrence(x[rest], n[rest], first(x[rest]),
                                lambda k, x, q, p: (x + x) * q - p)
    return xp.where(n < 0, xp.zeros_like(x), found)


def _signs(n: Any) -> Any:
    """1 for even degrees, -1 for odd ones."""
    return 1 - 2 * (n % 2)


def chebyshev_polynomial_t(x: Any, n: Any) -> Any:
    """cos(n t), where x = cos(t)."""
    return _chebyshev(x, n, lambda x: x,
                      lambda right, n: xp.where(right, xp.ones_like(n), _signs(n)),
                      lambda n, angle: xp.cos(n * angle), 6)


def chebyshev_polynomial_u(x: Any, n: Any) -> Any:
    """sin((n + 1) t) / sin(t), where x = cos(t)."""
    return _chebyshev(x, n, lambda x: x + x,
                      lambda right, n: (n + 1) * xp.where(right, xp.ones_like(n), _signs(n)),
                      lambda n, angle: xp.sin((n + 1) * angle) / xp.sin(angle), 8)


def chebyshev_polynomial_v(x: Any, n: Any) -> Any:
    """cos((n + 1/2) t) / cos(t / 2), where x = cos(t)."""
    return _chebyshev(x, n, lambda x: x + x - 1,
                      lambda right, n: xp.where(right, xp.ones_like(n), (n + n + 1) * _signs(n)),
                      lambda n, angle: xp.cos((n + 0.5) * angle) / xp.cos(angle / 2), 8)


def chebyshev_polynomial_w(x: Any, n: Any) -> Any:
    """sin((n + 1/2) t) / sin(t / 2), where x = cos(t)."""
    return _chebyshev(x, n, lambda x: x + x + 1,
                      lambda right, n: xp.where(right, n + n + 1, _signs(n)),
                      lambda n, angle: xp.sin((n + 0.5) * angle) / xp.sin(angle / 2), 8)


def hermite_polynomial_h(x: Any, n: Any) -> Any:
    x, n = _whole(x, n)
    return _family(x, n, x + x, lambda k, x, q, p: 2 * (x * q - k * p))


def hermite_polynomial_he(x: Any, n: Any) -> Any:
    x, n = _whole(x, n)
    return _family(x, n, x, lambda k, x, q, p: x * q - k * p)


def laguerre_polynomial_l(x: Any, n: Any) -> Any:
    x, n = _whole(x, n)
    return _family(x, n, 1 - x, lambda k, x, q, p: ((2 * k + 1 - x) * q - k * p) / (k + 1))


def legendre_polynomial_p(x: Any, n: Any) -> Any:
    x, n = _whole(x, n)
    return _family(x, n, x, lambda k, x, q, p: ((2 * k + 1) * x * q - k * p) / (k + 1))
