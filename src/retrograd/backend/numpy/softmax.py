"""Exponentials that add up to one on NumPy arrays: large ones row by row, in threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, softmax as plain
from .native import native
from .rows import (  # type: ignore[attr-defined]
    maxima_along,  # noqa: F401 - in the plain bodies
    row_maxima,
    row_products,
    row_sums,
    sums_along,  # noqa: F401
)
from .sharing import by_rows

_HIGHEST, _LEAST_SUM = 60, 1  # below, small ones would lose digits that they have in the row


def _softmax(x: Any, out: Any) -> None:
    # Exponentials of numbers that are not too high add up as they are, unless a whole row is low.
    if x.max() < _HIGHEST:  # NaN is not
        sums = row_sums(np.exp(x, out=out))
        if sums.min() > _LEAST_SUM:
            out *= 1 / sums
            return
    np.exp(np.subtract(x, row_maxima(x), out=out), out=out)
    out *= 1 / row_sums(out)


def _log_softmax(x: Any, out: Any) -> None:
    np.subtract(x, row_maxima(x), out=out)
    out -= np.log(row_sums(np.exp(out)))


def _softmax_gradient(g: Any, y: Any, out: Any) -> None:
    np.subtract(g, row_products(g, y), out=out)
    out *= y


def _log_softmax_gradient(g: Any, y: Any, out: Any) -> None:
    np.exp(y, out=out)
    out *= row_sums(g)
    np.subtract(g, out, out=out)


fill_with_plain_bodies(globals(), plain, **{
    name: lambda body, name=name, call=call, when=when: native(
        call, when=when)(by_rows(body, globals()["_" + name]))
    for name, call, when in (
        ("softmax", "softmax(array, like(array), axis)", "array.ndim and ready(array)"),
        ("log_softmax", "log_softmax(array, like(array), axis)", "array.ndim and ready(array)"),
        ("softmax_gradient", "softmax_gradient(gradient, output, like(gradient), axis)",
         "output.ndim and alike(gradient, output)"),
        ("log_softmax_gradient", "log_softmax_gradient(gradient, output, like(gradient), axis)",
         "output.ndim and alike(gradient, output)"))})
