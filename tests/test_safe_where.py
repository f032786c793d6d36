"""safe_where: gradients of zero stay zero through untaken branches, in every order and mode."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.autograd import safe_where
from retrograd.backend import xp
from retrograd.core.safe_zeros import settled

# Functions whose gradient is NaN at zero, where none should flow; and what it ought to be there.
# Elsewhere they are smooth.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sqrt": lambda x: torch.where(x > 0, x.sqrt(), 0.0),
    "log": lambda x: torch.where(x > 0, x.log(), torch.zeros_like(x)),
    "reciprocal": lambda x: torch.where(x > 0, 1 / x, 1.0),
    "norm by hand": lambda x: torch.where(x > 0, (x * x).sqrt(), x * 0),
    "sinc": lambda x: torch.where(x == 0, 1.0, x.sin() / x) * (x > 0),
    "power": lambda x: torch.where(x > 0, x ** 0.3, 0.0),
    "1.5 power": lambda x: torch.where(x > 0, x ** 1.5, 0.0),
    "masked_fill": lambda x: x.sqrt().masked_fill(x <= 0, 0.0),
    "clamp": lambda x: (1 / x).clamp(max=10.0),
    "minimum": lambda x: torch.minimum(x.rsqrt(), torch.full_like(x, 9.0)),
    "a mask that multiplies": lambda x: (x > 0) * x.sqrt(),
    "a mask that is put": lambda x: torch.index_put(
        x.sqrt(), (x <= 0,), torch.tensor(0.0, dtype=x.dtype)),
    "a longer way": lambda x: torch.where(x > 0, ((x / 2).log() * 3).exp().sqrt(), 0.0),
    "a broadcast operand": lambda x: torch.where(x > 0, x.sum() / x, 0.0),
}
AT = [0.0, 4.0, 0.0, 2.0]
TAKEN = [1, 3]


def expected(function: Callable[[Any], Any], order: int) -> Any:
    """The derivatives at the points that are taken, with zeros elsewhere."""
    if function is FUNCTIONS["a broadcast operand"]:
        x = np.array(AT)
        taken = x > 0
        total = (1 / x[taken]).sum()
        first = np.where(taken, total - x.sum() / np.where(taken, x, 1) ** 2, total)
        return first
    x = torch.tensor(AT, dtype=torch.float64)[TAKEN].requires_grad_()
    g = function(x).sum()
    for _ in range(order):
        (g,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    full = np.zeros(4)
    full[TAKEN] = g.detach().numpy()
    return full


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_first_derivative_is_clean(name: str) -> None:
    function = FUNCTIONS[name]
    x = torch.tensor(AT, dtype=torch.float64, requires_grad=True)
    with safe_where():
        function(x).sum().backward()
        by_func = torch.func.grad(lambda t: function(t).sum())(x.detach())
    assert np.allclose(x.grad, expected(function, 1))
    assert np.allclose(by_func, expected(function, 1))


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "a broadcast operand"])
def test_the_second_derivative_and_forward_mode_are_clean(name: str) -> None:
    function = FUNCTIONS[name]
    x = torch.tensor(AT, dtype=torch.float64, requires_grad=True)
    with safe_where():
        (g,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(g.sum(), x)
        hessian = torch.func.hessian(lambda t: function(t).sum())(x.detach())
        _, tangent = torch.func.jvp(function, (x.detach(),), (torch.ones_like(x.detach()),))
    assert np.allclose(second, expected(function, 2))
    assert np.allclose(hessian, np.diag(expected(function, 2)))
    if name != "a mask that multiplies":  # by which the program itself makes 0 x inf a tangent
        assert np.allclose(tangent, expected(function, 1))


@pytest.mark.parametrize("name", ["sqrt", "clamp", "masked_fill", "a broadcast operand"])
def test_inside_vmap(name: str) -> None:
    function = FUNCTIONS[name]
    rows = torch.tensor([AT, AT], dtype=torch.float64)
    with safe_where():
        found = torch.vmap(torch.func.grad(lambda t: function(t).sum()))(rows)
    assert np.allclose(found, np.stack([expected(function, 1)] * 2))


def test_zeros_that_happen_to_be_there_keep_their_derivatives() -> None:
    x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    with safe_where():
        (g,) = torch.autograd.grad((x.sin() ** 2).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(g.sum(), x)
    assert np.allclose(second, 2 * np.cos(2 * np.array([0.0, 1.0])))


def test_what_is_not_zero_stays_as_it_is() -> None:
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    with safe_where():
        x.sqrt().sum().backward()
    assert x.grad.tolist() == [float("inf"), 0.25]
    y = torch.tensor([-1.0], requires_grad=True)
    with safe_where():
        y.sqrt().sum().backward()
    assert y.grad.isnan().all()


def test_an_op_of_another_kind_passes_zeros_on_if_all_is_zero() -> None:
    x = torch.ones(3, requires_grad=True)
    with safe_where():
        torch.where(torch.tensor(False), x.std(), torch.tensor(1.0)).backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("of_vectors", [None, [0.0, 0.0], [1.0, 0.0]])
@pytest.mark.parametrize("of_values", [None, [0.0, 0.0], [1.0, 0.0]])
def test_a_derivative_that_does_not_exist_counts_where_a_gradient_arrives(
        of_values: list[float] | None, of_vectors: list[float] | None, is_recorded: bool) -> None:
    """An op's derivative exists as a whole or not at all: one number that arrives is enough."""
    x = torch.eye(2, dtype=torch.float64, requires_grad=True)
    with safe_where():
        found = torch.linalg.eigh(x)
        total = sum([(y * torch.tensor(scale)).sum() for y, scale in zip(found, (
            of_values, of_vectors)) if scale is not None], x.sum() * 0)
        (gradient,) = torch.autograd.grad(total, x, create_graph=is_recorded)
    exists = of_vectors is None or 1.0 not in (*(of_values or ()), *of_vectors)
    assert bool(gradient.isfinite().all()) is exists


