"""Reductions and normalizations that leave out elements: the functions of ``torch.masked``.

What a mask leaves out is replaced by the value that changes nothing (zero in a sum, one in a
product, -inf under a maximum), so that the ordinary function gives the result and its derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import retrograd as torch

from .base.errors import canonical_dim
from .base.missing_names import suggest_names as _suggest_names
from .core.signatures import named
from .core.tensor import Tensor

__all__ = ["amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp",
           "logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std",
           "sum", "var"]

Dims = int | Sequence[int] | None


def _lowest(dtype: Any) -> Any:
    """What every element of a dtype is at least: its maximum over nothing."""
    if dtype is torch.bool:
        return False
    return -math.inf if _is_inexact(dtype) else torch.iinfo(dtype).min


def _highest(dtype: Any) -> Any:
    if dtype is torch.bool:
        return True
    return math.inf if _is_inexact(dtype) else torch.iinfo(dtype).max


def _is_inexact(dtype: Any) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def _input_mask(input: Tensor, *args: Any, mask: Tensor | None = None, **kwargs: Any) -> Tensor:
    """The mask in the shape of the input; all true without one."""
    if mask is None:
        return torch.ones(input.shape, dtype=torch.bool)
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher "
                         "than of the input)")
    return mask.to(torch.bool).expand(input.shape)


def _output_mask(op: Callable[..., Tensor], input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Where a function's result comes from elements that the mask leaves."""
    mask = _input_mask(input, mask=kwargs.get("mask"))
    if op.__name__ not in _REDUCTIONS:
        return mask
    dim = kwargs.get("dim", args[_REDUCTIONS[op.__name__]]
                     if len(args) > _REDUCTIONS[op.__name__] else
                     -1 if op.__name__ == "median" else None)
    axes, keepdim = _axes(input, dim), bool(kwargs.get("keepdim", False))
    return torch.any(mask, axes, keepdim) if axes else mask


_REDUCTIONS = dict.fromkeys(("sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "median",
                             "var", "std", "logsumexp"), 0) | {"norm": 1}
"""Functions that reduce dims, and where these stand among the arguments behind the input."""


def _seen(input: Tensor, mask: Tensor | None, instead: Any) -> Tensor:
    """``input`` with ``instead`` where the mask is false."""
    if mask is None:
        return input
    return torch.where(_input_mask(input, mask=mask), input,
                       torch.tensor(instead, dtype=input.dtype))


def _cast(input: Tensor, dtype: Any) -> Tensor:
    return input if dtype is None or dtype is input.dtype else input.to(dtype)


def _summable(input: Tensor, dtype: Any) -> Tensor:
    """``input`` in the dtype of its sums, which are of int64 for integers."""
    return _cast(input, torch.int64 if dtype is None and not _is_inexact(input.dtype) else dtype)


def _axes(input: Tensor, dim: Dims) -> tuple[int, ...]:
    """The dims to reduce, each once; all of them for None."""
    if dim is None:
        return tuple(range(input.ndim))
    found = []
    for d in (dim,) if isinstance(dim, int) else dim:
        axis = canonical_dim(d, input.ndim)
        if axis in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        found.append(axis)
    return tuple(found)


# ---------------------------------------------------------------- reductions


def sum(input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Any = None,
        mask: Tensor | None = None) -> Tensor:
    """The sum of the elements that the mask leaves."""
    input = _summable(input, dtype)
    return torch.sum(_seen(input, mask, 0), _axes(input, dim), keepdim=bool(keepdim))


def prod(input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Any = None,
         mask: Tensor | None = None) -> Tensor:
    """The product of the elements that the mask leaves."""
    found = _seen(_summable(input, dtype), mask, 1)
    for axis in sorted(_axes(input, dim), reverse=True):
        found = torch.prod(found, axis, keepdim=bool(keepdim)) if found.ndim else torch.prod(found)
    return found


def _scan(function: Callable[..., Tensor], instead: int, doc: str) -> Callable[..., Tensor]:
    @named(function.__name__, doc)
    def scanned(input: Tensor, dim: int, *, dtype: Any = None,
                mask: Tensor | None = None) -> Tensor:
        return function(_seen(_summable(input, dtype), mask, instead), _axes(input, dim)[0])

    return scanned


cumsum = _scan(torch.cumsum, 0, "The sums of the elements so far that the mask leaves.")
cumprod = _scan(torch.cumprod, 1, "The products of the elements so far that the mask leaves.")


def _extreme(function: Callable[..., Tensor], instead: Any, doc: str) -> Callable[..., Tensor]:
    @named(function.__name__, doc)
    def found(input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Any = None,
              mask: Tensor | None = None) -> Tensor:
        input = _cast(input, dtype)
        return function(_seen(input, mask, instead(input.dtype)), _axes(input, dim), bool(keepdim))

    return found


amax = _extreme(torch.amax, _lowest, "The largest element that the mask leaves.")
amin = _extreme(torch.amin, _highest, "The smallest element that the mask leaves.")


def _index_of(function: Callable[..., Tensor], instead: Any, doc: str) -> Callable[..., Tensor]:
    @named(function.__name__, doc)
    def found(input: Tensor, dim: int | None = None, *, keepdim: bool | None = False,
              dtype: Any = None, mask: Tensor | None = None) -> Tensor:
        input = _cast(input, dtype)
        place = function(_seen(input, mask, instead(input.dtype)), dim, bool(keepdim))
        return place.to(input.dtype)  # as PyTorch has it

    return found


