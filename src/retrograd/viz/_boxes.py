"""Boxes within boxes: a layered drawing in which every call of a module is a box of its own.

Each box is laid out by itself, from the innermost outwards, and is one item in the box around it.
An edge that enters or leaves a box does so by a *port* in its first or last row; edges that bring
the same value share their ports and ways. Heights are left open: whoever draws stacks the rows,
with a box that is open as high as its own rows and one that is closed as high as its title.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ._layered import Item, layered, ranked

PADDING, TITLE, HEIGHT = 12.0, 24.0, 36.0
_PORT_GAP, _GAP, _WIDEST_GAP = 4.0, 20.0, 60.0
_FAR = 6
"""A leaf is drawn again for uses that are more than so many rows apart."""


class Part(NamedTuple):
    """Something in a box: a vertex, another box, a port or a bend of a line."""

    kind: str  # "vertex", "box", "in", "out" or "bend"
    ref: int  # the vertex or the box; of a port, the vertex whose value passes
    x: float
    left: float
    right: float


class Line(NamedTuple):
    """A line in a box, by the parts that it passes; ``edges`` are those that it is a piece of."""

    chain: tuple[int, ...]
    source: int
    edges: tuple[int, ...]


@dataclass
class Box:
    """One call of a module, or the whole."""

    name: str
    type: str = ""
    parent: int = -1
    parts: list[Part] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)  # the space above each row but the first
    lines: list[Line] = field(default_factory=list)
    left: float = 0.0  # how far it reaches from its x
    right: float = 0.0
    closed: float = 0.0  # its width when it is closed


class Placed(NamedTuple):
    """A vertex with its box and its width; ``floats`` if it may lie in any box that uses it."""

    box: int
    width: float
    floats: bool = False


def arrange(boxes: list[Box], vertices: Sequence[Placed], edges: Sequence[tuple[int, int]]) -> None:
    """Lay out every box; box 0 is the outermost, and parents come before their children.

    Vertices come in an order in which edges lead forwards, and those of one box follow each other.
    """
    pieces = _pieces(boxes, vertices, edges)
    first = _first_vertices(boxes, vertices)
    for number in reversed(range(len(boxes))):
        _arrange_box(number, boxes, vertices, pieces[number], first)


Key = tuple[str, int]
Pieces = dict[tuple[Key, Key, int], list[int]]


def _pieces(boxes: list[Box], vertices: Sequence[Placed],
            edges: Sequence[tuple[int, int]]) -> list[Pieces]:
    """For each box its lines, (from, to, source), with the edges that each is a piece of."""
    found: list[Pieces] = [{} for _ in boxes]
    ways = [_way(boxes, number) for number in range(len(boxes))]

    def add(box: int, start: Key, end: Key, source: int, edge: int) -> None:
        found[box].setdefault((start, end, source), []).append(edge)

    for edge, (source, target) in enumerate(edges):
        target_way = ways[vertices[target].box]
        source_way = target_way if vertices[source].floats else ways[vertices[source].box]
        shared = sum(1 for a, b in zip(source_way, target_way) if a == b)
        leaving, entering = source_way[shared:], target_way[shared:]
        for box, inner in zip(leaving, [*leaving[1:], -1]):
            start = ("vertex", source) if inner < 0 else ("box", inner)
            add(box, start, ("out", source), source, edge)
        for box, inner in zip(entering, [*entering[1:], -1]):
            end = ("vertex", target) if inner < 0 else ("box", inner)
            add(box, ("in", source), end, source, edge)
        add(source_way[shared - 1],
            ("box", leaving[0]) if leaving else ("vertex", source),
            ("box", entering[0]) if entering else ("vertex", target), source, edge)
    # What nothing is joined to is there all the same: a piece from it to itself.
    alone = [(vertex.box, ("vertex", number)) for number, vertex in enumerate(vertices)
             if not vertex.floats]
    alone += [(box.parent, ("box", number)) for number, box in enumerate(boxes) if number]
    for around, key in alone:
        found[around].setdefault((key, key, key[1]), [])
    return found


def _way(boxes: list[Box], number: int) -> list[int]:
    """The boxes from the outermost to this one."""
    way = [number]
    while boxes[way[-1]].parent >= 0:
        way.append(boxes[way[-1]].parent)
    return way[::-1]


def _first_vertices(boxes: list[Box], vertices: Sequence[Placed]) -> list[int]:
    first = [len(vertices)] * len(boxes)
    for number in reversed(range(len(vertices))):
        if not vertices[number].floats:
            first[vertices[number].box] = number
    for number in reversed(range(1, len(boxes))):
        parent = boxes[number].parent
        first[parent] = min(first[parent], first[number])
    return first


def _arrange_box(number: int, boxes: list[Box], vertices: Sequence[Placed], pieces: Pieces,
                 first: list[int]) -> None:
    keys, lines = _in_order(pieces, vertices, first)
    where = {"in": "first", "out": "last"}
    items = []
    for kind, ref, *_ in keys:
        if kind == "box":
            items.append(Item(boxes[ref].left, boxes[ref].right))
        elif kind == "vertex":
            half = vertices[ref].width / 2
            items.append(Item(half, half, is_light=vertices[ref].floats))
        else:
            items.append(Item(3.0, 3.0, where[kind]))
    drawn = layered(items, [(start, end) for start, end, *_ in lines])
    box = boxes[number]
    for at, x in enumerate(drawn.x):
        if at < len(items):
            box.parts.append(Part(keys[at][0], keys[at][1], x, items[at].left, items[at].right))
        else:
            box.parts.append(Part("bend", -1, x, 0.0, 0.0))
    box.rows = drawn.rows
    box.lines = [Line(tuple(chain), source, tuple(edges))
                 for chain, (_, _, source, edges) in zip(drawn.chains, lines)]
    box.gaps = _gaps(box)
    _measure(box)


def _gaps(box: Box) -> list[float]:
    """More space where lines go far to the side, and little between ports and what is straight."""
    row_of = {part: number for number, row in enumerate(box.rows) for part in row}
    far = [0.0] * len(box.rows)
    for line in box.lines:
        for a, b in zip(line.chain, line.chain[1:]):
            far[row_of[b]] = max(far[row_of[b]], abs(box.parts[a].x - box.parts[b].x))
    ports = [all([box.parts[part].kind in ("in", "out", "bend") for part in row])
             for row in box.rows]
    return [min((_PORT_GAP if above or below else _GAP) + aside / 8, _WIDEST_GAP)
            for above, below, aside in zip(ports, ports[1:], far[1:])]


def _in_order(pieces: Pieces, vertices: Sequence[Placed], first: list[int]) -> tuple[
        list[tuple[Any, ...]], list[tuple[int, int, int, list[int]]]]:
    """The parts of a box, so that lines lead forwards, and its lines between their numbers.

    A leaf whose uses lie far apart becomes several parts.
    """
    def age(key: tuple[Any, ...]) -> float:
        if key[0] in ("in", "out"):
            return -1.0 if key[0] == "in" else float("inf")
        return first[key[1]] if key[0] == "box" else key[1]

    def floats(key: Key) -> bool:
        return key[0] == "vertex" and vertices[key[1]].floats

    fixed = sorted({key for start, end, _ in pieces for key in (start, end) if not floats(key)},
                   key=age)
    numbers: dict[tuple[Any, ...], int] = {key: number for number, key in enumerate(fixed)}
    rows = ranked([Item(0, 0, "first" if key[0] == "in" else "") for key in fixed],
                  [(numbers[start], numbers[end]) for start, end, _ in pieces
                   if start != end and not floats(start)])
    joined: list[tuple[tuple[Any, ...], Key, int, list[int]]] = []
    floating: dict[tuple[Any, ...], float] = {}
    last: dict[Key, tuple[Any, ...]] = {}
    for (start, end, source), edges in sorted(
            pieces.items(), key=lambda piece: rows[numbers[piece[0][1]]]):
        if start == end:
            continue
        key: tuple[Any, ...] = start
        if floats(start):
            row = rows[numbers[end]]
            if start not in last or row - last[start][2] > _FAR:
                last[start] = (*start, row)
            key = last[start]
            floating[key] = min(floating.get(key, float("inf")), age(end) - 0.5)
        joined.append((key, end, source, edges))
    everything = sorted([(age(known), known) for known in fixed]
                        + [(at, known) for known, at in floating.items()],
                        key=lambda pair: pair[0])
    numbers = {known: number for number, (_, known) in enumerate(everything)}
    lines = [(numbers[start], numbers[end], source, edges) for start, end, source, edges in joined]
    return [known for _, known in everything], sorted(lines)


def _measure(box: Box) -> None:
    """Set how far a box reaches around its x, which is that of its ports."""
    reach = [(part.x - part.left, part.x + part.right) for part in box.parts] or [(0.0, 0.0)]
    ports = [part.x for part in box.parts if part.kind in ("in", "out")]
    low, high = min(a for a, _ in reach) - PADDING, max(b for _, b in reach) + PADDING
    missing = max(0.0, box.closed - (high - low))
    low, high = low - missing / 2, high + missing / 2
    middle = sum(ports) / len(ports) if ports else (low + high) / 2
    # A closed box lies around the same x.
    box.left = max(middle - low, box.closed / 2)
    box.right = max(high - middle, box.closed / 2)
    box.parts = [part._replace(x=part.x - middle) for part in box.parts]
