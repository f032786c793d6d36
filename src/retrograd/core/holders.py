"""What nodes keep in memory for a backward pass: which arrays, how many bytes, since which line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from ..backend.interface import is_array, library_of
from ..base.tables import plain_table, size
from .extensions import TRACED_TYPES
from .graph import LEAF, Node, short_name
from .tensor import Tensor

_NOT_SAVED = {"seq", "next0", "next1", "rest", "_notes", "code", "lasti", "_arity", "inputs",
              "to_save", "dirty_tensors", "non_differentiable", "__weakref__", "__dict__"}
_MOST_HOLDERS = 10


def saved_data(node: Any) -> Iterator[tuple[Any, bool]]:
    """The raw data of everything that a node has saved, and whether it is a leaf's own."""
    for _, data, is_leaf in named_data(node):
        yield data, is_leaf


def named_data(node: Any) -> Iterator[tuple[str, Any, bool]]:
    """The same with the name under which the node keeps it."""
    for cls in type(node).__mro__[:-1]:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in _NOT_SAVED:
                for data, is_leaf in _data_in(getattr(node, slot, None)):
                    yield slot, data, is_leaf
    for data, is_leaf in _data_in(list(getattr(node, "__dict__", {}).values())):
        yield "", data, is_leaf


def _data_in(value: Any) -> Iterator[tuple[Any, bool]]:
    if isinstance(value, Tensor):
        if not value._wrapped_number:  # a number of the program, which needs no memory
            for data, _ in _data_in(value._data):
                yield data, value._edge is LEAF
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _data_in(part)
    elif type(value) in TRACED_TYPES:  # its own arrays, whatever the transform calls them
        for slot in type(value).__slots__:
            yield from _data_in(getattr(value, slot, None))
    elif isinstance(value, Node):  # of a write to a part
        yield from saved_data(value)
    elif hasattr(value, "unpack_hook"):
        yield from _data_of_hooks(value.value)
    elif hasattr(value, "unpack"):  # in the keeping of a custom function
        for name in ("tensor", "data", "packed"):
            yield from _data_in(getattr(value, name, None))
    elif is_array(value) or (hasattr(value, "nbytes") and hasattr(value, "dtype")):
        yield value, False


def _data_of_hooks(value: Any) -> Iterator[tuple[Any, bool]]:
    """What a hook made of a saved tensor: an object of any kind, which may hold others."""
    if isinstance(value, (bytes, bytearray)):
        yield value, False
    elif isinstance(value, dict):
        yield from _data_of_hooks(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _data_of_hooks(part)
    elif isinstance(value, Tensor) or hasattr(value, "unpack") or is_array(value):
        yield from _data_in(value)
    elif hasattr(value, "held_tensors"):  # it knows
        yield from _data_in(value.held_tensors())
    elif not isinstance(value, (type, FunctionType)):
        yield from _data_in([part for part in getattr(value, "__dict__", {}).values()
                             if isinstance(part, Tensor) or is_array(part)])


def memory_in(data: Any) -> Any:
    """What stands for the memory of raw data: its storage, or a NumPy scalar itself."""
    if not is_array(data):
        return data
    library = library_of(data)
    return data if library.owns_memory(data) else library.storage_of(data)


def bytes_in(memory: Any) -> int:
    """How much it is."""
    return int(memory.nbytes) if hasattr(memory, "nbytes") else len(memory)


def nodes_behind(edges: Iterable[Any]) -> list[Any]:
    """All nodes that can be reached from edges."""
    found = [edge for edge in edges if edge is not None]
    seen = set(found)
    for edge in found:
        if isinstance(edge, Tensor):
            continue
        for further in (edge.node,) if edge.is_output else edge.edges():
            if further is not None and further not in seen:
                seen.add(further)
                found.append(further)
    return [edge for edge in found if isinstance(edge, Node)]


def note_holders(error: MemoryError, nodes: Iterable[Any]) -> None:
    """Add to the error of memory that is used up which lines keep most of it for backward."""
    seen: set[int] = set()
    rows = []
    for node in nodes:
        held = 0
        for data, is_leaf in saved_data(node):
            memory = memory_in(data)
            if not is_leaf and id(memory) not in seen:
                seen.add(id(memory))
                held += bytes_in(memory)
        if held:
            rows.append((held, short_name(node), node.site))
    rows.sort(key=lambda row: -row[0])
    if rows:
        add_holders(error, sum(row[0] for row in rows), rows[:_MOST_HOLDERS])


def add_holders(error: BaseException, total: int, rows: Iterable[tuple[int, str, Any]]) -> None:
    """Add a table of bytes, ops and lines to an error."""
    cells = [(size(held), op, str(site)) for held, op, site in rows]
    table = plain_table(("bytes", "op", "line"), cells, right=(0,))
    error.add_note(f"{size(total)} are kept for backward; the largest holders:\n{table}")
