"""Masked functions: what is left out changes no result, and has no gradient."""

from __future__ import annotations

import math

import pytest

import retrograd as torch
from retrograd import masked

NAMES = ("sum", "prod", "amax", "amin", "mean", "var", "std", "norm", "median", "logsumexp")


@pytest.mark.parametrize("name", NAMES)
def test_a_reduction_is_that_of_the_elements_that_are_left(name: str) -> None:
    x = torch.tensor([3.0, math.nan, -1.0, 4.0, math.inf], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([True, False, True, True, False])
    given = {"ord": 2.0} if name == "norm" else {}
    found = getattr(masked, name)(x, dim=0, mask=mask, **given)
    wanted = getattr(masked, name)(x[mask], dim=0, **given)
    torch.testing.assert_close(found, wanted)
    (slope,) = torch.autograd.grad(found, x)
    (expected,) = torch.autograd.grad(wanted, x)
    torch.testing.assert_close(slope, expected)


@pytest.mark.parametrize(("name", "nothing"), [
    ("sum", 0.0), ("prod", 1.0), ("amax", -math.inf), ("amin", math.inf), ("mean", math.nan),
    ("median", math.nan), ("logsumexp", -math.inf)])
def test_a_reduction_of_nothing(name: str, nothing: float) -> None:
    found = getattr(masked, name)(torch.ones(2, 3), dim=1, mask=torch.tensor([[True], [False]]))
    torch.testing.assert_close(found[1].item(), nothing, equal_nan=True)


def test_what_is_left_out_of_a_softmax_has_no_weight() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = masked.softmax(x, 0, mask=torch.tensor([True, False, True]))
    assert y[1] == 0
    torch.testing.assert_close(y.sum().item(), 1.0, rtol=0, atol=1e-6)
    assert masked.normalize(x, 2.0, 0, mask=torch.tensor([True, False, True]))[1] == 0


def test_a_mask_broadcasts_and_may_not_have_more_dims() -> None:
    x = torch.ones(2, 3)
    assert masked.sum(x, mask=torch.tensor([True, False, True])).item() == 4
    with pytest.raises(IndexError, match="dimensionality higher"):
        masked.sum(x, mask=torch.ones(1, 2, 3, dtype=torch.bool))


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ValueError, match="mean expects floating point"):
        masked.mean(torch.arange(3))
    with pytest.raises(RuntimeError, match="appears multiple times"):
        masked.sum(torch.ones(2, 3), (0, 0))
    with pytest.raises(IndexError, match="Dimension out of range"):
        masked.cumsum(torch.ones(2), 1)
