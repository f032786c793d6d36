"""Ranges, spaced numbers and the identity."""

from __future__ import annotations

import math
from typing import Any

from ...backend import create as create_kernels, xp
from ...base import dtypes
from ...base.errors import no_kernel, type_name, wrong_type
from ...base.warning import warn
from ...core.op import Number, publish
from ...core.operands import fitted
from ...core.tensor import Tensor, wrap
from .filled import (
    empty,
    empty_like,
    empty_strided,
    full,
    full_like,
    ones,
    ones_like,
    scalar_tensor,
    zeros,
    zeros_like,
)
from .from_data import as_tensor, asarray, from_dlpack, from_numpy, frombuffer, tensor, to_dlpack
from .options import _is_whole, out_dtype, place, settle


def _settle(data: Any, out: Tensor | None, requires_grad: Any, function: str,
            meta: bool) -> Tensor:
    """:func:`settle`, but an ``out`` with as many elements keeps its own shape."""
    if out is not None and out.numel() == data.size:
        data = data.reshape(tuple(out.shape))
    return settle(data, out, requires_grad, function, meta)


def _number(function: str, argument: str, position: int, value: Any) -> Any:
    if isinstance(value, Tensor) or xp.is_scalar(value):
        value = value.item()
    if isinstance(value, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    if not isinstance(value, (int, float)):
        raise wrong_type(function, argument, position, "Number", value)
    return value


def _refuse_kinds(kernel: str, kind: dtypes.dtype, *refused: dtypes.dtype) -> None:
    if kind in refused or kind in _WITHOUT_RANGES:
        raise no_kernel(kernel, kind)


_WITHOUT_DIAGONALS = (dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.complex32)
_WITHOUT_RANGES = (*_WITHOUT_DIAGONALS, dtypes.float8_e4m3fn, dtypes.float8_e4m3fnuz,
                   dtypes.float8_e5m2, dtypes.float8_e5m2fnuz, dtypes.float8_e8m0fnu)


_ARANGE = (
    "(Number end, *, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, "
    "torch.device device = None, bool pin_memory = False, bool requires_grad = False)",
    "(Number start, Number end, *, torch.dtype dtype = None, torch.layout layout = None, "
    "torch.device device = None, bool pin_memory = False, bool requires_grad = False)",
    "(Number start, Number end, Number step = 1, *, Tensor out = None, torch.dtype dtype = None, "
    "torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool "
    "requires_grad = False)",
)


def arange(*args: Any, start: Any = None, end: Tensor | Number | None = None, step: Any = None,
           out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
           pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """``arange(end)``, ``arange(start, end, step=1)``: numbers up to but without ``end``."""
    if len(args) == 1 and type(args[0]) is int and args[0] >= 0 and dtype is None and out is None \
            and end is None and start is None and step is None and not requires_grad \
            and not place("arange", device, layout):  # the usual call
        return wrap(xp.arange(args[0]))
    if len(args) > 3 or (not args and end is None):
        got = ", ".join(type_name(a) for a in args)
        raise TypeError(f"arange() received an invalid combination of arguments - got ({got}), but "
                        "expected one of:\n" + "".join(f" * {s}\n" for s in _ARANGE))
    if len(args) == 1 and end is None:
        end = _number("arange", "end", 1, args[0])
    else:
        given = [*args, None, None, None]
        start = given[0] if args else start
        end = given[1] if len(args) > 1 else end
        step = given[2] if len(args) > 2 else step
        end = _number("arange", "end", 2, end)
    start = 0 if start is None else _number("arange", "start", 1, start)
    step = 1 if step is None else _number("arange", "step", 3, step)
    meta = place("arange", device, layout)
    exact = not any(isinstance(n, float) for n in (start, end, step))
    kind = out_dtype("arange", dtype, out,
                     dtypes.int64 if exact else dtypes.get_default_dtype())
    if not meta:
        _refuse_kinds("arange_cpu", kind, dtypes.bool, dtypes.complex64, dtypes.complex128)
    count = _arange_count(start, end, step, kind)
    with xp.quiet():
        data = create_kernels.arange(start, count, step, kind.np)
    if out is not None and out.numel() != count and out.numel():
        warn(f"The number of elements in the out tensor of shape {list(out.shape)} is "
             f"{out.numel()} which does not match the computed number of elements {count}. Note "
             "that this may occur as a result of rounding error. The out tensor will be resized "
             f"to a tensor of shape ({count},).")
    return _settle(data, out, requires_grad, "arange", meta)


def _arange_count(start: Any, end: Any, step: Any, kind: dtypes.dtype) -> int:
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if kind is dtypes.int64 and step and not int(step):
        raise ValueError("step must be nonzero")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (step > 0) != (end >= start) and end != start:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if kind is dtypes.int64:  # of other integers it is the fractions that are counted
        start, end, step = int(start), int(end), int(step)
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return -((start - end) // step)
    count = math.ceil((end - start) / step)
    if count >= 1 << 63:
        raise RuntimeError("invalid size, possible overflow?")
    return count


def range(start: Any = 0, end: Number | None = None, step: Any = 1, *,
          out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
          pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Numbers from ``start`` up to and with ``end``; deprecated in favour of :func:`arange`."""
    warn("torch.range is deprecated and will be removed in a future release because its behavior "
         "is inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
         "values in [start, end).")
    if end is None:
        start, end = 0, start
    meta = place("range", device, layout)
    kind = out_dtype("range", dtype, out)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) / step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if not meta:
        _refuse_kinds("range_cpu", kind, dtypes.bool, dtypes.complex64, dtypes.complex128)
    count = math.floor((end - start) / step) + 1
    with xp.quiet():
        data = create_kernels.arange(start, count, step, kind.np)
    return _settle(data, out, requires_grad, "range", meta)


def _spaced(function: str, start: Any, end: Any, steps: Any, dtype: Any, out: Any
            ) -> tuple[Any, Any, int, dtypes.dtype]:
    """The checked arguments of :func:`linspace` and :func:`logspace`."""
    found = " and ".join([f"{name} with {value.ndim} dimension(s)"
                          for name, value in (("start", start), ("end", end))
                          if isinstance(value, Tensor) and value.ndim])
    if found:
        raise RuntimeError(f"{function} only supports 0-dimensional start and end tensors, but got "
                           f"{found}.")
    ends = [value.item() if isinstance(value, Tensor) or xp.is_scalar(value) else value
            for value in (start, end)]
    if not _is_whole(steps):
        given = (start, end) if steps is None else (start, end, steps)
        raise TypeError(f"{function}() received an invalid combination of arguments - got "
                        f"({', '.join(type_name(value) for value in given)})")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    natural = dtypes.get_default_dtype()
    if any(isinstance(value, complex) for value in ends):
        natural = natural.to_complex()
        if dtype is not None and not dtype.is_complex:
            c_name = "float" if natural is dtypes.complex64 else "double"
            raise RuntimeError(f"torch.{function}(): inferred dtype c10::complex<{c_name}> can't "
                               f"be safely cast to passed dtype {dtype.alias}")
    kind = out_dtype(function, dtype, out, natural)
    _refuse_kinds(f"{function}_cpu", kind, dtypes.bool)
    start, end = [fitted(value, kind.np) for value in ends]
    return start, end, int(steps), kind


def linspace(start: Any, end: Tensor | Number, steps: Any = None, *, out: Tensor | None = None,
             dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
             requires_grad: bool = False) -> Tensor:
    """``steps`` evenly spaced numbers from ``start`` to ``end``, both included."""
    meta = place("linspace", device, layout)
    start, end, steps, kind = _spaced("linspace", start, end, steps, dtype, out)
    with xp.quiet():
        data = create_kernels.linspace(start, end, steps, kind.np)
    return _settle(data, out, requires_grad, "linspace", meta)


def logspace(start: Any, end: Tensor | Number, steps: Any = None, base: float = 10.0, *,
             out: Tensor | None = None, dtype: Any = None, layout: Any = None,
             device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """``base`` to the power of ``steps`` evenly spaced exponents."""
    meta = place("logspace", device, layout)
    start, end, steps, kind = _spaced("logspace", start, end, steps, dtype, out)
    with xp.quiet():
        data = create_kernels.logspace(start, end, steps, base, kind.np)
    return _settle(data, out, requires_grad, "logspace", meta)


def eye(n: int, m: int | None = None, *, out: Tensor | None = None, dtype: Any = None,
        layout: Any = None, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False) -> Tensor:
    """A matrix with ones on its diagonal."""
    meta = place("eye", device, layout)
    columns = n if m is None else m
    for position, (name, value) in enumerate((("n", n), ("m", columns)), 1):
        if not _is_whole(value):
            raise wrong_type("eye", name, position, "int", value)
        if value < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {value}")
    kind = out_dtype("eye", dtype, out)
    if kind in _WITHOUT_DIAGONALS and not meta:
        raise no_kernel("eye", kind)
    return settle(create_kernels.eye(n, columns, kind.np), out, requires_grad, "eye", meta)


for _function in (
        tensor, as_tensor, asarray, from_numpy, frombuffer, from_dlpack, to_dlpack, zeros, ones,
        empty, full, scalar_tensor, empty_strided, zeros_like, ones_like, empty_like, full_like,
        arange, range, linspace, logspace, eye):
    publish(_function, _function.__name__, method=False)
