"""Checkers and editors understand programs that use retrograd.

Programs that are right (the README's, the examples, tests/typing/ordinary.py) pass mypy and
pyright, and what is wrong in tests/typing/mistakes.py is found by both.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "tests" / "typing"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

Finding = tuple[str, int, str]
"""The name of a file, a line, and what a checker says about it."""


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The README's programs, each in a file, and those that are files already."""
    folder = tmp_path_factory.mktemp("readme")
    found = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found
    for number, text in enumerate(found):
        (folder / f"readme_{number}.py").write_text(text)
    return [*sorted(folder.iterdir()), *EXAMPLES, *PAGES.glob("*.py")]


@functools.cache
def mypy(*paths: Path) -> list[Finding]:
    """What mypy finds, with the settings (and so the cache) of the project."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", "--no-pretty",
         *map(str, paths)],
        cwd=ROOT, env={**os.environ, "MYPYPATH": str(ROOT / "src")}, text=True,
        capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"^(.+?):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    return [(Path(path).name, int(line), text) for path, line, text in found]


@functools.cache
def pyright(*paths: Path) -> list[Finding]:
    """What pyright finds with its standard rules; it needs Node.js, and the network once."""
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable,
         *map(str, paths)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, text=True, capture_output=True,
        check=False)
    if not done.stdout.startswith("{"):
        pytest.skip("pyright cannot run here: " + done.stderr[-200:])
    answer = json.loads(done.stdout)
    assert answer["summary"]["filesAnalyzed"] == len(paths)
    return [(Path(found["file"]).name, found["range"]["start"]["line"] + 1, found["message"])
            for found in answer["generalDiagnostics"]
            if found["severity"] == "error"]


@pytest.mark.parametrize("checker", [mypy, pyright], ids=lambda f: f.__wrapped__.__name__)
class TestCheckers:
    def test_right_programs_pass(self, checker, programs: list[Path]) -> None:
        assert not [found for found in checker(*programs) if found[0] != "mistakes.py"]

    def test_every_mistake_is_found(self, checker, programs: list[Path]) -> None:
        lines = (PAGES / "mistakes.py").read_text().splitlines()
        wrong = {number for number, line in enumerate(lines, 1) if "# wrong:" in line}
        assert len(wrong) > 25
        found = {line for name, line, _ in checker(*programs) if name == "mistakes.py"}
        assert found == wrong


def test_the_ordinary_page_runs() -> None:
    """What the checkers read is also what happens."""
    program = (PAGES / "ordinary.py").read_text() + """
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
tensors(), indexing(x.clone(), x > 1), reductions(x.clone()), shapes(x), interchange(x)
gradients(), evaluate(nn.Linear(2, 2), x), custom(torch.ones(2, requires_grad=True))
assert hooks(torch.ones(2, requires_grad=True)) == ["SumBackward0", "gradient"]
transforms(torch.ones(2), torch.ones(2, 2))
train(1, lambda value: None)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True,
                   stdout=subprocess.DEVNULL,
                   env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
