"""Pooling to a given size."""

from __future__ import annotations

from typing import Any

from ...backend import pool as pools
from ...backend import xp
from ...core.op import Array, composite, op
from ...core.tensor import Tensor
from ..elementwise.number_operands import kinds
from .along_axes import _declare_mixing
from .convolution import _as_planes
from .pooling import _put_in_planes
from .sizes import Ints

_ADAPTIVE = {
    1: _declare_mixing("_adaptive_average1d", "SqueezeBackward1", "adaptive_avg_pool2d"),
    2: _declare_mixing("_adaptive_average2d", "AdaptiveAvgPool2DBackward0", "adaptive_avg_pool2d"),
    3: _declare_mixing("_adaptive_average3d", "AdaptiveAvgPool3DBackward0",
                       "adaptive_avg_pool3d_cpu")}


def _target_size(rank: int, name: str, input: Tensor, output_size: Any) -> Ints:
    wanted = (output_size,) * rank if output_size is None or isinstance(output_size, int) \
        else tuple(output_size)
    space = input.shape[-rank:]
    if len(wanted) != rank:
        raise RuntimeError(_wrong_length(rank, name, len(wanted)))
    out = tuple([space[i] if n is None else int(n) for i, n in enumerate(wanted)])
    if any(n < 0 for n in out):
        raise RuntimeError(_negative_size(rank, name, input, out))
    return out


def _wrong_length(rank: int, name: str, length: int) -> str:
    if rank == 1:
        return f"{name}() argument 'output_size' should contain one int (got {length})"
    if "avg" in name:
        return f"{name}: output_size must be {rank}"
    return f"{name}(): internal error: output_size.size() must be {rank}"


def _negative_size(rank: int, name: str, input: Tensor, out: Ints) -> str:
    planes = (1, *out) if rank == 1 else out
    if "avg" in name:
        # The last comma has no space after it in three dimensions.
        shown = f"{planes[0]}, " + ",".join([str(n) for n in planes[1:]])
        return (f"{name.replace('1d', '2d')}: elements of output_size must be greater than or "
                f"equal to 0 but received {{{shown}}}")
    whole = [*input.shape[:-rank], *planes]
    return (f"Trying to create tensor with negative dimension {min(planes)}: {whole}")


def _refuse_empty_planes(rank: int, name: str, shape: Ints) -> None:
    first = 1
    if "avg" in name and rank < 3:
        # A signal is averaged as an image of height one.
        shape, name = (*shape[:-rank], *_as_planes(shape[-rank:])), "adaptive_avg_pool2d"
        first = len(shape) - 2
    if 0 in shape[first:]:
        raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch "
                           f"dimensions, but input has sizes {list(shape)} with dimension "
                           f"{shape.index(0, first)} being empty")


def _check_target(rank: int, name: str, input: Tensor, output_size: Any) -> None:
    if rank == 1:
        if isinstance(output_size, (list, tuple)) and None in output_size:
            raise TypeError(f"{name}(): argument 'output_size' (position 2) must be tuple of ints, "
                            "but found element of type NoneType at pos 0")
        if input.ndim not in (2, 3):
            raise RuntimeError(f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional "
                               "tensor for argument #1 'self' (while checking arguments for "
                               f"{name})")
    elif not isinstance(output_size, int) and input.ndim <= rank:
        raise ValueError(f"Input dimension should be at least {rank + 1}")


def _check_adaptive(rank: int, name: str, input: Tensor) -> None:
    if input.ndim not in (rank + 1, rank + 2):
        colon = ":" if "max" in name else ""
        raise RuntimeError(f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got{colon} "
                           f"{list(input.shape)}")
    _refuse_empty_planes(rank, name, tuple(input.shape))


def _adaptive_avg_pool(rank: int, input: Tensor, output_size: Any) -> Tensor:
    from ..reductions.sums import mean

    name = f"adaptive_avg_pool{rank}d"
    _check_target(rank, name, input, output_size)
    out = _target_size(rank, name, input, output_size)
    if all(n == 1 for n in out):
        return mean(input, tuple(range(-1, -rank - 1, -1)), keepdim=True)
    _check_adaptive(rank, name, input)
    dtype = xp.FLOAT64 if input._data.dtype == xp.FLOAT64 else xp.FLOAT32
    recipe = tuple([(i - rank, pools.adaptive_matrix(n, m, dtype))
                    for i, (n, m) in enumerate(zip(input.shape[-rank:], out, strict=True))])
    return _ADAPTIVE[rank](input, recipe)


@composite()
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` nearly equal parts of a signal."""
    return _adaptive_avg_pool(1, input, output_size)


@composite(function="nn.functional")
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means of a grid of ``output_size`` nearly equal parts of an image."""
    return _adaptive_avg_pool(2, input, output_size)


@composite(function="nn.functional")
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of a grid of ``output_size`` nearly equal parts of a volume."""
    return _adaptive_avg_pool(3, input, output_size)


@op(method=False, function=None)
def _adaptive_positions(input: Array, size: Any) -> Any:
    return pools.adaptive_max_indices(input, size)


def _declare_adaptive_max(rank: int, node: str) -> Any:
    def kernel(input: Array, size: Any) -> Any:
        return pools.gather_planes(input, pools.adaptive_max_indices(input, size), rank)

    kernel.__name__ = f"_adaptive_max{rank}d"
    guard = kinds("f", "adaptive_max_pool3d_cpu" if rank == 3 else "adaptive_max_pool2d")
    made = op(method=False, function=None, node=node, guard=guard)(kernel)
    made.vjp(input=lambda g, input, size: _put_in_planes(
        g, _adaptive_positions(input, size), input.shape[-len(size):], False))
    return made


_ADAPTIVE_MAX = {1: _declare_adaptive_max(1, "SqueezeBackward1"),
                 2: _declare_adaptive_max(2, "AdaptiveMaxPool2DBackward0"),
                 3: _declare_adaptive_max(3, "AdaptiveMaxPool3DBackward0")}


def _adaptive_max_pool(rank: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    name = f"adaptive_max_pool{rank}d"
    _check_target(rank, name, input, output_size)
    _check_adaptive(rank, name, input)
    out = _target_size(rank, name, input, output_size)
    y = _ADAPTIVE_MAX[rank](input, out)
    return (y, _adaptive_positions(input.detach(), out)) if return_indices else y


@composite(function="nn.functional")
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of ``output_size`` nearly equal parts of a signal."""
    return _adaptive_max_pool(1, input, output_size, return_indices)


@composite(function="nn.functional")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of a grid of ``output_size`` nearly equal parts of an image."""
    return _adaptive_max_pool(2, input, output_size, return_indices)


@composite(function="nn.functional")
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of a grid of ``output_size`` nearly equal parts of a volume."""
    return _adaptive_max_pool(3, input, output_size, return_indices)
