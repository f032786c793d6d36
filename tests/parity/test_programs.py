"""Programs as people write them print the same under PyTorch and under ``retrograd run``.

Those in ``programs/`` train for 50 steps and print every loss to four digits; those in ``small/``
try many things shortly.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd

PROGRAMS = Path(__file__).parent / "programs"
LONG = sorted(p.stem for p in PROGRAMS.glob("*.py"))
SMALL = sorted(p.stem for p in (PROGRAMS / "small").glob("*.py"))
ENV = {**os.environ, "PYTHONPATH": str(Path(retrograd.__file__).parent.parent),
       "OMP_NUM_THREADS": "1"}
ALL_IN_TURN = """
import contextlib, io, json, runpy, sys
found = {}
for path in sys.argv[1:]:
    default = torch.get_default_dtype()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(path, run_name="__main__")
    torch.set_default_dtype(default)
    torch.set_printoptions(profile="default", sci_mode=None)
    found[path] = printed.getvalue()
print(json.dumps(found))
"""


def run(*arguments: object) -> str:
    done = subprocess.run([sys.executable, *map(str, arguments)], env=ENV, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def all_in_turn(start: str, paths: list[Path]) -> dict[str, str]:
    """What each of some programs prints; PyTorch takes its time to be imported."""
    found = json.loads(run("-c", start + ALL_IN_TURN, *paths))
    return {Path(path).stem: printed for path, printed in found.items()}


@pytest.fixture(scope="module")
def under_pytorch() -> dict[str, str]:
    return all_in_turn("import torch", [PROGRAMS / f"{name}.py" for name in LONG])


@pytest.mark.parametrize("name", LONG)
def test_losses_agree_for_fifty_steps(under_pytorch: dict[str, str], name: str) -> None:
    printed = run("-m", "retrograd", "run", PROGRAMS / f"{name}.py")
    assert printed.splitlines() == under_pytorch[name].splitlines()
    steps = re.findall(r"^\d+ (\S+)$", printed, flags=re.M)
    assert len(steps) == 50
    assert float(steps[-1]) < float(steps[0])


def test_small_programs_print_the_same() -> None:
    paths = [PROGRAMS / "small" / f"{name}.py" for name in SMALL]
    theirs = all_in_turn("import torch", paths)
    ours = all_in_turn("import retrograd; retrograd.as_torch()\nimport torch", paths)
    different = {name: (theirs[name], ours[name]) for name in SMALL if ours[name] != theirs[name]}
    assert not different
    assert all(ours.values())
