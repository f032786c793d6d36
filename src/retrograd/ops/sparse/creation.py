"""Making sparse tensors of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import coordinates, xp
from ...base import dtypes, layouts
from ...base.modes import switched
from ...core.op import public
from ...core.tensor import Tensor, wrap
from ..creation.from_data import as_tensor, tensor
from ..creation.options import place
from .parts import sparse_of

LAYOUTS = {layouts.sparse_coo: "sparse_coo", layouts.sparse_csr: "sparse_csr",
           layouts.sparse_csc: "sparse_csc"}


def build(values: Tensor, indices: Any, size: Sequence[int], is_coalesced: bool,
          layout: str = "sparse_coo") -> Tensor:
    with switched(override=False):
        return sparse_of(values, wrap(indices), tuple(size), layout,  # type: ignore[no-any-return]
                         is_coalesced)


def _on_cpu(function: str, device: Any) -> None:
    if place(function, device, None):
        raise NotImplementedError(f"{function}: sparse tensors have no meta form")


def finished(made: Tensor, requires_grad: bool) -> Tensor:
    return made.detach().requires_grad_() if requires_grad else made


def _given_values(values: Any, dtype: Any) -> Tensor:
    values = values if isinstance(values, Tensor) else tensor(values)
    return values if dtype is None or values.dtype is dtype else values.to(dtype)


@public("sparse_coo_tensor", method=False)
def sparse_coo_tensor(indices: Any = None, values: Any = None, size: Any = None, *,
                      dtype: Any = None, device: Any = None, requires_grad: bool = False,
                      check_invariants: Any = None, is_coalesced: bool | None = None) -> Tensor:
    """A sparse tensor with ``values`` at ``indices``, a column of them for each value."""
    _on_cpu("sparse_coo_tensor", device)
    if values is None:
        size = indices if size is None else size
        empty = as_tensor(xp.zeros((0,), (dtype or dtypes.get_default_dtype()).np))
        made = build(empty, xp.zeros((len(size), 0), xp.INT64), size, True)
        return finished(made, requires_grad)
    held = _given_values(values, dtype)
    places = _given_indices(indices)
    if held.ndim == 0:
        held = held.reshape(1)
    if size is None:
        size = (*((places.max(axis=1) + 1).tolist() if places.shape[1] else [0] * len(places)),
                *held.shape[1:])
    size = tuple(size)
    _check_places(places, held, size)
    return finished(build(held, places, size, bool(is_coalesced) or places.shape[1] < 2),
                     requires_grad)


def _given_indices(indices: Any) -> Any:
    found = indices if isinstance(indices, Tensor) else tensor(indices)
    if found.numel() and (found.is_floating_point() or found.is_complex()
                          or found.dtype is dtypes.bool):
        raise RuntimeError(f"indices must be whole numbers, not {found.dtype}")
    array = xp.as_array(found.detach()._data)
    if array.ndim != 2:
        raise RuntimeError("indices must be sparse_dim x nnz, but got: "
                           f"{list(array.shape)}")
    return array.astype(xp.INT64)


def _check_places(places: Any, values: Tensor, size: tuple[int, ...]) -> None:
    """Raise unless values and places fit a tensor of this size."""
    sparse, dense = len(places), values.ndim - 1
    if sparse + dense != len(size):
        raise RuntimeError("number of dimensions must be sparse_dim "
                           f"({sparse}) + dense_dim ({dense}), but got {len(size)}")
    if places.shape[1] != values.shape[0]:
        raise RuntimeError("indices and values must have same nnz, but got nnz from indices: "
                           f"{places.shape[1]}, nnz from values: {values.shape[0]}")
    if tuple(values.shape[1:]) != size[sparse:]:
        raise RuntimeError(f"values has incorrect size, expected "
                           f"{[places.shape[1], *size[sparse:]]}, got {list(values.shape)}")
    if not places.shape[1]:
        return
    for dim, (low, high) in enumerate(zip(places.min(axis=1).tolist(), places.max(axis=1).tolist(),
                                          strict=True)):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {dim}")
        if high >= size[dim]:
            raise RuntimeError(f"size is inconsistent with indices: for dim {dim}, size is "
                               f"{size[dim]} but found index {high}")


def _compressed(ends: Any, others: Any, values: Any, size: Any, layout: str, dtype: Any,
                requires_grad: bool) -> Tensor:
    """A matrix whose rows (or columns) lie one after the other."""
    held = _given_values(values, dtype)
    ends = xp.as_array(as_tensor(ends).detach()._data).astype(xp.INT64)
    others = xp.as_array(as_tensor(others).detach()._data).astype(xp.INT64)
    if ends.ndim != 1 or others.ndim != 1:
        raise NotImplementedError("compressed tensors of more than two dims do not exist here")
    if len(others) != held.shape[0]:
        raise RuntimeError("number of dimensions of indices and values must be the same: "
                           f"{len(others)} indices, {held.shape[0]} values")
    steps = ends[1:] - ends[:-1]
    if not len(ends) or ends[0] != 0 or (steps < 0).any() or int(ends[-1]) != len(others):
        raise RuntimeError("compressed indices must begin with 0, not decrease, and end with the "
                           f"number of elements ({len(others)}): {ends.tolist()}")
    mains = coordinates.rows_of(ends)
    if size is None:
        count = int(others.max()) + 1 if len(others) else 0
        size = (len(ends) - 1, count) if layout == "sparse_csr" else (count, len(ends) - 1)
    places = xp.stack([mains, others] if layout == "sparse_csr" else [others, mains])
    _check_places(places, held, tuple(size))
    return finished(build(held, places, size, layout == "sparse_csr", layout), requires_grad)


@public("sparse_csr_tensor", method=False)
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *,
                      dtype: Any = None, device: Any = None, requires_grad: bool = False,
                      check_invariants: Any = None) -> Tensor:
    """A sparse matrix of compressed rows: where each ends, the columns, and the values."""
    _on_cpu("sparse_csr_tensor", device)
    return _compressed(crow_indices, col_indices, values, size, "sparse_csr", dtype, requires_grad)


@public("sparse_csc_tensor", method=False)
def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, *,
                      dtype: Any = None, device: Any = None, requires_grad: bool = False,
                      check_invariants: Any = None) -> Tensor:
    """A sparse matrix of compressed columns: where each ends, the rows, and the values."""
    _on_cpu("sparse_csc_tensor", device)
    return _compressed(ccol_indices, row_indices, values, size, "sparse_csc", dtype, requires_grad)


@public("sparse_compressed_tensor", method=False)
def sparse_compressed_tensor(compressed_indices: Any, plain_indices: Any, values: Any,
                             size: Any = None, *, dtype: Any = None, layout: Any = None,
                             device: Any = None, requires_grad: bool = False,
                             check_invariants: Any = None) -> Tensor:
    """A sparse matrix of compressed rows or columns, as ``layout`` says."""
    _on_cpu("sparse_compressed_tensor", device)
    name = LAYOUTS.get(layout)
    if name not in ("sparse_csr", "sparse_csc"):
        raise RuntimeError("expected sparse compressed tensor layout (torch.sparse_csr or "
                           f"torch.sparse_csc) but got {layout}")
    return _compressed(compressed_indices, plain_indices, values, size, name, dtype, requires_grad)
