"""What a recorded node tells of itself: its name, what it keeps, and the shapes it knows."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..base import dtypes
from ..base.modes import switched
from ..core.extensions import TRACED_TYPES
from ..core.graph import Released, short_name
from ..core.holders import memory_in, named_data
from ..core.op import PUBLIC
from ..core.tensor import Tensor
from ..linalg import vector_norm


class Saved(NamedTuple):
    """A value that a node keeps for backward; ``memory`` tells it from others that live with it.

    A leaf's own memory lives anyway.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    memory: int
    is_leaf: bool


def saved_by(node: Any) -> list[Saved]:
    """The values that a node keeps for backward, as far as they are still there."""
    return [Saved("result" if slot == "out_y" else slot.removeprefix("out_").strip("_"),
                  *form_of(data), int(data.size) * int(data.dtype.itemsize), id(memory_in(data)),
                  is_leaf)
            for slot, data, is_leaf in named_data(node)]


def is_released(node: Any) -> bool:
    """Whether a backward pass has freed what a node kept."""
    layout = getattr(type(node), "layout", None)
    return layout is not None and any(
        isinstance(getattr(node, slot, None), Released) for slot in layout.saved_slots())


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
    if layout is None or layout.op.has_list:
        return
    kept = {each.name: each for each in saved_by(node)}
    if "result" in kept:
        yield numbers[node], kept["result"][1:3]
    fits = dict(zip(layout.fitted, getattr(node, "fits", None) or ()))
    for position, (name, edge) in enumerate(zip(layout.op.arrays, node.edges())):
        if edge not in numbers:
            continue
        like = getattr(node, f"like{position}", None) or fits.get(position)
        if like is not None and like.dtype is not None:
            yield numbers[edge], form_of(like)
        elif name in kept:
            yield numbers[edge], kept[name][1:3]


def form_of(data: Any) -> tuple[tuple[int, ...], str]:
    return tuple(data.shape), dtype_name(data)


def dtype_name(data: Any) -> str:
    return str(dtypes.from_numpy_dtype(data.dtype)).removeprefix("torch.")


_CALLED = {**dict.fromkeys(("batched", "batched_by_one", "batched_pairs", "rows_times_matrix",
                            "rows_times_vector", "vector_times_batch", "vecmat", "scores"),
                           "matmul"),
           "index": "getitem", "packed_clone": "clone", "unsafe_view": "view",
           "masked_softmax": "softmax", "attention": "scaled_dot_product_attention",
           **{name.format(n): public.format(n) for n in (1, 2, 3) for name, public in (
               ("average_pool{}d", "avg_pool{}d"), ("adaptive_max{}d", "adaptive_max_pool{}d"),
               ("adaptive_average{}d", "adaptive_avg_pool{}d"))}}
"""What programs call ops that go by other names here."""


@functools.cache
def _public(title: str) -> str:
    """The public function that an op is a form of: linear for linear_rows."""
    if title.endswith(("_backward", "_gradient", "_grad", "_input", "_weight")):
        return title  # which the backward of a function is made of
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
