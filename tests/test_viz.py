"""Pictures of graphs: everything is in them, nothing overlaps, and what they say is so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import retrograd as torch
from retrograd import nn, viz
from retrograd.viz._boxes import Box, Placed, arrange
from retrograd.viz._drawing import Stacked
from retrograd.viz._layered import Item, layered
from retrograd.viz._page import as_json, filled

SVG = "{http://www.w3.org/2000/svg}"


# ---------------------------------------------------------------- layout


@st.composite
def dags(draw: st.DrawFn, most: int = 24) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, most))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    found = draw(st.lists(pairs.filter(lambda pair: pair[0] != pair[1]), max_size=3 * count))
    return count, sorted({(min(pair), max(pair)) for pair in found})


@settings(max_examples=60, deadline=None)
@given(dags(), st.data())
def test_items_lie_in_rows_below_their_sources_and_keep_apart(
        graph: tuple[int, list[tuple[int, int]]], data: st.DataObject) -> None:
    count, edges = graph
    widths = data.draw(st.lists(st.tuples(st.floats(1, 80), st.floats(1, 80)), min_size=count,
                                max_size=count))
    items = [Item(*width) for width in widths]
    drawn = layered(items, edges, gap=10)
    row_of = {item: number for number, row in enumerate(drawn.rows) for item in row}
    assert sorted(item for row in drawn.rows for item in row) == list(range(len(drawn.x)))
    for row in drawn.rows:
        for a, b in pairwise(row):
            right = items[a].right if a < count else 0
            left = items[b].left if b < count else 0
            assert drawn.x[b] - left - (drawn.x[a] + right) > 9.99
    for (source, target), chain in zip(edges, drawn.chains):
        assert (chain[0], chain[-1]) == (source, target)
        assert all(part >= count for part in chain[1:-1])
        assert [row_of[part] for part in chain] == list(range(row_of[source], row_of[target] + 1))


def test_long_edges_are_straight() -> None:
    edges = [*pairwise(range(12)), (0, 11), (2, 9), (4, 7)]
    drawn = layered([Item(30, 30)] * 12, edges)
    for chain in drawn.chains:
        assert len({round(drawn.x[part], 6) for part in chain[1:-1]}) <= 1


def test_an_edge_that_leads_back_is_refused() -> None:
    with pytest.raises(ValueError, match="must lead from an item to a later one"):
        layered([Item(1, 1)] * 2, [(1, 0)])


def rectangles(boxes: list[Box], closed: set[int]) -> tuple[Any, dict[Any, tuple[float, ...]]]:
    """What is drawn, each as left, top, right and bottom."""
    stacked = Stacked(boxes, closed)
    found: dict[Any, tuple[float, ...]] = {}
    for number, spot in stacked.spots.items():
        left, width = stacked.sides(number)
        found["box", number] = (left, spot.top, left + width, spot.bottom)
    for (number, place), spot in stacked.parts.items():
        part = boxes[number].parts[place]
        if part.kind == "vertex":
            found["vertex", number, place] = (spot.x - part.left, spot.top, spot.x + part.right,
                                              spot.bottom)
    return stacked, found


@settings(max_examples=50, deadline=None)
@given(dags(18), st.data())
def test_boxes_hold_their_own_and_nothing_overlaps(
        graph: tuple[int, list[tuple[int, int]]], data: st.DataObject) -> None:
    count, edges = graph
    # Calls within calls, each around vertices that follow each other.
    boxes, stack, places = [Box("")], [0], []
    for number in range(count):
        sources = any(target == number for _, target in edges)
        for _ in range(data.draw(st.integers(0, 2))):
            if len(stack) > 1:
                stack.pop()
        if len(stack) < 4 and data.draw(st.booleans()):
            boxes.append(Box(f"m{len(boxes)}", "M", stack[-1], closed=60.0))
            stack.append(len(boxes) - 1)
        floats = not sources and any(a == number for a, _ in edges) and data.draw(st.booleans())
        places.append(Placed(stack[-1], data.draw(st.floats(20, 120)), floats))
    arrange(boxes, places, edges)
    closed = set(data.draw(st.lists(st.integers(1, max(1, len(boxes) - 1)), max_size=4)))
    stacked, found = rectangles(boxes, closed if len(boxes) > 1 else set())

    def around(key: Any) -> list[int]:
        number = boxes[key[1]].parent if key[0] == "box" else key[1]
        return [] if number < 0 else [number, *around(("box", number))]

    for key, (left, top, right, bottom) in found.items():
        for number in around(key):
            outer = found["box", number]
            assert outer[0] <= left + 1e-6 and outer[1] <= top and right <= outer[2] + 1e-6 \
                and bottom <= outer[3]
        for other, rectangle in found.items():
            if key < other and not (key[0] == "box" and key[1] in around(other)) \
                    and not (other[0] == "box" and other[1] in around(key)):
                assert right <= rectangle[0] or rectangle[2] <= left \
                    or bottom <= rectangle[1] or rectangle[3] <= top
    drawn = {edge for number in stacked.bands for line in boxes[number].lines
             for edge in line.edges}
    if not closed:
        assert drawn == set(range(len(edges)))
        shown = {boxes[key[1]].parts[key[2]].ref for key in found if key[0] == "vertex"}
        unused = {number for number, place in enumerate(places) if place.floats
                  and not any(a == number for a, _ in edges)}
        assert shown == set(range(count)) - unused


def test_five_thousand_nodes_are_drawn() -> None:
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3, requires_grad=True)
    values = [x]
    for number in range(1, 5001):
        values.append(values[-1] * w if number % 3 else values[-1] + values[number // 2])
    drawn = viz.graph(values[-1].sum(), {"x": x, "w": w})
    text = drawn.svg()
    root = ElementTree.fromstring(text)
    shown = {int(group.get("data-vertex", "")) for group in root.iter(f"{SVG}g")}
    assert shown == set(range(len(drawn.vertices))) and len(shown) == 5003


# ---------------------------------------------------------------- what is drawn


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x: Any) -> Any:
        return x + torch.tanh(self.linear(self.norm(x)))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.shared = Layer()
        self.head = nn.Linear(4, 2)
        self.spare = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.head(self.shared(self.shared(x)))


def vertex(graph: viz.Graph, name: str) -> Any:
    (found,) = [vertex for vertex in graph.vertices if vertex.name == name]
    return found


def modules_of(graph: viz.Graph) -> list[str]:
    return list(dict.fromkeys(v.module for v in graph.vertices if v.kind == "op"))


def test_every_node_and_edge_is_in_the_svg() -> None:
    model = Model()
    graph = viz.graph(model(torch.ones(3, 4)).sum(), model)
    root = ElementTree.fromstring(graph.svg())
    shown = {int(group.get("data-vertex", "")) for group in root.iter(f"{SVG}g")}
    lines = {int(edge) for path in root.iter(f"{SVG}path")
             for edge in path.get("data-edges", "").split()}
    assert shown == set(range(len(graph.vertices))) and lines == set(range(len(graph.edges)))
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {"layer_norm", "tanh", "weight", "3 × 4", "scalar", "layers.0"} <= texts
    # Each edge is one that the engine knows.
    seen = {(graph.vertices[a].title, graph.vertices[b].title) for a, b in graph.edges}
    assert ("tanh", "add") in seen and ("weight", "linear") in seen and ("linear", "sum") in seen


def test_closed_boxes_hide_what_is_in_them() -> None:
    model = Model()
    graph = viz.graph(model(torch.ones(3, 4)).sum(), model)
    text = graph.svg(depth=0)
    ElementTree.fromstring(text)
    assert "tanh" not in text and "shared" in text and ">sum<" in text
    assert "Layer · 4 ops" in text


def test_leaves_that_no_gradient_reaches_are_shown() -> None:
    model = Model()
    model.head.bias.requires_grad_(False)
    graph = viz.graph(model(torch.ones(3, 4)).sum(), model)
    spare = vertex(graph, "spare.weight")
    assert spare.kind == "unreached" and spare.note.startswith("nothing that was computed from it")
    assert vertex(graph, "head.bias").kind == "unreached"
    assert vertex(graph, "head.bias").note == "requires_grad is False"
    assert 'class="vertex unreached"' in graph.svg()
    assert not any(v.kind == "unreached" for v in viz.graph(model(torch.ones(3, 4)).sum()).vertices)


def test_cut_points_are_shown_with_the_line_that_cut() -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    hidden = a.sin().detach()
    graph = viz.graph((hidden + b).sum(), {"a": a, "b": b})
    (cut,) = [v for v in graph.vertices if v.kind == "cut"]
    assert cut.title == ".detach()" and cut.place.text == "hidden = a.sin().detach()"
    assert [graph.vertices[b].title for a, b in graph.edges if graph.vertices[a] is cut] == ["add"]
    lost = vertex(graph, "a")
    assert lost.kind == "unreached" and lost.place == cut.place and "detach" in lost.note
    assert 'class="vertex cut"' in graph.svg()
    assert repr(graph) == ("Graph(2 ops, 1 leaf, 1 cut point, 3 edges, "
                           "1 parameter without a gradient)")
    with pytest.raises(RuntimeError, match=r"hidden = a.sin\(\).detach\(\)"):
        viz.graph(hidden)


def test_calls_of_other_threads_are_not_taken_for_those_of_this_one() -> None:
    model, other = Model(), Model()

    class Outer(nn.Module):
        def forward(self, x: Any) -> Any:
            thread = threading.Thread(target=other, args=(x.detach(),))
            thread.start()
            thread.join()
            return model(x)

    with viz.recording():
        loss = Outer()(torch.ones(3, 4)).sum()
    found = modules_of(viz.graph(loss, model))
    assert found[0] == "Outer.Model.layers.0.norm" and found[-2:] == ["Outer.Model.head", ""]


def test_a_graph_knows_the_calls_of_modules_that_were_recorded() -> None:
    model = Model()
    with viz.recording():
        loss = model(torch.ones(3, 4)).sum()
    assert modules_of(viz.graph(loss, model)) == [
        "Model.layers.0.norm", "Model.layers.0.linear", "Model.layers.0", "Model.layers.1.norm",
        "Model.layers.1.linear", "Model.layers.1", "Model.shared.norm", "Model.shared.linear",
        "Model.shared", "Model.shared (2).norm", "Model.shared (2).linear", "Model.shared (2)",
        "Model.head", ""]


def test_modules_of_a_graph_that_was_not_recorded_so_are_inferred() -> None:
    model = Model()
    # The sum at the end of the second layer saves nothing, and so could be anybody's.
    assert modules_of(viz.graph(model(torch.ones(3, 4)).sum(), model)) == [
        "layers.0.norm", "layers.0.linear", "layers.0", "layers.1.norm", "layers.1.linear",
        "layers.1", "", "shared.norm", "shared.linear", "shared", "head"]


def test_names_are_found_in_the_variables_of_the_caller() -> None:
    model = Model()
    scale = torch.ones(2, requires_grad=True)
    graph = viz.graph((model(torch.ones(3, 4)) * scale).sum())
    assert {"model.head.weight", "scale"} <= {v.name for v in graph.vertices}
    assert vertex(graph, "scale").kind == "leaf"


def test_a_measured_pass_tells_shapes_norms_times_and_what_was_saved() -> None:
    w = torch.tensor([[3.0, 4.0]], requires_grad=True)
    with viz.recording():
        hidden = w.exp()
        loss = (hidden * 2).T.sum()
        loss.backward()
    graph = viz.graph(loss, {"w": w})
    by_title = {v.title: v for v in graph.vertices}
    assert by_title["exp"].shape == (1, 2) and by_title["exp"].dtype == "float32"
    assert by_title["exp"].norm == pytest.approx(8 ** 0.5)
    assert by_title["exp"].saved_bytes == 8 and by_title["exp"].saved[0].name == "result"
    assert by_title["exp"].seconds > 0
    assert by_title["w"].norm == pytest.approx(float(w.grad.norm()))
    assert by_title["sum"].shape == () and by_title["sum"].is_root


def test_memory_that_several_nodes_keep_is_counted_once() -> None:
    x = torch.ones(1000, requires_grad=True)
    hidden = x * 1
    loss = (hidden.sin() + hidden.cos() + x.sin()).sum()
    graph = viz.graph(loss)  # a leaf's own memory lives anyway
    assert sorted(v.saved_bytes for v in graph.vertices if v.saved) == [0, 0, 4000]
    with torch.autograd.ledger() as ledger:
        x = torch.ones(1000, requires_grad=True)
        loss = (x.exp().sin() * (x * 2)).sum()
    assert sum(v.saved_bytes for v in viz.graph(loss).vertices) == ledger.current


def test_lines_of_the_program_are_known() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.sin()
    graph = viz.graph(y, [x])
    place = next(v.place for v in graph.vertices if v.title == "sin")
    assert place.file == __file__ and place.text == "y = x.sin()"


def test_after_backward_the_graph_is_still_drawn() -> None:
    x = torch.ones(2, requires_grad=True)
    loss = x.sin().sum()
    loss.backward()
    graph = viz.graph(loss, {"x": x})
    assert [v.is_released for v in graph.vertices] == [False, True, False]
    assert "sin" in graph.svg() and vertex(graph, "x").norm == pytest.approx(0.764, abs=1e-3)


@pytest.mark.parametrize("loss, params, error, words", [
    (3, None, TypeError, "not int"),
    ([], None, ValueError, "at least one tensor"),
    (torch.ones(2), None, RuntimeError, "there is no graph to draw"),
    (torch.ones(2, requires_grad=True), 3, TypeError, r"graph\(\): argument 'params' must be a"),
    (torch.ones(2, requires_grad=True), [3], TypeError, "a parameter must be a Tensor, not int"),
])
def test_what_cannot_be_drawn_is_refused(loss: Any, params: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        viz.graph(loss, params)


def test_odd_graphs_are_drawn() -> None:
    x = torch.ones(2, requires_grad=True)
    ElementTree.fromstring(viz.graph(x).svg())  # a leaf alone
    a, b = torch.ones(4, requires_grad=True).split(2)
    ElementTree.fromstring(viz.graph([a.sum(), b.sum()]).svg())
    half = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    assert viz.graph((half * half).sum()).vertices[0].dtype == "bfloat16"
    empty = torch.ones(0, 3, requires_grad=True)
    with viz.recording():
        loss = (empty * 2).sum()
        loss.backward()
    assert viz.graph(loss).vertices[0].norm == 0
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    assert viz.graph((z * z).abs().sum()).vertices[0].dtype == "complex64"
    (slope,) = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    ElementTree.fromstring(viz.graph(slope.sum()).svg())
    lstm = nn.LSTM(2, 3)  # whose results are stacked: an op on a list
    ElementTree.fromstring(viz.graph(lstm(torch.ones(2, 1, 2))[0].sum(), lstm).svg())


def test_recording_leaves_nothing_behind_when_it_fails() -> None:
    from retrograd.autograd.backward import WATCHERS
    from retrograd.nn.modules._calling import GLOBAL

    class Broken(nn.Module):
        def forward(self, x: Any) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), viz.recording():
        Broken()(torch.ones(2))
    assert not WATCHERS and not GLOBAL.around_calls and not GLOBAL.forward_pre


def test_recording_knows_the_lines_of_nodes_that_save_nothing_and_times_of_all() -> None:
    x = torch.ones(2, requires_grad=True)
    with viz.recording():
        y = x + 1
        y.sum().backward()
    (add,) = [v for v in viz.graph(y, [x]).vertices if v.title == "add"]
    assert add.place.text == "y = x + 1" and add.place.function.endswith("of_all")
    assert add.forward_seconds > 0 and add.seconds > 0
    z = x + 1
    (later,) = [v for v in viz.graph(z, [x]).vertices if v.title == "add"]
    assert later.forward_seconds is None and later.place is None


@pytest.mark.parametrize("profiler", [torch.profiler.profile, torch.autograd.profiler.profile])
def test_times_can_be_those_of_a_profiler(profiler: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with profiler() as profile:
        loss = (x.sin() * 2).sum()
        loss.backward()
    times = {v.title: (v.forward_seconds, v.seconds)
             for v in viz.graph(loss, [x], profile=profile).vertices if v.kind == "op"}
    assert set(times) == {"sin", "mul", "sum"}
    assert all(0 < seconds < 10 for pair in times.values() for seconds in pair)


def test_recording_inside_a_profiler_hides_nothing_from_it() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.profiler.profile() as profile, viz.recording():
        x.sin().sum().backward()
    names = [event.name for event in profile.function_events]
    assert {"aten::sin", "aten::sum", "SinBackward0"} <= set(names)


# ---------------------------------------------------------------- notebooks


def test_notebooks_show_tensors_and_modules() -> None:
    tensor = torch.tensor([[1.0, 2.0]], requires_grad=True)
    shown = tensor._repr_html_()
    assert "tensor([[1., 2.]], requires_grad=True)" in shown
    assert "1 × 2 · float32 · 8 B · no gradient yet" in shown
    ElementTree.fromstring(f"<div>{shown}</div>")
    for odd in (torch.ones(()), torch.ones(0, 3), torch.ones(2, dtype=torch.bfloat16),
                torch.ones(4).expand(3, 4), torch.eye(2).to_sparse(), nn.Parameter(torch.ones(1))):
        ElementTree.fromstring(f"<div>{odd._repr_html_()}</div>")
    texts: list[str] = []
    torch.vmap(lambda row: texts.append(row._repr_html_()) or row)(torch.ones(2, 3))
    assert texts and "3 · float32" in texts[0]

    class Nasty(nn.Module):
        def extra_repr(self) -> str:
            return "<script>"

    model = nn.Sequential(nn.Linear(2, 3), Nasty(), nn.ModuleList([nn.Linear(3, 1, bias=False)]))
    shown = model._repr_html_()
    root = ElementTree.fromstring(shown)
    text = "".join(root.itertext())
    assert "Sequential 12 parameters" in text and "Nasty (<script>) 0 parameters" in text
    assert "Linear (in_features=3, out_features=1, bias=False) 3 parameters" in text


# ---------------------------------------------------------------- curves


def trained(steps: int = 6) -> viz.History:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = viz.History(model, optimizer)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(torch.ones(2, 3)) - 5).square().mean()
        loss.backward()
        optimizer.step()
        history.note(loss=loss)
        optimizer.param_groups[0]["lr"] *= 0.5
    return history


def test_a_history_notes_losses_rates_and_norms() -> None:
    model = nn.Linear(2, 1, bias=False)
    history = viz.History(model, torch.optim.SGD(model.parameters(), lr=0.1))
    model.weight.grad = torch.tensor([[3.0, 4.0]])
    history.note(loss=torch.tensor(2.0, requires_grad=True), test=1)
    assert history == [{"loss": 2.0, "test": 1.0, "lr": 0.1, "grad_norm": {"weight": 5.0}}]
    with pytest.raises(TypeError, match="loss must be a number, not str"):
        history.note(loss="low")
    assert len(history) == 1


def test_a_training_is_drawn_without_matplotlib() -> None:
    picture = viz.training(trained(), backend="svg")
    root = ElementTree.fromstring(picture._repr_svg_())
    charts = root.findall(f"{SVG}svg")
    assert [len(chart.findall(f"{SVG}polyline")) for chart in charts] == [1, 1, 2]
    texts = [{text.text for text in chart.findall(f"{SVG}text")} for chart in charts]
    assert "loss" in texts[0] and {"lr", "0.1", "0"} <= texts[1] and {"0", "2"} <= texts[2]
    rates = [point.split(",") for point in
             charts[1].findall(f"{SVG}polyline")[0].get("points", "").split()]
    heights = [float(y) for _, y in rates]
    assert heights == sorted(heights) and len(set(heights)) == 6  # it falls


def test_matplotlib_draws_where_it_is_installed() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    figure = viz.training(trained())
    assert [len(axis.lines) for axis in figure.axes] == [1, 1, 2]
    assert [axis.get_ylabel() for axis in figure.axes] == ["loss", "learning rate", "gradient norm"]
    figure.canvas.draw()


def test_where_matplotlib_is_missing_a_picture_is_drawn(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setattr("retrograd.viz._training.find_spec", lambda name: None)
    picture = viz.training({"loss": [3.0, float("nan"), 0.1, float("inf")]})
    picture.savefig(tmp_path / "curve.svg")
    (curve,) = ElementTree.parse(tmp_path / "curve.svg").getroot().iter(f"{SVG}polyline")
    assert len(curve.get("points", "").split()) == 2
    with pytest.raises(ValueError, match="other formats take matplotlib"):
        picture.savefig(tmp_path / "curve.png")


def test_many_layers_are_drawn_and_some_named() -> None:
    names = {f"layer{n}": [1.0 + n, 2.0 + n] for n in range(50)}
    root = ElementTree.fromstring(viz.training({"grad_norm": names}, backend="svg"))
    labels = [text for text in root.iter(f"{SVG}text") if (text.text or "").startswith("layer")]
    assert len(list(root.iter(f"{SVG}polyline"))) == 50 and 10 <= len(labels) <= 16
    heights = sorted(float(label.get("y", "")) for label in labels)
    assert all(b - a > 16.8 for a, b in pairwise(heights)) and heights[-1] < 440


@pytest.mark.parametrize("history, error, words", [
    (3, TypeError, "takes a dict of sequences, or a sequence of dicts, not int"),
    ([1.0], TypeError, "a sequence of dicts"),
    ({"loss": 1.0}, TypeError, "a dict of sequences"),
    ([], ValueError, "nothing to draw"),
    ({"loss": [float("nan")]}, ValueError, "nothing to draw"),
    ({"loss": ["low"]}, TypeError, "loss must be a number, not str"),
])
def test_histories_that_cannot_be_drawn_are_refused(history: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        viz.training(history)
    with pytest.raises(ValueError, match="backend must be"):
        viz.training({"loss": [1]}, backend="excel")


# ---------------------------------------------------------------- pages


def test_names_of_programs_cannot_break_out_of_a_page() -> None:
    nasty = "</script><script>alert(1)</script>{{style}}&\"'"
    x = torch.ones(2, requires_grad=True)
    graph = viz.graph((x * x).sum(), {nasty: x})
    graph.title = nasty
    text = graph.html()
    assert "alert(1)</script>" not in text and text.count("</script>") == 2
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data.group(1))["vertices"][0]["name"] == nasty
    root = ElementTree.fromstring(graph.svg())
    title = root.find(f"{SVG}title")
    assert title is not None and title.text == nasty
    assert "<iframe srcdoc=\"&lt;!DOCTYPE html" in graph._repr_html_()


def test_a_page_needs_nothing_from_elsewhere() -> None:
    x = torch.ones(2, requires_grad=True)
    text = viz.graph((x * x).sum()).html()
    assert not re.search(r"(src|href)\s*=|@import|url\(|fetch\(|https?:", text)
    assert "default-src 'none'" in text


def test_templates_are_filled_once() -> None:
    assert filled("a{{b}}c{{d}}", b="{{d}}", d="<") == "a{{d}}c<"
    assert as_json({"a": "</"}) == '{"a":"\\u003c/"}'


@pytest.mark.parametrize("name", ["graph.html", "graph.svg"])
def test_graphs_are_written_to_files(tmp_path: Any, name: str) -> None:
    x = torch.ones(2, requires_grad=True)
    graph = viz.graph((x * x).sum())
    graph.save(tmp_path / name)
    assert (tmp_path / name).read_text() == getattr(graph, name[6:])()
    with pytest.raises(ValueError, match=r"ends in \.html or \.svg"):
        graph.save(tmp_path / "graph.png")
    assert repr(graph) == "Graph(2 ops, 1 leaf, 3 edges)"


# ---------------------------------------------------------------- the commands


PROGRAM = """
import sys
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
for step in range(int(sys.argv[1])):
    net(torch.ones(4, 2)).sum().backward()
