"""Pooling on NumPy arrays: in place, and with arithmetic instead of choices."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, pool as plain
from ..plain.pool import (
    Ints,
    lowest,
    parts,
    place_kind,
    pointing_inside,
    pool_input,
    steps_in_plane,
    window_parts,
)
from .native import native
from .rows import number

INT8 = np.dtype("int8")
window_starts = lru_cache(maxsize=256)(plain.window_starts)  # not to be written to


@lru_cache(maxsize=256)
def in_two(*settings: Ints) -> Ints:
    """What native kernels are told: kernel, stride, padding and dilation along two dimensions.

    Where there is one, the other has windows of one element.
    """
    idle = () if len(settings[0]) == 2 else ((1,), (1,), (0,), (1,))
    whole = [(*a, *b) for a, b in zip(idle, settings, strict=False)] if idle else settings
    return tuple([n for pair in whole for n in pair])


@native("max_pool_with_places(x, empty((*x.shape[:-len(out)], *out), x.dtype), "
        "empty((*x.shape[:-len(out)], *out), place_kind(x.shape[-len(out):], kernel, dilation)), "
        "*in_two(kernel, stride, padding, dilation))", place_kind, in_two,
        when="x.size and len(kernel) < 3 and ready(x)")
def max_pool_with_places(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
                         out: Ints) -> tuple[Any, Any]:
    # One dimension after the other: always quicker; NaN and padding are rare, and looked at after.
    space = x.shape[-len(kernel):]
    whole = pool_input(x, kernel, stride, padding, dilation, out, lowest(x.dtype))
    best, places = _maxima_and_places(whole, space, kernel, stride, dilation, out)
    if x.dtype.kind not in "iu" and np.isnan(np.maximum.reduce(best, axis=None, initial=-np.inf)):
        _find_last_nan(whole, places, space, kernel, stride, dilation, out)
    if any(padding) and (best == lowest(best.dtype)).any():
        places = pointing_inside(places, best, space, stride, padding, dilation, out)
    return best, places


def _maxima_and_places(x: Any, space: Ints, kernel: Ints, stride: Ints, dilation: Ints,
                       out: Ints) -> tuple[Any, Any]:
    rank, reach = len(kernel), x.shape[-len(kernel):]
    steps, kind = steps_in_plane(space, dilation), place_kind(space, kernel, dilation)
    planes = math.prod(x.shape[:-rank])
    # Many small planes are laid side by side: a long dimension inside makes for quick loops.
    aside = reach[-1] <= 16 <= planes
    best = x.reshape(planes, -1).T.copy().reshape(*reach, planes) if aside else x
    places = None
    # The last dimension comes first, so that the first of equals is the one in the first row.
    for i in reversed(range(rank)):
        along = parts(kernel, stride, dilation, out, int(aside))[i]
        best, places = _best_along(best, places, along, steps[i], kind)
    shape = (*x.shape[:-rank], *out)

    def laid_back(data: Any) -> Any:
        return data.reshape(-1, planes).T.copy().reshape(shape) if aside else data

    places = np.zeros(shape, kind) if places is None else laid_back(places)
    return laid_back(best) if aside else np.array(best), places


def _best_along(x: Any, places: Any, along: list[Any], step: int, kind: Any) -> tuple[Any, Any]:
    """The largest of the parts ``along`` of ``x``, and how far from the first they lie.

    The first of equals counts. ``places`` says so of the elements of ``x``; None stands for zero.
    """
    best, where = x[along[0]], None if places is None else places[along[0]]
    for j, part in enumerate(along[1:], 1):
        other, here = x[part], number(j * step, kind)
        better = np.greater(other, best).view(INT8)
        best = np.maximum(best, other)
        # Arithmetic takes the place of a choice, whose branches would be slow.
        if where is None:
            where = better * here
            continue
        change = here - where if places is None else places[part] - where + here
        change *= better
        where = np.add(change, where, out=change)
    return best, where


def _find_last_nan(whole: Any, places: Any, space: Ints, kernel: Ints, stride: Ints,
                   dilation: Ints, out: Ints) -> None:
    """Correct ``places`` for the windows in which there is NaN."""
    for place, where in window_parts(kernel, stride, dilation, out):
        part = whole[where]
        np.copyto(places, plain._offset(place, space, dilation), where=part != part)


fill_with_plain_bodies(
    globals(), plain,
    scatter_places=native(
        "scatter_places(g, places, empty((*g.shape[:-len(space)], *space), g.dtype), "
        "*in_two(kernel, stride, padding, dilation))", in_two,
        when="g.size and len(kernel) < 3 and ready(g) and in_order(places)"),
    max_pool=native(
        "max_pool(x, empty((*x.shape[:-len(out)], *out), x.dtype), "
        "*in_two(kernel, stride, padding, dilation))", in_two,
        when="x.size and len(kernel) < 3 and ready(x)"),
    average_pool=native(
        "average_pool(x, empty((*x.shape[:-len(out)], *out), x.dtype), "
        "*in_two(kernel, stride, padding), include_pad, divisor or 0)", in_two,
        when="x.size and len(kernel) < 3 and ready(x)"),
    average_pool_gradient=native(
        "average_pool_gradient(g, empty((*g.shape[:-len(space)], *space), g.dtype), "
        "*in_two(kernel, stride, padding), include_pad, divisor or 0)", in_two,
        when="g.size and len(kernel) < 3 and ready(g)"))
