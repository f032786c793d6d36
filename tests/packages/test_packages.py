"""Packages that are made for PyTorch compute the same on this library, and know no difference."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("programs.py")
NAMES = re.findall(r"^@program\ndef (\w+)\(", SOURCE.read_text(), re.MULTILINE)


def results(*command: str) -> Any:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    done = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, text=True,
                          capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def flat(values: Any) -> list[float]:
    return [number for part in values for number in flat(part)] if isinstance(values, list) \
        else [values]


@pytest.mark.parametrize("name", NAMES)
def test_a_program_computes_the_same(name: str) -> None:
    theirs = results(str(SOURCE), name)
    ours = results("-m", "retrograd", "run", str(SOURCE), name)
    found, expected = flat(ours), flat(theirs)
    assert len(found) == len(expected) > 0
    scale = max(1.0, max(map(abs, expected)))
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-5 * scale)
