"""How many values lie in each bin, of one dimension or several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import return_types
from ...base import dtypes
from ...base.errors import length_of, no_kernel
from ...core.op import composite
from ...core.out_argument import run_into
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..checks.common import c_name
from ..creation.ranges import linspace
from ..shapes.reshaping import reshape
from .counting import bincount
from .searching import searchsorted

_NAME = "torch.histogramdd"


def _check(input: Tensor, weight: Tensor | None, bins: Any) -> None:
    if weight is not None:
        if weight.dtype is not input.dtype:
            raise RuntimeError(f"{_NAME}: if weight tensor is provided, input tensor and weight "
                               "tensor should have the same dtype, but got input("
                               f"{c_name(input._data)}), and weight({c_name(weight._data)})")
        if weight.shape != input.shape[:-1]:
            raise RuntimeError(
                f"{_NAME}: if weight tensor is provided it should have the same shape as the input "
                "tensor excluding its innermost dimension, but got input with shape "
                f"{list(input.shape)} and weight with shape {list(weight.shape)}")
    columns = input.shape[-1]
    if bins and isinstance(bins[0], Tensor) and len(bins) != columns:
        raise RuntimeError(f"{_NAME}: expected {columns} sequences of bin edges for a "
                           f"{columns}-dimensional histogram but got {len(bins)}")
    if len(bins) != columns:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension "
                           "of the input.")
    for d, edges in enumerate(bins):
        if isinstance(edges, Tensor):
            _check_edges(input, d, edges)
        elif edges <= 0:
            raise _too_few(edges, d)
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise no_kernel("histogramdd", input.dtype)


def _check_edges(input: Tensor, d: int, edges: Tensor) -> None:
    if edges.dtype is not input.dtype:
        raise RuntimeError(f"{_NAME}: input tensor and bins tensors should have the same dtype, "
                           f"but got input with dtype {c_name(input._data)} and bins for dimension "
                           f"{d} with dtype {c_name(edges._data)}")
    if edges.ndim != 1:
        raise RuntimeError(f"{_NAME}: bins tensor should have one dimension, but got {edges.ndim} "
                           f"dimensions in the bins tensor for dimension {d}")
    if edges.numel() < 2:
        raise _too_few(edges.numel() - 1, d)


def _too_few(count: int, d: int) -> RuntimeError:
    return RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {d}")


def _even_edges(values: Tensor, d: int, count: int, limits: Any) -> Tensor:
    """The edges of equal bins between the limits, or the least and the largest value."""
    if limits is not None:
        low, high = map(float, limits)
    else:
        low, high = (values.min().item(), values.max().item()) if values.numel() else (0.0, 1.0)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{_NAME}: dimension {d}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"{_NAME}: min should not exceed max, but got min {low:g} max {high:g} "
                           f"for dimension {d}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = linspace(low, high, count + 1, dtype=values.dtype)
    return values.new_tensor(edges.tolist())  # of the library that the values are of


def _counted(input: Tensor, bins: Any, limits: Any, weight: Tensor | None, density: bool
             ) -> tuple[Tensor, list[Tensor]]:
    columns = input.shape[-1]
    if limits is not None and len(limits) != 2 * columns:
        raise RuntimeError(f"{_NAME}: for a {columns}-dimensional histogram range should have "
                           f"{2 * columns} elements, but got {len(limits)}")
    _check(input, weight, bins)
    rows = reshape(input.detach(), (-1, columns))
    edges = [own.detach().clone() if isinstance(own, Tensor) else _even_edges(
        rows[:, d], d, own, None if limits is None else limits[2 * d:2 * d + 2])
        for d, own in enumerate(bins)]
    shape = [own.numel() - 1 for own in edges]
    place: Any = 0
    inside: Any = True
    for d, own in enumerate(edges):
        column = rows[:, d].contiguous()
        found = searchsorted(own, column, right=True) - 1
        place = place * shape[d] + found.clamp(max=shape[d] - 1)  # the last edge is inside
        inside = (column >= own[0]) & (column <= own[-1]) & inside
    weights = None if weight is None else reshape(weight.detach(), (-1,))[inside]
    hist = bincount(place[inside], weights, math.prod(shape)).to(input.dtype)
    hist = reshape(hist, tuple(shape))
    if density:
        hist = hist / hist.sum()
        for d, own in enumerate(edges):
            hist = hist / reshape(own.diff(), tuple([-1 if e == d else 1 for e in range(columns)]))
    return hist, edges


@composite(method=True)
def histogram(input: Tensor, bins: int | Tensor = 100, *, range: Sequence[float] | None = None,
              weight: Tensor | None = None, density: bool = False, out: Any = None) -> Any:
    """How many elements lie in each bin, and the edges of the bins."""
    hist, edges = _counted(reshape(input, (-1, 1)), [bins], range,
                           None if weight is None else reshape(weight, (-1,)), density)
    return return_types.histogram(run_into(out, "histogram", _OUT, lambda: (hist, edges[0])))


_WORDS = "torch.histogram: input tensor and {} tensor should have the same dtype, but got input "
_OUT = Out((_WORDS.format("hist") + "{c_result} and hist {c_out}",
            _WORDS.format("bin_edges") + "{c_result} and bin_edges {c_out} for dimension 0"))


@composite()
def histogramdd(input: Tensor, bins: int | Sequence[int] | Sequence[Tensor],
                range: Sequence[float] | None = None, weight: Tensor | None = None,
                density: bool = False) -> Any:
    """How many rows lie in each cell of a grid, and the edges of the grid along each dim."""
    several = [bins] * length_of(tuple(input.shape), -1) if isinstance(bins, int) else list(bins)
    if input.ndim < 2:
        raise RuntimeError(f"{_NAME}: input tensor should have at least 2 dimensions")
    if any(isinstance(count, int) and count < -1 for count in several):
        raise RuntimeError("number of steps must be non-negative")
    hist, edges = _counted(input, several, range, weight, density)
    return return_types.histogramdd((hist, tuple(edges)))
