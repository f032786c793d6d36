"""What normalisation and embedding do besides computing a value and its derivative."""

from __future__ import annotations

import numpy as np
import pytest

import retrograd as torch
from retrograd.nn import functional as F


def batch(*shape: int) -> torch.Tensor:
    return torch.tensor(np.random.RandomState(0).randn(*shape))


def test_training_moves_the_running_statistics() -> None:
    x = batch(4, 3, 5)
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    F.batch_norm(x, mean, var, training=True, momentum=0.25)
    assert torch.allclose(mean, 0.25 * x.mean((0, 2)))
    assert torch.allclose(var, 0.75 + 0.25 * x.var((0, 2)))
    assert mean._version and var._version


def test_evaluation_leaves_the_running_statistics_alone() -> None:
    x = batch(4, 3, 5)
    mean, var = torch.zeros(3, dtype=torch.float64), torch.full((3,), 4.0, dtype=torch.float64)
    y = F.batch_norm(x, mean, var, eps=0.0)
    assert torch.allclose(y, x / 2)
    assert not mean._version


def test_instances_share_the_running_statistics() -> None:
    x = batch(4, 3, 5)
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    F.instance_norm(x, mean, var, momentum=0.25)
    assert torch.allclose(mean, 0.25 * x.mean((0, 2)))
    assert torch.allclose(var, 0.75 + 0.25 * x.var(2).mean(0))


def test_no_gradient_reaches_the_padding_row() -> None:
    weight = batch(4, 2).requires_grad_()
    indices = torch.tensor([0, 2, 2, 3])
    for padding in (2, -2):
        weight.grad = None
        F.embedding(indices, weight, padding_idx=padding).sum().backward()
        assert weight.grad.tolist() == [[1, 1], [0, 0], [0, 0], [1, 1]]


def test_gradients_of_rows_can_be_divided_by_their_frequency() -> None:
    weight = batch(4, 2).requires_grad_()
    F.embedding(torch.tensor([0, 2, 2, 2]), weight, scale_grad_by_freq=True).sum().backward()
    assert weight.grad.tolist() == [[1, 1], [0, 0], [1, 1], [0, 0]]


def test_max_norm_shortens_the_rows_that_are_looked_up() -> None:
    weight = torch.tensor([[3.0, 4.0], [3.0, 4.0], [0.3, 0.4]])
    F.embedding(torch.tensor([0, 2]), weight, max_norm=1.0)
    assert torch.allclose(weight.norm(dim=1), torch.tensor([1.0, 5.0, 0.5]))


def test_a_broken_gradient_stays_in_its_row() -> None:
    weight = batch(3, 2).requires_grad_()
    g = torch.tensor([[1.0, 1.0], [np.inf, np.nan]], dtype=torch.float64)
    F.embedding(torch.tensor([0, 1]), weight).backward(g)
    assert weight.grad[0].tolist() == [1, 1]
    assert weight.grad[2].tolist() == [0, 0]


@pytest.mark.parametrize("indices", [[4], [-1]])
def test_an_index_outside_is_refused(indices: list[int]) -> None:
    with pytest.raises(IndexError, match="index out of range in self"):
        F.embedding(torch.tensor(indices), batch(4, 2))


@pytest.mark.parametrize("norm", ["layer", "batch", "group"])
def test_gradients_that_are_found_together_are_those_that_are_found_alone(
        norm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from retrograd.backend.numpy import together

    monkeypatch.setattr(together, "_waiting", together._Waiting())  # bodies called alone leave some
    torch.manual_seed(0)
    functional = torch.nn.functional
    x = torch.randn(20, 8, 512, dtype=torch.float64, requires_grad=True)  # moments are kept
    size = 512 if norm == "layer" else 8
    weight, bias = (torch.randn(size, dtype=torch.float64, requires_grad=True) for _ in range(2))
    y = {"layer": lambda: functional.layer_norm(x, (512,), weight, bias),
         "batch": lambda: functional.batch_norm(x, None, None, weight, bias, training=True),
         "group": lambda: functional.group_norm(x, 4, weight, bias)}[norm]()
    g = torch.randn(*y.shape, dtype=torch.float64)
    for factor in (1, 3):  # the same gradient, written to: nothing waits from before
        g.mul_(factor)
        alone = [torch.autograd.grad(y, t, g, retain_graph=True)[0] for t in (x, weight, bias)]
        for some in ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,)):
            inputs = [(x, weight, bias)[i] for i in some]
            for i, found in zip(some, torch.autograd.grad(y, inputs, g, retain_graph=True)):
                torch.testing.assert_close(found, alone[i])
            assert not together._waiting.found and not together._waiting.given


def test_what_an_interrupted_pass_has_found_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    from retrograd.backend.numpy import together

    kept = together.keep

    def interrupted(*args: object) -> None:
        kept(*args)
        raise KeyboardInterrupt

    x, g = batch(20, 8, 512), batch(20, 8, 512)
    first, second = (torch.full((512,), v, dtype=torch.float64, requires_grad=True)
                     for v in (1.0, 2.0))
    with monkeypatch.context() as patch:
        patch.setattr(together, "keep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            F.layer_norm(x.clone().requires_grad_(), (512,), first).backward(g)
    F.layer_norm(2 * x + x.flip(0), (512,), second).backward(g)
    alone, = torch.autograd.grad(F.layer_norm(2 * x + x.flip(0), (512,), second), second, g.clone())
    torch.testing.assert_close(second.grad, alone)
