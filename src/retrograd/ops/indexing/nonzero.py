"""Where things are: nonzero, argwhere, indices of triangles."""

from __future__ import annotations

from typing import Any

from ...backend import index as index_kernels, xp
from ...backend.interface import library_of
from ...base import dtypes
from ...core.libraries import computed
from ...core.op import public
from ...core.out_argument import run_into
from ...core.out_rules import Out
from ...core.tensor import Tensor, wrap

_NONZERO_OUT = Out("nonzero: Expected out tensor to have scalar type {result} but got scalar "
                   "type{out}", apart=True)


def _nonzero(input: Tensor) -> Tensor:
    return wrap(computed(index_kernels.nonzero_rows, input._data))


@public("nonzero")
def nonzero(input: Tensor, *, out: Any = None, as_tuple: bool = False) -> Any:
    """The coordinates of the non-zero elements: one row each, or one tensor per dimension."""
    if not as_tuple:
        return run_into(out, "nonzero", _NONZERO_OUT, _nonzero, input)
    if out is not None:
        raise TypeError(f"nonzero(): argument 'out' must be Tensor, not {type(out).__name__}")
    rows = input._array() if input._data.ndim else input._array().reshape(1)
    library = library_of(rows)
    return tuple([wrap(library.in_rows(row)) for row in library.nonzero(rows)])


@public("argwhere")
def argwhere(input: Tensor) -> Tensor:
    """The coordinates of the non-zero elements, one row each."""
    return _nonzero(input)


def _triangle(name: str, row: int, col: int, offset: int, dtype: Any, lower: bool) -> Tensor:
    for label, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{label} must be non-negative, got{n}")
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind.alias}'")
    found = xp.tril_indices(row, offset, col) if lower else xp.triu_indices(row, offset, col)
    return wrap(xp.stack(found).astype(kind.np))


@public("tril_indices", method=False)
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, layout: Any = None,
                 device: Any = None, pin_memory: bool = False) -> Tensor:
    """The coordinates of a matrix's lower triangle, as two rows."""
    return _triangle("tril_indices", row, col, offset, dtype, True)


@public("triu_indices", method=False)
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, layout: Any = None,
                 device: Any = None, pin_memory: bool = False) -> Tensor:
    """The coordinates of a matrix's upper triangle, as two rows."""
    return _triangle("triu_indices", row, col, offset, dtype, False)
