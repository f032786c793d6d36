"""Whether any or all are true, and how many."""

from __future__ import annotations

from typing import Any

from ...backend import reduce as reduce_kernels
from ...backend import xp
from ...core.op import Array, Dims, composite, op
from ...core.tensor import Tensor
from ..batching import dims_behind, inner_rank, run
from .arguments import numpy_names


@op()
def _any(input: Array, dim: Dims, keepdim: bool) -> Any:
    return reduce_kernels.truth(xp.any, input, dim, keepdim)


@op()
def _all(input: Array, dim: Dims, keepdim: bool) -> Any:
    return reduce_kernels.truth(xp.all, input, dim, keepdim)


@_any.batch
@_all.batch
def _(batch: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    untouched = dim == () or input.ndim == 1
    return run(batch.name, input, () if untouched else dims_behind(dim, inner_rank(input)), keepdim)


@composite(method=True)
@numpy_names
def any(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether some element over ``dim`` is not zero."""
    return _any(input, dim, keepdim, out=out)


@composite(method=True)
@numpy_names
def all(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether every element over ``dim`` is not zero."""
    return _all(input, dim, keepdim, out=out)


@op()
def count_nonzero(input: Array, dim: Dims = None) -> Any:
    """How many elements over ``dim`` are not zero."""
    return reduce_kernels.count_nonzero(input, dim)
