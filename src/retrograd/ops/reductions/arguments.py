"""What reductions share: NumPy's argument names, dims, dtypes and ``out``."""

from __future__ import annotations

import functools
from typing import Any

from ...base import dtypes
from ...core.arguments import judging, refuse_foreign

UNSET: Any = type("Unset", (), {"__repr__": lambda self: "<all>"})()
"""Stands for an argument that was not given, where None means something else."""


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "ddof": "correction"}


def numpy_names(function: Any) -> Any:
    """Let ``axis`` and ``keepdims`` stand for ``dim`` and ``keepdim``, as PyTorch does.

    And ``ddof``, which it refuses, for ``correction``.
    """

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        kwargs = {_NUMPY_NAMES.get(n, n): v for n, v in kwargs.items()} if kwargs else kwargs
        try:
            if kwargs or len(args) > place:
                judge(args, kwargs)
            return function(*args, **kwargs) if kwargs else function(*args)
        except Exception as error:
            refuse_foreign(function, args, kwargs, error)
            raise

    judging_it = judging(function)
    judge, place = judging_it["JUDGE"], judging_it["FIRST"]
    return called


_PYTHON_TYPES = (float, int, bool, complex)


def _np(dtype: Any) -> Any:
    """The backend's dtype for the argument ``dtype``."""
    if dtype is None:
        return None
    if not isinstance(dtype, dtypes.dtype) and dtype not in _PYTHON_TYPES:
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    return dtypes.as_dtype(dtype).np
