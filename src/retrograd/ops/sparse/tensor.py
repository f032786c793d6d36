"""Sparse tensors: only elements that may differ from zero are kept, each with its place.

Every op comes to ``__torch_function__``, as with any subclass, so that other calls cost nothing for
it; what the op does with sparse tensors is said in :mod:`.functions`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ...backend import coordinates, xp
from ...backend.coordinates import Coordinates
from ...base import dtypes, layouts
from ...base.modes import switched
from ...core.extensions import SPARSE_TENSORS, TENSOR_CLASS
from ...core.graph import LEAF
from ...core.printing import sparse_repr
from ...core.tensor import Tensor, is_defined_here, wrap, wrap_any
from .parts import SPARSE_OPS, values_of

FUNCTIONS: dict[str, Any] = {}
"""What public functions do with sparse tensors, by name: filled by :mod:`.functions`."""


class SparseTensor(Tensor):
    """A tensor by coordinates, or in compressed rows or columns."""

    _is_traced = True

    @property
    def layout(self) -> Any:
        return getattr(layouts, self._data.layout)

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return bool(self._data.layout == "sparse_coo")

    @property
    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        return bool(self._data.layout == "sparse_csr")

    # ------------------------------------------------------------ its parts

    def is_coalesced(self) -> bool:  # type: ignore[override]
        self._by_coordinates("is_coalesced")
        return bool(self._data.is_coalesced)

    def _nnz(self) -> int:
        return int(self._data.indices.shape[1])

    def sparse_dim(self) -> int:
        return len(self._data.indices)

    def dense_dim(self) -> int:
        return int(self._data.values.ndim - 1)

    def _indices(self) -> Tensor:
        return wrap(self._data.indices)

    def _values(self) -> Tensor:
        return wrap(self._data.values)

    def indices(self) -> Tensor:
        """The places of the elements, a column for each."""
        self._by_coordinates("indices")
        self._be_coalesced("indices")
        return wrap(self._data.indices)

    def values(self) -> Tensor:
        """The values of the elements; gradients go by way of them."""
        if self._data.layout == "sparse_coo":
            self._be_coalesced("values")
        return self._graph_values()

    def _graph_values(self) -> Tensor:
        with switched(override=False):
            return values_of(self)  # type: ignore[no-any-return]

    def crow_indices(self) -> Tensor:
        """Where the elements of each row begin and end."""
        self._be_compressed("crow_indices", "sparse_csr")
        return wrap(coordinates.ends_of(self._data.indices[0], self._data.shape[0]))

    def col_indices(self) -> Tensor:
        """The column of each element."""
        self._be_compressed("col_indices", "sparse_csr")
        return wrap(self._data.indices[1])

    def ccol_indices(self) -> Tensor:
        """Where the elements of each column begin and end."""
        self._be_compressed("ccol_indices", "sparse_csc")
        return wrap(coordinates.ends_of(self._data.indices[1], self._data.shape[1]))

    def row_indices(self) -> Tensor:
        """The row of each element."""
        self._be_compressed("row_indices", "sparse_csc")
        return wrap(self._data.indices[0])

    def _by_coordinates(self, name: str) -> None:
        if self._data.layout != "sparse_coo":
            raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got "
                               f"{_WORDS[self._data.layout]}")

    def _be_coalesced(self, name: str) -> None:
        if not self._data.is_coalesced:
            raise RuntimeError(f"Cannot get {name} on an uncoalesced tensor, please call "
                               ".coalesce() first")

    def _be_compressed(self, name: str, layout: str) -> None:
        if self._data.layout != layout:
            raise RuntimeError(f"{name} expected sparse {_DIRECTION[layout]} compressed tensor "
                               f"layout but got {_WORDS[self._data.layout]}")

    # ------------------------------------------------------------ what strided tensors have

    def _array(self) -> Any:
        return self._data

    def _strides(self) -> tuple[int, ...]:
        raise RuntimeError("Sparse tensors do not have strides" if self.is_sparse else
                           "Sparse CSR tensors do not have strides")

    def _lies_in_rows(self) -> bool:
        return False

    def is_contiguous(self, memory_format: Any = None) -> bool:
        return False

    def data_ptr(self) -> int:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def storage_offset(self) -> int:
        raise RuntimeError("sparse tensors do not have storage")

    untyped_storage = storage = storage_offset  # type: ignore[assignment]

    def detach(self) -> Tensor:
        """The same elements, outside the graph."""
        return wrap_any(self._data)

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError(f"can't convert {_WORDS[self._data.layout]} layout tensor to numpy. Use "
                        "Tensor.to_dense() first.")

    def item(self) -> Any:
        return FUNCTIONS["to_dense"](self).item()

    def tolist(self) -> Any:
        return FUNCTIONS["to_dense"](self).tolist()

    def __len__(self) -> int:
        return int(self.shape[0])

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        names = {"sparse_coo": ("_indices",), "sparse_csr": ("crow_indices", "col_indices"),
                 "sparse_csc": ("ccol_indices", "row_indices")}[self._data.layout]
        parts = {name.strip("_"): (getattr(self, name)()._data, dtypes.int64) for name in names}
        parts["values"] = self._data.values, self.dtype
        more = [f"size={tuple(self.shape)}", f"nnz={self._nnz()}"]
        if self.dtype not in (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool):
            more.append(f"dtype={self.dtype}")
        more.append(f"layout={self.layout}")
        if self._edge is not None:
            more.append("requires_grad=True" if self.grad_fn is None else
                        f"grad_fn=<{self.grad_fn.name()}>")
        return sparse_repr(parts, more, own_line=self.is_sparse)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self._edge is not None and self._edge is not LEAF:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support "
                               "the deepcopy protocol at the moment.")
        if id(self) not in memo:
            copied = wrap_any(self._data.copy()).requires_grad_(self.requires_grad)
            memo[id(self)] = copied
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        data = self._data
        return _rebuilt, (data.indices, data.values, data.shape, data.is_coalesced, data.layout,
                          self.requires_grad)

    # ------------------------------------------------------------ ops

    def __getattribute__(self, name: str) -> Any:
        method = getattr(Tensor, name, None)
        if isinstance(method, FunctionType) and not is_defined_here(method) \
                and getattr(SparseTensor, name) is method:
            return lambda *args, **kwargs: hand_over(method, (self, *args), kwargs)
        return object.__getattribute__(self, name)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return hand_over(func, args, kwargs or {})


_WORDS = {"sparse_coo": "Sparse", "sparse_csr": "SparseCsr", "sparse_csc": "SparseCsc"}
_DIRECTION = {"sparse_csr": "row", "sparse_csc": "column"}


def hand_over(func: Any, args: Any, kwargs: Any) -> Any:
    """A call with sparse tensors among its arguments."""
    from . import functions  # noqa: F401 - which fills the table

    name = getattr(func, "__name__", str(func))
    found = FUNCTIONS.get(name)
    if found is not None:
        return found(*args, **kwargs)
    if getattr(func, "op", None) in SPARSE_OPS or is_defined_here(func):
        with switched(override=False):
            return func(*args, **kwargs)
    layout = next((_WORDS[a._data.layout] for a in args if isinstance(a, SparseTensor)), "Sparse")
    raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the '{layout}CPU' "
                              "backend. to_dense() makes a strided tensor of a sparse one.")


def _rebuilt(indices: Any, values: Any, shape: tuple[int, ...], is_coalesced: bool, layout: str,
             requires_grad: bool) -> Tensor:
    data = Coordinates(xp.asarray(indices), xp.asarray(values), shape, is_coalesced, layout)
    return wrap_any(data).requires_grad_(requires_grad)


def _refuse(self: Any, name: str) -> Any:
    """A function made of ops that looks at the data itself is called as a whole instead."""
    if name.startswith("__"):
        raise AttributeError(name)
    error: Any = NotImplementedError(f"sparse tensors have no {name}")
    error.call_instead = hand_over
    raise error


Coordinates.__getattr__ = _refuse  # type: ignore[attr-defined]
Coordinates.__eq__ = lambda self, other: _refuse(self, "comparison")  # type: ignore[assignment]
SparseTensor.__name__ = SparseTensor.__qualname__ = "Tensor"
TENSOR_CLASS[Coordinates] = SparseTensor
SPARSE_TENSORS.add(SparseTensor)
