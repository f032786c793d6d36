"""A tensor of PyTorch among ours, and one of ours among PyTorch's: a TypeError says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.test_foreign_tensors import CALLS

import retrograd


@pytest.mark.parametrize("make", [torch.ones, lambda n: torch.nn.Parameter(torch.ones(n))])
@pytest.mark.parametrize("call", CALLS)
def test_pytorch_s_tensor_is_named_with_what_to_do(call: Callable[[Any], Any], make: Any) -> None:
    with pytest.raises(TypeError, match=r"retrograd\.from_numpy\(t\.detach\(\)\.numpy\(\)\)"):
        call(make(2))


@pytest.mark.parametrize("call", [
    lambda t: torch.add(torch.ones(2), t),
    lambda t: torch.sin(t),
    lambda t: torch.cat([torch.ones(2), t]),
    lambda t: torch.ones(2).add_(t),
    lambda t: torch.ones(2)[t],
    lambda t: torch.nn.Linear(2, 2)(t),
    lambda t: torch.nn.functional.relu(t),
])
def test_ours_among_pytorch_s_says_what_to_do(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="of PyTorch was given a tensor of retrograd"):
        call(retrograd.ones(2))


def test_a_gradient_of_pytorch_s_is_refused() -> None:
    with pytest.raises(TypeError, match="but got PyTorch's Tensor"):
        retrograd.ones(1, requires_grad=True).exp().backward(torch.ones(1))


def test_values_cross_both_ways() -> None:
    assert retrograd.tensor(torch.ones(2)).tolist() == [1.0, 1.0]
    assert torch.tensor(retrograd.ones(2)).tolist() == [1.0, 1.0]
    assert retrograd.ones(2)[torch.tensor(1)].item() == 1.0
