"""Native kernels over bodies written in Python, where the distribution retrograd-kernels is there.

A body is decorated with the kernel that does the same, and with the condition under which it does::

    @native("softmax(array, like(array), axis)", when="array.size >= 1024 and ready(array)")
    def softmax(array, axis): ...

The condition stands in front of the body as it is written here, so that a small array pays for one
comparison. It says everything the kernel relies on: kernels take arrays that lie row by row, and a
number of dtypes; they check shapes and indices themselves, but raise where they do not fit.
Without the distribution, with one that does not have the kernel, or with ``RETROGRAD_KERNELS=0``,
the body stays as it is. A gradient that a sum has spread is written out where that lets the
condition hold.
"""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ...base import sources
from ...version import __version__
from ..plain.precision import is_half
from . import FLOAT32, FLOAT64, INT64, LARGE, in_rows, memory

IN_ORDER = 0x101  # row by row in memory and aligned, as NumPy's flags have it
WRITABLE = IN_ORDER | 0x400


class Over(NamedTuple):
    """A kernel over a body: the function that chooses, and the two that it chooses from."""

    function: Callable[..., Any]
    body: Callable[..., Any]
    call: Callable[..., Any]  # of the kernel, whatever the condition says


OVER: dict[str, Over] = {}
"""Every kernel that is in use, by the name of its body."""

GRADIENTS = {"g", "gradient"}
"""What bodies call a gradient that comes from behind them."""

FOR_KERNELS: list[Callable[..., Any]] = []
"""Functions that conditions and calls of kernels use, and bodies do not."""


def _found() -> Any:
    """The distribution with the kernels; None where there is none, or is not to be used."""
    if os.environ.get("RETROGRAD_KERNELS") == "0":
        return None
    try:
        package = import_module("retrograd_kernels")
    except ModuleNotFoundError as error:
        if error.name != "retrograd_kernels":
            raise
        return None
    if package.__version__ != __version__:
        raise ImportError(f"retrograd {__version__} needs retrograd-kernels {__version__}, but "
                          f"{package.__version__} is installed (RETROGRAD_KERNELS=0 does without)")
    return package


package = _found()
kernels: dict[str, Any] = {} if package is None else vars(package.kernels)
ARRAYS_ARE_KNOWN = "arrays_are" in kernels and kernels["arrays_are"](
    np._core._multiarray_umath._ARRAY_API)  # type: ignore[attr-defined]
"""Whether kernels look into arrays themselves."""
if "align_large_arrays" in kernels:
    memory.let_begin_with_lines(kernels["align_large_arrays"])


def native(call: str, *helpers: Callable[..., Any],
           when: str) -> Callable[[Callable[..., Any]], Any]:
    """Let the kernel that ``call`` names stand over the decorated body, ``when`` that holds.

    Both are expressions of the body's arguments, of ``helpers`` and of the functions in
    :data:`HELPERS`.
    """
    kernel = call.partition("(")[0]
    call, when = _written_out(call), _written_out(when)
    FOR_KERNELS.extend(helpers)

    def over(body: Callable[..., Any]) -> Any:
        if kernel not in kernels:
            return body
        name = body.__name__
        names = list(inspect.signature(body).parameters)
        arguments = ", ".join(names)
        attempt = [f"    if {when}:", "        try:", f"            return {call}",
                   "        except IndexError:  # the body says which index it was",
                   "            pass"]
        for g in GRADIENTS & set(names):  # one that a sum has spread is written out
            attempt += [f"    elif {g}.size > 4095 and 0 in {g}.strides:", f"        spread = {g}",
                        f"        {g} = in_rows({g})", *["    " + line for line in attempt],
                        f"        {g} = spread"]
        lines = [f"def {name}({arguments}):", *attempt, f"    return _body({arguments})",
                 f"def _call({arguments}):", f"    return {call}"]
        label = f"{body.__module__.rpartition('.')[2]}.{name}"
        made: dict[str, Any] = {}
        exec(compile("\n".join(lines), sources.keep(f"native {label}", lines), "exec"),
             {**kernels, **HELPERS, **named(helpers), "_body": body, "LARGE": LARGE,
              "INT64": INT64, "FLOAT32": FLOAT32, "FLOAT64": FLOAT64, "is_half": is_half}, made)
        for function in (made[name], made["_call"]):
            function.__defaults__ = body.__defaults__  # type: ignore[attr-defined]
        OVER[label] = Over(update_wrapper(made[name], body), body, made["_call"])
        return made[name]

    return over


