"""The declared ops, by family; importing this package declares them all."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec

FAMILIES = ("shape", "join", "convert", "create", "random", "pointwise", "index", "scatter", "rearrange", "restride", "sort", "reduce",
            "scan", "distance", "linalg", "special", "fft", "activation", "conv", "norm", "loss", "attention")

for _family in FAMILIES:
    if find_spec(f"{__name__}.{_family}") is None:
        continue
    try:
        import_module(f"{__name__}.{_family}")
    except ImportError as error:
        print(f"retrograd.ops.{_family} is incomplete: {error}", file=sys.stderr)
