"""Sparse tensors transposed, joined and cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import coordinates, xp
from ...base.errors import canonical_dim
from ...core.op import PUBLIC
from ...core.tensor import Tensor, wrap
from .conversion import by_coordinates, coalesce, in_layout
from .creation import build


def transpose(input: Any, dim0: int = 0, dim1: int = 1) -> Any:
    """Two dims exchanged."""
    a, b = (canonical_dim(d, input.ndim) for d in (dim0, dim1))
    order = list(range(input.ndim))
    order[a], order[b] = order[b], order[a]
    if max(a, b) >= input.sparse_dim():
        raise RuntimeError("dense dims of a sparse tensor cannot be exchanged with sparse ones")
    size = [input.shape[d] for d in order]
    data = input._data
    turned = {"sparse_csr": "sparse_csc", "sparse_csc": "sparse_csr"}.get(data.layout,
                                                                          "sparse_coo")
    return build(input._graph_values(), data.indices[order[:input.sparse_dim()]], size,
                 turned == "sparse_csr", turned)


def permuted(input: Any, *dims: Any) -> Any:
    order = [canonical_dim(d, input.ndim) for d in (dims[0] if len(dims) == 1 else dims)]
    count = input.sparse_dim()
    if order[count:] != list(range(count, input.ndim)):
        raise RuntimeError("dense dims of a sparse tensor cannot be exchanged with sparse ones")
    return build(by_coordinates(input)._graph_values(), input._data.indices[order[:count]],
                 [input.shape[d] for d in order], False)


def turned(input: Any) -> Any:
    return transpose(input, 0, 1) if input.ndim == 2 else input


def joined(tensors: Sequence[Any], dim: int = 0, *, out: Any = None) -> Tensor:
    first = tensors[0]
    dim = canonical_dim(dim, first.ndim)
    parts = [by_coordinates(t) for t in tensors]
    places, total = [], 0
    for part in parts:
        shifted = part._data.indices.copy()
        shifted[dim] += total
        total += part.shape[dim]
        places.append(shifted)
    size = [total if d == dim else n for d, n in enumerate(first.shape)]
    values = PUBLIC["torch"]["cat"]([p._graph_values() for p in parts])
    return in_layout(build(values, xp.concatenate(places, axis=1), size, False),
                      first._data.layout)


def selected(input: Any, dim: int, index: Any) -> Tensor:
    """The elements with given indices along a sparse dim."""
    dim = canonical_dim(dim, input.ndim)
    wanted = xp.as_array(index._data).reshape(-1)
    source: Any = coalesce(by_coordinates(input))
    places = source._data.indices
    here, there = coordinates.meeting(places[dim], wanted)
    found = places[:, here].copy()
    found[dim] = there
    size = [len(wanted) if d == dim else n for d, n in enumerate(input.shape)]
    return build(source._graph_values()[wrap(here)], found, size, False)


def item(input: Any, index: Any) -> Tensor:
    """A subscript: integers, of the first dims."""
    for k in index if isinstance(index, tuple) else (index,):
        if not isinstance(k, int):
            raise NotImplementedError("sparse tensors take integers in subscripts")
        if not -input.shape[0] <= k < input.shape[0]:
            raise IndexError(f"index {k} is out of bounds for dimension 0 with size "
                             f"{input.shape[0]}")
        source: Any = by_coordinates(input)
        places = source._data.indices
        (held,) = xp.nonzero(places[0] == k % input.shape[0])
        values = source._graph_values()[wrap(held)]
        if len(places) == 1:
            return values.sum(0)
        input = build(values, places[1:, held], input.shape[1:], False)
    return input  # type: ignore[no-any-return]
