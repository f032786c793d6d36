"""A graph as SVG."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from ._boxes import HEIGHT, PADDING, TITLE, Box, Line
from ._palette import COLORS, SANS
from ._records import Records

CLOSED = 42.0
_MARGIN = 12.0


class Spot(NamedTuple):
    """Where something is drawn: the x of its middle (of a box: of its ports), top and bottom."""

    x: float
    top: float
    bottom: float


class Stacked:
    """Every box and part of a drawing in its place; boxes in ``closed`` show only their title."""

    def __init__(self, boxes: list[Box], closed: Collection[int] = ()) -> None:
        self.boxes, self.closed = boxes, closed
        self.heights = [0.0] * len(boxes)
        self.row_heights: list[list[float]] = [[] for _ in boxes]
        for number in reversed(range(len(boxes))):
            self._measure(number)
        self.spots: dict[int, Spot] = {}
        self.parts: dict[tuple[int, int], Spot] = {}
        self.bands: dict[int, dict[int, Spot]] = {}  # the row of each part of an open box
        self.ports = [{(part.kind, part.ref): part.x for part in box.parts
                       if part.kind in ("in", "out")} for box in boxes]
        if boxes:
            self._place(0, 0.0, 0.0)

    def _measure(self, number: int) -> None:
        box = self.boxes[number]
        self.row_heights[number] = [max([self._height(number, part) for part in row])
                                    for row in box.rows]
        if number in self.closed:
            self.heights[number] = CLOSED
        else:
            above = TITLE if number else PADDING
            self.heights[number] = above + sum(self.row_heights[number]) + sum(box.gaps) + PADDING

    def _height(self, number: int, part: int) -> float:
        known = self.boxes[number].parts[part]
        if known.kind == "box":
            return self.heights[known.ref]
        return HEIGHT if known.kind == "vertex" else 0.0

    def _place(self, number: int, x: float, top: float) -> None:
        box = self.boxes[number]
        self.spots[number] = Spot(x, top, top + self.heights[number])
        if number in self.closed:
            return
        top += TITLE if number else PADDING
        self.bands[number] = {}
        for row, height, gap in zip(box.rows, self.row_heights[number], [*box.gaps, 0.0]):
            band = Spot(x, top, top + height)
            for part in row:
                self.bands[number][part] = band
                known = box.parts[part]
                own = self._height(number, part)
                upper = top + (height - own) / 2
                self.parts[number, part] = Spot(x + known.x, upper, upper + own)
                if known.kind == "box":
                    self._place(known.ref, x + known.x, upper)
            top += height + gap

    def points(self, number: int, line: Line) -> list[tuple[str, float, float]]:
        """The way of a line: where it moves to ("M"), goes straight ("L") or in a curve ("C")."""
        box = self.boxes[number]
        bands = self.bands[number]
        way: list[tuple[str, float, float]] = []
        for step, part in enumerate(line.chain):
            spot, band, kind = self.parts[number, part], bands[part], box.parts[part].kind
            if step:
                x = self._entry(box.parts[part].ref, "in", line.source, spot) \
                    if kind == "box" else spot.x
                way.append(("C", x, band.top))
                end = self.spots[number].bottom if kind == "out" else \
                    band.bottom if kind == "bend" else spot.top
                way.append(("L", x, end))
            if step < len(line.chain) - 1 and kind != "bend":
                x = self._entry(box.parts[part].ref, "out", line.source, spot) \
                    if kind == "box" else spot.x
                way.append(("M", x, self.spots[number].top if kind == "in" else spot.bottom))
                way.append(("L", x, band.bottom))
        return way

    def _entry(self, number: int, kind: str, source: int, spot: Spot) -> float:
        """Where a value enters or leaves a box."""
        return spot.x + (0.0 if number in self.closed else self.ports[number][kind, source])

    def sides(self, number: int) -> tuple[float, float]:
        """The left side of a box and its width."""
        box, x = self.boxes[number], self.spots[number].x
        if number in self.closed:
            return x - box.closed / 2, box.closed
        return x - box.left, box.left + box.right

    def extent(self) -> tuple[float, float, float, float]:
        """The left, top, right and bottom of it all."""
        box = self.boxes[0]
        return -box.left, 0.0, box.right, self.heights[0]


def path_of(way: list[tuple[str, float, float]]) -> str:
    """The ``d`` of a path; curves leave and arrive upright."""
    found: list[str] = []
    x = y = 0.0
    for kind, to_x, to_y in way:
        if kind == "C" and abs(to_x - x) > 0.05:
            half = (y + to_y) / 2
            found.append(f"C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}")
        elif (to_x, to_y) != (x, y) or kind == "M":
            found.append(f"{'M' if kind == 'M' else 'L'}{to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return "".join(found)


def svg(records: Records, labels: list[tuple[str, str]], box_labels: list[tuple[str, str]],
        title: str, closed: Collection[int] = ()) -> str:
    """The drawing as an SVG document; ``labels`` are the two lines of each vertex."""
    stacked = Stacked(records.boxes, closed)
    left, top, right, bottom = stacked.extent()
    width, height = right - left + 2 * _MARGIN, bottom - top + 2 * _MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="retrograd" role="img" '
        f'viewBox="{left - _MARGIN:.1f} {top - _MARGIN:.1f} {width:.1f} {height:.1f}" '
        f'width="{width:.0f}" height="{height:.0f}">',
        f"<title>{escape(title)}</title>", _STYLE,
        f'<rect class="page" x="{left - _MARGIN:.1f}" y="{top - _MARGIN:.1f}" '
        f'width="{width:.1f}" height="{height:.1f}"/>',
        *_boxes(stacked), *_lines(stacked), *_box_titles(stacked, box_labels),
        *_vertices(stacked, records, labels), "</svg>", ""])


def _boxes(stacked: Stacked) -> Iterator[str]:
    depths = {0: 0}
    for number, box in enumerate(stacked.boxes):
        if not number or number not in stacked.spots:
            continue
        depths[number] = depths[box.parent] + 1
        spot = stacked.spots[number]
        left, width = stacked.sides(number)
        look = "closed" if number in stacked.closed else "" if depths[number] % 2 else "deep"
        yield (f'<rect class="box {look}" data-box="{number}" x="{left:.1f}" y="{spot.top:.1f}" '
               f'width="{width:.1f}" height="{spot.bottom - spot.top:.1f}" rx="8"/>')


def _box_titles(stacked: Stacked, labels: list[tuple[str, str]]) -> Iterator[str]:
    """After the lines, which would cross them."""
    for number, spot in stacked.spots.items():
        title, more = labels[number]
        left, _ = stacked.sides(number)
        if number in stacked.closed:
            yield _text(spot.x, spot.top + 18, title, "name middle")
            yield _text(spot.x, spot.top + 33, more, "more middle")
        elif number:
            box = stacked.boxes[number]
            more = "" if box.type == box.name else \
                f'<tspan class="more" dx="6">{escape(box.type)}</tspan>'
            yield (f'<text class="name halo" x="{left + 10:.1f}" y="{spot.top + 16:.1f}">'
                   f"{escape(title)}{more}</text>")


def _lines(stacked: Stacked) -> Iterator[str]:
    """The lines, then the tips of arrows: at vertices and at closed boxes."""
    tips = set()
    for number in stacked.bands:
        box = stacked.boxes[number]
        row_of = {part: row for row, parts in enumerate(box.rows) for part in parts}
        for line in box.lines:
            way = stacked.points(number, line)
            is_far = len(line.chain) == 2 and row_of[line.chain[1]] - row_of[line.chain[0]] > 1
            yield (f'<path class="line{" far" if is_far else ""}" '
                   f'data-edges="{" ".join(map(str, line.edges))}" d="{path_of(way)}"/>')
            end = box.parts[line.chain[-1]]
            if end.kind == "vertex" or (end.kind == "box" and end.ref in stacked.closed):
                tips.add(way[-1][1:])
    yield '<path class="tip" d="{}"/>'.format("".join(
        [f"M{x - 3.2:.1f} {y - 6.5:.1f}L{x:.1f} {y:.1f}L{x + 3.2:.1f} {y - 6.5:.1f}Z"
         for x, y in sorted(tips)]))


def _vertices(stacked: Stacked, records: Records, labels: list[tuple[str, str]]) -> Iterator[str]:
    for number in stacked.bands:
        for place, part in enumerate(stacked.boxes[number].parts):
            if part.kind != "vertex":
                continue
            vertex, (title, more) = records.vertices[part.ref], labels[part.ref]
            spot = stacked.parts[number, place]
            kind = "root" if vertex.is_root else vertex.kind
            round_ = 5 if vertex.kind == "op" else HEIGHT / 2
            lines = (_text(spot.x, spot.top + 16, title, "name middle")
                     + _text(spot.x, spot.top + 29, more, "more middle") if more else
                     _text(spot.x, spot.top + 22, title, "name middle"))
            yield (f'<g class="vertex {kind}" data-vertex="{part.ref}">'
                   f"<title>{escape(vertex.name)}</title>"
                   f'<rect x="{spot.x - part.left:.1f}" y="{spot.top:.1f}" '
                   f'width="{part.left + part.right:.1f}" height="{HEIGHT:.1f}" '
                   f'rx="{round_}"/>{lines}</g>')


def _text(x: float, y: float, content: str, look: str) -> str:
    return f'<text class={quoteattr(look)} x="{x:.1f}" y="{y:.1f}">{escape(content)}</text>'


def _rules(shade: int) -> str:
    """What depends on the surroundings being light or dark."""
    color = {name: shades[shade] for name, shades in COLORS.items()}
    kinds = "".join([
        f".{kind} rect{{fill:{color[look]};stroke:{color[look + '-edge']}}}"
        for kind, look in (("op", "op"), ("parameter", "parameter"), ("leaf", "leaf"),
                           ("root", "root"), ("cut", "cut"), ("unreached", "cut"))])
    return (f".page{{fill:{color['page']}}}text{{fill:{color['ink']}}}"
            f".more{{fill:{color['muted']}}}.line{{stroke:{color['line']}}}"
            f".tip{{fill:{color['line']}}}"
            f".halo{{stroke:{color['box']}}}"
            f".box{{fill:{color['box']};stroke:{color['box-edge']}}}"
            f".deep{{fill:{color['box-deep']}}}{kinds}")


_STYLE = (f"<style>text{{font:11px {SANS}}}.name{{font-size:12px;font-weight:600}}"
          ".more{font-size:10px;font-weight:400}.middle{text-anchor:middle}"
          ".line{fill:none;stroke-width:1.3}.far{opacity:.45;stroke-dasharray:2 3}"
          ".vertex rect{stroke-width:1.2}.root rect,.cut rect{stroke-width:1.8}"
          ".cut rect,.unreached rect{stroke-dasharray:5 3}.closed{stroke-width:1.4}"
          ".halo{paint-order:stroke;stroke-width:4px}"
          f"{_rules(0)}@media(prefers-color-scheme:dark){{{_rules(1)}}}</style>")
