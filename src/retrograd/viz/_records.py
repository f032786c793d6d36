"""What there is to know of a recorded graph, as plain values that can be drawn or written down."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple

from ..autograd import explaining
from ..autograd.explaining import words_of
from ..core.cuts import Cut
from ..core.engine import Schedule
from ..core.tensor import Tensor
from ..nn import Parameter
from ._boxes import Box
from ._modules import Owner, Path, owners
from ._nodes import (
    Saved,
    dtype_name,
    form_of,
    forms_around,
    is_lean,
    is_released,
    norm_of,
    saved_by,
    title_of,
)
from ._recording import CALLED, MEASURED, Called


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
    seconds: float | None = None  # in backward
    forward_seconds: float | None = None
    note: str = ""


class Records(NamedTuple):
    """A graph: vertices in an order in which edges lead forwards, and the boxes they lie in."""

    vertices: list[Vertex]
    edges: list[tuple[int, int]]
    boxes: list[Box]


def collect(roots: dict[Any, Any], names: dict[int, str], modules: Sequence[tuple[str, Any]],
            expected: Iterable[explaining.Parameter], called: dict[int, Called]) -> Records:
    """The graph behind ``roots``: edges as the engine knows them, with the data there, if known.

    ``names`` are those of leaves, by identity; ``expected`` are leaves that are shown even where no
    gradient reaches them, as they are explained; ``called`` are times that a profiler took, by the
    age of nodes.
    """
    schedule = Schedule(list(roots), None)
    nodes = schedule.order[::-1]
    found = _Collected(nodes, owners(nodes, names, modules), called)
    for leaf in schedule.leaves:
        found.add_leaf(leaf, names)
    for node in nodes:
        found.add_node(node)
    for root, data in roots.items():
        vertex = found.vertices[found.numbers[root.node if root.is_output else root]]
        vertex.is_root = True
        if data is not None:
            vertex.shape, vertex.dtype = form_of(data)
    found.spread_shapes()
    for known in expected:
        if not known.is_reached and known.parameter not in found.numbers:
            found.add_unreached(known)
    return Records(found.vertices, found.edges, found.boxes)


class _Collected:
    """A graph on its way to being plain."""

    def __init__(self, nodes: list[Any], owned: list[Owner], called: dict[int, Called]) -> None:
        self.nodes, self.owned, self.called = nodes, dict(zip(nodes, owned)), called
        self.vertices: list[Vertex] = []
        self.edges: list[tuple[int, int]] = []
        self.numbers: dict[Any, int] = {}
        self.boxes = [Box("")]
        self.open: list[tuple[str, int]] = []  # the boxes around the last node, from the outside
        self.memories: set[int] = set()
        self.used: dict[Path, int] = {}
        self.lost: int | None = None  # the box of leaves that no gradient reaches

    def add(self, vertex: Vertex, key: Any = None) -> int:
        self.vertices.append(vertex)
        if key is not None:
            self.numbers[key] = len(self.vertices) - 1
        return len(self.vertices) - 1

    def add_leaf(self, leaf: Tensor, names: dict[int, str]) -> None:
        name = names.get(id(leaf), leaf.name or "")
        grad = leaf._grad
        self.add(Vertex("parameter" if "." in name or isinstance(leaf, Parameter) else "leaf",
                        name.rpartition(".")[2] or "leaf", name or "a leaf without a name",
                        tuple(leaf._data.shape), dtype_name(leaf._data),
                        module=name.rpartition(".")[0],
                        norm=None if grad is None else norm_of(grad)), leaf)

    def add_unreached(self, known: explaining.Parameter) -> None:
        """A leaf without a gradient, in a box with the others, and why it has none."""
        if self.lost is None:
            self.boxes.append(Box("no gradient", "", 0))
            self.lost = len(self.boxes) - 1
        place = next((place for place in known.places if place.line), None)
        self.add(Vertex("unreached", known.name, known.name, tuple(known.parameter.shape),
                        dtype_name(known.parameter._data), self.lost,
                        module=known.name.rpartition(".")[0], note=known.why,
                        place=place and Place(place.file, place.line, place.function,
                                              place.source)))

    def add_node(self, node: Any) -> None:
        box = self._box_of(self.owned[node])
        measured, called = MEASURED.get(node), self.called.get(node.seq) or CALLED.get(node.seq)
        saved = measured.saved if measured is not None else saved_by(node)
        vertex = Vertex("op", title_of(node), node.name(), box=box,
                        module=".".join(self.owned[node].path),
                        place=_place(node.site.code, node.site.line),
                        saved=saved,
                        is_released=measured is None and is_released(node))
        for each in saved:
            if not each.is_leaf and each.memory not in self.memories:
                self.memories.add(each.memory)
                vertex.saved_bytes += each.bytes
        if measured is not None:
            vertex.shape, vertex.dtype = measured.shape, measured.dtype
            vertex.norm = measured.norm
        if called is not None:
            vertex.place = vertex.place or _place(called.code, called.line)
            vertex.seconds, vertex.forward_seconds = called.backward, called.forward
        cuts = [self._cut(cut, box, vertex.module) for cut in node.cuts]
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

    def _cut(self, raw: Any, box: int, module: str) -> int:
        """Where a value lost its history before it was used."""
        cut = Cut(*raw)
        return self.add(Vertex("cut", words_of(cut), "the graph ends here", box=box, module=module,
                               place=_place(cut.code, cut.site.line),
                               note="What is used here was computed from values that require a "
                               f"gradient, but cut off by {words_of(cut)}: no gradient goes "
                               "further."))

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
            for number, form in forms_around(node, numbers):
                if vertices[number].shape is None:
                    vertices[number].shape, vertices[number].dtype = form
        for nodes in (self.nodes, self.nodes[::-1]):
            for node in nodes:
                if not is_lean(node):
                    continue
                around = [numbers[node], *[numbers[e] for e in node.edges() if e in numbers]]
                for known in [vertices[at] for at in around if vertices[at].shape is not None][:1]:
                    for at in around:
                        if vertices[at].shape is None:
                            vertices[at].shape, vertices[at].dtype = known.shape, known.dtype


def _place(code: CodeType | None, line: int) -> Place | None:
    if code is None:
        return None
    text = linecache.getline(code.co_filename, line).strip()
    return Place(code.co_filename, line, code.co_qualname, text)
