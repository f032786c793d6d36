"""How a draw moves with a parameter of its distribution while its quantile stays where it is.

That is minus the derivative of the distribution function by the parameter, over the density. Both
distributions below have functions that are a density times a series of positive terms, whose
derivative by the parameter weights each term with a difference of digammas. The series is taken
from the end of the distribution that the draw lies nearer to, where hardly anything cancels.
"""

from __future__ import annotations

from typing import Any

from .. import xp
from .pointwise import digamma

# Above it the series would be long, and the leading term of their asymptotic expansion is as good.
_LARGE = 1e5
_ENOUGH = 1e-17


def gamma_slope(shape: Any, drawn: Any) -> Any:
    """The derivative of a standard gamma draw by the shape of its distribution."""
    a, x = xp.broadcast_arrays(*(xp.asarray(each, dtype=xp.float64) for each in (shape, drawn)))
    with xp.quiet():
        found = xp.where(a > _LARGE, _log_ratio(x, a), x * a * 0)
        known = (a > 0) & (a <= _LARGE) & (x > 0)
        # Beyond that, what is left of the distribution is too little to be a difference.
        above = x > a + 3 * xp.sqrt(a) + 1
        for chosen, slope in ((known & ~above, _lower_gamma_series),
                              (known & above, _upper_gamma_fraction)):
            found[chosen] = slope(a[chosen], x[chosen])
        return (x * found).astype(shape.dtype)


def beta_slope(drawn: Any, shape: Any, total: Any) -> Any:
    """The derivative of a draw from a beta distribution by its first shape, over one minus it.

    ``total`` is the sum of the two shapes.
    """
    x, a, both = (xp.asarray(each, dtype=xp.float64) for each in (drawn, shape, total))
    b = both - a
    with xp.quiet():
        # Between these bounds both series converge, and the mean is where neither cancels.
        middle = xp.clip(a / both, 0.1, 0.9)
        below = x <= middle
        large = xp.minimum(a, b) > _LARGE
        at, of, near = (xp.where(large, some, each) for some, each in (
            (1.0, a), (2.0, both), (0.5, xp.where(below, x, 1 - x))))
        log_x = xp.log(x)
        weight = xp.where(below, digamma(at + 1) - digamma(of) - log_x,
                          log_x - digamma(at) + digamma(of))
        other = xp.where(below, at, of - at)  # the shape at the end that is summed from
        term, total_sum, n = 1 / other, 0.0, 0
        while xp.any(xp.abs(term * weight) > _ENOUGH * xp.abs(total_sum)):
            total_sum = total_sum + term * weight
            weight = weight + xp.where(below, 1 / (at + n + 1) - 1 / (of + n), 1 / (of + n))
            term = term * near * (of + n) / (other + n + 1)
            n += 1
        found = x * xp.where(large, _log_ratio(both * x, a), total_sum)
        return found.astype(drawn.dtype)


def _log_ratio(x: Any, y: Any) -> Any:
    """``log(x / y) / (x - y)``, which is ``1 / y`` where they are equal."""
    apart = (x - y) / y
    return xp.where(apart == 0, 1.0, xp.log1p(apart) / apart) / y


def _lower_gamma_series(a: Any, x: Any) -> Any:
    """The sum over n of ``x**n / (a (a+1) … (a+n)) * (digamma(a+n+1) - log(x))``."""
    weight = digamma(a + 1) - xp.log(x)
    term, total, n = 1 / a, 0.0, 0
    while xp.any(xp.abs(term * weight) > _ENOUGH * xp.abs(total)):
        total = total + term * weight
        n += 1
        weight = weight + 1 / (a + n)
        term = term * x / (a + n)
    return total


def _upper_gamma_fraction(a: Any, x: Any) -> Any:
    """``(log(x) - digamma(a)) f + df/da``, f being Legendre's continued fraction of the upper tail.

    Numerators and denominators follow one recurrence, their derivatives its derivative.
    """
    b = x + 1 - a
    p, q, p_before, q_before = 1.0, b, 0.0, 1.0
    dp, dq, dp_before, dq_before = 0.0, -1.0, 0.0, 0.0
    value, slope, n = 1 / b, 1 / (b * b), 0
    changing = True
    while changing:
        n += 1
        b = b + 2
        c, dc = n * (a - n), float(n)
        p, p_before, dp, dp_before = (
            b * p + c * p_before, p, b * dp - p + c * dp_before + dc * p_before, dp)
        q, q_before, dq, dq_before = (
            b * q + c * q_before, q, b * dq - q + c * dq_before + dc * q_before, dq)
        size = xp.maximum(xp.abs(q), 1e-300)  # only ratios matter
        p, p_before, dp, dp_before = p / size, p_before / size, dp / size, dp_before / size
        q, q_before, dq, dq_before = q / size, q_before / size, dq / size, dq_before / size
        newer = p / q
        newer_slope = (dp - newer * dq) / q
        changing = bool(xp.any(xp.abs(newer - value) > 1e-15 * xp.abs(newer))
                        or xp.any(xp.abs(newer_slope - slope) > 1e-14 * xp.abs(newer_slope)))
        value, slope = newer, newer_slope
    return (xp.log(x) - digamma(a)) * value + slope
