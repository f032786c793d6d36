"""Every program on a page runs, and prints what its comments say; so do examples in docstrings.

A section runs from scratch, after what stands before the first one. What is not meant to run is
marked as something else than Python: ``text`` or ``console``.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
import json
import linecache
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
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


SOURCE = Path(torch.__file__).parent


def docstrings() -> Iterator[tuple[Path, str]]:
    """All docstrings of the source."""
    for path in sorted(SOURCE.rglob("*.py")):
        if ">>>" in (text := path.read_text(encoding="utf-8")) or "::\n" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    yield path, ast.get_docstring(node) or ""


DOCSTRINGS = list(docstrings())


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
    known = {*map(_values, found.values())}
    for path, doc in DOCSTRINGS:  # of what loads when it is named, and of what has no public name
        if ">>>" in doc and not any(_values(doc) in one for one in known):
            module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            found[f"{module}.{_values(doc)[:20]}"] = doc
    return found


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example(name: str) -> None:
    home = torch.Tensor if name.startswith("Tensor.") else import_module(
        f"retrograd.{name.rpartition('.')[0]}".rstrip("."))
    names = {**(vars(home) if home is not torch else {}), "torch": torch, "retrograd": torch,
             "nn": torch.nn, "F": torch.nn.functional}
    test = doctest.DocTestParser().get_doctest(EXAMPLES[name], names, name, None, None)
    told = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=told.write)
    assert not runner.failures, told.getvalue()


DECLARING = """
from __future__ import annotations
from typing import Any
import retrograd as torch
from retrograd import conj, cos
from retrograd.backend import xp
from retrograd.core.op import PUBLIC, REGISTRY, Array, elementwise
REGISTRY.pop({name!r}), PUBLIC["torch"].pop({name!r})  # declared already
{block}
x = torch.tensor([0.5, 2.0], requires_grad=True)
found, expected = {call}, torch.{call}  # the new one, and ours
assert torch.equal(found, expected)
ones = torch.ones(2)
assert torch.equal(*(torch.autograd.grad(y, x, ones)[0] for y in (found, expected)))
"""
NATIVE = """
from __future__ import annotations
from typing import Any
import numpy as np
from retrograd.backend.numpy import native as namespace
globals().update(vars(namespace))
{block}
numbers = np.ones((64, 64), np.float32)
if "softmax" not in namespace.kernels:
    assert softmax(numbers, 1) is None  # the body stays, which says nothing here
else:
    assert np.allclose(softmax(numbers, 1), 1 / 64)
"""
BLOCKS = {
    "as_torch.py": "{block}\nimport torch\nassert torch.Tensor is retrograd.Tensor",
    "core/extensions.py": "from retrograd.core.extensions import Extensions\n"
                          "def call_traced(op, args, mode): return args\n"
                          "extensions = Extensions()\n{block}\n"
                          "assert extensions.traced_call('op', (1,), None) == (1,)",
    "core/op.py": DECLARING.replace("{name!r}", "'mul'").replace("{call}", "mul(x, x + 1)"),
    "backend/numpy/native.py": NATIVE,
    "ARCHITECTURE.md 0": DECLARING.replace("{name!r}", "'sin'").replace("{call}", "sin(x)"),
    "ARCHITECTURE.md 1": NATIVE}
"""What stands around each block that shows a part of a program, and what becomes of it."""


def parts_of_programs() -> dict[str, str]:
    """The blocks of code in docstrings that are not examples, and those of ARCHITECTURE.md."""
    found = {}
    for path, doc in DOCSTRINGS:
        for block in re.findall(r"::\n\n((?:    .*\n|\n)+)", doc):
            found[path.relative_to(SOURCE).as_posix()] = textwrap.dedent(block)
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    blocks = filter(re.compile("def ").search, re.findall(r"```\w*\n(.*?)```", text, re.DOTALL))
    return found | {f"ARCHITECTURE.md {number}": block for number, block in enumerate(blocks)}


PARTS = parts_of_programs()


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_a_program(name: str) -> None:
    program = BLOCKS[name].lstrip().replace("{block}", PARTS[name])
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], text=True, check=False,
                          capture_output=True, env={"PYTHONPATH": str(SOURCE.parent)})
    assert done.returncode == 0, done.stderr


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
