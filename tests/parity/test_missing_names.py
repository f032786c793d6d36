"""The list of PyTorch's public names is PyTorch's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.sweeps import pytorch_names


def test_the_list_is_current() -> None:
    # In a new interpreter: what other tests import may add to PyTorch's namespaces.
    program = "from tests.sweeps import pytorch_names; print(pytorch_names.text(), end='')"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], text=True,
                          capture_output=True, check=True, cwd=Path(__file__).parents[2])
    assert done.stdout == pytorch_names.TARGET.read_text(encoding="utf-8")


@pytest.mark.parametrize("space", ["", "Tensor", "nn", "optim", "linalg", "distributions"])
def test_names_of_pytorch_are_in_it(space: str) -> None:
    assert len(pytorch_names.names_of(space)) > 10
