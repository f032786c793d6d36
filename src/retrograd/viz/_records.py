"""What there is to know of a recorded graph, as plain values that can be drawn or written down."""

from __future__ import annotations

import functools
import linecache
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..backend.interface import is_data, library_of
from ..base import dtypes
from ..base.call_sites import Site
from ..base.modes import switched
from ..core.engine import Schedule, memory_of
from ..core.extensions import TRACED_TYPES
from ..core.graph import Released, short_name
from ..core.op import PUBLIC
from ..core.tensor import Tensor
from ..linalg import vector_norm
from ._boxes import Box
from ._modules import Owner, Path, owners


class Saved(NamedTuple):
    """A value that a node keeps for backward."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int


class Place(NamedTuple):
    """A line of a program."""

    file: str
    line: int
    function: str
    text: str


@dataclass
class Vertex:
    """A node of the graph, a leaf, or the place where a gradient ended."""

    kind: str  # "op", "parameter", "leaf", "cut" or "unreached"
    title: str
    name: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    box: int = 0
    module: str = ""
    is_root: bool = False
    saved: list[Saved] = field(default_factory=list)
    saved_bytes: int = 0
    is_released: bool = False
    place: Place | None = None
    norm: float | None = None
    seconds: float | None = None
    note: str = ""


class Measured:
    """What a backward pass showed of a node."""

    __slots__ = ("shape", "dtype", "norm", "seconds", "saved")

    def __init__(self, node: Any) -> None:
        self.shape: tuple[int, ...] | None = None
        self.dtype = ""
        self.norm: float | None = None
        self.seconds: float | None = None
        self.saved = saved_by(node)


MEASURED: weakref.WeakKeyDictionary[Any, Measured] = weakref.WeakKeyDictionary()
"""The nodes whose backward was watched."""


class Records(NamedTuple):
    """A graph: vertices in an order in which edges lead forwards, and the boxes they lie in."""

    vertices: list[Vertex]
    edges: list[tuple[int, int]]
    boxes: list[Box]


def collect(roots: dict[Any, Any], names: dict[int, str], modules: Sequence[tuple[str, Any]],
            expected: dict[str, Tensor]) -> Records:
    """The graph behind ``roots``: edges as the engine knows them, with the data there, if known.

    ``names`` are those of leaves, by identity; ``expected`` are leaves that are shown even where no
    gradient reaches them.
    """
    schedule = Schedule(list(roots), None)
    nodes = schedule.order[::-1]
    found = _Collected(nodes, owners(nodes, names, modules))
    for leaf in schedule.leaves:
        found.add_leaf(leaf, names)
    for node in nodes:
        found.add_node(node)
    for root, data in roots.items():
        vertex = found.vertices[found.numbers[root.node if root.is_output else root]]
        vertex.is_root = True
        if data is not None:
            vertex.shape, vertex.dtype = _form(data)
    found.spread_shapes()
    reached = {id(leaf) for leaf in schedule.leaves}
    for name, leaf in expected.items():
        if id(leaf) not in reached:
            found.add_unreached(name, leaf)
    return Records(found.vertices, found.edges, found.boxes)


class _Collected:
    """A graph on its way to being plain."""

    def __init__(self, nodes: list[Any], owned: list[Owner]) -> None:
        self.nodes, self.owned = nodes, dict(zip(nodes, owned))
        self.vertices: list[Vertex] = []
        self.edges: list[tuple[int, int]] = []
        self.numbers: dict[Any, int] = {}
        self.boxes = [Box("")]
        self.open: list[tuple[str, int]] = []  # the boxes around the last node, from the outside
        self.memories: set[int] = set()
        self.used: dict[Path, int] = {}

    def add(self, vertex: Vertex, key: Any = None) -> int:
        self.vertices.append(vertex)
        if key is not None:
            self.numbers[key] = len(self.vertices) - 1
        return len(self.vertices) - 1

    def add_leaf(self, leaf: Tensor, names: dict[int, str]) -> None:
        name = names.get(id(leaf), leaf.name or "")
        grad = leaf._grad
        self.add(Vertex("parameter" if "." in name or _is_parameter(leaf) else "leaf",
                        name.rpartition(".")[2] or "leaf", name or "a leaf without a name",
                        tuple(leaf._data.shape), _dtype_name(leaf._data),
                        module=name.rpartition(".")[0],
                        norm=None if grad is None else norm_of(grad)), leaf)

    def add_unreached(self, name: str, leaf: Tensor) -> None:
        self.add(Vertex("unreached", name.rpartition(".")[2], name, tuple(leaf._data.shape),
                        _dtype_name(leaf._data), module=name.rpartition(".")[0],
                        note="No gradient reaches it." if leaf.requires_grad
                        else "It does not require a gradient."))

    def add_node(self, node: Any) -> None:
        box = self._box_of(self.owned[node])
        measured = MEASURED.get(node)
        saved = measured.saved if measured is not None else saved_by(node)
        vertex = Vertex("op", _title(node), node.name(), box=box,
                        module=".".join(self.owned[node].path), place=_place(node.site),
                        saved=[each.described() for each in saved],
                        is_released=measured is None and _is_released(node))
        for each in saved:
            if each.memory not in self.memories:
                self.memories.add(each.memory)
                vertex.saved_bytes += each.bytes
        if measured is not None:
            vertex.shape, vertex.dtype = measured.shape, measured.dtype
            vertex.norm, vertex.seconds = measured.norm, measured.seconds
        cuts = [self._cut(each.value, box) for each in saved
                if isinstance(each.value, Tensor) and each.value._edge is None
                and each.value._cut is not None]
        number = self.add(vertex, node)
        for edge in node.edges():
            source = None if edge is None or edge.leads_nowhere else self.numbers.get(
                edge.node if edge.is_output else edge)
            if source is not None:
                self.edges.append((source, number))
            elif edge is not None:
                vertex.note = "One of its inputs is a view that was taken where nothing is " \
                    "recorded: its gradient is lost."
        self.edges += [(cut, number) for cut in cuts]

    def _cut(self, tensor: Tensor, box: int) -> int:
        return self.add(Vertex("cut", "cut", "the graph ends here", tuple(tensor._data.shape),
                               _dtype_name(tensor._data), box,
                               module=self.boxes[box].name, place=_place(tensor._cut),
                               note="This value was computed from others that require a "
                               "gradient, but the line named here cut it off: no gradient "
                               "goes further."))

    def _box_of(self, owner: Owner) -> int:
        """The box of a node that follows those before it: a box that was left is not used again."""
        shared = 0
        while shared < min(len(self.open), len(owner.path)) and \
                self.open[shared][0] == owner.path[shared]:
            shared += 1
        del self.open[shared:]
        for depth in range(shared, len(owner.path)):
            path = owner.path[:depth + 1]
            times = self.used[path] = self.used.get(path, 0) + 1
            name = path[-1] if times == 1 else f"{path[-1]} (part {times})"
            parent = self.open[-1][1] if self.open else 0
            self.boxes.append(Box(name, owner.types[depth], parent))
            self.open.append((path[-1], len(self.boxes) - 1))
        return self.open[-1][1] if self.open else 0

    def spread_shapes(self) -> None:
        """Find shapes that nodes do not keep themselves by those of their neighbours."""
        vertices, numbers = self.vertices, self.numbers
        for node in reversed(self.nodes):
            for number, form in _forms_around(node, numbers):
                if vertices[number].shape is None:
                    vertices[number].shape, vertices[number].dtype = form
        for nodes in (self.nodes, self.nodes[::-1]):
            for node in nodes:
                if not _is_lean(node):
                    continue
                around = [numbers[node], *[numbers[e] for e in node.edges() if e in numbers]]
                for known in [vertices[at] for at in around if vertices[at].shape is not None][:1]:
                    for at in around:
                        if vertices[at].shape is None:
                            vertices[at].shape, vertices[at].dtype = known.shape, known.dtype


# ---------------------------------------------------------------- what a node tells


class Kept(NamedTuple):
    """A value that a node holds, and what stands for its memory."""

    name: str
    value: Any
    data: Any
    memory: int
    bytes: int

    def described(self) -> Saved:
        return Saved(self.name, tuple(self.data.shape), _dtype_name(self.data), self.bytes)


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


def _is_released(node: Any) -> bool:
    return any(isinstance(value, Released) for _, value in _slots(node))


def _is_lean(node: Any) -> bool:
    """Whether an op has its operands' shape, which all of them share."""
    layout = getattr(type(node), "layout", None)
    return layout is not None and layout.op.kind == "elementwise" \
        and getattr(node, "fits", None) is None


