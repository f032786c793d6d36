"""Every optimizer with one option at another value, in both libraries.

What it says of itself, its groups, its state and the weights after a few steps must be the same; a
value that makes no sense must be refused in the same words, when it is built or when it steps.
"""

from __future__ import annotations

import inspect
import itertools
import random
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg
from parity.harness import same_message
from parity.test_module_options import others
from parity.test_optim_db import OPTIMIZERS

STEPS = 3
LEFT_OUT = {"params", "foreach", "fused", "capturable"}
"""How the steps are taken: see test_optim_db.py and test_optim_packs.py."""

COARSE = {"Muon": 0.02, "LBFGS": 1e-5}
"""Tolerances of those that amplify the last digit, which Muon has in bfloat16."""


def variants(name: str) -> list[dict[str, Any]]:
    """No options, each with every other value, and all numbers away from their defaults at once."""
    parameters = inspect.signature(OPTIMIZERS[name].optim_cls.__init__).parameters.values()
    defaults = {p.name: p.default for p in parameters
                if p.default is not p.empty and p.name not in LEFT_OUT}
    found: list[dict[str, Any]] = [{}]
    for option, default in defaults.items():
        if isinstance(default, tuple):
            found += [{option: (*default[:i], other, *default[i + 1:])}
                      for i, value in enumerate(default) for other in others(value)]
        else:
            found += [{option: other} for other in others(default)]
    booleans = [option for option, default in defaults.items() if isinstance(default, bool)]
    usual = {option: 0.01 for option in ("weight_decay", "momentum") if option in defaults}
    return found + [{**usual, option: True} for option in booleans] + [usual]


def plain(value: Any) -> Any:
    if isinstance(value, (torch.Tensor, rg.Tensor)):
        return str(value.dtype).removeprefix("torch."), value.detach().numpy().copy()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return value


def outcome(lib: Any, name: str, options: dict[str, Any]) -> list[Any]:
    """All that can be seen of some steps, and the error that ended them."""
    generator = np.random.default_rng(0)
    shapes = [(3, 4), (4, 2)] if name == "Muon" else [(3, 4), (), (5,)]
    weights = [lib.nn.Parameter(lib.tensor(generator.standard_normal(shape))) for shape in shapes]
    seen: list[Any] = []
    try:
        optimizer = getattr(lib.optim, name)(
            [{"params": weights[:1]}, {"params": weights[1:], "lr": 0.25}], **options) \
            if name != "LBFGS" else lib.optim.LBFGS(weights, **options)
        seen += [repr(optimizer), plain(optimizer.defaults)]

        def closure() -> Any:
            optimizer.zero_grad()
            loss = sum((w - 0.3).square().sum() * (  # LBFGS goes far astray where it is not convex
                i + 1 if name == "LBFGS" else (w + 2).cos().sum()) for i, w in enumerate(weights))
            loss.backward()
            return loss

        for _ in range(STEPS):
            loss = optimizer.step(closure)
            seen += [plain(loss), [plain(w) for w in weights]]
        seen.append(plain(optimizer.state_dict()))
    except Exception as error:
        seen.append(error)
    return seen


def compare(mine: Any, theirs: Any, tolerance: float) -> None:
    match theirs:
        case Exception():
            assert isinstance(mine, Exception), f"only PyTorch raised {theirs!r}"
            assert isinstance(mine, type(theirs)), (mine, theirs)
            assert same_message(str(theirs), str(mine)), (mine, theirs)
        case dict():
            assert mine.keys() == theirs.keys()
            for key, value in theirs.items():
                compare(mine[key], value, tolerance)
        case list() | tuple():
            assert type(mine) is type(theirs)
            for pair in zip(mine, theirs, strict=True):
                compare(*pair, tolerance)
        case np.ndarray():
            np.testing.assert_allclose(mine, theirs, tolerance, tolerance)
        case float():
            assert mine == pytest.approx(theirs, tolerance)
        case _:
            assert mine == theirs, (mine, theirs)


