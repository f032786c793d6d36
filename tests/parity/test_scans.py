"""Running results of functions, beside PyTorch."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch

import retrograd


def scan(lib: Any, *args: Any, **options: Any) -> Any:
    return importlib.import_module(f"{lib.__name__}._higher_order_ops").associative_scan(
        *args, **options)


@pytest.mark.parametrize("length", [1, 2, 7, 8])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("reverse", [False, True])
def test_trees(length: int, dim: int, reverse: bool) -> None:
    """A recurrence by pairs, which does not commute."""
    shape = [2, 3, 2]
    shape[dim] = length
    values = np.random.default_rng(0).standard_normal((2, *shape))
    found = []
    for lib in (torch, retrograd):
        pair = {"a": lib.tensor(values[0]), "b": [lib.tensor(values[1])]}
        made = scan(lib, lambda p, q: {"a": p["a"] * q["a"], "b": [q["a"] * p["b"][0] + q["b"][0]]},
                    pair, dim, reverse=reverse, combine_mode="generic")
        found.append([made["a"].numpy(), made["b"][0].numpy()])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def test_gradients_and_refusals() -> None:
    x = retrograd.rand(5, 2, dtype=retrograd.float64, requires_grad=True)
    assert retrograd.autograd.gradcheck(
        lambda x: scan(retrograd, lambda p, q: p * q + p, x, 0), (x,))
    (found,) = retrograd.autograd.grad(scan(retrograd, lambda p, q: p + q, x, 0).sum(), x)
    assert found[:, 0].tolist() == [5, 4, 3, 2, 1]
    for lib in (torch, retrograd):
        with pytest.raises((ValueError, RuntimeError), match=r"(?i)combine_mode must"):
            scan(lib, lambda p, q: p, lib.ones(3), 0, combine_mode="odd")
