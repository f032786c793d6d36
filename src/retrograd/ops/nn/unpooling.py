"""The ways back from max pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base import dtypes
from ...core.op import composite
from ...core.tensor import Tensor


def per_dim(value: Any, dims: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,) * dims


def _unpool(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any,
            output_size: Any, dims: int) -> Tensor:
    """The values of ``input`` where ``indices`` say, in zeros of the size before pooling."""
    kernel = per_dim(kernel_size, dims)
    steps = kernel if stride is None or stride == [] else per_dim(stride, dims)
    sides = per_dim(padding, dims)
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype}")
    if input.shape != indices.shape:
        raise RuntimeError("Expected shape of indices to be same as that of the input tensor "
                           f"({list(input.shape)}) but got indices tensor with shape: "
                           f"{list(indices.shape)}")
    size = _size_before(input, kernel, steps, sides, output_size, dims)
    lead = input.shape[:-dims]
    count = 1
    for n in size:
        count *= n
    flat, where = input.reshape((*lead, -1)), indices.reshape((*lead, -1))
    if where.numel() and (int(where.max()) >= count or int(where.min()) < 0):
        bad = int(where.max()) if int(where.max()) >= count else int(where.min())
        raise RuntimeError(f"found an invalid max index: {bad} (output volumes are of size "
                           f"{'x'.join(map(str, size))}")
    return input.new_zeros((*lead, count)).scatter(-1, where, flat).reshape((*lead, *size))


def _size_before(input: Tensor, kernel: tuple[int, ...], steps: tuple[int, ...],
                 sides: tuple[int, ...], output_size: Any, dims: int) -> list[int]:
    """The size that was pooled; a given one must be near what the kernel says."""
    usual = [(input.shape[d - dims] - 1) * steps[d] + kernel[d] - 2 * sides[d]
             for d in range(dims)]
    if output_size is None:
        return usual
    wanted = list(output_size)
    if len(wanted) == dims + 2:
        wanted = wanted[2:]
    if len(wanted) != dims:
        raise ValueError("output_size should be a sequence containing "
                         f"{dims} or {dims + 2} elements, but it has a length of "
                         f"'{len(output_size)}'")
    for d in range(dims):
        low, high = usual[d] - steps[d], usual[d] + steps[d]
        if not low < wanted[d] < high:
            raise ValueError(f'invalid output_size "{wanted}" (dim {d} must be between {low} and '
                             f"{high})")
    return wanted


@composite(function="nn.functional")
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None,
                 padding: Any = 0, output_size: Any = None) -> Tensor:
    """The values of a max pooling of sequences where they came from, in zeros."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


@composite(function="nn.functional")
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None,
                 padding: Any = 0, output_size: Any = None) -> Tensor:
    """The values of a max pooling of images where they came from, in zeros."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


@composite(function="nn.functional")
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None,
                 padding: Any = 0, output_size: Any = None) -> Tensor:
    """The values of a max pooling of volumes where they came from, in zeros."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)
