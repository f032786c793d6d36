"""Functions that few programs use, and that they are there when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import retrograd as torch
from retrograd.ops import late


def test_no_late_function_is_declared_before_it_is_asked_for() -> None:
    program = ("import sys, retrograd\nfrom retrograd.ops import late\n"
               "files = {f'retrograd.ops.{file}' for file in late.FUNCTIONS.values()}\n"
               "public = {name for name in late.FUNCTIONS if not name.startswith('_')}\n"
               "print(len(files & set(sys.modules)), public <= set(dir(retrograd)))")
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True,
                          check=True)
    assert done.stdout.split() == ["0", "True"]


@pytest.mark.parametrize("name", sorted(late.FUNCTIONS))
def test_late_functions_are_found_by_their_names(name: str) -> None:
    assert getattr(torch, name) is late.function(name)


def test_coordinates_are_numpys() -> None:
    places = torch.tensor([0, 5, 11, 23])
    for found, wanted in zip(torch.unravel_index(places, (2, 3, 4)),
                             np.unravel_index(places.numpy(), (2, 3, 4)), strict=True):
        assert np.array_equal(found, wanted)
    x = torch.tensor([[0, 3], [4, 0], [5, 6]])
    assert torch.equal(torch.nonzero_static(x, size=4), x.nonzero())
    assert torch.nonzero_static(x, size=6)[4:].tolist() == [[-1, -1]] * 2
    assert torch.equal(torch.nonzero_static(x, size=2), x.nonzero()[:2])


def test_slopes_and_counts_are_numpys() -> None:
    x = torch.linspace(0, 2, 12, dtype=torch.float64).reshape(3, 4) ** 2
    for order in (1, 2):
        for found, wanted in zip(torch.gradient(x, spacing=0.5, edge_order=order),
                                 np.gradient(x.numpy(), 0.5, edge_order=order), strict=True):
            assert np.allclose(found, wanted)
    points = torch.tensor([0.0, 1.0, 1.5, 4.0], dtype=torch.float64)
    assert np.allclose(torch.gradient(x, spacing=(points,), dim=1)[0],
                       np.gradient(x.numpy(), points.numpy(), axis=1))
    for density in (False, True):
        for found, wanted in zip(x.histogram(5, density=density),
                                 np.histogram(x.numpy(), 5, density=density), strict=True):
            assert np.allclose(found, wanted)
    hist, edges = torch.histogramdd(x, [2, 3, 2, 1])
    wanted, limits = np.histogramdd(x.numpy(), [2, 3, 2, 1])
    assert np.array_equal(hist, wanted)
    assert all(np.allclose(a, b) for a, b in zip(edges, limits, strict=True))


def test_low_rank_matrices_are_found_again() -> None:
    torch.manual_seed(0)
    A = torch.randn(20, 3, dtype=torch.float64) @ torch.randn(3, 15, dtype=torch.float64)
    U, S, V = torch.svd_lowrank(A, 3)
    assert torch.allclose(U @ S.diag() @ V.T, A) and torch.allclose(S, torch.linalg.svdvals(A)[:3])
    centred = A - A.mean(0)
    U, S, V = torch.pca_lowrank(A, 3)
    assert torch.allclose(U @ S.diag() @ V.T, centred)


def test_a_copy_is_no_view() -> None:
    x = torch.zeros(2, 3)
    for found in (torch.permute_copy(x, (1, 0)), *torch.unbind_copy(x),
                  torch.expand_copy(x, (4, 2, 3)),
                  torch.select_copy(x, 0, 1), torch.view_copy(x, (6,))):
        assert not found._is_view() and found.is_contiguous()
        found.fill_(1)
    assert not x.any()
    out = torch.empty(0)
    assert torch.t_copy(x, out=out) is out and out.shape == (3, 2)


def test_reducing_by_index_in_place_is_the_same() -> None:
    x, index = torch.arange(6.0).reshape(3, 2), torch.tensor([2, 0])
    wanted = torch.index_reduce(x, 0, index, x[:2] + 5, "mean")
    assert torch.equal(x.clone().index_reduce_(0, index, x[:2] + 5, "mean"), wanted)
    assert wanted[2].tolist() == [4.5, 5.5]
    before = x.clone()
    with pytest.raises(IndexError, match="index out of range in self"):
        x.index_reduce_(0, torch.tensor([0, 3]), x[:2], "prod")
    assert torch.equal(x, before)


def test_cells_are_those_of_modules() -> None:
    torch.manual_seed(0)
    x, h, c = torch.randn(2, 3), torch.randn(2, 4), torch.randn(2, 4)
    for name, function in (("RNNCell", torch.rnn_tanh_cell), ("GRUCell", torch.gru_cell)):
        cell = getattr(torch.nn, name)(3, 4)
        assert torch.allclose(cell(x, h), function(x, h, *cell.parameters()))
    lstm = torch.nn.LSTMCell(3, 4)
    for found, wanted in zip(torch.lstm_cell(x, (h, c), *lstm.parameters()), lstm(x, (h, c)),
                             strict=True):
        assert torch.allclose(found, wanted)
