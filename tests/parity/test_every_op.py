"""Every op on each of its samples beside PyTorch: values, dtypes, node names and derivatives."""

from __future__ import annotations

import contextlib
import itertools
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.samples import resolve
from tests.sweeps.cases import (
    ENTRIES,
    OUTCOMES_FILE,
    Case,
    cases,
    failures_of,
    settle,
    tensors,
)
from tests.sweeps.known import DEGENERATE, DIFFERENCES, NODE_DIFFERENCES

import retrograd as rg
from parity.harness import same_message

torch.set_num_threads(1)

TOLERANCES = {"float64": 1e-9, "complex128": 1e-9, "float32": 2e-4, "int64": 1e-6,
              "float16": 2e-2, "bfloat16": 1e-1}
HALF_SAMPLES = 2  # the narrow dtypes are tried on an op's first samples


NOT_IN_TORCH = object()


class Unlike(AssertionError):
    """The two libraries gave different results."""


def dtypes_of(name: str) -> list[str]:
    wide = ["float64", "float32"]
    return wide + ["complex128"] if ENTRIES[name].complex else wide


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in ENTRIES for d in dtypes_of(n)])
def test_values_and_derivatives(name: str, dtype: str) -> None:
    check_samples(name, dtype, compare)


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in ENTRIES for d in dtypes_of(n)])
def test_node_names(name: str, dtype: str) -> None:
    chosen = cases(rg, ENTRIES[name], dtype)
    settle(failures_of(chosen, compare_nodes), NODE_DIFFERENCES.get((name, dtype)),
           f"nodes of {name} in {dtype}")


@pytest.mark.parametrize("name", list(ENTRIES))
def test_integers(name: str) -> None:
    check_samples(name, "int64", compare_if_accepted)


HERMITIAN = ("linalg.cholesky", "linalg.cholesky_ex", "cholesky_inverse")
"""What takes samples of one element for real, which PyTorch does not in all that it computes."""


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items()
                                  if not entry.complex and name not in HERMITIAN])
def test_complex_numbers_where_samples_are_real(name: str) -> None:
    check_samples(name, "complex128", compare_if_accepted, HALF_SAMPLES)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", list(ENTRIES))
def test_narrow_floats(name: str, dtype: str) -> None:
    check_samples(name, dtype, compare_if_accepted, HALF_SAMPLES)


class Scaled(Case):
    """A sample call with arguments that are so many times as large."""

    times = 1.0

    def tensor(self, recipe: Any) -> Any:
        values = recipe.array(self.dtype)
        return self.lib.tensor(values * self.times if recipe.differentiable else values)


class Far(Scaled):
    times = 150.0


class Near(Scaled):
    times = 1e-4


ILL_CONDITIONED = ("linalg.householder_product", "orgqr", "ormqr")  # far from reflections
SCALED_SAMPLES = 8


@pytest.mark.parametrize("scaled", [Far, Near])
@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in ILL_CONDITIONED
                                  and (name, "float64") not in DIFFERENCES])
def test_values_far_from_zero_and_near_it(name: str, scaled: Any) -> None:
    """Where one term outweighs all others, sums overflow, and series and their limits meet."""
    once = replace(ENTRIES[name], twice=False)
    chosen = [scaled(rg, once, call) for call in once.calls[:SCALED_SAMPLES]]
    settle(failures_of(iter(chosen), compare_if_accepted), None)


def check_samples(name: str, dtype: str, check: Any, limit: int | None = None) -> None:
    chosen = itertools.islice(cases(rg, ENTRIES[name], dtype), limit)
    settle(failures_of(chosen, check), DIFFERENCES.get((name, dtype)), f"{name} in {dtype}")


def test_outcomes_are_those_of_the_known_differences() -> None:
    wanted = {*(f"nodes of {name} in {dtype}" for name, dtype in NODE_DIFFERENCES),
              *(f"{name} in {dtype}" for name, dtype in DIFFERENCES),
              *(f"{name}, {kind}" for name, kind in DEGENERATE)}
    # Those of PyTorch's own catalogue are looked at where it is run.
    assert {place for place in json.loads(OUTCOMES_FILE.read_text())
            if not place.endswith(" of the catalogue")} == wanted


def test_a_known_difference_that_becomes_another_fails() -> None:
    place = "nodes of linalg.qr in float64"
    known = json.loads(OUTCOMES_FILE.read_text())[place]
    as_known = [f"{case}: Unlike: {said}" for case, said in known.items()]
    settle(as_known, "reason", place)
    first, *rest = as_known
    for others in (rest, [*rest, first.replace("retrograd [", "retrograd [0")],
                   [*rest, f"{next(iter(known))}: TypeError: no"]):
        with pytest.raises(AssertionError):
            settle(others, "reason", place)


# ---------------------------------------------------------------- one case, two libraries


REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, AssertionError)


def compare(case: Case) -> None:
    theirs, ours = replace(case, lib=torch), case
    try:
        wanted = outcome(theirs)
    except REFUSALS as error:
        compare_error(error, ours)
        return
    compare_outcomes(wanted, outcome(ours), case.dtype)


