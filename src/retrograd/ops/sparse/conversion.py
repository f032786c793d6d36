"""From one layout to another."""

from __future__ import annotations

from typing import Any

from ...backend import coordinates, xp
from ...base import layouts
from ...base.modes import switched
from ...core.op import public
from ...core.tensor import Tensor, wrap
from .creation import LAYOUTS, build
from .parts import dense_of, sums_of, values_at
from .tensor import SparseTensor


@public("to_sparse", function=None)
def to_sparse(self: Tensor, sparse_dim: int | None = None, *, layout: Any = None,
              blocksize: int | None = None, dense_dim: int | None = None) -> Tensor:
    """The elements that are not zero, as a sparse tensor."""
    if layout not in (None, layouts.sparse_coo):
        return in_layout(self, LAYOUTS[layout])
    if isinstance(self, SparseTensor):
        return in_layout(self, "sparse_coo")
    count = self.ndim if sparse_dim is None else sparse_dim
    if not 0 < count <= max(self.ndim, 1):
        raise RuntimeError(f"to_sparse: sparse_dim must be between 1 and {self.ndim}, got {count}")
    places = coordinates.sparse_places(xp.as_array(self.detach()._data), count)
    return build(values_at(self, wrap(places)), places, self.shape, True)


@public("to_sparse_coo", function=None)
def to_sparse_coo(self: Tensor) -> Tensor:
    """The same tensor by coordinates."""
    return to_sparse(self)


@public("to_sparse_csr", function=None)
def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """The same matrix in compressed rows."""
    return in_layout(self, "sparse_csr")


@public("to_sparse_csc", function=None)
def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """The same matrix in compressed columns."""
    return in_layout(self, "sparse_csc")


def in_layout(self: Tensor, layout: str) -> Tensor:
    if isinstance(self, SparseTensor) and self._data.layout == layout:
        return self
    if layout != "sparse_coo" and self.ndim != 2:
        raise RuntimeError(f"to_{layout}: only matrices are compressed, not tensors of {self.ndim} "
                           "dims")
    by_place = coalesce(by_coordinates(self) if isinstance(self, SparseTensor) else
                        to_sparse(self))
    values, places = by_place._graph_values(), by_place._data.indices
    if layout == "sparse_csc":
        order = xp.argsort(places[1], kind="stable")
        values, places = values[wrap(order)], places[:, order]
    return build(values, places, self.shape, layout != "sparse_csc", layout)


def by_coordinates(self: Any) -> Any:
    data = self._data
    return self if data.layout == "sparse_coo" else build(
        self._graph_values(), data.indices, self.shape, False)


@public("to_dense", function=None)
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The same tensor with all its elements; a sparse gradient has those of the sparse tensor."""
    if isinstance(self, SparseTensor):
        with switched(override=False):
            self = dense_of(self._graph_values(), wrap(self._data.indices), tuple(self.shape))
    return self if dtype is None else self.to(dtype)


@public("coalesce", function=None)
def coalesce(self: Tensor) -> Any:
    """Each place once, in order, its values added up."""
    if not isinstance(self, SparseTensor):
        raise RuntimeError("coalesce expected sparse coordinate tensor layout but got Strided")
    self._by_coordinates("coalesce")
    if self._data.is_coalesced:
        return self
    places = coordinates.coalesced(self._data).indices
    with switched(override=False):
        total = sums_of(self._graph_values(), wrap(coordinates.owners(self._data, places)),
                        places.shape[1])
    return build(total, places, self.shape, True)


@public("sparse_dim", function=None)
def sparse_dim(self: Tensor) -> int:
    """How many dimensions the places of a sparse tensor's elements have: none of a dense one."""
    return 0


@public("dense_dim", function=None)
def dense_dim(self: Tensor) -> int:
    """How many dimensions each element of a sparse tensor has: all those of a dense one."""
    return self.ndim


def _declare_part(name: str, kind: str) -> None:
    def refuse(self: Tensor) -> Any:
        raise RuntimeError(f"{name} expected sparse {kind}tensor layout but got Strided")

    refuse.__name__ = name
    refuse.__doc__ = f"``{name}`` of a sparse tensor; a dense one has none."
    public(name, function=None)(refuse)


for _name, _kind in {"indices": "coordinate ", "is_coalesced": "coordinate ", "values": "",
                     "crow_indices": "row compressed ", "col_indices": "row compressed ",
                     "ccol_indices": "column compressed ",
                     "row_indices": "column compressed "}.items():
    _declare_part(_name, _kind)


@public("sparse_mask", function=None)
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of a tensor where a sparse one has its own."""
    if not isinstance(mask, SparseTensor):
        raise RuntimeError("sparse_mask(): the mask must be a sparse tensor")
    source = coalesce(by_coordinates(self)) if isinstance(self, SparseTensor) else self
    with switched(override=False):
        if isinstance(source, SparseTensor):
            source = dense_of(source._graph_values(), wrap(source._data.indices),
                              tuple(self.shape))
        held = values_at(source, wrap(mask._data.indices))
    return like(mask, held)


def like(model: Any, values: Tensor, is_coalesced: bool | None = None) -> Tensor:
    """Other values in the places of a sparse tensor."""
    data = model._data
    size = (*data.shape[:len(data.indices)], *values.shape[1:])
    return build(values, data.indices, size,
                 data.is_coalesced if is_coalesced is None else is_coalesced, data.layout)
