"""Graphs that pile up from iteration to iteration are warned of, once; ordinary ones never."""

from __future__ import annotations

import gc
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn
from retrograd.autograd import GrowingGraphWarning, warn_of_growth
from retrograd.autograd.backward import Passes
from retrograd.autograd.growth import _seen

STEPS = 300


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    gc.collect()
    _seen.__init__()  # type: ignore[misc]
    warn_of_growth(True)
    yield
    warn_of_growth(True)


def warned(program: Callable[[], Any]) -> str:
    """The one warning that a program gives, and nothing if it gives none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    messages = [str(w.message) for w in caught if w.category is GrowingGraphWarning]
    assert len(messages) <= 1 and len(messages) == len(caught)
    assert all(w.filename == __file__ for w in caught)
    return "".join(messages)


def line_of(program: Callable[[], Any], mark: str) -> str:
    lines, first = inspect.getsourcelines(program)
    return f'line {first + [mark in line for line in lines].index(True)}, in {program.__name__}'


def losses_appended() -> None:
    w = torch.ones(3, requires_grad=True)
    losses = []
    for _ in range(STEPS):
        loss = w.exp().square()  # made
        loss.sum().backward()  # asked
        losses.append(loss.sum())


def losses_kept() -> None:
    w = torch.ones(3, requires_grad=True)
    history = []
    for _ in range(STEPS):
        loss = w.exp().prod()  # made
        loss.backward()  # asked
        history.append(loss)


def losses_added_up() -> None:
    w = torch.ones(3, requires_grad=True)
    total = torch.zeros(())
    for _ in range(STEPS):
        loss = w.exp().prod()  # made
        loss.backward()  # asked
        total = total + loss


def a_state_carried_on() -> None:
    cell, state = nn.Linear(4, 4), torch.zeros(1, 4)
    for _ in range(100):
        state = torch.tanh(cell(state))  # made
        state.sum().backward(retain_graph=True)  # asked


@pytest.mark.parametrize("program, words", [
    (losses_kept, "kept by the list `history`"),
    (losses_added_up, "kept by the tensor `total` that they were added up in"),
    (a_state_carried_on, "What is carried on was made here")])
def test_growth_is_warned_of_with_its_lines(program: Callable[[], Any], words: str) -> None:
    message = warned(program)
    assert words in message
    assert line_of(program, "# asked") in message and line_of(program, "# made") in message
    assert warned(program) == ""  # once


def ordinary_training() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    total, history = 0.0, []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = net(torch.ones(2, 3)).square().mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
        history.append(loss.detach())


def gradient_accumulation() -> None:
    w = torch.ones(3, requires_grad=True)
    for _ in range(10):
        losses = [(w * i).prod() for i in range(60)]
        for loss in losses:
            loss.backward()


def a_long_list_of_losses() -> None:
    w = torch.ones(3, requires_grad=True)
    losses = [(w * i).prod() for i in range(STEPS * 2)]
    for loss in losses:
        loss.backward()


def longer_and_longer_sequences() -> None:
    cell = nn.Linear(2, 2)
    for length in range(1, 150):
        state = torch.zeros(1, 2)
        for _ in range(length):
            state = cell(state)
        state.sum().backward()


def one_graph_again_and_again() -> None:
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    for i in range(STEPS):
        y[i % 3].backward(retain_graph=True)


def inner_loops() -> None:
    w = torch.ones(3, requires_grad=True)
    for _ in range(5):
        fast, losses = w, []
        for _ in range(40):
            loss = (fast * 2).square().sum()
            losses.append(loss)
            (g,) = torch.autograd.grad(loss, fast, create_graph=True)
            fast = fast - 0.01 * g
        fast.sum().backward()


def a_state_that_is_detached() -> None:
    cell, state = nn.Linear(4, 4), torch.zeros(1, 4)
    for _ in range(STEPS):
        state = torch.tanh(cell(state.detach()))
        state.sum().backward(retain_graph=True)


def a_window_of_losses() -> None:
    w = torch.ones(3, requires_grad=True)
    window: list[Any] = []
    for _ in range(STEPS):
        loss = w.exp().prod()
        loss.backward()
        window = [*window[-20:], loss]


@pytest.mark.parametrize("program", [
    ordinary_training, gradient_accumulation, a_long_list_of_losses, longer_and_longer_sequences,
    one_graph_again_and_again, inner_loops, a_state_that_is_detached, a_window_of_losses])
def test_ordinary_programs_are_not_warned(program: Callable[[], Any]) -> None:
    assert warned(program) == ""


def test_it_can_be_switched_off_and_may_be_an_error() -> None:
    warn_of_growth(False)
    assert warned(losses_kept) == "" and not Passes.are_watched
    warn_of_growth(True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GrowingGraphWarning):
            losses_kept()
    with pytest.raises(TypeError, match="must be bool"):
        warn_of_growth(1)  # type: ignore[arg-type]


def test_passes_from_nothing_are_looked_at_by_nobody() -> None:
    for _ in range(2 * Passes.EVERY):
        torch.autograd.backward([])


def test_one_pass_in_eight_is_looked_at() -> None:
    assert sum(next(Passes.turns) for _ in range(80)) == 10
