"""Slices reduced into the places that an index names."""

from __future__ import annotations

from typing import Any

from ...base.errors import canonical_dim
from ...core.extensions import TRACED_TYPES
from ...core.op import composite, public
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..checks import indexing as checks
from ..shapes.reshaping import reshape
from .gather_scatter import scatter_reduce

_WAYS = ("prod", "mean", "amax", "amin")


def _places(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str,
            include_self: bool) -> Any:
    """The checked dim, and the index for each element of the slices."""
    axis = canonical_dim(dim, input.ndim)
    if reduce not in _WAYS:
        raise RuntimeError("index_reduce(): Expected reduce to be one of prod, mean, amax or amin "
                           f"but got {reduce}.")
    checks.check_combined("index_reduce_", input._data, index._data, source._data)
    count = source.shape[axis] if source.ndim else source.numel()
    if index.numel() != count:
        raise RuntimeError(f"index_reduce_(): Number of indices ({index.numel()}) should be equal "
                           f"to source.size(dim): ({count}), for dim: {axis}")
    checks.check_slices(input._data, axis, source._data)
    checks.check_reduced(input._data, reduce, include_self)
    if type(index._data) not in TRACED_TYPES:
        _check_range(index, axis, input.shape[axis] if input.ndim else 1, include_self)
    shape = tuple([-1 if d == axis else 1 for d in range(source.ndim)])
    return axis, reshape(index.long(), shape).expand(source.shape)


def _check_range(index: Tensor, axis: int, length: int, include_self: bool) -> None:
    outside = index[(index < 0) | (index >= length)]
    if outside.numel():
        raise IndexError("index out of range in self" if include_self else
                         f"index {outside[0].item()} is out of bounds for dimension {axis} with "
                         f"size {length}")


@composite(method=True, out=Out())
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                 include_self: bool = True) -> Tensor:
    """``input`` with the slices of ``source`` reduced into it where ``index`` says."""
    axis, places = _places(input, dim, index, source, reduce, include_self)
    return scatter_reduce(  # type: ignore[no-any-return]
        input, axis, places, source, reduce, include_self=include_self)


@public("index_reduce_", function=None)
def index_reduce_(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                  include_self: bool = True) -> Tensor:
    """In-place version of :func:`index_reduce`."""
    axis, places = _places(input, dim, index, source, reduce, include_self)
    return input.scatter_reduce_(axis, places, source, reduce, include_self=include_self)
