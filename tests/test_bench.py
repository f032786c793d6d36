"""What the suite of benchmarks writes down."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
TIMES = {1: {"small: a": {"torch": (2e-6, 3e-6), "retrograd": (1e-6, 1e-6), "jax": (4e-6, 5e-6)},
             "train: b": {"torch": (1e-3, 1e-3), "retrograd": (8e-3, 8e-3)}}}


@pytest.fixture
def report(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    from bench import report

    for place in ("HISTORY", "PAGE", "CHART", "PURE", "MEMORY"):
        monkeypatch.setattr(report, place, tmp_path / place)
    return report


def test_figures_become_a_page_a_chart_and_a_row_of_the_history(report):
    report.record(TIMES, 0.5, "wall")
    report.record(TIMES, 0.5, "wall")
    rows = [json.loads(row) for row in report.HISTORY.read_text().splitlines()]
    assert len(rows) == 2 and rows[0]["threads"] == 1
    assert rows[0]["load"][0] == 0.5 and rows[0]["clock"] == "wall"
    assert rows[1]["times"]["small: a"]["torch"] == [2.0, 3.0]

    page = report.PAGE.read_text()
    assert "| small: a | 2.0 | 1.0 | 0.50 |" in page
    assert "| train: b | 1,000.0 | 8,000.0 | 8.00 |" in page
    assert "**2.00**" in page  # the geometric mean of a half and eight
    assert "| small: a | 2.0 | 1.0 | 4.0 |" in page  # beside JAX

    chart = ElementTree.fromstring(report.CHART.read_text())
    written = [element.text for element in chart.iter() if element.tag.endswith("text")]
    assert {"small: a", "train: b", "0.50", "8.00", "1 thread"} <= set(written)


def test_what_is_measured_apart_is_kept_for_the_page(report):
    report.keep(report.PURE, {"small: a": {"torch": (1e-6, 1e-6), "retrograd": (3e-6, 3e-6)}})
    report.keep(report.PURE, {"train: b": {"torch": (1e-6, 1e-6), "retrograd": (12e-6, 12e-6)}})
    report.keep(report.MEMORY, {"train: b": {"torch": 8.0, "retrograd": 2.0}})
    page = report.page(TIMES, {"date": "", "commit": "", "machine": "", "clock": "",
                               "load": [0, 0]})
    assert "| small: a | 1.0 | 3.0 | 3.00 |" in page and "| train: b | 8.0 | 2.0 | 0.25 |" in page
    assert "**6.00**" in page  # without kernels: the geometric mean of three and twelve


def test_lines_have_names_of_their_own(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    from bench import declaring, lines  # noqa: F401

    assert len(declaring.LINES) > 90
    with pytest.raises(ValueError, match="there is a line"):
        declaring.line(next(iter(declaring.LINES)))(None)
    for programs in declaring.OTHERS.values():
        assert set(programs) <= set(declaring.LINES)
