"""How a list of samples becomes a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...base import dtypes
from ...core.tensor import Tensor
from ...ops.creation.from_data import as_tensor, tensor
from ...ops.shapes.joining import stack


def default_collate(batch: Any) -> Any:
    """Stack samples: tensors and numbers into tensors, containers member by member.

    >>> default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if _is_array(first):
        if getattr(first, "shape", None) == ():
            return as_tensor(list(batch))
        return default_collate([as_tensor(array) for array in batch])
    if isinstance(first, float):
        return tensor(batch, dtype=dtypes.float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        collated = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return _rebuilt(first, collated)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(column) for column in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch)]
        return columns if isinstance(first, tuple) else _rebuilt(first, columns)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}")


def default_convert(data: Any) -> Any:
    """Turn arrays into tensors, inside containers too, and leave the rest as it is."""
    if isinstance(data, (Tensor, str, bytes)):
        return data
    if _is_array(data):
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence):
        return _rebuilt(data, [default_convert(value) for value in data])
    return data


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") and hasattr(value, "dtype")


def _rebuilt(like: Any, content: Any) -> Any:
    """Return ``content`` in a container of the type of ``like``, where that can be built."""
    try:
        return type(like)(content)
    except TypeError:
        return content
