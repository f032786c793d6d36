"""Arguments of other types than those that are due, beside PyTorch: taken or refused.

Those of every op's samples too, one after the other: where PyTorch decides otherwise, what happens
here stands in loose_arguments.json; RETROGRAD_OUTCOMES=write writes what is found there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests import sweeps
from tests.samples import Recipe
from tests.sweeps.cases import ENTRIES, Case

import retrograd as rg
from parity.harness import behaviour_of_each
from parity.test_odd_arguments import CHECKED, changed_calls, values


def _images(torch: Any) -> Any:
    return torch.arange(50.0).reshape(1, 2, 5, 5)


def _rows(torch: Any) -> Any:
    return torch.arange(16.0).reshape(4, 4)


WHOLE = {
    "half": lambda torch, n: n + 0.5, "float": lambda torch, n: float(n),
    "bool": lambda torch, n: True, "text": lambda torch, n: "x",
    "np.int64": lambda torch, n: np.int64(n),
    "np.float64": lambda torch, n: np.float64(n), "tensor": lambda torch, n: torch.tensor(n),
    "a floating tensor": lambda torch, n: torch.tensor(float(n)),
    "complex": lambda torch, n: complex(n),
}
"""What may be given in the place of a whole number."""

CALLS = {
    "tril": lambda torch, n: _rows(torch).tril(n(1)),
    "triu": lambda torch, n: torch.triu(_rows(torch), n(1)),
    "diagonal": lambda torch, n: _rows(torch).diagonal(n(1)),
    "diag_embed": lambda torch, n: torch.diag_embed(_rows(torch), n(1)),
    "unfold": lambda torch, n: _rows(torch).unfold(0, n(2), 1),
    "unsqueeze": lambda torch, n: _rows(torch).unsqueeze(n(1)),
    "polygamma": lambda torch, n: torch.polygamma(n(1), torch.ones(2)),
    "mvlgamma": lambda torch, n: torch.mvlgamma(torch.full((2,), 4.0), n(2)),
    "histc": lambda torch, n: torch.histc(_rows(torch), n(2)),
    "pixel_shuffle": lambda torch, n: torch.nn.functional.pixel_shuffle(
        torch.ones(1, 4, 2, 2), n(2)),
    "softmax": lambda torch, n: torch.softmax(_rows(torch), n(1)),
    "sum": lambda torch, n: _rows(torch).sum(n(1)),
    "cumsum": lambda torch, n: _rows(torch).cumsum(n(1)),
    "sort": lambda torch, n: torch.sort(_rows(torch), n(1))[0],
    "amax": lambda torch, n: torch.amax(_rows(torch), n(1)),
    "index_select": lambda torch, n: torch.index_select(_rows(torch), n(1), torch.tensor([0])),
    "max_pool2d": lambda torch, n: torch.nn.functional.max_pool2d(_images(torch), n(2), n(2)),
    "avg_pool2d": lambda torch, n: torch.nn.functional.avg_pool2d(_images(torch), n(2), n(2)),
    "adaptive_avg_pool1d": lambda torch, n: torch.nn.functional.adaptive_avg_pool1d(
        _rows(torch), n(2)),
}


@behaviour_of_each([(f"{call} of {kind}", (call, kind)) for call in CALLS for kind in WHOLE])
def whole_numbers_are_due(torch, log, name, case):
    call, kind = case
    log.refuses(lambda: CALLS[call](torch, lambda n: WHOLE[kind](torch, n)))


FLAGS = {
    "amax": lambda torch, flag: torch.amax(_rows(torch), 1, flag),
    "logsumexp": lambda torch, flag: torch.logsumexp(_rows(torch), 1, flag),
    "isclose": lambda torch, flag: torch.isclose(_rows(torch), _rows(torch), equal_nan=flag),
    "max_pool2d": lambda torch, flag: torch.nn.functional.max_pool2d(
        _images(torch), 2, ceil_mode=flag),
    "avg_pool2d": lambda torch, flag: torch.nn.functional.avg_pool2d(
        _images(torch), 2, ceil_mode=flag),
    "topk": lambda torch, flag: torch.topk(_rows(torch), 2, 1, flag),
    "topk by name": lambda torch, flag: _rows(torch).topk(2, sorted=flag),
    "sort": lambda torch, flag: torch.sort(_rows(torch), 1, flag),
    "svd": lambda torch, flag: torch.linalg.svd(_rows(torch), full_matrices=flag),
    "inv_ex": lambda torch, flag: torch.linalg.inv_ex(torch.eye(2), check_errors=flag),
    "isin": lambda torch, flag: torch.isin(_rows(torch), _rows(torch), invert=flag),
    "unique": lambda torch, flag: torch.unique(_rows(torch), return_counts=flag),
    "dropout": lambda torch, flag: torch.nn.functional.dropout(_rows(torch), 0.5, flag),
    "torch.dropout": lambda torch, flag: torch.dropout(_rows(torch), 0.5, flag),
    "embedding": lambda torch, flag: torch.nn.functional.embedding(
        torch.tensor([1]), _rows(torch), sparse=flag),
    "kl_div": lambda torch, flag: torch.nn.functional.kl_div(
        _rows(torch), _rows(torch), reduction="sum", log_target=flag),
    "in place": lambda torch, flag: torch.nn.functional.relu6(_rows(torch), flag),
    "return_indices": lambda torch, flag: torch.nn.functional.max_pool2d(
        _images(torch), 2, return_indices=flag),
    "hard": lambda torch, flag: torch.nn.functional.gumbel_softmax(_rows(torch), hard=flag),
    "full": lambda torch, flag: torch.nn.functional.gaussian_nll_loss(
        _rows(torch), _rows(torch), torch.ones(4, 4), flag),
    **{f"{name} {how}": lambda torch, flag, name=name, way=way: way(getattr(torch, name),
                                                                    _rows(torch), flag)
       for name in ("max", "median", "argmax", "prod", "nansum", "any", "var", "std_mean")
       for how, way in {"kept": lambda f, x, flag: f(x, 1, keepdim=flag),
                        "by place": lambda f, x, flag: f(x, 1, flag)}.items()
       if how == "kept" or name not in ("var", "std_mean")},
    "stable": lambda torch, flag: torch.sort(_rows(torch), stable=flag),
    "interpolate": lambda torch, flag: torch.nn.functional.interpolate(
        _images(torch), 3, mode="bilinear", align_corners=flag),
    "recomputed": lambda torch, flag: torch.nn.functional.interpolate(
        _images(torch), scale_factor=2, recompute_scale_factor=flag),
    "affine_grid": lambda torch, flag: torch.nn.functional.affine_grid(
        torch.ones(1, 2, 3), (1, 1, 2, 2), flag),
    "embedding_bag": lambda torch, flag: torch.nn.functional.embedding_bag(
        torch.tensor([1, 2]), _rows(torch), torch.tensor([0, 2]), include_last_offset=flag),
}
NO_FLAGS = {"int": 1, "float": 1.0, "text": "x", "nothing": None, "np.bool": np.bool_(True)}


@behaviour_of_each([(f"{call} of {kind}", (call, kind)) for call in FLAGS for kind in NO_FLAGS])
def flags_are_due(torch, log, name, case):
    call, kind = case
    log.refuses(lambda: FLAGS[call](torch, NO_FLAGS[kind]))


@behaviour_of_each(["std", "var", "std_mean", "var_mean"])
def whether_a_spread_is_unbiased(torch, log, name):
    for flag in (0, 1, 1.0, "x", [True], True, False):
        log.refuses(lambda flag=flag: getattr(torch, name)(_rows(torch), 1, flag))
        log.refuses(lambda flag=flag: getattr(torch, name)(_rows(torch), 1, unbiased=flag))


@behaviour_of_each([
    ("one", lambda torch: _rows(torch).sum(torch.tensor([1]))),
    ("sections", lambda torch: torch.tensor_split(_rows(torch), np.int64(2))[0]),
    ("of NumPy", lambda torch: torch.linalg.vector_norm(_rows(torch), np.float32(2))),
])
def dims_and_orders_come_as_tensors(torch, log, name, call):
    log.values(call(torch))


SAMPLES = 4  # of each op
KNOWN_FILE = Path(sweeps.__file__).with_name("loose_arguments.json")


def of_other_types(value: Any) -> Iterator[Any]:
    """What stands for an argument in other languages, or in a hurry."""
    match value:
        case Recipe():
            return
        case bool():
            yield from (1, 0.0, "x")
        case int():
            yield from (value + 0.5, float(value), "x", [value], True, 1j)
        case float():
            yield from ("x", 1j, [value])
        case str():
            yield from (1, [value])
        case [int(), *rest]:
            yield from (0.5, type(value)((0.5, *rest)), type(value)((*value[:-1], "x")))


def is_taken(case: Case) -> bool:
    try:
        values(case)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", CHECKED)
def test_an_argument_of_another_type(name: str) -> None:
    made = [Case(rg, ENTRIES[name], call) for sample in ENTRIES[name].calls[:SAMPLES]
            for call in changed_calls(sample, of_other_types)]
    found = {case.name: "taken" if taken else "refused" for case in made
             if (taken := is_taken(case)) != is_taken(replace(case, lib=torch))}
    known = json.loads(KNOWN_FILE.read_text()) if KNOWN_FILE.exists() else {}
    if os.environ.get("RETROGRAD_OUTCOMES") == "write":
        known = {place: how for place, how in {**known, name: found}.items() if how}
        KNOWN_FILE.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n")
    assert found == known.get(name, {})
