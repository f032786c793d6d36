"""Images and volumes sampled at given places, on raw arrays.

A sample is a sum over a few elements around its place, each with a weight that is a product of one
for every dimension. Each such weight is a polynomial of the place, so that a derivative of any
order is another sum over the same elements: ``orders`` says how often to differentiate along each.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from .. import xp
from .precision import wide

Ints = tuple[int, ...]

_SHARPNESS = -0.75
_NEAR = (1.0, 0.0, -(_SHARPNESS + 3), _SHARPNESS + 2)
_FAR = (-4 * _SHARPNESS, 8 * _SHARPNESS, -5 * _SHARPNESS, _SHARPNESS)
# The elements from the one before the place: their number, and weights by the distance from them.
_TAPS = {
    "bilinear": ((0, (1.0, -1.0), 1), (1, (1.0, -1.0), -1)),
    "bicubic": ((-1, _FAR, 1), (0, _NEAR, 1), (1, _NEAR, -1), (2, _FAR, -1)),
    "nearest": ((0, (1.0,), 1),),
}


def _number(value: float, like: Any) -> Any:
    """A number in the dtype of an array: bfloat16 would become float32 beside a plain one."""
    return xp.full((), value, like.dtype)


def _placed(place: Any, size: int, padding: str, align: bool) -> tuple[Any, Any]:
    """Places that lie inside, unless the padding is zeros, and how fast they move."""
    zero, one, slope = _number(0, place), _number(1, place), xp.ones_like(place)
    if padding == "reflection":
        low, high = (0, 2 * (size - 1)) if align else (-1, 2 * size - 1)
        if low == high:
            return xp.zeros_like(place), xp.zeros_like(place)
        start, span = _number(low / 2, place), _number((high - low) / 2, place)
        away = xp.absolute(place - start)
        turns = xp.floor(away / span)
        rest, is_odd = xp.fmod(away, span), xp.fmod(turns, _number(2, place)) == 1
        slope = xp.where(is_odd != (place < start), -one, one)
        place = xp.where(is_odd, span - rest, rest) + start
    if padding != "zeros":
        slope = xp.where((place <= 0) | (place >= size - 1), zero, slope)
        place = xp.clip(xp.where(place != place, zero, place), zero, _number(size - 1, place))
    return place, slope


def _polynomial(factors: tuple[float, ...], at: Any, order: int) -> Any:
    """A polynomial's derivative of some order."""
    found = None
    for power in range(len(factors) - 1, order - 1, -1):
        factor = _number(factors[power] * math.perm(power, order), at)
        found = xp.full_like(at, factor) if found is None else found * at + factor
    return xp.zeros_like(at) if found is None else found


def _taps(coordinate: Any, size: int, order: int, mode: str, padding: str, align: bool
          ) -> list[tuple[Any, Any, Any]]:
    """The elements that a dimension contributes: their indices, which of them exist, weights.

    Half precision is rounded after every step, as PyTorch rounds it, so that a place which lies
    between two elements is between the same two.
    """
    scale = _number((size - 1) / 2 if align else size / 2, coordinate)
    place = (coordinate + _number(1, coordinate)) * scale - _number(0 if align else 0.5, coordinate)
    slope: Any = xp.ones_like(place)
    if mode != "bicubic":
        place, slope = _placed(place, size, padding, align)
    if mode == "nearest":
        place = xp.rint(place)
    base = xp.floor(place)
    beside, found = place - base, []
    for step, factors, sign in _TAPS[mode]:
        # The distance from the element, which the place moves away from or towards.
        apart = (beside - _number(step, place)) * _number(sign, place)
        weight = _polynomial(factors, apart, order)
        for _ in range(order):
            weight = weight * _number(sign, place) * (slope * scale)
        index = base + _number(step, place)
        if mode == "bicubic":
            index = _placed(index, size, padding, align)[0]
        exists = (index >= 0) & (index < size)
        found.append((xp.where(exists, index, _number(0, place)).astype(xp.INT64), exists, weight))
    return found


def _elements(space: Ints, grid: Any, orders: Ints, mode: str, padding: str, align: bool) -> Any:
    """For each element around all places: its index in a plane, whether it exists, its weight."""
    rank = len(space)
    along = [_taps(grid[..., rank - 1 - d], space[d], orders[d], mode, padding, align)
             for d in range(rank)]
    for taps in itertools.product(*along):
        index, exists, weight = taps[0]
        for n, (other, also, factor) in zip(space[1:], taps[1:], strict=True):
            index, exists, weight = index * n + other, exists & also, weight * factor
        yield [v.reshape(len(grid), 1, math.prod(grid.shape[1:-1]))
               for v in (index, exists, wide(weight))]


def sample(x: Any, grid: Any, orders: Ints, mode: str, padding: str, align: bool) -> Any:
    """``x``, (samples, channels, *space), at the places of ``grid``."""
    space, out = x.shape[2:], grid.shape[1:-1]
    planes: Any = wide(x).reshape(*x.shape[:2], math.prod(space))
    found: Any = None
    for index, exists, weight in _elements(space, grid, orders, mode, padding, align):
        taken = xp.take_along_axis(planes, xp.broadcast_to(
            index, (*x.shape[:2], index.shape[2])), axis=2)
        part = xp.where(exists, taken, 0) * weight
        found = part if found is None else found + part
    return xp.cast(found.reshape(*x.shape[:2], *out), x.dtype)


def spread(g: Any, grid: Any, space: Ints, orders: Ints, mode: str, padding: str, align: bool
           ) -> Any:
    """The adjoint of :func:`sample`: each value goes to the elements that it came from."""
    samples, channels = g.shape[:2]
    count = math.prod(space)
    values = wide(g).reshape(samples, channels, math.prod(grid.shape[1:-1]))
    whole = xp.zeros((samples * channels * count,), values.dtype)
    starts = (xp.arange(samples * channels) * count).reshape(samples, channels, 1)
    for index, exists, weight in _elements(space, grid, orders, mode, padding, align):
        part = xp.where(exists, values * weight, 0)
        xp.add_at(whole, (starts + index).reshape(-1), part.reshape(-1))
    return xp.cast(whole.reshape(samples, channels, *space), g.dtype)


def corners(space: Ints, align: bool, dtype: Any) -> Any:
    """The places of all elements, a row (x, y, 1) or (x, y, z, 1) for each."""
    axes = []
    for n in space:
        steps = xp.arange(n).astype(dtype) * (2 / (n - 1)) - 1 if n > 1 else xp.zeros((n,), dtype)
        axes.append(steps if align or n <= 1 else steps * ((n - 1) / n))
    found = xp.ones((*space, len(space) + 1), dtype)
    for d, axis in enumerate(axes):
        found[..., len(space) - 1 - d] = axis.reshape((-1,) + (1,) * (len(space) - 1 - d))
    return found.reshape(math.prod(space), len(space) + 1)


def mapped(theta: Any, space: Ints, align: bool) -> Any:
    """Where the affine maps ``theta`` take the elements of ``space``."""
    wide_theta = wide(theta)
    places = corners(space, align, wide_theta.dtype)
    found = xp.matmul(places, wide_theta.swapaxes(1, 2))
    return xp.cast(found.reshape(len(theta), *space, len(space)), theta.dtype)


def mapped_gradient(g: Any, align: bool) -> Any:
    """What reaches the maps of :func:`mapped`: its adjoint."""
    space = g.shape[1:-1]
    flat = wide(g).reshape(len(g), math.prod(space), len(space))
    found = xp.matmul(flat.swapaxes(1, 2), corners(space, align, flat.dtype))
    return xp.cast(found, g.dtype)
