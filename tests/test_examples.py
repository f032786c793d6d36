"""The example programs run, and find what they say they find."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, **options: Any) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main(**options)


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


def improves(by: float) -> Any:
    """Whether the second of two losses is that much smaller than the first."""
    return lambda found: found[1] < found[0] / by


CHECKS = [fixed_point, maml, gradient_penalty, newton_cg, per_sample_gradients, quantum_control]


@pytest.mark.parametrize("holds", CHECKS, ids=lambda f: f.__name__)
def test_an_example(holds: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert holds(run(holds.__name__))
    assert capsys.readouterr().out.count("\n") == 1


REDUCED: dict[str, tuple[dict[str, int], Any]] = {
    "accumulation": ({"steps": 20}, lambda found: found[0] < 1e-12 and found[2] < found[1] / 2),
    "char_gpt": ({"steps": 40}, improves(1.4)),
    "digits_cnn": ({"epochs": 1}, lambda found: found > 0.9),
    "gan": ({"steps": 60}, lambda found: found[0] < 0.5),
    "lstm_adding": ({"steps": 150, "length": 6}, lambda found: found < 0.05),
    "neural_ode": ({"steps": 250}, improves(1.5)),
    "physics_fit": ({"steps": 5}, lambda found: found[0] < 0.5),
    "reinforce": ({"rounds": 12, "longest": 100}, lambda found: found[1] > 1.5 * found[0]),
    "teacher_student": ({"steps": 100}, lambda found: found[0] > 0.85 and found[1] > found[2]),
    "transfer_learning": ({"steps": 100}, lambda found: found[0] > found[1]),
    "vae": ({"epochs": 3}, improves(1.25)),
}
"""Examples that train for seconds: what makes them short, and what they find even so."""


@pytest.mark.parametrize("name", REDUCED)
def test_an_example_in_short(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options, holds = REDUCED[name]
    found = run(name, **options)
    assert holds(found), found
    assert capsys.readouterr().out.endswith("\n")


def test_every_example_is_run() -> None:
    assert sorted(p.stem for p in EXAMPLES.glob("*.py")) == \
        sorted([*(f.__name__ for f in CHECKS), *REDUCED])
