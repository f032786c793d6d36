"""The declared ops, by family; importing this package declares them all."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

FAMILIES = ("shape", "join", "create", "random", "pointwise", "reduce", "index", "sort", "linalg",
            "special", "fft", "activation", "conv", "norm", "loss", "attention")

for _family in FAMILIES:
    if find_spec(f"{__name__}.{_family}") is not None:
        import_module(f"{__name__}.{_family}")
