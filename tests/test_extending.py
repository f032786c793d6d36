"""The pages for people who extend the package, and on sparse tensors: their programs run, each
section from scratch."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd

DOCS = Path(__file__).parent.parent / "docs"
SOURCE = Path(retrograd.__file__).parent.parent


def sections(page: str) -> dict[str, list[str]]:
    return {part.split("\n", 1)[0]: re.findall(r"```python\n(.*?)```", part, re.DOTALL)
            for part in (DOCS / page).read_text().split("\n## ")[1:]}


EXTENDING = sections("extending.md")
SECTIONS = {**EXTENDING, **sections("sparse.md")}


def test_the_page_has_the_three_ways() -> None:
    assert list(EXTENDING) == ["Add an op", "Add a kernel for one library", "Add a transform"]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_runs(section: str, tmp_path: Path) -> None:
    blocks = SECTIONS[section]
    assert blocks
    program = tmp_path / "program.py"
    start = "" if "import retrograd as torch" in blocks[0] else "import retrograd as torch\n"
    program.write_text(start + "\n".join(blocks))
    done = subprocess.run([sys.executable, "-W", "error", program], capture_output=True, text=True,
                          env={"PYTHONPATH": str(SOURCE)}, check=False)
    assert done.returncode == 0, done.stderr
