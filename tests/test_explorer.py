"""The page that explores a graph, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from browser import Browser, found
from retrograd import nn, viz

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium or Chrome is installed")


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return x + torch.tanh(self.linear(self.norm(x)))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = nn.Sequential(Block(), Block(), nn.Linear(4, 1))
    with viz.recording():
        loss = (model(torch.ones(3, 4)) - model[0].norm.bias.detach()).square().mean()
        loss.backward()
    path = tmp_path_factory.mktemp("explorer") / "graph.html"
    graph = viz.graph(loss, {**dict(model.named_parameters()),
                             "<b>spare</b>": torch.ones(2, requires_grad=True)})
    graph.save(path)
    return path


def shown(browser: Browser) -> int:
    return int(browser.run("document.getElementById('canvas').dataset.vertices"))


def text(browser: Browser, element: str) -> str:
    return str(browser.run(f"document.getElementById('{element}').innerText"))


def test_it_loads_without_the_network_finds_shows_and_collapses(
        browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    assert browser.requests == [page.as_uri()] and browser.errors == []
    assert "ops" in text(browser, "summary")
    assert text(browser, "warnings").split("\n") == [
        "1 cut point: the graph ends there", "1 parameter without a gradient"]
    everything = shown(browser)

    # Search, and the first match's details.
    browser.run("document.getElementById('search').focus()")
    browser.type("tanh")
    assert text(browser, "found") == "8 matches"  # the ops of that name first, then its line's
    assert [line.split()[0] for line in text(browser, "results").split("\n")[:4:2]] == ["tanh"] * 2
    browser.press("Enter")
    details = text(browser, "details")
    for expected in ("tanh", "TanhBackward0", "3 × 4", "float32", "gradient norm", "48 B",
                     "return x + torch.tanh(self.linear(self.norm(x)))", "test_explorer.py",
                     "Sequential.0", "time in backward", "linear", "add"):
        assert expected in details
    browser.press("Escape")
    assert text(browser, "found") == ""

    # A module collapses, and opens again.
    browser.run("document.querySelector('#modules ul button').click()")
    assert shown(browser) < everything
    assert browser.run("document.getElementById('canvas').dataset.closed") == "1"
    assert "▸" in text(browser, "modules")
    browser.run("document.getElementById('close-all').click()")
    fewest = shown(browser)
    browser.run("document.getElementById('open-all').click()")
    assert fewest < shown(browser) == everything
    assert browser.errors == []


def test_the_drawing_is_dragged_zoomed_and_clicked(browser: Browser, page: Path) -> None:
    browser.open(page)
    before = browser.picture()
    browser.mouse("mouseWheel", 700, 400, deltaX=0, deltaY=-200)
    zoomed = browser.picture()
    browser.mouse("mousePressed", 1000, 700, button="left", clickCount=1)
    browser.mouse("mouseMoved", 900, 650, button="left", buttons=1)
    browser.mouse("mouseReleased", 900, 650, button="left", clickCount=1)
    moved = browser.picture()
    assert len({before, zoomed, moved}) == 3

    # A parameter that a gradient does not reach is found by its warning; then it is clicked.
    browser.run("document.querySelectorAll('#warnings button')[1].click()")
    assert "<b>spare</b>" in text(browser, "details")
    browser.run("document.getElementById('close-details').click()")
    assert browser.run("document.getElementById('details').hidden")
    width, height = browser.run("[innerWidth, innerHeight]")
    browser.run("document.getElementById('details').hidden = true")
    left = browser.run("document.getElementById('canvas').getBoundingClientRect().left")
    browser.click(left + (width - left - 350) / 2, height / 2)
    assert "<b>spare</b>" in text(browser, "details")
    assert browser.errors == []


def test_it_is_dark_where_the_reader_prefers_that_and_colours_tell_measures(
        browser: Browser, page: Path) -> None:
    browser.open(page, dark=True)
    background = "getComputedStyle(document.body).backgroundColor"
    assert browser.run(background) == "rgb(21, 24, 30)"
    browser.run("document.getElementById('theme').click()")
    assert browser.run(background) == "rgb(255, 255, 255)"
    assert text(browser, "colour").split("\n") == ["kind", "bytes saved", "gradient norm",
                                                   "time in backward"]
    before = browser.picture()
    browser.run("(c => { c.value = 'norm'; c.dispatchEvent(new Event('change')); })"
                "(document.getElementById('colour'))")
    assert browser.picture() != before and "–" in text(browser, "legend")


def test_five_thousand_nodes_are_usable(browser: Browser, tmp_path: Path) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x
    for number in range(5000):
        y = y * 2 if number % 3 else (y + x).sin()
    graph = viz.graph(y.sum(), {"x": x})
    graph.save(tmp_path / "graph.html")
    browser.open(tmp_path / "graph.html")
    assert shown(browser) >= len(graph.vertices) > 5000
    browser.run("document.getElementById('search').focus()")
    browser.type("sinbackward")
    assert text(browser, "found") == "1,667 matches"
    browser.run("document.getElementById('fit').click()")
    assert len(browser.picture()) > 10_000 and browser.errors == []
