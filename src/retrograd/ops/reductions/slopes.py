"""The slopes of a function that is known at points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base import dtypes
from ...base.errors import canonical_dim
from ...core.op import Number, composite
from ...core.tensor import Tensor
from ..elementwise.number_operands import is_number
from ..shapes.joining import cat
from ..shapes.reshaping import reshape
from ..shapes.slicing import narrow


@composite()
def gradient(input: Tensor, *, spacing: Tensor | Number | Sequence[Tensor | Number] | None = None,
             dim: int | Sequence[int] | None = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The slopes along each of ``dim``: of neighbours on both sides, at the ends of one side."""
    dims = list(range(input.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    apart: list[Any] | None = list(spacing) if isinstance(spacing, (tuple, list)) else None
    _check(input, dims, apart, dim is None, edge_order)
    if apart is None:
        apart = [1 if spacing is None else spacing] * len(dims)
    return tuple([_slopes(input, d % input.ndim, between, edge_order)
                  for d, between in zip(dims, apart, strict=True)])


def _check(input: Tensor, dims: list[int], apart: list[Any] | None, of_all: bool,
           edge_order: int) -> None:
    if input.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if apart is not None and len(apart) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to 'self.dim() = {input.ndim}', since dim argument was not given, but got a "
            f"list of length {len(apart)}" if of_all else
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
            f"arguments to have the same length, but got a spacing argument of length {len(apart)} "
            f"and a dim argument of length {len(dims)}.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    seen: set[int] = set()
    for dim in dims:
        axis = canonical_dim(dim, input.ndim)
        if axis in seen:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
        seen.add(axis)
        if input.shape[axis] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least "
                               "edge_order+1")
    for between in apart or ():
        if isinstance(between, Tensor) and between.ndim != 1:
            raise RuntimeError("torch.gradient expected each element of spacing to have one "
                               f"dimension, but got an element with {between.ndim} dimensions!")
        if isinstance(between, Tensor) and between.is_meta != input.is_meta:
            raise RuntimeError("torch.gradient expected each tensor to be on the same device, but "
                               f"got devices {input.device} and {between.device}!")


def _slopes(input: Tensor, axis: int, between: Any, edge_order: int) -> Tensor:
    size = input.shape[axis]

    def at(start: int, count: int) -> Any:
        return narrow(input, axis, start, count)

    if is_number(between) or not between.ndim:
        inner = (at(2, size - 2) - at(0, size - 2)) / (2 * between)
        if edge_order == 1:
            first, last = [(at(i + 1, 1) - at(i, 1)) / between for i in (0, size - 2)]
        else:
            first = (-3 * at(0, 1) + 4 * at(1, 1) - at(2, 1)) / (2 * between)
            last = (3 * at(size - 1, 1) - 4 * at(size - 2, 1) + at(size - 3, 1)) / (2 * between)
    else:
        inner, first, last = _uneven(at, size, _widths(between, axis, input.ndim), edge_order)
    return cat([first, inner, last], axis)  # type: ignore[no-any-return]


def _widths(points: Tensor, axis: int, rank: int) -> Any:
    """A function of a place and a count: the widths of the gaps from there on."""
    gaps = points[1:] - points[:-1]
    shape = tuple([-1 if d == axis else 1 for d in range(rank)])
    return lambda start, count: reshape(gaps[start:start + count], shape)


def _uneven(at: Any, size: int, width: Any, edge_order: int) -> tuple[Any, Any, Any]:
    """Slopes of parabolas through three neighbours, at gaps of any width."""
    left, right = width(0, size - 2), width(1, size - 2)
    inner = (-right / (left * (left + right)) * at(0, size - 2)
             + (right - left) / (left * right) * at(1, size - 2)
             + left / (right * (left + right)) * at(2, size - 2))
    if edge_order == 1:
        first, last = [(at(i + 1, 1) - at(i, 1)) / width(i, 1) for i in (0, size - 2)]
        return inner, first, last
    near, far = width(0, 1), width(1, 1)
    first = (-(2 * near + far) / (near * (near + far)) * at(0, 1)
             + (near + far) / (near * far) * at(1, 1)
             - near / (far * (near + far)) * at(2, 1))
    far, near = width(size - 3, 1), width(size - 2, 1)
    last = (near / (far * (far + near)) * at(size - 3, 1)
            - (far + near) / (far * near) * at(size - 2, 1)
            + (far + 2 * near) / (near * (far + near)) * at(size - 1, 1))
    return inner, first, last