if "fail" in sys.argv:
    loss = net(torch.ones(4, 2)).exp()
    loss.sum().backward(torch.ones(3))
"""


def run_graph(folder: Any, *arguments: str) -> Any:
    (folder / "program.py").write_text(PROGRAM)
    source = str(Path(torch.__file__).parent.parent)
    return subprocess.run([sys.executable, "-m", "retrograd", "graph", *arguments], cwd=folder,
                          capture_output=True, text=True, check=False, env={"PYTHONPATH": source})


def test_a_program_is_run_and_its_graph_written(tmp_path: Any) -> None:
    done = run_graph(tmp_path, "program.py", "2", "-o", "found.svg", "--pass", "2")
    assert done.returncode == 0, done.stderr
    assert "in found.svg" in done.stderr and "4 parameters" in done.stderr
    text = (tmp_path / "found.svg").read_text()
    ElementTree.fromstring(text)
    assert "program.py, backward pass 2" in text and "Sequential" in text

    done = run_graph(tmp_path, "--pass", "2", "program.py", "1", "fail")
    assert done.returncode == 1 and "RuntimeError" in done.stderr
    assert "exp" in (tmp_path / "graph.html").read_text()  # of the pass that failed

    done = run_graph(tmp_path, "-o", "none.html", "program.py", "0")
    assert done.returncode == 1 and not (tmp_path / "none.html").exists()
    assert "the program ran 0 backward passes, so there is no pass 1 to draw" in done.stderr


def test_the_demo_writes_a_report(tmp_path: Any, capsys: Any) -> None:
    from retrograd.cli import main

    assert main(["demo", "--epochs", "1", "--output", str(tmp_path / "loss.svg")]) == 0
    assert f"report         {tmp_path / 'loss.html'}" in capsys.readouterr().out
    text = (tmp_path / "loss.html").read_text()
    assert text.count("<figure") > 24 and text.count("<polyline") == 2 + 1 + 3
    assert "MaxPool2d" in text and "srcdoc=" in text and "of unseen digits read right" in text
    assert not re.search(r"(src|href)=\"(?!data:)|@import|url\(", text.replace("srcdoc=", ""))