def test_it_changes_nothing_where_everything_is_finite() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 2))
    x = torch.rand(5, 3)
    torch.nn.functional.cross_entropy(net(x), torch.tensor([0, 1, 0, 1, 1])).backward()
    before = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    with safe_where():
        torch.nn.functional.cross_entropy(net(x), torch.tensor([0, 1, 0, 1, 1])).backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(before, net.parameters(), strict=True))


@pytest.mark.parametrize("result", [xp.asarray([1.0, 0.0]), torch.ones(2), None])
def test_what_is_finite_is_handed_on_as_it_is(result: Any) -> None:
    """No other array is made of it, and no node where it is recorded."""
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    given = x.cos() if result is None else result
    for by_element in (True, False):
        assert settled(torch.ones(2), given, by_element) is given


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.complex64])
def test_every_dtype(dtype: Any) -> None:
    x = torch.tensor([0.0, 4.0], dtype=dtype, requires_grad=True)
    with safe_where():
        torch.where(x.abs() > 0, x.sqrt(), 0.0).sum().abs().backward()
    assert x.grad[0] == 0 and abs(x.grad[1].item() - 0.25) < 1e-2


def test_it_is_on_in_its_block_alone() -> None:
    def slope() -> float:
        x = torch.tensor(0.0, requires_grad=True)
        torch.where(x > 0, x.sqrt(), 0.0).backward()
        return x.grad.item()

    assert np.isnan(slope())
    with safe_where(), safe_where():
        assert slope() == 0
    assert np.isnan(slope())
    assert safe_where()(slope)() == 0 and np.isnan(slope())
    with pytest.raises(ZeroDivisionError), safe_where():
        raise ZeroDivisionError
    assert np.isnan(slope())
    seen = []
    with safe_where():
        thread = threading.Thread(target=lambda: seen.append(slope()))
        thread.start()
        thread.join()

        async def task() -> float:
            return slope()

        assert asyncio.run(task()) == 0
    assert np.isnan(seen[0])  # another thread has its own


def test_it_goes_with_anomaly_mode_and_hooks() -> None:
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    with safe_where(), torch.autograd.set_detect_anomaly(True):
        y = x.sqrt()
        seen = []
        y.register_hook(lambda g: seen.append(g.tolist()))
        torch.where(x > 0, y, 0.0).sum().backward()
    assert seen == [[0.0, 1.0]] and x.grad.tolist() == [0.0, 0.25]