# ---------------------------------------------------------------- what conditions and calls say


def in_order(*arrays: Any) -> bool:
    """Whether they lie row by row in memory, aligned; any may be None."""
    return all([a is None or a.flags.num & IN_ORDER == IN_ORDER for a in arrays])


def ready(first: Any, *others: Any) -> bool:
    """Whether kernels can read these as they are: of one floating dtype and in order.

    All but the first may be None.
    """
    dtype = first.dtype
    if (dtype is not FLOAT32 and dtype is not FLOAT64 and not is_half(dtype)) \
            or first.flags.num & IN_ORDER != IN_ORDER:
        return False
    for other in others:
        if other is not None and (other.dtype is not dtype
                                  or other.flags.num & IN_ORDER != IN_ORDER):
            return False
    return True


def strided(first: Any, *others: Any) -> bool:
    """Whether kernels that know strides can read these: of one floating dtype, and aligned."""
    dtype = first.dtype
    return (dtype is FLOAT32 or dtype is FLOAT64 or is_half(dtype)) and first.flags.aligned \
        and all([o.dtype is dtype and o.flags.aligned for o in others])


def alike(first: Any, second: Any) -> bool:
    """Whether they are :func:`ready` and of one shape."""
    return first.shape == second.shape and HELPERS["ready"](first, second)


def indexed(array: Any, index: Any) -> bool:
    """Whether the array is :func:`ready`, and the index one of numbers in order."""
    return index.dtype is INT64 and array.ndim and index.ndim and ready(array) and in_order(index)


def like(array: Any) -> Any:
    """A new array of the same shape and dtype, to be written to."""
    return np.empty(array.shape, array.dtype)


def column(array: Any, rank: int) -> Any:
    """A new column with a number for each row, which has the last ``rank`` dimensions."""
    shape, dtype = array.shape, array.dtype
    return np.empty((math.prod(shape[:len(shape) - rank]), 1),
                    FLOAT32 if dtype.itemsize == 2 else dtype)


def row(array: Any, rank: int) -> Any:
    """A new array in the shape of the last ``rank`` dimensions."""
    return np.empty(array.shape[array.ndim - rank:], array.dtype)


def without(array: Any, dim: tuple[int, ...] | None, keepdims: bool) -> Any:
    """A new array for a reduction over ``dim``."""
    gone = range(array.ndim) if dim is None else dim
    return np.empty([1 if d in gone else n for d, n in enumerate(array.shape)
                     if keepdims or d not in gone], array.dtype)


def neighbours(array: Any, dim: tuple[int, ...] | None) -> tuple[int, int] | None:
    """The first of some dimensions and the one behind them; None for all, or with others between.

    A sum over all of them is a number, which has a kernel of its own.
    """
    if not dim or len(dim) == array.ndim:
        return None
    first, last = min(dim), max(dim) + 1
    return (first, last) if first >= 0 and last - first == len(dim) else None


def masks(mask: Any, array: Any) -> bool:
    """Whether there is a truth value for each element, both as kernels read them."""
    return mask.dtype == np.bool_ and mask.shape == array.shape and in_order(mask) and ready(array)


def _written_out(expression: str) -> str:
    """Spares a call that would take as long as what it does."""
    return re.sub(r"\blike\((\w+)\)", r"empty(\1.shape, \1.dtype)", expression)


def named(functions: Any) -> dict[str, Any]:
    return {function.__name__: function for function in functions}


HELPERS = named((np.empty, np.zeros, np.asarray, np.empty_like, in_rows, in_order, ready, strided,
                 alike, indexed, like, column, row, without, neighbours, masks))
if ARRAYS_ARE_KNOWN:  # the same in a tenth of the time
    HELPERS |= {name: kernels[name] for name in ("ready", "in_order", "strided", "indexed")
                if name in kernels}


# ---------------------------------------------------------------- settings


def set_threads(count: int) -> None:
    """Say how many threads a kernel may use."""
    if package is not None:
        package.kernels.set_threads(count)


def description() -> str:
    """What there is of native kernels, in a line."""
    if package is None:
        return "native kernels: none (pure NumPy)"
    return (f"native kernels: {package.__version__}, {package.variant}, "
            f"threads: {package.kernels.threads()}")
