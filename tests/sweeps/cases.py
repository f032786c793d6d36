"""The sample calls of every op as functions of their differentiable arguments."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.samples import Call, Entry, Recipe, load_all, resolve

ENTRIES: dict[str, Entry] = load_all()
OUTCOMES_FILE = Path(__file__).with_name("outcomes.json")
BY_CHANCE = "by chance"  # PyTorch shows what its memory held before


@dataclass
class Case:
    """One sample call, in one library and dtype."""

    lib: Any
    entry: Entry
    call: Call
    dtype: str = "float64"

    @property
    def name(self) -> str:
        """The call as it would be written."""
        options = [f"{key}={_shown(value)}" for key, value in self.call.kwargs.items()]
        shown = ", ".join([_shown(value) for value in self.call.args] + options)
        return f"{self.entry.name}({shown}) in {self.dtype}"

    def inputs(self) -> list[Any]:
        """Fresh values of the differentiable arguments, which require no gradient yet."""
        return [self.tensor(recipe) for recipe in _recipes((self.call.args, self.call.kwargs))
                if recipe.differentiable]

    def leaves(self) -> list[Any]:
        """Fresh differentiable arguments that require gradients."""
        return [x.requires_grad_() for x in self.inputs()]

    def tensor(self, recipe: Recipe) -> Any:
        return self.lib.tensor(recipe.array(self.dtype))

    def arguments(self, inputs: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The call's arguments around ``inputs``; what is not differentiable is made anew."""
        remaining = iter(inputs)

        def fill(value: Any) -> Any:
            if isinstance(value, Recipe):
                return next(remaining) if value.differentiable else self.tensor(value)
            if isinstance(value, (list, tuple)):
                return type(value)(fill(v) for v in value)
            return value

        args = [fill(value) for value in self.call.args]
        return args, {key: fill(value) for key, value in self.call.kwargs.items()}

    def run(self, inputs: list[Any]) -> Any:
        """Call the op; random ops always draw the same numbers."""
        return self.run_with(*self.arguments(inputs))

    def run_with(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        self.lib.manual_seed(0)
        return resolve(self.lib, self.entry.name)(*args, **kwargs)

    def function(self, *inputs: Any) -> tuple[Any, ...]:
        """The outputs that can carry a gradient, as a function of the differentiable arguments."""
        found = tensors(self.lib, self.run(list(inputs)))
        return tuple(t for t in found if t.is_floating_point() or t.is_complex())


def cases(lib: Any, entry: Entry, dtype: str = "float64") -> Iterator[Case]:
    """All sample calls of ``entry``."""
    return (Case(lib, entry, call, dtype) for call in entry.calls)


def _recipes(value: Any) -> Iterator[Recipe]:
    if isinstance(value, Recipe):
        yield value
    elif isinstance(value, dict):
        yield from _recipes(tuple(value.values()))
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _recipes(part)


def tensors(lib: Any, output: Any) -> list[Any]:
    """The tensors in whatever an op returned."""
    if isinstance(output, lib.Tensor):
        return [output]
    if isinstance(output, (list, tuple)):
        return [t for part in output for t in tensors(lib, part)]
    return []


def _shown(value: Any) -> str:
    if isinstance(value, Recipe):
        shape = ", ".join(str(n) for n in value.shape)
        return f"array({shape})" if value.differentiable else f"{value.kind}({shape})"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_shown(v) for v in value) + "]"
    return repr(value)


def failures_of(cases: Iterator[Case], check: Callable[[Case], None]) -> list[str]:
    """Run ``check`` on every case and describe those that fail."""
    found = []
    for case in cases:
        try:
            with warnings.catch_warnings():
                check(case)
        except Exception as error:
            found.append(f"{case.name}: {type(error).__name__}: {str(error)[:600]}")
    return found


def settle(failures: list[str], known: str | None, place: str = "") -> None:
    """Fail for new failures, for a known one that has gone, and for one that is now another.

    What is known of each sample at a ``place`` stands in outcomes.json; RETROGRAD_OUTCOMES=write
    writes what is found there. What is known to differ by chance may or may not.
    """
    if known is None:
        assert not failures, f"{len(failures)} fail\n" + "\n".join(failures[:5])
        return
    assert failures, f"passes now, so strike it from the known ones: {known}"
    if not place:
        return
    found, outcomes = dict(map(outcome_of, failures)), json.loads(OUTCOMES_FILE.read_text())
    if os.environ.get("RETROGRAD_OUTCOMES") == "write":
        outcomes = write_outcomes(place, found)
    by_chance = {sample for sample, how in outcomes.get(place, {}).items() if how == BY_CHANCE}
    found |= dict.fromkeys(by_chance, BY_CHANCE)
    assert found == outcomes.get(place), "known to differ, but not in this way:\n" + "\n".join(
        failures)


def write_outcomes(place: str, found: dict[str, str]) -> dict[str, Any]:
    """Keep what was found at a place, or nothing if nothing was, and return all that is known."""
    outcomes = json.loads(OUTCOMES_FILE.read_text()) | {place: found}
    outcomes = {where: how for where, how in outcomes.items() if how}
    OUTCOMES_FILE.write_text(json.dumps(outcomes, indent=0, sort_keys=True) + "\n")
    return outcomes


def outcome_of(failure: str) -> tuple[str, str]:
    """A failed case, and how it failed: what differs or who raises, without the numbers."""
    case, kind, said = re.fullmatch(r"(.*? in \w+): (\w+): (.*)", failure, re.DOTALL).groups()
    if kind != "Unlike":
        return case, f"raises {kind}"
    if said.startswith("nodes"):
        return case, said
    return case, re.split(r"[(\[]|: torch ", said)[0].strip()
