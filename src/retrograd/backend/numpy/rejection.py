"""Draws that decide as they go: each takes as many uniform and normal numbers as it needs.

The algorithms are those of PyTorch's CPU kernels, which fixes the order of the numbers they take.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

Draw = Callable[[], float]

_SQUEEZE = 0.03310000151395798  # PyTorch writes it in single precision


def gamma(center: float, power: float, uniform: Draw, normal: Draw) -> float:
    """A standard gamma draw by the method of Marsaglia and Tsang, times a uniform's power."""
    if power == math.inf:
        return 0.0
    scale = (1 - uniform()) ** power if power else 1.0
    c = 1 / math.sqrt(9 * center) if center > 0 else math.nan
    while True:
        x = normal()
        y = 1 + c * x
        while y <= 0:
            x = normal()
            y = 1 + c * x
        cube, u, square = y * y * y, 1 - uniform(), x * x
        if u < 1 - _SQUEEZE * square * square or (
                math.log(u) < 0.5 * square + center * (1 - cube + math.log(cube))):
            return scale * center * cube


def poisson(rate: float, uniform: Draw) -> float:
    """A Poisson draw."""
    if not rate >= 0:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    if rate == 0:
        return 0.0
    return _poisson_rejection(rate, uniform) if rate >= 10 else _poisson_product(rate, uniform)


def _poisson_product(rate: float, uniform: Draw) -> float:
    """Count the uniforms whose running product stays above ``exp(-rate)``."""
    floor = math.exp(-rate)
    product, count = uniform(), 0
    while product > floor:
        product *= uniform()
        count += 1
    return float(count)


def _poisson_rejection(rate: float, uniform: Draw) -> float:
    """Hörmann's transformed rejection (PTRS), for rates that would need many uniforms."""
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    quick_limit = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = uniform() - 0.5, uniform()
        distance = 0.5 - abs(u)
        if distance == 0:
            continue
        k = float(math.floor((2 * a / distance + b) * u + rate + 0.43))
        if distance >= 0.07 and v <= quick_limit:
            return k
        if k < 0 or (distance < 0.013 and v > distance):
            continue
        density = math.log(v) + math.log(inverse_alpha) - math.log(a / distance**2 + b)
        if density <= -rate + k * log_rate - math.lgamma(k + 1):
            return k


def binomial(count: float, chance: float, mean: float, spread: float, odds: float, mode: float,
             log_failure: float, uniform: Draw) -> float:
    """A number of successes in ``count`` trials."""
    if count <= 0 or chance <= 0:
        return 0.0
    if chance != chance:
        return math.nan
    if mean >= 10:
        return _binomial_rejection(count, chance, mean, spread, odds, mode, uniform)
    trials, successes = 0.0, -1.0
    while trials <= count:  # how long each success is waited for
        unit = uniform()
        trials += math.ceil(math.log(unit) / log_failure) if unit and log_failure else math.inf
        successes += 1
    return successes


def _binomial_rejection(count: float, chance: float, mean: float, spread: float, odds: float,
                        mode: float, uniform: Draw) -> float:
    """Hörmann's transformed rejection (BTRS), for many successes."""
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    quick_limit = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    while True:
        u, v = uniform() - 0.5, uniform()
        distance = 0.5 - abs(u)
        if distance == 0:
            continue
        k = math.floor((2 * a / distance + b) * u + mean + 0.5)
        if k < 0 or k > count:
            continue
        if distance >= 0.07 and v <= quick_limit:
            return float(k)
        weight = v * alpha / (a / (distance * distance) + b)
        limit = ((mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
                 + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
                 + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
                 + _stirling_error(mode) + _stirling_error(count - mode)
                 - _stirling_error(k) - _stirling_error(count - k))
        if weight == 0 or math.log(weight) <= limit:
            return float(k)


@functools.lru_cache(maxsize=1024)
def _stirling_error(k: float) -> float:
    """How much log(k!) exceeds Stirling's approximation of it, in powers of 1 / (k + 1)."""
    n = k + 1
    if k <= 9:
        return math.lgamma(n) - ((k + 0.5) * math.log(n) - n + 0.5 * math.log(2 * math.pi))
    square = n * n
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / n
