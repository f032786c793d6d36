"""Every sample call on arrays of a library that offers the interface and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd.backend import strict
from retrograd.core.tensor import wrap
from tests.samples import Recipe
from tests.sweeps.cases import ENTRIES, Case, failures_of, tensors

REFUSED: dict[str, str] = {}
"""Calls that another library cannot make, by the name of the op, with the reason."""


@dataclass
class StrictCase(Case):
    """A sample call on tensors of the strict library."""

    def tensor(self, recipe: Recipe) -> Any:
        return wrap(strict.xp.asarray(recipe.array(self.dtype)))


def bare(tensor: Any) -> np.ndarray:
    return np.asarray(strict.bare(tensor._data) if isinstance(tensor._data, strict.Array)
                      else tensor._data)


def weights(like: np.ndarray, position: int) -> np.ndarray:
    values = np.cos(np.arange(like.size) + position).reshape(like.shape)
    return np.asarray(values * (1 + 0.5j) if like.dtype.kind == "c" else values).astype(like.dtype)


def outcome(case: Case) -> tuple[list[np.ndarray], list[np.ndarray | None], list[Any]]:
    """The values of the outputs, the gradients of the arguments, and what all of them are in."""
    leaves = case.leaves()
    outputs = tensors(rg, case.run(leaves))
    values = [bare(y) for y in outputs]
    live = [(i, y) for i, y in enumerate(outputs) if y.requires_grad]
    gradients: tuple[Any, ...] = ()
    if live and leaves:
        seeds = [wrap(strict.xp.asarray(weights(values[i], i))
                      if isinstance(y._data, strict.Array) else weights(values[i], i))
                 for i, y in live]
        gradients = rg.autograd.grad([y for _, y in live], leaves, seeds, allow_unused=True)
    found = [y._data for y in outputs] + [g._data for g in gradients if g is not None]
    return values, [None if g is None else bare(g) for g in gradients], found


def compare(case: Case) -> None:
    values, gradients, _ = outcome(Case(case.lib, case.entry, case.call, case.dtype))
    others, pulled, found = outcome(case)
    agree(values, others, "value")
    agree(gradients, pulled, "gradient")
    if any(isinstance(x._data, strict.Array) for x in tensors(rg, case.arguments(case.inputs()))):
        assert all(isinstance(data, strict.Array) for data in found), "left its library"


def agree(wanted: list[Any], found: list[Any], what: str) -> None:
    assert len(wanted) == len(found)
    for a, b in zip(wanted, found):
        assert (a is None) == (b is None), what
        if a is not None:
            assert (a.dtype, a.shape) == (b.dtype, b.shape), what
            # Plain bodies may add up in another order than NumPy's tuned ones.
            np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-13, err_msg=what)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_sample_call_gives_numpys_values_and_gradients(name: str) -> None:
    entry = ENTRIES[name]
    dtypes = ["float64", "complex128"] if entry.complex else ["float64"]
    made = (StrictCase(rg, entry, call, dtype) for dtype in dtypes for call in entry.calls)
    failures = failures_of(made, compare)
    if name in REFUSED:
        assert failures, f"passes now, so strike it: {REFUSED[name]}"
    else:
        assert not failures, f"{len(failures)} fail\n" + "\n".join(failures[:5])
