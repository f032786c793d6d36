"""NumPy's products, on tensors."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .operands import axis_of, cast, common, given, numpy, operand, strongly, torch


def dot(a: Any, b: Any, out: Any = None) -> Any:
    a, b = strongly(a, b)
    if not a.ndim or not b.ndim:
        found = a * b
    elif b.ndim == 1:
        found = torch.matmul(a, b)
    else:
        _check(a.shape[-1] == b.shape[-2], a, b)
        found = torch.tensordot(a, b, ([a.ndim - 1], [b.ndim - 2])) if b.ndim > 2 \
            else torch.matmul(a, b)
    return given(found, out, "dot")


def _check(fits: bool, a: Tensor, b: Tensor) -> None:
    if not fits:
        raise ValueError(f"shapes {tuple(a.shape)} and {tuple(b.shape)} not aligned")


def inner(a: Any, b: Any, /) -> Tensor:
    a, b = common(a, b)
    if not a.ndim or not b.ndim:
        return a * b
    _check(a.shape[-1] == b.shape[-1], a, b)
    return torch.tensordot(a, b, ([a.ndim - 1], [b.ndim - 1]))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    a, b = common(a, b)
    return given(a.reshape(-1, 1) * b.reshape(1, -1), out, "outer")


def vdot(a: Any, b: Any, /) -> Tensor:
    a, b = common(a, b)
    return torch.vdot(a.reshape(-1), b.reshape(-1))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    a, b = common(a, b)
    if not isinstance(axes, int):
        axes = tuple([list(part) if isinstance(part, (tuple, list)) else [int(part)]
                      for part in axes])
    return torch.tensordot(a, b, axes)


def kron(a: Any, b: Any) -> Tensor:
    return torch.kron(*common(a, b))


def einsum(*operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None,
           order: str = "K", casting: str = "safe") -> Any:
    if isinstance(operands[0], str):
        found = torch.einsum(operands[0], *common(*operands[1:], dtype=dtype))
    else:
        count = len(operands) // 2
        data = common(*operands[:2 * count:2], dtype=dtype)
        lists = [list(part) for part in operands[1:2 * count:2]]
        found = torch.einsum(*[item for pair in zip(data, lists, strict=True) for item in pair],
                             *[list(part) for part in operands[2 * count:]])
    return given(found, out, "einsum")


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
          ) -> Tensor:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = common(a, b)
    a = torch.movedim(a, axis_of(a, axisa), -1)
    b = torch.movedim(b, axis_of(b, axisb), -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but they "
                         f"are {a.shape[-1]} and {b.shape[-1]} dimensional instead.")
    a, b = torch.broadcast_tensors(a, b)
    return torch.movedim(torch.cross(a, b, dim=-1), -1, axisc)


# ---------------------------------------------------------------- of signals


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    a, v = common(a, v)
    a, v = torch.atleast_1d(a), torch.atleast_1d(v)
    if not a.numel() or not v.numel():
        raise ValueError(f"{'v' if a.numel() else 'a'} cannot be empty")
    if v.numel() > a.numel():
        a, v = v, a
    n, m = a.numel(), v.numel()
    if mode not in ("full", "same", "valid"):
        raise ValueError("mode must be one of 'valid', 'same', or 'full'")
    room = torch.zeros(m - 1, dtype=a.dtype)
    windows = torch.cat([room, a, room]).unfold(0, m, 1) if mode != "valid" else a.unfold(0, m, 1)
    found = torch.matmul(windows, torch.flip(v, (0,)))
    return found[(m - 1) // 2:(m - 1) // 2 + n] if mode == "same" else found


def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    a, v = common(a, v)
    found = convolve(a, torch.flip(torch.conj(v), (0,)), mode)
    if mode == "same" and v.numel() > a.numel() and a.numel() % 2 == 0:
        full = convolve(a, torch.flip(torch.conj(v), (0,)), "full")
        start = a.numel() // 2
        return full[start:start + v.numel()]
    return found


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
        fweights: Any = None, aweights: Any = None, *, dtype: Any = None) -> Tensor:
    if dtype is None:
        parts = [m] if y is None else [m, y]
        dtype = numpy.result_type(*[part._data.dtype for part in map(operand, parts)], "float64")
    rows = [cast(operand(part), dtype) for part in ([m] if y is None else [m, y])]
    rows = [torch.atleast_2d(part if rowvar or part.ndim < 2 else part.T) for part in rows]
    return torch.cov(torch.squeeze(torch.cat(rows), 0) if len(rows) == 1 and rows[0].shape[0] == 1
                     else torch.cat(rows), correction=int(not bias) if ddof is None else ddof,
                     fweights=None if fweights is None else cast(operand(fweights), "int64"),
                     aweights=None if aweights is None else cast(operand(aweights), dtype))


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Tensor:
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    scale = torch.sqrt(torch.real(torch.diagonal(c)) if c.dtype.is_complex else torch.diagonal(c))
    found = c / scale[:, None] / scale[None, :]
    return found if c.dtype.is_complex else torch.clip(found, -1, 1)
