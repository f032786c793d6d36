"""Every program on a page runs, and prints what its comments say; so do examples in docstrings.

A section runs from scratch, after what stands before the first one. What is not meant to run is
marked as something else than Python: ``text`` or ``console``.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import json
import linecache
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd.base.modes import GRAD, MODE
from retrograd.ops import descriptions

ROOT = Path(__file__).parent.parent
OWN_TESTS = {"debugging.md", "extending.md", "numpy.md", "sparse.md"}
"""Pages that have tests of their own: test_debugging_page, test_extending, test_numpy_pages."""
PAGES = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
         if path.name not in OWN_TESTS]
_SAID = re.compile(r"^\s*print\(.*\)\s*# (.+)$", re.MULTILINE)


def programs(path: Path) -> dict[str, str]:
    """The programs of a page by section."""
    start, *parts = path.read_text(encoding="utf-8").split("\n## ")
    blocks = {"": _python(start), **{part.split("\n", 1)[0]: _python(part) for part in parts}}
    if path.name in IN_ONE:
        return {"": "\n".join(blocks.values())}
    return {name: program for name, program in blocks.items() if program}


IN_ONE = {"autograd.md", "backward.md", "higher_order.md", "performance.md"}
"""Pages whose sections go on from one another."""


def _python(text: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))


CASES = [(path, name, program) for path in PAGES for name, program in programs(path).items()
         if program]


@pytest.fixture(autouse=True)
def as_before() -> Any:
    state = torch.get_rng_state()
    yield
    torch.set_rng_state(state)
    torch.set_default_dtype(torch.float32)
    assert MODE.get() is GRAD


@pytest.mark.parametrize("path, name, program", CASES,
                         ids=[f"{path.name} {name}" for path, name, _ in CASES])
def test_a_program_of_a_page(path: Path, name: str, program: str, tmp_path: Path,
                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    title = f"<{path.name}>"
    # Errors quote their lines, which are looked up as a file's are.
    linecache.cache[title] = (len(program), None, program.splitlines(True), title)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, title, "exec"), {"__name__": "__page__"})
    expected = _SAID.findall(program)
    found = _values(printed.getvalue())
    for text in expected:
        assert found.startswith(_values(text)), f"said {text!r}, printed {found[:200]!r}"
        found = found[len(_values(text)):]


def _values(text: str) -> str:
    """A printed text without its line breaks and spaces, in which pages may differ."""
    return "".join(text.split())


# ---------------------------------------------------------------- notebooks

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook(path: Path) -> None:
    """Every cell runs, one after the other, and what it ends with can be shown."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and len({cell["id"] for cell in notebook["cells"]}) == len(
        notebook["cells"])
    space: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for number, cell in enumerate(notebook["cells"]):
            if cell["cell_type"] != "code":
                continue
            assert cell["outputs"] == []  # they are made where it is read
            source = "".join(cell["source"])
            title = f"<{path.stem} {number}>"
            linecache.cache[title] = (len(source), None, source.splitlines(True), title)
            exec(compile(source, title, "exec"), space)
            last = source.splitlines()[-1]
            if not last.startswith((" ", "assert")):
                with contextlib.suppress(SyntaxError):
                    repr(eval(last, space))


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3


# ---------------------------------------------------------------- docstrings

HOMES = ("", "Tensor", "autograd", "autograd.functional", "autograd.profiler", "func", "linalg",
         "nn", "nn.functional", "optim", "profiler", "utils.data", "viz", "sparse", "special",
         "fft", "distributions", "testing", "utils.benchmark")


def examples() -> dict[str, str]:
    """The docstrings that have examples, by name."""
    found: dict[str, str] = {}
    for space in HOMES:
        home = torch.Tensor if space == "Tensor" else import_module(
            f"retrograd.{space}".rstrip("."))
        for name in dir(home):
            value = inspect.getattr_static(home, name, None)
            doc = inspect.getdoc(value) if callable(value) else None
            if doc and ">>>" in doc and doc not in found.values():
                found[f"{space}.{name}".lstrip(".")] = doc
    return found


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example(name: str) -> None:
    home = import_module(f"retrograd.{name.rpartition('.')[0]}".rstrip(".")) \
        if not name.startswith("Tensor.") else torch.Tensor
    names = {**(vars(home) if home is not torch else {}), "torch": torch, "retrograd": torch,
             "nn": torch.nn, "F": torch.nn.functional}
    test = doctest.DocTestParser().get_doctest(EXAMPLES[name], names, name, None, None)
    told = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=told.write)
    assert not runner.failures, told.getvalue()


def test_the_hundred_most_used_functions_have_formulas_and_examples() -> None:
    described = sum(len(texts) for texts in descriptions.DESCRIBED.values())
    assert described >= 120 and len(EXAMPLES) >= described
    for function in (torch.sum, torch.Tensor.matmul, torch.nn.functional.cross_entropy,
                     torch.linalg.solve, torch.func.grad):
        first, blank, formula, *_ = inspect.getdoc(function).splitlines()
        assert first.endswith(".") and not blank and formula


def test_blocks_say_what_they_are() -> None:
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        opened = re.findall(r"^```(\w*)$", path.read_text(encoding="utf-8"), re.MULTILINE)[::2]
        assert set(opened) <= {"python", "console", "text", ""}, path
