"""The example programs run, and find what they say they find."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main()


def fixed_point(difference: float) -> bool:
    return difference < 1e-12


def maml(losses: tuple[float, float]) -> bool:
    before, after = losses
    return after < 0.75 * before


def gradient_penalty(found: tuple[float, float]) -> bool:
    distance, slope = found
    return abs(distance - 3) < 0.8 and abs(slope - 1) < 0.3


def newton_cg(found: tuple[float, int]) -> bool:
    value, steps = found
    return value < 1e-15 and steps < 100


def per_sample_gradients(found: tuple[float, float, float]) -> bool:
    deviation, first, last = found
    return deviation < 1e-5 and last < first / 10


def quantum_control(fidelities: tuple[float, float]) -> bool:
    before, after = fidelities
    return before < 0.5 and after > 0.99


CHECKS = [fixed_point, maml, gradient_penalty, newton_cg, per_sample_gradients, quantum_control]


@pytest.mark.parametrize("holds", CHECKS, ids=lambda f: f.__name__)
def test_an_example(holds: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert holds(run(holds.__name__))
    assert capsys.readouterr().out.count("\n") == 1


def test_every_example_is_run() -> None:
    assert sorted(p.stem for p in EXAMPLES.glob("*.py")) == sorted(f.__name__ for f in CHECKS)
