"""PyTorch's kernels that programs call by an underscored name, or as ``torch.ops.aten`` alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..backend import pool as pool_kernels
from ..base import dtypes
from ..base.errors import canonical_dim
from ..core.op import Array, Index, op, public
from ..core.out_rules import Out
from ..core.tensor import Tensor
from .checks.common import kinds
from .checks.images import check_resampling
from .elementwise.where import where
from .nn.native import native_batch_norm
from .nn.padding import constant_pad_nd
from .nn.pooling import _take_from_planes
from .nn.resampling import _mixed
from .shapes.copies import _part
from .shapes.joining import cat
from .shapes.reshaping import zeros_of

# ---------------------------------------------------------------- norms


@public("_native_batch_norm_legit", method=False,
        out=Out("expected scalar type {result} but found {out}"))
def _native_batch_norm_legit(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                             *settings: Tensor | float | None) -> tuple[Tensor, Tensor, Tensor]:
    """``native_batch_norm``; the running moments may be left out altogether."""
    moments, rest = (settings[:2], settings[2:]) if len(settings) == 5 else ((None, None), settings)
    return native_batch_norm(input, weight, bias, *moments, *rest)  # type: ignore


@public("_batch_norm_with_update", method=False, function="ops.aten")
def _batch_norm_with_update(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                            running_mean: Tensor, running_var: Tensor, momentum: float, eps: float
                            ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """``native_batch_norm`` while training, and memory that only other devices need."""
    found = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *found, input.new_empty((0,), dtype=dtypes.uint8)


# ---------------------------------------------------------------- gradients by themselves


@public("_softmax_backward_data", method=False)
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int,
                           input_dtype: Any) -> Tensor:
    """The gradient of a softmax, from its own."""
    if output.element_size() == 2:
        grad_output, output = grad_output.float(), output.float()
    output = output.contiguous()
    weighted = grad_output.contiguous() * output
    return (weighted - output * weighted.sum(dim, keepdim=True)).to(input_dtype)


@public("native_dropout_backward", method=False, function="ops.aten", out=Out())
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """The gradient of a dropout that kept what ``mask`` says."""
    return grad_output * mask * scale  # type: ignore[no-any-return]


@public("max_pool2d_with_indices_backward", method=False, function="ops.aten")
def max_pool2d_with_indices_backward(grad_output: Tensor, input: Tensor, kernel_size: Any,
                                     stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
                                     indices: Tensor) -> Tensor:
    """The gradient of maxima that were found at ``indices`` of their planes."""
    return _maxima_put_back(grad_output, input, indices)  # type: ignore[no-any-return]


@op(node="MaxPool2DWithIndicesBackwardBackward0", batches="planes",
    guard=kinds("f", "max_pool2d_backward"))
def _maxima_put_back(output: Array, input: Array, indices: Index) -> Any:
    return pool_kernels.scatter_planes(output, indices, input.shape[-2:], False)


_maxima_put_back.vjp(
    output=lambda g, indices: _take_from_planes(g, indices, 2),
    input=lambda g, like: zeros_of(g, like.shape))


# ---------------------------------------------------------------- others


@public("_safe_softmax", method=False)
def _safe_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Softmax, with zeros where nothing but minus infinity is."""
    empty = (input == float("-inf")).all(dim, keepdim=True)
    found = where(empty, input.new_zeros(()), input).softmax(dim, dtype=dtype)
    return where(empty, found.new_zeros(()), found)  # type: ignore[no-any-return]


@public("_upsample_bilinear2d_aa", method=False, function="ops.aten", out=Out())
def _upsample_bilinear2d_aa(input: Tensor, output_size: Sequence[int] | None, align_corners: bool,
                            scale_factors: Sequence[float] | None = None,
                            scales_w: float | None = None, *, scales_h: float | None = None
                            ) -> Tensor:
    """An image resampled by weighted means of all that a point covers."""
    if input.ndim != 4:
        raise RuntimeError(f"It is expected input_size equals to 4, but got size {input.ndim}")
    if output_size is None:
        scales: list[Any] = [float(scale) for scale in scale_factors or ()]
        output_size = [math.floor(n * s) for n, s in zip(input.shape[2:], scales, strict=True)]
    elif isinstance(scale_factors, (tuple, list)):
        raise RuntimeError("Must specify exactly one of output_size and scale_factors")
    else:
        scales = [scales_h if scale_factors is None else scale_factors, scales_w]
    check_resampling(tuple(input.shape), tuple(output_size))
    return _mixed(input, tuple(output_size), scales, "bilinear", align_corners, True)


public("slice", method=False, function="ops.aten")(
    lambda input, dim=0, start=None, end=None, step=1: _part(input, dim, start, end, step))


@public("_chunk_cat", method=False)
def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Tensor:
    """Tensors cut along ``dim`` into equal chunks, with zeros behind, joined chunk by chunk."""
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    if not all(t.numel() for t in tensors):
        raise RuntimeError("_chunk_cat expects non-empty tensor")
    if dim < 0 and len({t.ndim for t in tensors}) > 1:
        raise RuntimeError("_chunk_cat expects non-negative dim when input tensors have different "
                           "ndims")
    axis = dim if dim >= 0 and len(tensors) > 1 else canonical_dim(dim, tensors[0].ndim)
    if any(axis >= t.ndim for t in tensors):
        raise RuntimeError("_chunk_cat expects dim < ndim for all input tensors")
    outer = tuple(tensors[0].shape[:axis])
    if any(tuple(t.shape[:axis]) != outer for t in tensors):
        raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all "
                           "tensors")
    rows = []
    for tensor in tensors:
        lacking = -tensor.shape[axis] % num_chunks
        sides = (0, 0) * (tensor.ndim - 1 - axis) + (0, lacking)
        rows.append(constant_pad_nd(tensor, sides).reshape(*outer, num_chunks, -1))
    return cat(rows, axis + 1)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- indices that may be outside


def _inside(input: Tensor, mask: Tensor, indices: Sequence[Tensor | None], low: int
            ) -> tuple[Any, ...]:
    """A subscript of indices that are brought into their dimensions."""
    for index in indices:
        if index is not None and index.dtype not in (dtypes.int64, dtypes.int32):
            raise IndexError("tensors used as indices must be long or int tensors")
    if mask.dtype is not dtypes.bool:
        raise IndexError("tensors used as masks must be bool tensors")
    if len(indices) > input.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim} (got "
                         f"{len(indices)})")
    return tuple([slice(None) if index is None else index.clamp(low * size, size - 1)
                  for index, size in zip(indices, input.shape, strict=False)])


@public("_unsafe_masked_index", method=False)
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Sequence[Tensor | None],
                         fill: complex) -> Tensor:
    """The elements at ``indices``, or ``fill`` where ``mask`` is False."""
    places = _inside(input, mask, indices, 0)
    if not input.numel():  # whose sum is nothing but where the result comes from
        shape = input.new_empty([max(n, 1) for n in input.shape])[places].shape
        return input.new_full(shape, fill) + input.sum(dtype=input.dtype)
    return input[places].masked_fill(~mask, fill)  # type: ignore[no-any-return]


@public("_unsafe_masked_index_put_accumulate", method=False)
def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor,
                                        indices: Sequence[Tensor | None], values: Tensor
                                        ) -> Tensor:
    """``input`` with ``values`` added at ``indices`` where ``mask`` is True."""
    places = _inside(input, mask, indices, -1)
    if not input.numel():
        return input.clone()
    return input.index_put([None if isinstance(p, slice) else p for p in places],
                           values.masked_fill(~mask, 0), accumulate=True)
