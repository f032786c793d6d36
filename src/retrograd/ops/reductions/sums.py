"""Sums and means."""

from __future__ import annotations

import math
from typing import Any

from ...backend import reduce as reduce_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...core.graph import Like
from ...core.op import Array, Dims, composite, elementwise, linear, op, publish
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import dims_behind, flat
from ..checks.common import unsupported
from ..checks.reductions import check_mean, check_whole, checked_dims
from ..elementwise.arithmetic import div
from ..elementwise.conjugate import conj
from ..elementwise.exponentials import exp
from ..memory.casts import cast_gradient
from ..shapes.expanding import expand
from ..shapes.slicing import diagonal, diagonal_backward
from .arguments import UNSET, _np, numpy_names

# ---------------------------------------------------------------- sums and means


_IN_ITS_DTYPE = Out(computes=True)


@linear(node="SumBackward0", quiet=True, out=_IN_ITS_DTYPE,
        vjp=lambda g, like: _spread(g, like, None, False),
        batches=lambda batch, input, dtype: _sum_dims(flat(input), 1, False, dtype))
def _sum(input: Array, dtype: Any = None) -> Any:
    if dtype is None:
        return reduce_kernels.sum_all(input)
    return reduce_kernels.total(input, None, False, _np(dtype))


@linear(node="SumBackward1", title="sum", out=_IN_ITS_DTYPE,
        vjp=lambda g, like, dim, keepdim: _spread(g, like, dim, keepdim))
def _sum_dims(input: Array, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return reduce_kernels.total(input, dim, keepdim, _np(dtype))


@linear(node="ExpandBackward0", quiet=True, any_dtype=True,
        vjp=lambda g, like, dim, keepdim: cast_gradient(_sum_dims(g, dim, keepdim), like.dtype))
def _spread(input: Array, target: Any, dim: Any, keepdim: bool) -> Any:
    """A reduction's gradient in the shape and dtype of ``target``, what was reduced."""
    return reduce_kernels.spread(input, target.shape, target.dtype, dim, keepdim)


@_spread.batch
def _(batch: Any, input: Any, target: Any, dim: Any, keepdim: bool) -> Any:
    whole = Like((batch.size, *target.shape), target.dtype)
    if not target.shape:
        return _spread(input, whole, None, True)
    return _spread(input, whole, dims_behind(dim, len(target.shape)), keepdim)


@composite(method=True)
def sum(input: Tensor, dim: Any = UNSET, keepdim: bool = False, *, dtype: Any = None,
        out: Any = None, axis: Any = UNSET, keepdims: Any = UNSET) -> Any:
    """Sum over ``dim``; over every dimension by default."""
    if dim is UNSET and axis is UNSET:
        if keepdim or dtype is not None or keepdims is not UNSET or out is not None:
            check_whole("sum", keepdim, keepdims, dtype, input, out)
        return _sum(input, dtype)
    dim, keepdim = checked_dims("sum", dim, keepdim, axis, keepdims)
    return _sum_dims(input, dim, keepdim, dtype, out=out)


_MEAN_OUT = Out("mean.dtype_out(): input types can't be cast to the desired output type {out}")


@linear(node="MeanBackward0", quiet=True, out=_MEAN_OUT,
        batches=lambda batch, input, dtype: _mean_dims(flat(input), 1, False, dtype),
        vjp=lambda g, like: _spread(g / math.prod(like.shape), like, None, False))
def _mean(input: Array, dtype: Any = None) -> Any:
    own = input.dtype
    if dtype is None and (own is xp.FLOAT32 or own is xp.FLOAT64) and input.size:
        return reduce_kernels.sum_all(input) / input.size
    check_mean(input, dtype)
    return reduce_kernels.mean(input, None, False, _np(dtype))


def _mean_backward(g: Any, like: Any, dim: Any, keepdim: bool) -> Any:
    return _spread(g / reduce_kernels.count_along(like.shape, dim), like, dim, keepdim)


@linear(node="MeanBackward1", title="mean", vjp=_mean_backward, out=_MEAN_OUT)
def _mean_dims(input: Array, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    if dtype is not None or kind_of(input.dtype) not in "fc":
        check_mean(input, dtype)
    return reduce_kernels.mean(input, dim, keepdim, _np(dtype))


@composite(method=True)
def mean(input: Tensor, dim: Any = UNSET, keepdim: bool = False, *, dtype: Any = None,
         out: Any = None, axis: Any = UNSET, keepdims: Any = UNSET) -> Any:
    """Mean over ``dim``; over every dimension by default."""
    if dim is UNSET and axis is UNSET:
        if keepdim or dtype is not None or keepdims is not UNSET:
            check_whole("mean", keepdim, keepdims, dtype)
        return _mean(input, dtype, out=out)
    dim, keepdim = checked_dims("mean", dim, keepdim, axis, keepdims)
    return _mean_dims(input, dim, keepdim, dtype, out=out)


@op(node="NansumBackward0", out=_IN_ITS_DTYPE, compares=True,
    vjp=lambda g, like, input, dim, keepdim: _spread(g, like, dim, keepdim) * _not_nan(input))
def _nansum(input: Array, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    if kind_of(input.dtype) == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    return reduce_kernels.sum_of_numbers(input, dim, keepdim, _np(dtype))


@elementwise()
def _not_nan(input: Array) -> Any:
    """One for every number, zero for NaN."""
    return reduce_kernels.not_nan(input)


@composite(method=True)
@numpy_names
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
           out: Any = None) -> Any:
    """Sum of what is not NaN."""
    return _nansum(input, dim, keepdim, dtype, out=out)


@composite(method=True)
@numpy_names
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
            out: Any = None) -> Any:
    """Mean of what is not NaN."""
    kind = input.dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError("nanmean(): expected input to have floating point or complex dtype but "
                           f"got {kind.alias}")
    if dtype is not None:
        check_mean(input, dtype, "nanmean")
    count = _sum_dims(_not_nan(input), dim, keepdim, dtypes.int64)
    return div(_nansum(input, dim, keepdim, dtype), count, out=out)


# ---------------------------------------------------------------- others


@op(promote="float", out=Out(
    "logsumexp(): Expected floating point type for result tensor, but got: {out}", castable=True),
    vjp=lambda g, like, input, y, dim, keepdim: _spread(g, like, dim, keepdim) * conj(
        exp(input - _spread(y, like, dim, keepdim))))
def logsumexp(input: Array, dim: Dims, keepdim: bool = False) -> Any:
    """The logarithm of the sum of exponentials over ``dim``, without overflow."""
    return reduce_kernels.log_sum(input, dim, keepdim)


publish(logsumexp, "logsumexp", method=False, function="special")


@linear(batches=lambda batch, input: _sum_dims(diagonal(input, 0, 1, 2), 1) if input.ndim == 3
        else trace(input[0]), vjp=lambda g, like:
        diagonal_backward(expand(g, (_shorter(*like.shape),)), like.shape, 0, 0, 1))
def trace(input: Array) -> Any:
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    unsupported("trace", input.dtype, "b")
    return reduce_kernels.sum_all(input.diagonal())


def _shorter(rows: int, columns: int) -> int:
    return rows if rows < columns else columns
