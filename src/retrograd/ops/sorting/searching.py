"""Searching in sorted sequences and sets."""

from __future__ import annotations

from typing import Any

from ...backend import sort as arrays
from ...backend import xp
from ...base import dtypes
from ...core.op import Array, Index, composite, op
from ...core.tensor import Tensor, wrap


def _sorted_by(boundaries: Any, sorter: Any) -> Any:
    if sorter is None:
        return boundaries
    if sorter.size and (sorter.min() < 0 or sorter.max() >= boundaries.shape[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
    return xp.take_along_axis(boundaries, sorter, -1)


def _check_search(boundaries: Any, values: Any, sorter: Any) -> None:
    if sorter is not None and sorter.shape != boundaries.shape:
        raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size, "
                           f"but got boundary tensor {list(boundaries.shape)}and got sorter "
                           f"tensor {list(sorter.shape)}")
    if sorter is not None and sorter.dtype != xp.INT64:
        raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but got "
                           f"dtype {dtypes.from_numpy_dtype(sorter.dtype).alias}")
    if not values.ndim and boundaries.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({boundaries.ndim}) and input "
            "value's dim(0) numel(1)")
    if not boundaries.ndim:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive "
                           "dimension, but got 0 dimension")
    if boundaries.ndim > 1 and boundaries.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(boundaries.shape)} and input value tensor "
            f"{list(values.shape)}")


@op(function=None, method=False)
def _searchsorted(sorted_sequence: Array, input: Index, out_int32: bool, right: bool,
                  sorter: Index | None) -> Any:
    _check_search(sorted_sequence, input, sorter)
    return arrays.insertion_points(_sorted_by(sorted_sequence, sorter), input, right,
                                   xp.int32 if out_int32 else xp.INT64)


def _as_values(value: Any) -> Any:
    return value if isinstance(value, Tensor) else wrap(xp.asarray(value))


@composite()
def searchsorted(sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Any = None, out: Any = None) -> Any:
    """Where each value of ``input`` would be inserted to keep the last dimension sorted."""
    if side not in (None, "left", "right"):
        raise RuntimeError("torch.searchsorted(): side can only be 'left' or 'right' but got "
                           f"{side}")
    if side == "left" and right:
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got "
                           "side of left while right was True")
    return _searchsorted(sorted_sequence, _as_values(input), out_int32, right or side == "right",
                         sorter, out=out)


@composite()
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False,
              out: Any = None) -> Any:
    """The index of the bucket between ``boundaries`` that each value falls into."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _searchsorted(boundaries, _as_values(input), out_int32, right, None, out=out)


@op(function=None, method=False)
def _isin(elements: Array, test_elements: Index, invert: bool) -> Any:
    return xp.isin(arrays.comparable(elements), arrays.comparable(test_elements), invert=invert)


@composite()
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False,
         invert: bool = False) -> Any:
    """Whether each element is among ``test_elements``."""
    return _isin(_as_values(elements), _as_values(test_elements), invert)