argmax = _index_of(torch.argmax, _lowest, "The index of the largest element that the mask leaves.")
argmin = _index_of(torch.argmin, _highest,
                   "The index of the smallest element that the mask leaves.")


def _count(input: Tensor, dim: Dims, keepdim: Any, mask: Tensor | None) -> Tensor:
    """How many elements of each slice the mask leaves."""
    ones = torch.ones(input.shape, dtype=torch.int64)
    return sum(ones, dim, keepdim=keepdim, mask=mask)


def mean(input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Any = None,
         mask: Tensor | None = None) -> Tensor:
    """The mean of the elements that the mask leaves."""
    dtype = input.dtype if dtype is None else dtype
    if not _is_inexact(dtype):
        raise ValueError(f"mean expects floating point or complex output dtype, got {dtype}")
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count(input, dim, keepdim, mask)


def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None,
           mask: Tensor | None = None) -> Tensor:
    """The median of the elements that the mask leaves; nan for none."""
    input = _cast(input, dtype)
    if not input.dtype.is_floating_point:
        raise ValueError("input tensor must be floating point")
    axis = _axes(input, dim)[0]
    return torch.nanmedian(_seen(input, mask, math.nan), axis, bool(keepdim)).values


def norm(input: Tensor, ord: float | None = 2.0, dim: Dims = None, *, keepdim: bool | None = False,
         dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The norm of the vectors of elements that the mask leaves."""
    input = _cast(input, dtype)
    order = 2.0 if ord is None else float(ord)
    return torch.linalg.vector_norm(_seen(input, mask, math.inf if order == -math.inf else 0),
                                    order, _axes(input, dim), bool(keepdim))


def _spread(input: Tensor, dim: Dims, unbiased: bool | None, correction: Any, keepdim: Any,
            dtype: Any, mask: Tensor | None, rooted: bool) -> Tensor:
    """The variance, or its root, of the elements that the mask leaves."""
    if unbiased is not None and correction is not None:
        raise RuntimeError("std_var: only one of unbiased and correction can be given"
                           if rooted else "var: only one of unbiased and correction can be given")
    less = correction if correction is not None else 0 if unbiased is False else 1
    if dtype is None and not _is_inexact(input.dtype):
        dtype = torch.float32
    input = _cast(input, dtype)
    count = _count(input, dim, True, mask)
    apart = _seen(input - sum(input, dim, keepdim=True, mask=mask) / count, mask, 0)
    total = torch.sum(apart * apart.conj(), _axes(input, dim), keepdim=bool(keepdim))
    if not keepdim:
        count = count.reshape(total.shape)
    found = total / torch.clamp(count - less, min=0).to(total.dtype)
    return torch.sqrt(found) if rooted else found


def var(input: Tensor, dim: Dims = None, unbiased: bool | None = None, *,
        correction: float | None = None, keepdim: bool | None = False, dtype: Any = None,
        mask: Tensor | None = None) -> Tensor:
    """The variance of the elements that the mask leaves."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask, False)


def std(input: Tensor, dim: Dims = None, unbiased: bool | None = None, *,
        correction: float | None = None, keepdim: bool | None = False, dtype: Any = None,
        mask: Tensor | None = None) -> Tensor:
    """The standard deviation of the elements that the mask leaves."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask, True)


def logsumexp(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
              mask: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of exponentials of the elements that the mask leaves."""
    input = _cast(input, dtype)
    found = torch.logsumexp(_seen(input, mask, _lowest(input.dtype)), _axes(input, dim),
                            bool(keepdim))
    return found.to(input.dtype)


# ---------------------------------------------------------------- in the shape of the input


def _normalization(function: Callable[..., Tensor], instead: float, doc: str,
                   name: str) -> Callable[..., Tensor]:
    @named(name, doc)
    def normalized(input: Tensor, dim: int, *, dtype: Any = None,
                   mask: Tensor | None = None) -> Tensor:
        return function(_seen(_cast(input, dtype), mask, instead), _axes(input, dim)[0])

    return normalized


softmax = _normalization(torch.nn.functional.softmax, -math.inf,
                         "The softmax of the elements that the mask leaves.", "softmax")
log_softmax = _normalization(
    torch.nn.functional.log_softmax, -math.inf,
    "The logarithm of the softmax of the elements that the mask leaves.", "log_softmax")
softmin = _normalization(torch.nn.functional.softmin, math.inf,
                         "The softmin of the elements that the mask leaves.", "softmin")


def normalize(input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None,
              mask: Tensor | None = None) -> Tensor:
    """The elements that the mask leaves, divided by their norm; zero for the others."""
    input = _cast(input, dtype)
    size = norm(input, ord, dim, keepdim=True, mask=mask)
    return _seen(input, mask, 0) / torch.clamp(size, min=eps)


def logaddexp(input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None,
              other_mask: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of two exponentials, each left out where its mask is false."""
    parts = [_seen(_cast(t, dtype), mask, -math.inf)
             for t, mask in ((input, input_mask), (other, other_mask))]
    return torch.logaddexp(*parts)


_suggest_names(__name__)
