"""Random tensors: the same numbers as PyTorch's for the same seed."""

from __future__ import annotations

from typing import Any

from .. import dtypes, layouts
from ..backend import numpy as xp
from ..op import Array, op, publish
from ..random import Generator, stream_of
from ..tensor import Tensor
from .create import blank_like, dtype_for, leaf, settle, size_from, zeros_like

# ---------------------------------------------------------------- factories


def _drawn(function: str, draw: Any, doc: str) -> Any:
    """A factory ``function(*size)`` that fills its result with ``draw(stream, shape, dtype)``."""

    def factory(*size: Any, generator: Generator | None = None, out: Tensor | None = None,
                dtype: Any = None, layout: Any = None, device: Any = None,
                pin_memory: bool = False, requires_grad: bool = False, **named: Any) -> Tensor:
        if named:
            size = (named.pop("size"),) if "size" in named and not size else size
            named.pop("names", None)
            if named:
                raise TypeError(f"{function}() got an unexpected keyword argument "
                                f"'{next(iter(named))}'")
        if device is not None:
            dtypes.as_device(device)
        layouts.check_layout(layout, function)
        kind = dtype_for(function, dtype, None if out is None else out.dtype)
        data = draw(stream_of(generator), size_from(function, size), kind.np)
        return settle(data, out, requires_grad, function)

    factory.__name__ = factory.__qualname__ = function
    factory.__doc__ = doc
    publish(factory, function, method=False)
    return factory


rand = _drawn("rand", lambda stream, shape, dtype: stream.uniform(shape, dtype),
              "Uniform draws from [0, 1).")
randn = _drawn("randn", lambda stream, shape, dtype: stream.normal(shape, dtype),
               "Draws from the standard normal distribution.")


def randint(low: Any = 0, high: Any = None, size: Any = None, *,
            generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None,
            layout: Any = None, device: Any = None, pin_memory: bool = False,
            requires_grad: bool = False) -> Tensor:
    """Integers from ``[low, high)``."""
    if isinstance(high, (tuple, list)):
        size, high = high, None
    if high is None:
        low, high = 0, low
    if device is not None:
        dtypes.as_device(device)
    layouts.check_layout(layout, "randint")
    kind = dtype_for("randint", dtype, dtypes.int64 if out is None else out.dtype)
    data = stream_of(generator).integers(int(low), int(high), size_from("randint", (size,)),
                                         kind.np)
    return settle(data, out, requires_grad, "randint")


def randperm(n: int, *, generator: Generator | None = None, out: Tensor | None = None,
             dtype: Any = dtypes.int64, layout: Any = None, device: Any = None,
             pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """The integers below ``n`` in random order."""
    if device is not None:
        dtypes.as_device(device)
    layouts.check_layout(layout, "randperm")
    kind = dtype_for("randperm", dtype, dtypes.int64 if out is None else out.dtype)
    data = stream_of(generator).permutation(n, kind.np)
    return settle(data, out, requires_grad, "randperm")


publish(randint, "randint", method=False)
publish(randperm, "randperm", method=False)

__all__ = ["Array", "blank_like", "leaf", "op", "xp", "zeros_like"]
