"""Whether any or all are true, and how many."""

from __future__ import annotations

from typing import Any

from ...backend import reduce as reduce_kernels, xp
from ...base import dtypes
from ...core.op import Array, Dims, composite, op
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import dims_behind, inner_rank, run
from .arguments import numpy_names


def _of_each(batch: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    untouched = dim == () or input.ndim == 1
    return run(batch.name, input, () if untouched else dims_behind(dim, inner_rank(input)), keepdim)


def _declare_truth(name: str, which: str, find: Any) -> tuple[Any, Any]:
    @op(name=f"_{name}", batches=_of_each, out=Out(
        f"{name} only supports bool tensor for result, got: {{out}}", also=(dtypes.uint8,)))
    def found(input: Array, dim: Dims, keepdim: bool) -> Any:
        return reduce_kernels.truth(find, input, dim, keepdim)

    @composite(method=True, name=name, doc=f"Whether {which} element over ``dim`` is not zero.")
    @numpy_names
    def truth(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
        return found(input, dim, keepdim, out=out)

    return found, truth


_any, any = _declare_truth("any", "some", xp.any)
_all, all = _declare_truth("all", "every", xp.all)


@op()
def count_nonzero(input: Array, dim: Dims = None) -> Any:
    """How many elements over ``dim`` are not zero."""
    return reduce_kernels.count_nonzero(input, dim)
