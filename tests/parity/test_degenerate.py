"""Every op's samples in degenerate shapes beside PyTorch: no dims, lengths of one, no elements.

What is refused must be refused alike, and nothing may lie in memory that PyTorch would not share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.samples import Recipe
from tests.sweeps.cases import ENTRIES, Case, cases, failures_of, settle, tensors
from tests.sweeps.known import CRASHES, DEGENERATE

import retrograd as rg
from parity.test_every_op import REFUSALS, Unlike, compare, quietly

SHAPES = {
    "zero-dim": lambda shape: (),
    "ones": lambda shape: (1,) * len(shape),
    "empty": lambda shape: (0,) * len(shape),
    "first empty": lambda shape: (0, *shape[1:]) if shape else shape,
}


def resized(value: Any, shape: Any) -> Any:
    """Sample arguments with other shapes."""
    if isinstance(value, Recipe):
        return replace(value, shape=shape(value.shape))
    if isinstance(value, (list, tuple)):
        return type(value)(resized(part, shape) for part in value)
    if isinstance(value, dict):
        return {key: resized(part, shape) for key, part in value.items()}
    return value


def degenerate(name: str, kind: str) -> Iterator[Case]:
    """The samples in shapes of this kind, each call once."""
    seen = set()
    for case in cases(rg, ENTRIES[name]):
        call = replace(case.call, args=resized(case.call.args, SHAPES[kind]),
                       kwargs=resized(case.call.kwargs, SHAPES[kind]))
        found = replace(case, call=call)
        if found.name not in seen:
            seen.add(found.name)
            yield found


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("name", ENTRIES)
def test_values_derivatives_and_errors(name: str, kind: str) -> None:
    if (name, kind) in CRASHES:
        pytest.skip(CRASHES[name, kind])
    settle(failures_of(degenerate(name, kind), compare), DEGENERATE.get((name, kind)),
           f"{name}, {kind}")


@pytest.mark.parametrize("kind", ["zero-dim", "ones"])
@pytest.mark.parametrize("name", ENTRIES)
def test_memory_is_shared_where_pytorch_shares_it(name: str, kind: str) -> None:
    settle(failures_of(degenerate(name, kind), compare_memory), None)


@pytest.mark.parametrize("name", ENTRIES)
def test_memory_of_ordinary_samples(name: str) -> None:
    settle(failures_of(cases(rg, ENTRIES[name]), compare_memory), None)


def compare_memory(case: Case) -> None:
    try:
        wanted = shared(replace(case, lib=torch))
    except REFUSALS:
        return
    try:
        found = shared(case)
    except REFUSALS:
        return  # the other test sees to it
    if wanted != found:
        raise Unlike(f"which results lie in an argument: torch {wanted}, retrograd {found}")


def shared(case: Case) -> list[bool]:
    """Of each result, whether it lies in the memory of an argument."""
    with quietly():
        args, kwargs = case.arguments(case.inputs())
        given = [owner(t) for t in tensors(case.lib, [*args, *kwargs.values()]) if t.numel()]
        results = tensors(case.lib, case.run_with(args, kwargs))
    return [bool(y.numel()) and owner(y) in given for y in results]


def owner(tensor: Any) -> int:
    return tensor.untyped_storage().data_ptr()
