"""``viz.graph``: the graph of a computation, to be drawn, explored and written to a file."""

from __future__ import annotations

import html
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import nn
from ..autograd.explaining import Parameter, explain, named_parameters
from ..autograd.graph import GradientEdge
from ..autograd.watching import Pass, holders_in
from ..base.call_sites import user_frame
from ..base.errors import type_name
from ..core.cuts import Cut
from ..core.tensor import Tensor, edge_of
from ._boxes import Placed, arrange
from ._drawing import svg
from ._page import page
from ._palette import shape_text, shortened, size_text, width_of
from ._recording import times_in
from ._records import Records, collect

_LONGEST_LABEL = 26
_FEW = 6
"""A leaf that is no parameter is drawn once if it has at most so many uses."""


class Graph:
    """A graph as it was when it was looked at: it keeps no tensors alive.

    In a notebook it shows itself; :meth:`svg` and :meth:`html` give it as text and :meth:`save`
    writes it to a file.
    """

    def __init__(self, records: Records, title: str = "autograd graph") -> None:
        self.title, self._records = title, records

    @property
    def vertices(self) -> list[Any]:
        """What is drawn: ops, parameters and other leaves, and places where gradients end."""
        return self._records.vertices

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs of numbers of vertices, in the direction in which values flow."""
        return self._records.edges

    @cached_property
    def _laid_out(self) -> Records:
        vertices, edges, boxes = self._records
        for (title, more), box in zip(self._box_labels, boxes):
            box.closed = max(width_of(title, 12, True), width_of(more, 10)) + 24
        uses = Counter(source for source, _ in edges)
        placed = []
        for number, (vertex, (title, more)) in enumerate(zip(vertices, self._labels)):
            width = max(width_of(title, 12, True), width_of(more, 10), 30.0) \
                + (20 if vertex.kind == "op" else 26)  # others are round at their sides
            floats = vertex.kind == "parameter" or (vertex.kind == "leaf" and uses[number] > _FEW)
            placed.append(Placed(vertex.box, width, floats and uses[number] > 0))
        arrange(boxes, placed, edges)
        return self._records

    @cached_property
    def _labels(self) -> list[tuple[str, str]]:
        return [(shortened(vertex.title, _LONGEST_LABEL), shape_text(vertex.shape))
                for vertex in self.vertices]

    @cached_property
    def _box_labels(self) -> list[tuple[str, str]]:
        boxes = self._records.boxes
        ops, size = [0] * len(boxes), [0] * len(boxes)
        lost = [0] * len(boxes)
        for vertex in self.vertices:
            lost[vertex.box] += vertex.kind == "unreached"
            if vertex.kind == "op":
                ops[vertex.box] += 1
                size[vertex.box] += vertex.saved_bytes
        for number in reversed(range(1, len(boxes))):
            ops[boxes[number].parent] += ops[number]
            size[boxes[number].parent] += size[number]
        return [(shortened(box.name, _LONGEST_LABEL),
                 " · ".join(filter(None, (
                     box.type, f"{count} op{'s' * (count != 1)}" if count or not missed else "",
                     f"{missed} parameter{'s' * (missed != 1)}" if missed else "",
                     f"{size_text(saved)} saved" if saved else ""))))
                for box, count, saved, missed in zip(boxes, ops, size, lost)]

    def svg(self, depth: int | None = None) -> str:
        """The drawing as an SVG document; modules below ``depth`` are closed boxes."""
        boxes = self._laid_out.boxes
        depths = [0] * len(boxes)
        for number, box in enumerate(boxes[1:], 1):
            depths[number] = depths[box.parent] + 1
        closed = [] if depth is None else [n for n, at in enumerate(depths) if n and at > depth]
        return svg(self._laid_out, self._labels, self._box_labels, self.title, set(closed))

    def html(self) -> str:
        """A page to explore the graph: one HTML document that needs nothing else."""
        return page(self._laid_out, self._labels, self._box_labels, self.title)

    def save(self, path: str | Path) -> None:
        """Write the graph to a file whose name ends in .html or .svg."""
        path = Path(path)
        makers = {".html": self.html, ".htm": self.html, ".svg": self.svg}
        if path.suffix.lower() not in makers:
            raise ValueError(f"expected a name that ends in .html or .svg, got {str(path)!r}")
        path.write_text(makers[path.suffix.lower()](), encoding="utf-8")

    def __repr__(self) -> str:
        kinds = Counter(vertex.kind for vertex in self.vertices)
        counts = {"op": kinds["op"], "parameter": kinds["parameter"], "leaf": kinds["leaf"],
                  "cut point": kinds["cut"], "edge": len(self.edges),
                  "parameter without a gradient": kinds["unreached"]}
        words = {"leaf": "leaves", "parameter without a gradient": "parameters without a gradient"}
        return "Graph({})".format(", ".join([
            f"{count} {name if count == 1 else words.get(name, name + 's')}"
            for name, count in counts.items() if count]))

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html())}" sandbox="allow-scripts" '
                'style="width:100%;height:560px;border:0"></iframe>')


def graph(loss: Any, params: Any = None, *, profile: Any = None) -> Graph:
    """The graph that ``loss`` (a tensor, or several) was recorded with, as a :class:`Graph`.

    ``params`` names its leaves, as ``retrograd.explain`` takes them: a module, an optimizer, a
    dict, (name, tensor) pairs or tensors; those that no gradient reaches are shown too, and why.
    Without it the variables of the caller are looked through. Times are those of ``profile``, a
    profiler, or of :func:`recording`.

    >>> w = torch.ones(2, requires_grad=True)
    >>> graph((w * w).sum(), {"w": w})
    Graph(2 ops, 1 leaf, 3 edges)
    """
    outputs = tuple(loss) if isinstance(loss, list | tuple) else (loss,)
    _roots(outputs)  # which says what is wrong with them, if anything is
    leaves = named_parameters(params, "graph")
    holders = holders_in(user_frame(sys._getframe(1))) if params is None else {"self": params}
    return _graph(outputs, leaves, _modules(holders),
                  () if params is None else explain(outputs, leaves), profile)


def graph_of_pass(seen: Pass) -> Graph:
    """The graph of a backward pass, with the names that the program has for its leaves.

    Leaves that it does not reach are shown if they belong to a module of which it reaches others.
    """
    leaves = seen.leaves()
    found = explain(seen.outputs, leaves)
    used = {known.name.partition(".")[0] for known in found if known.is_reached}
    return _graph(seen.outputs, leaves, _modules(seen.holders), [
        known for known in found if "." in known.name and known.name.partition(".")[0] in used])


def _graph(outputs: tuple[Any, ...], leaves: dict[str, Tensor],
           modules: list[tuple[str, nn.Module]], expected: Iterable[Parameter],
           profile: Any = None) -> Graph:
    names = {id(leaf): name for name, leaf in leaves.items()}
    return Graph(collect(_roots(outputs), names, modules, expected,
                         {} if profile is None else times_in(profile)))


def _roots(outputs: tuple[Any, ...]) -> dict[Any, Any]:
    """The edges at which a graph is entered, each with the data there, if that is known."""
    roots: dict[Any, Any] = {}
    for output in outputs:
        if isinstance(output, GradientEdge):
            roots[output.as_edge()] = output.like()
        elif not isinstance(output, Tensor):
            raise TypeError("graph() takes a tensor, or a sequence of tensors, not "
                            f"{type_name(output)}")
        elif not output.requires_grad:
            where = "" if output._cut is None else \
                f"\nIt was cut off here:\n  {Cut(*output._cut).site}"
            raise RuntimeError("there is no graph to draw: the tensor does not require grad and "
                               f"does not have a grad_fn{where}")
        else:
            roots[output if output.is_leaf else edge_of(output)] = output._data
    if not roots:
        raise ValueError("graph() needs at least one tensor")
    return roots


def _modules(holders: Mapping[str, Any]) -> list[tuple[str, nn.Module]]:
    return [pair for name, holder in holders.items() if isinstance(holder, nn.Module)
            for pair in holder.named_modules(prefix="" if name == "self" else name)]
