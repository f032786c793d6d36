"""The page on NumPy code: its programs run as they stand, and have the gradients they should."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import autograd
import numpy as np
import pytest

import retrograd as torch

PAGE = Path(__file__).parent.parent / "docs" / "numpy.md"
SECTIONS = {part.split("\n", 1)[0]: re.findall(r"```python\n(.*?)```", part, re.DOTALL)
            for part in PAGE.read_text().split("\n## ")}
PROGRAMS = {name: blocks[0] for name, blocks in SECTIONS.items() if "def program(" in blocks[0]}


def run(source: str, name: str = "page") -> Any:
    space: dict[str, Any] = {"__name__": name}
    # A warning shows its line, which is looked up as a file's is.
    linecache.cache[f"<{name}>"] = (len(source), None, source.splitlines(True), f"<{name}>")
    exec(compile(source, f"<{name}>", "exec"), space)
    return SimpleNamespace(**space)


def test_the_page_has_five_programs_that_know_nothing_of_tensors() -> None:
    assert list(PROGRAMS) == ["A simulation", "A fit with scipy.optimize",
                              "A filter by Fourier transforms", "A Gaussian process",
                              "A neural network"]
    for source in PROGRAMS.values():
        assert "torch" not in source and "retrograd" not in source


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_runs(section: str) -> None:
    assert SECTIONS[section]
    run("\n".join(SECTIONS[section]), section)


def slopes(section: str) -> tuple[Any, np.ndarray]:
    made = run(PROGRAMS[section])
    start = torch.tensor(made.start, requires_grad=True)
    value = made.program(start)
    value.backward()
    assert value.item() == pytest.approx(float(made.program(made.start)), rel=1e-12)
    return made, start.grad.numpy()


@pytest.mark.parametrize("section", PROGRAMS)
def test_gradients_are_those_of_differences(section: str) -> None:
    made, slope = slopes(section)
    for place in range(0, len(slope), max(1, len(slope) // 12)):
        step = np.zeros(len(slope))
        step[place] = 1e-6
        difference = (made.program(made.start + step) - made.program(made.start - step)) / 2e-6
        assert slope[place] == pytest.approx(difference, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("section", PROGRAMS)
def test_gradients_are_those_of_hips_autograd(section: str) -> None:
    source = PROGRAMS[section].replace("import numpy as np", "import autograd.numpy as np")
    theirs = run(source)
    wanted = autograd.grad(theirs.program)(np.asarray(theirs.start))
    np.testing.assert_allclose(slopes(section)[1], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("section", PROGRAMS)
def test_second_derivatives_are_symmetric_and_those_of_differences(section: str) -> None:
    made = run(PROGRAMS[section])
    start = torch.tensor(made.start)
    along = torch.linspace(-1, 1, len(made.start), dtype=torch.float64)
    slope = torch.func.grad(made.program)
    _, bend = torch.func.jvp(slope, (start,), (along,))
    difference = (slope(start + 1e-6 * along) - slope(start - 1e-6 * along)) / 2e-6
    torch.testing.assert_close(bend, difference, rtol=1e-4, atol=1e-5)
