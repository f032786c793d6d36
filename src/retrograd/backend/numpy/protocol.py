"""NumPy's own functions, for programs that call them on tensors."""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

asarray, result_type, as_dtype = np.asarray, np.result_type, np.dtype


def named(name: str) -> Any:
    """NumPy's function of this name, ``linalg.norm`` for one."""
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


@cache
def home_of(ufunc: np.ufunc) -> str:
    """The public module that a ufunc comes from, or nothing for a program's own."""
    homes = {"numpy": np, "scipy.special": sys.modules.get("scipy.special")}
    return next((name for name, module in homes.items()
                 if getattr(module, ufunc.__name__, None) is ufunc), "")


@lru_cache(maxsize=4096)
def loop_dtypes(ufunc: np.ufunc, inputs: tuple[Any, ...], dtype: Any = None) -> tuple[Any, ...]:
    """The dtypes in which a ufunc computes on operands of these, outputs last.

    A Python number is given by its type, which yields to the dtype of an array.
    """
    none = (None,) * ufunc.nout
    if dtype is None:
        return ufunc.resolve_dtypes(inputs + none)
    return ufunc.resolve_dtypes(inputs + none, casting="unsafe",
                                signature=(None,) * len(inputs) + (dtype,) * ufunc.nout)


def method(ufunc: np.ufunc, name: str) -> Any:
    """A ufunc's ``reduce``, ``accumulate`` or another of its kind."""
    return getattr(ufunc, name)


def is_part(array: np.ndarray) -> bool:
    """Whether an array looks at the memory of another object."""
    return array.base is not None


def implementation(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function of NumPy does without asking its arguments' classes."""
    return getattr(function, "_implementation", function)(*args, **kwargs)


__all__ = ["asarray", "as_dtype", "home_of", "implementation", "is_part", "loop_dtypes", "method",
           "named",
           "normalize_axis_index", "normalize_axis_tuple", "result_type"]
