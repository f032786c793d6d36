"""The page on debugging: its programs run, and print what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd

PAGE = (Path(__file__).parent.parent / "docs" / "debugging.md").read_text()
SOURCE = Path(retrograd.__file__).parent.parent
SECTIONS = {part.split("\n", 1)[0]: part for part in PAGE.split("\n## ")[1:]}


def blocks(part: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", part, re.DOTALL)


RUNNABLE = [title for title in SECTIONS if blocks(SECTIONS[title], "python")]
DRIVER = """
import linecache, sys, warnings
from retrograd.core.cuts import EXITS
for program in sys.stdin.read().split("%%%%"):
    EXITS.clear()
    linecache.cache["train.py"] = len(program), None, program.splitlines(True), "train.py"
    with warnings.catch_warnings():
        exec(compile(program, "train.py", "exec"), {"__name__": "__main__"})
    print("%%%%", end="")
"""


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What each section's program prints, in one process: starting one takes the most time."""
    programs = ["".join(blocks(SECTIONS[title], "python")) for title in RUNNABLE]
    done = subprocess.run([sys.executable, "-W", "error", "-c", DRIVER], text=True, check=False,
                          input="%%%%".join(programs), capture_output=True,
                          env={"PYTHONPATH": str(SOURCE)})
    assert done.returncode == 0, done.stderr
    return dict(zip(RUNNABLE, done.stdout.split("%%%%"), strict=False))


@pytest.mark.parametrize("title", RUNNABLE)
def test_a_section_prints_what_it_shows(printed: dict[str, str], title: str) -> None:
    assert printed[title] == "".join(blocks(SECTIONS[title], "text"))


def test_the_page_has_every_common_error() -> None:
    for words in ("does not require grad", "grad is None", "a second time", "inplace operation",
                  "only for scalar outputs", "numpy() on Tensor that requires grad"):
        assert any(words in title for title in SECTIONS)
