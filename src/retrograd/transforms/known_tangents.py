"""The tensors that dual tensors were made with: whoever takes one apart gets them back."""

from __future__ import annotations

from typing import Any

from ..backend.interface import is_array, library_of
from ..core.graph import INFERENCE
from ..core.tensor import Tensor, edge_of, wrap_any


def note_tangent(dual: Tensor, level: int, tangent: Tensor) -> None:
    """Remember the tensor whose data is the tangent of ``dual``."""
    dual.__dict__["_known_tangent"] = (level, dual._data, _version(dual), tangent)


def _version(tensor: Tensor) -> int:
    return 0 if tensor._counter() is INFERENCE else tensor._version


def known_tangent(dual: Tensor, level: int) -> Tensor | None:
    """The tensor that ``dual`` carries as its tangent, if it still stands for it.

    A write that was not recorded went to its memory too; one that was gave the dual tensor, and so
    its tangent, another history.
    """
    known = dual.__dict__.get("_known_tangent")
    if known is None or known[0] != level or known[1] is not dual._data:
        return None
    return None if dual._edge is not None and _version(dual) != known[2] else known[3]


def laid_out_as(primal: Tensor, tangent: Tensor) -> Tensor:
    """``tangent``, in memory of its own if it is not laid out as ``primal`` is, storage and all.

    Views that are taken of a dual tensor by their strides are taken of its tangent as well.
    """
    p, t = primal._array(), tangent._array()
    if not (is_array(p) and is_array(t)):
        return tangent if primal.stride() == tangent.stride() else _with_edge(t.copy(), tangent)
    if not p.size or _layout(p) == _layout(t):
        return tangent
    library = library_of(p)
    size, strides, offset = _layout(p)
    memory = library.zeros((size,), t.dtype)
    part = library.as_strided(memory, p.shape, strides, offset)
    part[...] = t
    return _with_edge(part, tangent)


def _with_edge(data: Any, tensor: Tensor) -> Tensor:
    out = wrap_any(data)
    out._edge = tensor._edge if edge_of(tensor) is tensor else edge_of(tensor)
    return out


def _layout(array: Any) -> tuple[int, tuple[int, ...], int]:
    """How many elements the storage has, the strides, and where in it the array begins."""
    library = library_of(array)
    storage = library.storage_of(array)
    size = storage.size * storage.dtype.itemsize // array.dtype.itemsize
    return size, library.element_strides(array), library.offset_in(array, storage)
