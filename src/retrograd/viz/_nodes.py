"""What a recorded node tells of itself: its name, what it keeps, and the shapes it knows."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..backend.interface import is_data, library_of
from ..base import dtypes
from ..base.modes import switched
from ..core.engine import memory_of
from ..core.extensions import TRACED_TYPES
from ..core.graph import Released, short_name
from ..core.op import PUBLIC
from ..core.tensor import Tensor
from ..linalg import vector_norm


class Saved(NamedTuple):
    """A value that a node keeps for backward."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int


class Kept(NamedTuple):
    """A value that a node holds, and what stands for its memory."""

    name: str
    value: Any
    data: Any
    memory: int
    bytes: int

    def described(self) -> Saved:
        return Saved(self.name, tuple(self.data.shape), dtype_name(self.data), self.bytes)


def saved_by(node: Any) -> list[Kept]:
    """The values that a node keeps for backward, as far as they are arrays and still there."""
    found = []
    for name, value in _slots(node):
        for each in value if isinstance(value, list | tuple) else (value,):
            data = each._data if isinstance(each, Tensor) else each
            if isinstance(each, Released) or not is_data(data) or type(data) in TRACED_TYPES \
                    or (isinstance(each, Tensor) and each._wrapped_number):
                continue
            found.append(Kept(name.removeprefix("out_").replace("y", "result", 1)
                              if name == "out_y" else name.removeprefix("out_"), each, data,
                              id(memory_of(data)) if library_of(data).is_array(data) else id(data),
                              int(data.size) * int(data.dtype.itemsize)))
    return found


def _slots(node: Any) -> Iterator[tuple[str, Any]]:
    layout = getattr(type(node), "layout", None)
    names = layout.saved_slots() if layout is not None else ("_saved",)
    for name in names:
        yield name, getattr(node, name, None)


def is_released(node: Any) -> bool:
    return any(isinstance(value, Released) for _, value in _slots(node))


def is_lean(node: Any) -> bool:
    """Whether an op has its operands' shape, which all of them share."""
    layout = getattr(type(node), "layout", None)
    return layout is not None and layout.op.kind == "elementwise" \
        and getattr(node, "fits", None) is None


def forms_around(node: Any, numbers: dict[Any, int]) -> Iterator[
        tuple[int, tuple[tuple[int, ...], str]]]:
    """The shapes and dtypes that a node knows: its own and those of its inputs, by vertex."""
    layout = getattr(type(node), "layout", None)
    results = getattr(node, "_results", None)
    if results and results[0] is not None:
        yield numbers[node], form_of(results[0])
    if layout is None:
        return
    kept = {each.name: each for each in saved_by(node)}
    if "result" in kept:
        yield numbers[node], form_of(kept["result"].data)
    fits = dict(zip(layout.fitted, getattr(node, "fits", None) or ()))
    for position, (name, edge) in enumerate(zip(layout.op.arrays, node.edges())):
        if edge not in numbers:
            continue
        like = getattr(node, f"like{position}", None) or fits.get(position)
        if like is not None and like.dtype is not None:
            yield numbers[edge], form_of(like)
        elif name in kept:
            yield numbers[edge], form_of(kept[name].data)


def form_of(data: Any) -> tuple[tuple[int, ...], str]:
    return tuple(data.shape), dtype_name(data)


def dtype_name(data: Any) -> str:
    return str(dtypes.from_numpy_dtype(data.dtype)).removeprefix("torch.")


_CALLED = {**dict.fromkeys(("batched", "batched_by_one", "rows_times_matrix", "rows_times_vector",
                            "vector_times_batch", "vecmat"), "matmul"), "index": "getitem"}
"""What programs call ops that go by other names here."""


@functools.cache
def _public(title: str) -> str:
    """The public function that an op is a form of: linear for linear_rows."""
    words = title.split("_")
    for end in range(len(words), 0, -1):
        name = "_".join(words[:end])
        if name and (hasattr(Tensor, name) or any(name in known for known in PUBLIC.values())):
            return name
    return title


def title_of(node: Any) -> str:
    """The name of an op as programs write it; of any other node, its own."""
    layout = getattr(type(node), "layout", None)
    if layout is None:
        return short_name(node).rpartition("::")[2]
    return _CALLED.get(layout.op.title) or _public(layout.op.title)


def norm_of(gradient: Tensor) -> float | None:
    """The Euclidean norm of a gradient; None of what belongs to a transform."""
    if type(gradient._data) in TRACED_TYPES:
        return None
    with switched(grad=False):
        return vector_norm(gradient._off_graph().to(dtypes.complex128 if gradient.is_complex()
                                                    else dtypes.float64)).item()
