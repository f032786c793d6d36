"""The suite of benchmarks runs, and compares before it times."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_lines_are_compared_and_timed():
    ran = subprocess.run(
        [sys.executable, "-m", "bench", "--only", "MLP by hand|a scalar expression", "--seconds",
         "0", "--threads", "1", "--libraries", "autograd", "--clock", "processor"], cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "2 lines, geometric mean" in ran.stdout
    assert "autograd" in next(row for row in ran.stdout.splitlines() if row.startswith("train:"))


def test_a_wrong_result_gets_no_time():
    code = ("import bench.__main__ as main\n"
            "from bench.declaring import LINES, line\n"
            "import numpy as np\n"
            "class Finds:\n"
            "    def __init__(self, value): self.value = value\n"
            "    def call(self, what, *args): return [np.array(self.value)]\n"
            "line('odd')(None)\n"
            "main.agreeing(LINES['odd'], {'torch': Finds(1.0), 'retrograd': Finds(1.0)})\n"
            "found = main.agreeing(LINES['odd'], {'torch': Finds(1.0), 'jax': Finds(1.1)})\n"
            "assert list(found) == ['torch']\n"
            "main.agreeing(LINES['odd'], {'torch': Finds(1.0), 'retrograd': Finds(1.1)})\n")
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert "RuntimeError: retrograd does not find what PyTorch finds" in ran.stderr