def _forms_around(node: Any, numbers: dict[Any, int]) -> Iterator[
        tuple[int, tuple[tuple[int, ...], str]]]:
    """The shapes and dtypes that a node knows: its own and those of its inputs, by vertex."""
    layout = getattr(type(node), "layout", None)
    results = getattr(node, "_results", None)
    if results and results[0] is not None:
        yield numbers[node], _form(results[0])
    if layout is None:
        return
    kept = {each.name: each for each in saved_by(node)}
    if "result" in kept:
        yield numbers[node], _form(kept["result"].data)
    fits = dict(zip(layout.fitted, getattr(node, "fits", None) or ()))
    for position, (name, edge) in enumerate(zip(layout.op.arrays, node.edges())):
        if edge not in numbers:
            continue
        like = getattr(node, f"like{position}", None) or fits.get(position)
        if like is not None and like.dtype is not None:
            yield numbers[edge], _form(like)
        elif name in kept:
            yield numbers[edge], _form(kept[name].data)


def _form(data: Any) -> tuple[tuple[int, ...], str]:
    return tuple(data.shape), _dtype_name(data)


def _dtype_name(data: Any) -> str:
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


def _title(node: Any) -> str:
    """The name of an op as programs write it; of any other node, its own."""
    layout = getattr(type(node), "layout", None)
    if layout is None:
        return short_name(node).rpartition("::")[2]
    return _CALLED.get(layout.op.title) or _public(layout.op.title)


def _place(site: Site | None) -> Place | None:
    if site is None or site.code is None:
        return None
    file, line = site.code.co_filename, site.line
    return Place(file, line, site.code.co_qualname, linecache.getline(file, line).strip())


def _is_parameter(leaf: Tensor) -> bool:
    from ..nn import Parameter

    return isinstance(leaf, Parameter)


def norm_of(gradient: Tensor) -> float | None:
    """The Euclidean norm of a gradient; None of what belongs to a transform."""
    if type(gradient._data) in TRACED_TYPES:
        return None
    with switched(grad=False):
        return vector_norm(gradient._off_graph().to(dtypes.complex128 if gradient.is_complex()
                                                    else dtypes.float64)).item()
