"""How many functions of the package every sample call goes through, once it was made before.

A way that is only shorter gives what the long way gives: that it is still taken shows in nothing
else. RETROGRAD_OUTCOMES=write writes what is found, with or without native kernels.
"""

from __future__ import annotations

import gc
import json
import os
import warnings
from _lsprof import Profiler
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import retrograd as rg
from retrograd.backend.numpy.native import package
from tests.sweeps.cases import ENTRIES, Case, cases, tensors

WAYS_FILE = Path(__file__).parent / "sweeps" / "ways.json"
COUNTED = ("<retrograd", *(str(Path(rg.__file__).parent / folder) for folder in ("ops", "backend")))
"""How the files begin of code that is generated, and of declarations and kernels."""
LIBRARY = "numpy" if package is None else "native"


@pytest.mark.parametrize("name", ENTRIES)
def test_a_sample_goes_through_no_more_functions_than_before(name: str) -> None:
    found = [functions_of(case) for case in cases(rg, ENTRIES[name])]
    known = json.loads(WAYS_FILE.read_text()) if WAYS_FILE.exists() else {}
    if os.environ.get("RETROGRAD_OUTCOMES") == "write":
        known.setdefault(LIBRARY, {})[name] = found
        WAYS_FILE.write_text(json.dumps(known, sort_keys=True).replace("], ", "],\n") + "\n")
    longer = {case.name: f"{now} functions, {before} before" for case, now, before
              in zip(cases(rg, ENTRIES[name]), found, known[LIBRARY][name], strict=True)
              if now > before}
    assert not longer


def functions_of(case: Case) -> int:
    """How often a call and its backward pass, and a call without gradients, enter the package."""
    gc.disable()  # objects of other tests would be finished here
    try:
        return min([entered(case) for _ in range(3)][1:])
    finally:
        gc.enable()


def entered(case: Case) -> int:
    inputs, leaves = case.inputs(), case.leaves()
    calls = Profiler(builtins=False, subcalls=False)
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        calls.enable()
        try:
            use(case, inputs, leaves)
        finally:
            calls.disable()
    return sum(entry.callcount for entry in calls.getstats()
               if isinstance(entry.code, CodeType) and entry.code.co_filename.startswith(COUNTED))


def use(case: Case, inputs: list[Any], leaves: list[Any]) -> None:
    with rg.no_grad():
        case.run(inputs)
    live = [y for y in tensors(rg, case.run(leaves)) if y.requires_grad]
    if live:
        rg.autograd.grad(live, leaves, [y.detach() for y in live], allow_unused=True)