def compare_if_accepted(case: Case) -> None:
    """Compare where PyTorch has the op for the dtype."""
    try:
        wanted = outcome(replace(case, lib=torch))
    except REFUSALS:
        return
    compare_outcomes(wanted, outcome(case), case.dtype)


def compare_nodes(case: Case) -> None:
    """Compare the names of the nodes that made the outputs."""
    try:
        wanted = nodes(replace(case, lib=torch))
    except REFUSALS:
        return
    found = nodes(case)
    if wanted != found:
        raise Unlike(f"nodes: torch {wanted}, retrograd {found}")


def nodes(case: Case) -> list[str]:
    with quietly():
        found = tensors(case.lib, case.run(case.leaves()))
    return [type(y.grad_fn).__name__ for y in found]


def compare_error(wanted: Exception, ours: Case) -> None:
    try:
        outcome(ours)
    except Exception as found:
        if isinstance(found, type(wanted)) and same_message(str(wanted), str(found)):
            return
        raise Unlike(f"torch raised {wanted!r}") from found
    raise Unlike(f"only torch raised {wanted!r}")


def outcome(case: Case) -> Iterator[tuple[str, Any]]:
    """What a call gives: values first, then derivatives of the first and the second order."""
    with quietly():
        leaves = case.leaves() if case.dtype != "int64" else case.inputs()
        found = tensors(case.lib, case.run(leaves))
        facts = [(f"output {i}", fact(y)) for i, y in enumerate(found)]
        live = [y for y in found if y.requires_grad]
        if live:
            facts += derivatives(case, live, leaves)
    return facts


def derivatives(case: Case, live: list[Any], leaves: list[Any]) -> list[tuple[str, Any]]:
    grad = case.lib.autograd.grad
    twice = case.dtype in ("float64", "complex128") and case.entry.twice and case.call.smooth
    first = grad(live, leaves, [seed(case, y) for y in live], allow_unused=True,
                 create_graph=twice)
    facts = [(f"gradient {i}", None if g is None else fact(g)) for i, g in enumerate(first)]
    if twice:
        curved = [g for g in first if g is not None and g.requires_grad]
        facts += [(f"second derivative {i}", g)
                  for i, g in enumerate(second_derivatives(case, curved, leaves))]
    return facts


def second_derivatives(case: Case, curved: list[Any], leaves: list[Any]) -> list[Any]:
    """They are zero where no gradient depends on a leaf any more."""
    if not curved:
        return [(str(x.dtype), tuple(x.shape), np.zeros(tuple(x.shape))) for x in leaves]
    try:
        found = case.lib.autograd.grad(curved, leaves, [seed(case, g) for g in curved],
                                       allow_unused=True, materialize_grads=True)
    except (NotImplementedError, RuntimeError) as error:
        if case.lib is torch and "not implemented" in str(error):
            return [NOT_IN_TORCH] * len(leaves)
        raise
    return [fact(g) for g in found]


def seed(case: Case, like: Any) -> Any:
    """The same numbers in both libraries."""
    random = np.random.RandomState(sum(like.shape) + 7)
    values = random.rand(*like.shape) * 2 - 1
    if like.is_complex():
        values = values + 1j * (random.rand(*like.shape) * 2 - 1)
    # By way of one dimension: PyTorch gives an empty array with several of them odd strides.
    return case.lib.tensor(np.ravel(values)).to(like.dtype).reshape(like.shape)


def fact(tensor: Any) -> tuple[str, tuple[int, ...], Any]:
    """A tensor's dtype, shape and values."""
    plain = tensor.detach()
    if "bfloat16" in str(plain.dtype):
        plain = plain.float()
    # PyTorch hands out some zeros without memory behind them.
    force = {"force": True} if isinstance(plain, torch.Tensor) else {}
    values = np.array(plain.resolve_conj().numpy(**force))
    return str(tensor.dtype), tuple(tensor.shape), values


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def compare_outcomes(wanted: list, found: list, dtype: str) -> None:
    theirs, ours = dict(wanted), dict(found)
    if list(theirs) != list(ours):
        raise Unlike(f"torch gave {list(theirs)}, retrograd {list(ours)}")
    for what in theirs:
        if not alike(theirs[what], ours[what], TOLERANCES[dtype]):
            raise Unlike(f"{what}: torch {theirs[what]}, retrograd {ours[what]}")


def alike(theirs: Any, ours: Any, tolerance: float) -> bool:
    if theirs is NOT_IN_TORCH:
        return ours is not None
    if theirs is None or isinstance(theirs, str):
        return bool(theirs == ours)
    if ours is None or theirs[:2] != ours[:2]:
        return False
    a, b = np.asarray(theirs[2]), np.asarray(ours[2])
    if a.dtype.kind in "biu":
        return bool((a == b).all())
    size = np.abs(a[np.isfinite(a)]).max(initial=0.0) if a.ndim else 0.0
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * (1 + size), equal_nan=True))


# ---------------------------------------------------------------- the list of ops


def test_torch_has_every_op() -> None:
    for name in ENTRIES:
        resolve(torch, name)


def test_known_differences_are_of_known_ops() -> None:
    assert {key[0] for key in DIFFERENCES | NODE_DIFFERENCES} <= set(ENTRIES)
