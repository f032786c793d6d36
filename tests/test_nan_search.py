"""Anomaly mode names the first operation that made a value which is not finite."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch


def leaf(*values: float, dtype: Any = torch.float32) -> Any:
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


def search(program: Callable[[], Any]) -> str:
    """The note of the error that a program raises in anomaly mode."""
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="returned nan values") as raised:
            program()
    (note,) = raised.value.__notes__
    return str(note)


def line_of(program: Callable[[], Any]) -> str:
    lines, first = inspect.getsourcelines(program)
    at = first + ["# here" in line for line in lines].index(True)
    return f'  File "{__file__}", line {at}, in {program.__name__}\n'


def a_logarithm_of_zero() -> None:
    w = leaf(0.0, 1.0, 3.0)
    h = w * 1
    h = h.log()  # here
    h = (h * 0).exp() + 1
    h.sum().backward()


def an_overflow() -> None:
    w = leaf(1.0, 200.0)
    h = (w + 1).exp()  # here
    (h - h).sin().sum().backward()


def a_gradient_of_a_root() -> None:
    w = leaf(0.0, 4.0)
    h = w * 2
    h = h.sqrt()  # here
    (h * 0).sum().backward()


def an_infinite_gradient_first() -> None:
    w = leaf(1.0, 2.0)
    h = w * 0
    h = h.sqrt()  # here
    h.sum().backward()


def in_a_module() -> None:
    class Net(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x / x.sum()

    net = torch.nn.Sequential(torch.nn.Linear(2, 2), Net())
    with torch.no_grad():
        net[0].weight.zero_()
        net[0].bias.zero_()
    net(torch.ones(2)).sum().backward()


def two_in_the_forward_pass() -> None:
    x = torch.zeros(2, requires_grad=True)
    first = (x * 0).log()  # here
    (first + (x * 0).reciprocal()).sum().backward()


def one_of_two_gradients() -> None:
    x, exponent = leaf(0.0, 1.0), leaf(0.5, 0.5)
    ((x * 0) ** exponent).sum().backward()  # here


def from_an_infinite_constant() -> None:
    x = leaf(1.0, 2.0)
    y = x * 0 + torch.tensor(float("inf"))
    z = y.exp()  # here
    z.sum().backward()


FOUND = {
    two_in_the_forward_pass: ("computed by the forward call of LogBackward0", [
        "input: 2 values from 0 to 0, 2 zero", "result: 2 values, 2 infinite"]),
    a_logarithm_of_zero: ("computed by the forward call of LogBackward0", [
        "input: 3 values from 0 to 3, 1 zero",
        "result: 3 values from 0 to 1.09861, 1 infinite, 1 zero"]),
    an_overflow: ("computed by the forward call of ExpBackward0", [
        "input: 2 values from 2 to 201", "result: 2 values from 7.38906 to 7.38906, 1 infinite"]),
    a_gradient_of_a_root: ("a gradient of SqrtBackward0", [
        "result: 2 values from 0 to 2.82843, 1 zero",
        "gradient that arrived: 2 values from 0 to 0, 2 zero"]),
    from_an_infinite_constant: ("a gradient of ExpBackward0", None),
    one_of_two_gradients: ("a gradient of PowBackward1", None),
    an_infinite_gradient_first: ("a gradient of SqrtBackward0", [
        "result: 2 values from 0 to 0, 2 zero", "gradient that arrived: 2 values from 1 to 1",
        "gradient that it made: 2 values, 2 infinite"])}


@pytest.mark.parametrize("program", FOUND)
def test_the_first_value_that_is_not_finite_is_named(program: Callable[[], Any]) -> None:
    what, ranges = FOUND[program]
    head, *rest = search(program).split("\n", 3)
    assert head == f"The first value that is not finite was {what}, here:"
    assert f"{rest[0]}\n" == line_of(program) and "# here" in rest[1]
    assert ranges is None or rest[2].split("\n") == [f"  {line}" for line in ranges]


def test_inside_a_module_the_module_s_line_is_named() -> None:
    note = search(in_a_module)
    assert "computed by the forward call of DivBackward0" in note
    assert "return x / x.sum()" in note and "in forward" in note
    assert "other: 1 value from 0 to 0, 1 zero" in note


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16, torch.complex64])
def test_every_dtype(dtype: Any) -> None:
    def program() -> None:
        w = leaf(0.0, 1.0, dtype=dtype)
        ((w.log() * 0).exp()).sum().abs().backward()

    assert "computed by the forward call of LogBackward0" in search(program)


def test_custom_functions_and_higher_orders() -> None:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a / 0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * float("nan")

    note = search(lambda: Bad.apply(leaf(1.0, 2.0)).sum().backward())
    assert "the forward call of BadBackward" in note and "argument 0: 2 values from 1 to 2" in note

    def higher() -> None:
        x = leaf(0.0, 1.0)
        (g,) = torch.autograd.grad((x ** 1.5).sum(), x, create_graph=True)
        (g * 0).sum().backward()

    assert "not finite was a gradient of" in search(higher)


def test_nothing_is_looked_for_without_check_nan() -> None:
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        y = leaf(0.0).log()
    assert y.grad_fn.ranges is None
