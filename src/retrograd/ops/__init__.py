"""The declared ops, by family; importing this package declares them all."""

# ruff: noqa: I001 - a family comes after those whose ops its rules use

from __future__ import annotations

from . import shape, strides, parts, join, convert, create, random
from . import pointwise, writing, index, scatter, rearrange, restride
from . import reduce, sort, scan, distance
from . import product, linalg, einsum, special
from . import activation, conv, norm, loss, attention

__all__ = ["activation", "attention", "conv", "convert", "create", "distance", "einsum", "index",
           "join", "linalg", "loss", "norm", "parts", "pointwise", "product", "random",
           "rearrange", "reduce", "restride", "scan", "scatter", "shape", "sort", "special",
           "strides", "writing"]
