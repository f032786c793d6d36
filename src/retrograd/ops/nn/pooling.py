"""Pooling: the largest and the mean of each window."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ...backend import pool as pool_kernels
from ...base.errors import dim_out_of_range, no_dims
from ...core.op import Array, Flag, Index, Sizes, composite, linear, op, publish
from ...core.out_rules import Out
from ...core.tensor import PLAIN, Tensor
from ..batching import batched
from ..checks import pooling as checks
from ..checks.common import kinds
from ..shapes.expanding import expand
from .sizes import Ints

# ---------------------------------------------------------------- the largest of each window


@op(node="GatherBackward0", batches="planes",
    vjp=lambda g, indices, rank, like: _put_in_planes(g, indices, like.shape[-rank:], False))
def _take_from_planes(input: Array, indices: Index, rank: int) -> Any:
    return pool_kernels.gather_planes(input, indices, rank)


@op(node="MaxPool2DWithIndicesBackwardBackward0", batches="planes",
    vjp=lambda g, indices, space: _take_from_planes(g, indices, len(space)))
def _put_in_planes(input: Array, indices: Index, space: Any, unique: bool) -> Any:
    return pool_kernels.scatter_planes(input, indices, space, unique)


@op(batches="planes")
def _max_positions(input: Array, kernel: Any, stride: Any, padding: Any, dilation: Any,
                   size: Any) -> Any:
    _, places = pool_kernels.max_pool_with_places(input, kernel, stride, padding, dilation, size)
    return pool_kernels.indices_of_places(places, input.shape[-len(kernel):], kernel, stride,
                                          padding, dilation, size)


@op(any_dtype=True, batches="planes")
def _plane_indices(input: Index, space: Any, kernel: Any, stride: Any, padding: Any, dilation: Any,
                   size: Any) -> Any:
    return pool_kernels.indices_of_places(input, space, kernel, stride, padding, dilation, size)


@op(node="MaxPool2DWithIndicesBackwardBackward0")
def _put_at_places(input: Array, places: Index, space: Any, kernel: Any, stride: Any, padding: Any,
                   dilation: Any, size: Any) -> Any:
    return pool_kernels.scatter_places(input, places, space, kernel, stride, padding, dilation,
                                       size, windows_are_apart(kernel, stride, dilation))


_put_at_places.vjp(
    input=lambda g, places, space, kernel, stride, padding, dilation, size: _take_from_planes(
        g, _plane_indices(places, space, kernel, stride, padding, dilation, size), len(space)))


@_put_at_places.batch
def _(batch: Any, input: Any, places: Any, space: Any, kernel: Any, stride: Any, padding: Any,
      dilation: Any, size: Any) -> Any:
    input = batched(batch, "input", input)
    indices = _plane_indices(places, space, kernel, stride, padding, dilation, size)
    return _put_in_planes(input, expand(indices, input.shape), space,
                          windows_are_apart(kernel, stride, dilation))


@lru_cache(maxsize=256)
def windows_are_apart(kernel: Any, stride: Any, dilation: Any) -> bool:
    """Whether no element lies in two windows."""
    return all(s > d * (k - 1) for k, s, d in zip(kernel, stride, dilation, strict=True))


def _declare_max_pool(rank: int, node: str) -> tuple[Any, Any]:
    """Two ops: the maxima, and the maxima with their places, which make for a quick backward."""
    @op(name=f"_max_pool{rank}d", node=node, batches="planes", compares=True,
        guard=kinds("f", "max_pool1d_impl") if rank == 1 else kinds("if", f"max_pool{rank}d"))
    def alone(input: Array, kernel: Any, stride: Any, padding: Any, dilation: Any,
              size: Any) -> Any:
        return pool_kernels.max_pool(input, kernel, stride, padding, dilation, size)

    @op(name=f"_max_pool{rank}d_with_places", node=node, differentiable=(0,),
        outputs=("output", "places"), batches="planes",
        guard=kinds("if", "max_pool3d" if rank == 3 else "max_pool2d"))
    def with_places(input: Array, kernel: Any, stride: Any, padding: Any, dilation: Any,
                    size: Any) -> Any:
        return pool_kernels.max_pool_with_places(input, kernel, stride, padding, dilation, size)

    alone.vjp(input=lambda g, input, kernel, stride, padding, dilation, size: _put_in_planes(
        g, _max_positions(input, kernel, stride, padding, dilation, size),
        input.shape[-len(kernel):], windows_are_apart(kernel, stride, dilation)))
    with_places.vjp(
        input=lambda g, like, places, kernel, stride, padding, dilation, size: _put_at_places(
            g[0], places, like.shape[-len(kernel):], kernel, stride, padding, dilation, size))
    return alone, with_places


def _is_left_out(stride: Any) -> bool:
    return stride is None or (isinstance(stride, tuple) and not stride)


@lru_cache(maxsize=256, typed=True)
def _max_pool_plan(rank: int, shape: Ints, kernel_size: Any, stride: Any, padding: Any,
                   dilation: Any, ceil_mode: bool, return_indices: bool) -> tuple[Ints, ...]:
    """Kernel, stride, padding, dilation and output size of a call, with everything checked."""
    name = f"max_pool{rank}d"
    checks.need_bool(name, "ceil_mode", 6, ceil_mode)
    kernel, steps, pad, dilate = checks.pool_sizes(
        rank, name, kernel_size=kernel_size,
        stride=kernel_size if _is_left_out(stride) else stride,
        padding=padding,
        dilation=dilation)
    return kernel, steps, pad, dilate, checks.max_pooled_space(
        name, shape, kernel, steps, pad, dilate, ceil_mode, return_indices)


def _declare_public_max_pool(rank: int, thing: str, node: str) -> Any:
    alone, with_places = _declare_max_pool(rank, node)

    @composite(function="nn.functional", name=f"max_pool{rank}d",
               doc=f"The largest value of every window of {thing}.")
    def max_pool(input: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
                 padding: Sizes = 0, dilation: Sizes = 1, ceil_mode: bool = False,
                 return_indices: Flag = False) -> Any:
        given = [tuple(v) if type(v) is list else v
                 for v in (kernel_size, stride, padding, dilation)]
        plan = _max_pool_plan(rank, tuple(input._data.shape), *given, ceil_mode, return_indices)
        if type(input) in PLAIN and (return_indices or input._edge is not None):
            y, places = with_places(input, *plan)
            return (y, _plane_indices(places, tuple(input.shape[-rank:]), *plan)) \
                if return_indices else y
        y = alone(input, *plan)
        return (y, _max_positions(input.detach(), *plan)) if return_indices else y

    @composite(function="nn.functional", name=f"max_pool{rank}d_with_indices",
               doc=f":func:`max_pool{rank}d`, and where in {thing} each maximum lies.")
    def with_indices(input: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
                     padding: Sizes = 0, dilation: Sizes = 1, ceil_mode: bool = False,
                     return_indices: Flag = False) -> tuple[Tensor, Tensor]:
        return max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    publish(max_pool, max_pool.__name__, method=False)
    if rank == 1:
        publish(with_indices, with_indices.__name__, method=False)
    return max_pool


max_pool1d, max_pool2d, max_pool3d = [
    _declare_public_max_pool(rank, thing, node) for rank, thing, node in (
        (1, "a signal", "SqueezeBackward1"), (2, "an image", "MaxPool2DWithIndicesBackward0"),
        (3, "a volume", "MaxPool3DWithIndicesBackward0"))]

# ---------------------------------------------------------------- the mean of each window


@linear(batches="planes")
def _spread_average(input: Array, space: Any, kernel: Any, stride: Any, padding: Any,
                    include_pad: bool, divisor: Any) -> Any:
    return pool_kernels.average_pool_gradient(input, space, kernel, stride, padding, include_pad,
                                              divisor)


def _declare_average_pool(rank: int, node: str) -> Any:
    lacking = "avg_pool3d_out_frame" if rank == 3 else "avg_pool2d"

    @linear(name=f"_average_pool{rank}d", node=node, batches="planes",
            guard=checks.floats_and_longs(lacking))
    def average(input: Array, size: Any, kernel: Any, stride: Any, padding: Any, include_pad: bool,
                divisor: Any) -> Any:
        return pool_kernels.average_pool(input, kernel, stride, padding, size, include_pad, divisor)

    average.vjp(input=lambda g, like, kernel, stride, padding, include_pad, divisor:
                _spread_average(g, like.shape[-len(kernel):], kernel, stride, padding, include_pad,
                                divisor))
    return average


_AVERAGE_POOL = {1: _declare_average_pool(1, "SqueezeBackward1"),
                 2: _declare_average_pool(2, "AvgPool2DBackward0"),
                 3: _declare_average_pool(3, "AvgPool3DBackward0")}
_average_windows = _AVERAGE_POOL[2]
_spread_average.vjp(input=lambda g, like, kernel, stride, padding, include_pad, divisor:
                    _average_windows(g, like.shape[-len(kernel):], kernel, stride, padding,
                                     include_pad, divisor))


@lru_cache(maxsize=256, typed=True)
def _avg_pool_plan(rank: int, shape: Ints, kernel_size: Any, stride: Any, padding: Any,
                   ceil_mode: bool) -> tuple[Ints, ...]:
    """Output size, kernel, stride and padding of a call, with everything checked."""
    name = f"avg_pool{rank}d"
    checks.need_bool(name, "ceil_mode", 5, ceil_mode)
    kernel, steps, pad = checks.pool_sizes(
        rank, name, kernel_size=kernel_size,
        stride=kernel_size if _is_left_out(stride) else stride,
        padding=padding)
    if rank == 2 and not shape:
        raise no_dims(-3)
    if rank == 2 and len(shape) < 3:
        raise dim_out_of_range(-3, len(shape))
    if rank == 3:
        checks.check_rank(rank, shape)
    measure = checks.pooled_length if rank == 1 else checks.pooled_space
    return measure(name, shape, kernel, steps, pad, (1,) * rank, ceil_mode), kernel, steps, pad


def _avg_pool(rank: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any,
              ceil_mode: bool, count_include_pad: bool, divisor_override: int | None) -> Tensor:
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    given = [tuple(v) if type(v) is list else v for v in (kernel_size, stride, padding)]
    plan = _avg_pool_plan(rank, tuple(input._data.shape), *given, ceil_mode)
    return _AVERAGE_POOL[rank](input, *plan, count_include_pad, divisor_override)


@composite()
def avg_pool1d(input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
               ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """The mean of every window of a signal."""
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def _declare_avg_pool(rank: int, thing: str) -> Any:
    @composite(function="nn.functional", name=f"avg_pool{rank}d",
               doc=f"The mean of every window of {thing}.", out=Out())
    def avg_pool(input: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
                 padding: Sizes = 0, ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> Tensor:
        return _avg_pool(rank, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                         divisor_override)

    return avg_pool


avg_pool2d, avg_pool3d = _declare_avg_pool(2, "an image"), _declare_avg_pool(3, "a volume")
