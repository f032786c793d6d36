"""Computing an op on raw data: by its kernel, or by the transform whose data is among it."""

from __future__ import annotations

from typing import Any

from ..backend import xp
from ..backend.interface import kind_of
from ..base import dtypes
from .binding import direct
from .extensions import TRACED_TYPES
from .libraries import brought, in_library, library_among
from .op import Op


def compute(op: Op, values: list[Any]) -> Any:
    """The raw output of ``op``; ``values`` are raw data and static arguments in order."""
    top = outermost(values)
    errors = xp.error_state()
    try:
        xp.quieten(xp.QUIET)
        if top is not None:
            return TRACED_TYPES[type(top)](op, values, top)
        library = library_among(values)
        if library is not xp:
            values = brought(op, values, library)
        if op.check:
            in_library(op.check, library)(*values)
        half = half_among(values) if op.kind == "elementwise" and op.halves else None
        if half is None:
            return run_kernel(op, values, library)
        # As PyTorch does: half precision is computed in float32 and rounded once.
        single = xp.FLOAT32 if half.itemsize < 4 else xp.dtype("complex64")
        wide = [library.cast(v, single) if getattr(v, "dtype", None) == half
                else _rounded(v, half) if p.name == op.rounds else v
                for p, v in zip(op.params, values, strict=True)]
        result = run_kernel(op, wide, library)
        if single != xp.FLOAT32 and result.dtype == xp.FLOAT32:
            return library.cast(result, xp.dtype("float16"))  # part or length of complex halves
        return library.cast(result, half) if result.dtype == single else result
    finally:
        xp.quieten(errors)


def _rounded(number: Any, half: Any) -> Any:
    """A Python number as a tensor of half precision meets it; complex halves take it as it is."""
    return xp.asarray(number, dtype=half).item() if type(number) is float and half.itemsize == 2 \
        else number


def run_kernel(op: Op, values: list[Any], library: Any) -> Any:
    if not op.keywords:
        kernel = direct(op.kernel) if library is xp else in_library(op.kernel, library)
        return kernel(*values)
    kernel = in_library(op.kernel, library)
    return kernel(**{p.name: v for p, v in zip(op.params, values, strict=True)})


def half_among(values: list[Any]) -> Any:
    """The dtype of half precision data among ``values``, or None."""
    for value in values:
        dtype = getattr(value, "dtype", None)
        if dtype is not None and type(dtype) is not dtypes.dtype and (kind_of(dtype) == "V" or (
                dtype.itemsize <= 2 and kind_of(dtype) == "f")):
            return dtype
    return None


def outermost(values: list[Any]) -> Any:
    """The data of the outermost transform among ``values``, or None."""
    top = None
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            if type(item) in TRACED_TYPES and (top is None or item.level > top.level):
                top = item
    return top
