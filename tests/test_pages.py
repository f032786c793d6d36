"""Every program on a page runs, and prints what its comments say; so do examples in docstrings.

A section runs from scratch, after what stands before the first one. What is not meant to run is
marked as something else than Python: ``text`` or ``console``.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd.base.modes import GRAD, MODE

ROOT = Path(__file__).parent.parent
OWN_TESTS = {"extending.md", "numpy.md", "sparse.md"}
"""Pages that tests of their own run: test_extending.py, test_numpy_pages.py."""
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


IN_ONE = {"autograd.md", "backward.md", "higher_order.md", "performance.md", "debugging.md"}
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


def test_blocks_say_what_they_are() -> None:
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        opened = re.findall(r"^```(\w*)$", path.read_text(encoding="utf-8"), re.MULTILINE)[::2]
        assert set(opened) <= {"python", "console", "text", ""}, path
