"""What measurements say of themselves, beside PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch.utils.benchmark as theirs

import retrograd.utils.benchmark as ours

TIMES = [[8e-3], [8e-3, 4e-3], [8e-3, 4e-3, 16e-3], [8e-3] * 4, [8.0, 8.25, 8.5, 8.75, 9.0],
         [0.5, 0.875, 1.0, 1.125, 9.0], [38.0, 38.0, 40.0, 42.0, 42.0],
         [1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6], [3e-9]]
SPECS = [{}, {"label": "f"}, {"sub_label": "few"}, {"label": "f", "sub_label": "few",
         "description": "old", "env": "here", "num_threads": 2}, {"setup": "import math"},
         {"setup": "x = 1\ny = 2", "description": "two lines"}]


def told(lib: Any, times: list[float], options: dict[str, Any]) -> Any:
    spec = lib.TaskSpec(**{"stmt": "f()", "setup": "pass", **options})
    found = lib.Measurement(4, times, spec)
    return (repr(found).splitlines()[1:], found.title, found.median, found.mean, found.iqr,
            found.times, found.num_threads, found.description, found.stmt)


@pytest.mark.parametrize("options", SPECS, ids=map(str, range(len(SPECS))))
def test_a_measurement_is_told(options: dict[str, Any]) -> None:
    for times in TIMES:
        mine, wanted = told(ours, times, options), told(theirs, times, options)
        assert mine[:2] == wanted[:2] and mine[6:] == wanted[6:]
        for found, expected in zip(mine[2:6], wanted[2:6]):
            assert found == pytest.approx(expected, 1e-9)


def test_units() -> None:
    for time in (5e-10, 1e-9, 2.5e-7, 2e-6, 1e-3, 1.0, 60.0):
        assert ours.select_unit(time) == theirs.select_unit(time)