@pytest.mark.parametrize("name", sorted(OPTIMIZERS.keys() - {"SparseAdam"}))
def test_an_option_has_another_value(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for options in variants(name):
            try:
                compare(outcome(rg, name, options), outcome(torch, name, options),
                        COARSE.get(name, 1e-9))
            except AssertionError as error:
                raise AssertionError(f"{options}: {error}") from None


def with_ways(lib: Any, name: str, shape: tuple[int, ...] | None, ways: dict[str, bool]) -> Any:
    """The rate and the weights after two steps, or who refuses what."""
    weight = lib.nn.Parameter(lib.ones(2, 2))
    lr = 0.125 if shape is None else lib.full(shape, 0.125)
    try:
        optimizer = getattr(lib.optim, name)([weight], lr=lr, **ways)
        for _ in range(2):
            weight.grad = lib.tensor([[1.0, 2.0], [3.0, 4.0]])
            optimizer.step()
    except Exception as error:  # the devices that capture steps are listed in many ways
        return type(error).__name__, str(error).split(", params")[0]
    return str(optimizer.param_groups[0]["lr"]), plain(weight)[1]


@pytest.mark.parametrize("name", sorted(OPTIMIZERS.keys() - {"SparseAdam", "LBFGS"}))
def test_a_rate_may_be_a_tensor_however_steps_are_taken(name: str) -> None:
    options = inspect.signature(getattr(torch.optim, name).__init__).parameters
    known = [way for way in ("foreach", "capturable", "differentiable") if way in options]
    for shape, *given in itertools.product([None, (), (1,), (2,)], *[[False, True]] * len(known)):
        if sum(given) == 3 and name.startswith("Adam") and name != "Adamax":
            continue  # refused for two reasons, of which these name the other one
        ways = dict(zip(known, given))
        ours, theirs = (with_ways(lib, name, shape, ways) for lib in (rg, torch))
        assert ours[0] == theirs[0], (shape, ways, ours, theirs)
        if isinstance(theirs[1], str):
            assert ours[1] == theirs[1], (shape, ways)
        else:
            np.testing.assert_allclose(ours[1], theirs[1], COARSE.get(name, 1e-5), 1e-6)


VALLEYS = {
    "bowl": lambda w: (w - 1).square().sum() * 3, "flat": lambda w: (w - 1).pow(4).sum() * 0.01,
    "steep": lambda w: (w * 4).cosh().sum(),
    "waves": lambda w: (w * 3).sin().sum() + w.square().sum(),
    "edge": lambda w: (w - 0.5).abs().sum(), "well": lambda w: -(-(w - 1).square()).exp().sum(),
    "banana": lambda w: (1 - w[0]).square() + 10 * (w[1] - w[0].square()).square(),
    "slope": lambda w: w.sum(), "wall": lambda w: (w * 400).cosh().sum(),
    "cliff": lambda w: (w * 20).sigmoid().sum() + 0.01 * w.square().sum(),
}


def searched(lib: Any, valley: str, start: list[float], options: dict[str, Any]) -> list[float]:
    """Where two steps end, and how often the loss was computed."""
    weight = lib.nn.Parameter(lib.tensor(start, dtype=lib.float64))
    optimizer = lib.optim.LBFGS([weight], max_iter=3, history_size=2,
                                line_search_fn="strong_wolfe", **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = VALLEYS[valley](weight)
        loss.backward()
        return loss

    for _ in range(2):
        optimizer.step(closure)
    state = optimizer.state[weight]
    return [*weight.tolist(), state["func_evals"], state["n_iter"]]


@pytest.mark.parametrize("valley", VALLEYS)
def test_a_line_search_goes_pytorchs_way(valley: str) -> None:
    """From near and far, with short and long first steps, often and seldom."""
    ways = [(start, options) for start in ([-3.0, 2.0], [0.875, 1.25], [0.125, 0.125], [8.0, -5.0])
            for options in ({"lr": 2**-7}, {"lr": 0.25, "max_eval": 12}, {"lr": 1.0}, {"lr": 32.0},
                            {"tolerance_change": 0.05, "max_eval": 9})]
    np.testing.assert_allclose(*([searched(lib, valley, *way) for way in ways]
                                 for lib in (rg, torch)), rtol=1e-6, atol=1e-9)


def places(lib: Any, waves: int, width: float, start: float, lr: float) -> list[float]:
    """Where a search asks for the loss."""
    weight, asked = lib.nn.Parameter(lib.tensor([start], dtype=lib.float64)), []
    optimizer = lib.optim.LBFGS([weight], lr, max_iter=2, max_eval=12,
                                line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        asked.append(weight.item())
        loss = ((weight * waves).sin() + width * weight.square()).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return asked


def test_a_line_search_among_waves_asks_where_pytorchs_does() -> None:
    draw = random.Random(0)
    # The first ones are between two places beyond the start, nearer to one of them.
    ways = [(4, 0.3, -1.25, 4.0), (4, 0.01, 0.375, 0.5), (3, 0.3, 2.875, 4.0),
            (1, 0.1, 1.875, 2**-6), (4, 0.1, -4.375, 0.25), (2, 0.01, 4.25, 8.0)]
    for way in ways + [(draw.randint(1, 4), draw.choice([0.01, 0.05, 0.1, 0.3]),
                        draw.randint(-40, 40) / 8, 2.0 ** draw.randint(-6, 4)) for _ in range(60)]:
        np.testing.assert_allclose(places(rg, *way), places(torch, *way), 1e-6, 1e-9, str(way))


def led_astray(lib: Any, seed: int) -> list[Any]:
    """Where a search goes whose losses and gradients are drawn, often equal and at the limits."""
    draw, asked = random.Random(seed), []
    count = draw.choice([1, 2])
    weight = lib.nn.Parameter(lib.zeros(count, dtype=lib.float64))
    optimizer = lib.optim.LBFGS(
        [weight], draw.choice([1.0, 1.0, 0.5, 2.0]), max_iter=2, max_eval=draw.choice([8, 14]),
        tolerance_change=draw.choice([1e-9, 0.125, 0.5]), line_search_fn="strong_wolfe")

    def closure() -> Any:
        asked.append(weight.tolist())
        is_first = len(asked) == 1
        weight.grad = lib.tensor([1.0 if is_first else draw.choice(
            [-1.0, 1.0, 0.5, -0.5, 0.9, -0.9, 2.0, 0.0]) for _ in range(count)], dtype=lib.float64)
        return lib.tensor(0.0 if is_first else draw.choice(
            [0.0, 0.0, -1e-4, -0.5e-4, 1.0, -1.0, -2.0, 2.0]), dtype=lib.float64)

    try:
        optimizer.step(closure)
    except ZeroDivisionError:
        asked.append([np.inf])
    return [place for places in asked for place in places]


def test_a_line_search_led_astray_goes_pytorchs_way() -> None:
    for seed in (*range(150), 204, 222, 324, 512):
        np.testing.assert_allclose(led_astray(rg, seed), led_astray(torch, seed), 1e-9, 1e-12,
                                   err_msg=str(seed))
