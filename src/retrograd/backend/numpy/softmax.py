"""Exponentials that add up to one on NumPy arrays, by native kernels."""

from __future__ import annotations

from ..plain import fill_with_plain_bodies, softmax as plain
from .native import native
from .rows import maxima_along, sums_along  # type: ignore[attr-defined]  # noqa: F401

fill_with_plain_bodies(globals(), plain, **{
    name + kind: native(f"{name}{kind}({arrays}, like({arrays.split(',')[0]}), axis)", when=when)
    for name in ("softmax", "log_softmax")
    for kind, arrays, when in (
        ("", "array", "array.ndim and ready(array)"),
        ("_gradient", "gradient, output", "output.ndim and alike(gradient, output)"))})
