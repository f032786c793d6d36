"""Distinct values and counts."""

from __future__ import annotations

from typing import Any

from ...backend import sorting as sorting_kernels, xp
from ...base.errors import CannotBatch, existing_dim
from ...core.op import REGISTRY, Array, Index, composite, op
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..checks.common import no_derivative, no_derivative_of, unsupported
from ..checks.reductions import check_counts, check_slices


@op(outputs=("values", "inverse", "counts"), differentiable=(0,), node="Unique2Backward0",
    title="_unique2", vjp=lambda g: no_derivative_of("_unique2"))
def _unique2(input: Array) -> Any:
    unsupported("unique", input.dtype, "c")
    return sorting_kernels.unique(input)


@op(outputs=("values", "inverse", "counts"), differentiable=(0,), node="UniqueDimBackward0",
    vjp=lambda g: no_derivative_of("unique_dim"))
def _unique_dim(input: Array, dim: int) -> Any:
    axis = existing_dim(dim, input.ndim)
    unsupported("unique_dim", input.dtype, "c")
    check_slices(input.shape, axis)
    return sorting_kernels.unique_slices(input, axis)


@op(outputs=("values", "inverse", "counts"), differentiable=(0,), node="UniqueConsecutiveBackward0",
    vjp=lambda g: no_derivative_of("unique_consecutive"))
def _unique_consecutive(input: Array, dim: Any) -> Any:
    if dim is not None:
        dim = existing_dim(dim, input.ndim)
        check_slices(input.shape, dim)
    return sorting_kernels.unique_runs(input, dim)


def _asked_for(found: Any, return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    if not (return_inverse or return_counts):
        return values
    return (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))


@composite(method=True)
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False,
           return_counts: bool = False, dim: Any = None) -> Any:
    """The distinct elements, or slices along ``dim``, in ascending order."""
    found = _unique2(input) if dim is None else _unique_dim(input, dim)
    return _asked_for(found, return_inverse, return_counts)


@composite(method=True)
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       dim: Any = None) -> Any:
    """The first of every run of equal elements, or of equal slices along ``dim``."""
    return _asked_for(_unique_consecutive(input, dim), return_inverse, return_counts)


@op(title="bincount")
def _counts(input: Index, minlength: int) -> Any:
    check_counts(input, minlength)
    return sorting_kernels.bincount(input, None, minlength)


@op(node="NotImplemented", title="bincount", vjp=lambda g: no_derivative("aten::bincount"))
def _weighted_counts(weights: Array, input: Index, minlength: int) -> Any:
    check_counts(input, minlength)
    if weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    return sorting_kernels.bincount(input, weights, minlength)


@_unique2.batch
@_unique_dim.batch
@_unique_consecutive.batch
@_counts.batch
@_weighted_counts.batch
def _(batch: Any, *values: Any) -> Any:
    raise CannotBatch(f"vmap: the size of what {REGISTRY[batch.name].title} returns depends on the "
                      "values, which differ in a batch.")


@composite(method=True)
def bincount(input: Tensor, weights: Any = None, minlength: int = 0) -> Any:
    """How often each non-negative integer occurs, or the sum of its weights."""
    # Nothing is counted, and PyTorch does not look at the weights.
    if weights is None or (input.ndim == 1 and not input.numel()):
        return _counts(input, minlength)
    real = weights.double() if weights.is_complex() else weights
    return _weighted_counts(real, input, minlength)


@op(out=Out("torch.histogram: input tensor and hist tensor should have the same dtype, but got "
            "input {c_result} and hist {c_out}"))
def histc(input: Array, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """How many elements fall into each of ``bins`` equal intervals between ``min`` and ``max``."""
    unsupported("histogram_cpu", input.dtype, "iubc")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(min), float(max)
    if low == high and input.size:
        low, high = float(input.min()), float(input.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (xp.isfinite(low) and xp.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low >= high:
        raise RuntimeError("torch.histc: max must be larger than min")
    return sorting_kernels.histogram(input, bins, low, high)
