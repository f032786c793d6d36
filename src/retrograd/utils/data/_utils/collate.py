"""How a list of samples becomes a batch."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

from ....backend.interface import kind_of
from ....backend.numpy import NUMBERS, ndarray
from ....base import dtypes
from ....core.tensor import Tensor
from ....ops.creation.from_data import as_tensor, tensor
from ....ops.shapes.joining import stack

np_str_obj_array_pattern = re.compile("[SaUO]")
"""The dtypes of arrays that make no tensors, as libraries ask for them."""

CollateMap = dict[type | tuple[type, ...], Callable[..., Any]]


def collate(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Make a batch of samples: by the functions of a registry, containers member by member."""
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for known, function in collate_fn_map.items():
            if isinstance(first, known):
                return function(batch, collate_fn_map=collate_fn_map)

    def collated(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _rebuilt(first, {key: collated([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*map(collated, zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = list(map(collated, zip(*batch)))
        return columns if isinstance(first, tuple) else _rebuilt(first, columns)
    raise _unknown(kind)


def default_collate(batch: Any) -> Any:
    """Stack samples: tensors and numbers into tensors, containers member by member.

    >>> default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data: Any) -> Any:
    """Turn arrays into tensors, inside containers too, and leave the rest as it is."""
    if isinstance(data, (Tensor, str, bytes)):
        return data
    if isinstance(data, ndarray):
        return data if _holds_objects(data) else as_tensor(data)
    if isinstance(data, NUMBERS):
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return list(map(default_convert, data))
    if isinstance(data, Sequence):
        return _rebuilt(data, list(map(default_convert, data)))
    return data


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Stack tensors."""
    return stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Stack arrays, as the registry stacks tensors."""
    if _holds_objects(batch[0]):
        raise _unknown(batch[0].dtype)
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Make a tensor of NumPy's numbers."""
    return as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Make a tensor of floats, of double precision as they are."""
    return tensor(batch, dtype=dtypes.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Make a tensor of ints."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Leave strings as they are."""
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn, ndarray: collate_numpy_array_fn, NUMBERS: collate_numpy_scalar_fn,
    float: collate_float_fn, int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn}
"""What :func:`default_collate` does with samples of each type; more may be entered."""


def _rebuilt(like: Any, content: Any) -> Any:
    """``content`` in a container like ``like``, with whatever else that one has, if it can be."""
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)
            clone.update(content)
            return clone
        if isinstance(like, MutableSequence):
            members: Any = copy.copy(like)
            for place, value in enumerate(content):
                members[place] = value
            return members
        return type(like)(content)
    except TypeError:
        return content


def _holds_objects(array: Any) -> bool:
    return kind_of(array.dtype) in "SaUO"


def _unknown(kind: Any) -> TypeError:
    return TypeError("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
                     f"lists; found {kind}")
