"""PyTorch's own catalogue of optimizers: twenty steps by both libraries, with each option."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_optimizers import optim_db

torch.set_num_threads(1)  # arrays this small only wait for other threads

STEPS = 20
FEWER_STEPS = {"Muon": 2}
"""It orthogonalises in bfloat16, which makes much of a difference in the last digit."""
OPTIMIZERS = {info.optim_cls.__name__: info for info in optim_db}
MISSING: set[str] = set()
TOLERANCES = {"float64": 1e-9, "float32": 2e-5, "complex128": 1e-9}
LEFT_OUT = {("LBFGS", "float32"), ("Adafactor", "complex128"), ("Muon", "complex128"),
            *(("SparseAdam", dtype) for dtype in TOLERANCES)}
"""Two refuse complex numbers; in float32 the curvature that LBFGS finds is rounding at the end.
SparseAdam takes sparse gradients only: see test_sparse.py."""
COARSE = {"Muon": 1e-3}
"""Tolerances of optimizers that amplify the last digit."""
CASES = [(name, dtype) for name in sorted(OPTIMIZERS.keys() - MISSING) for dtype in TOLERANCES
         if (name, dtype) not in LEFT_OUT]


def translated(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return rg.tensor(value.numpy())
    if isinstance(value, tuple):
        return tuple(map(translated, value))
    return value


def drawn(name: str, dtype: str) -> tuple[list[np.ndarray], np.ndarray]:
    generator = np.random.default_rng(0)
    shapes = [(3, 4), (4, 2)] if name == "Muon" else [(3, 4), (4,)]
    values = [generator.standard_normal(s) * 0.5 for s in (*shapes, (5, 3))]
    if dtype.startswith("complex"):
        values = [v + 0.5j * generator.standard_normal(v.shape) for v in values]
    *parameters, data = [v.astype(dtype) for v in values]
    return parameters, data


def trained(lib: Any, name: str, dtype: str, options: dict[str, Any]) -> Any:
    """The parameters after some steps and the optimizer's state, or the error on the way."""
    values, data = drawn(name, dtype)
    parameters = [lib.nn.Parameter(lib.tensor(v)) for v in values]
    data = lib.tensor(data)
    try:
        optimizer = getattr(lib.optim, name)(parameters, **options)
    except (ValueError, RuntimeError) as error:
        return type(error)

    def closure() -> Any:
        optimizer.zero_grad()
        hidden = data @ parameters[0]
        output = hidden.tanh() @ parameters[1] if name == "Muon" \
            else hidden + parameters[1] if name == "LBFGS" else (hidden + parameters[1]).tanh()
        loss = (output - 0.3).abs().square().mean()
        if name == "LBFGS":  # something with one minimum, so steep that all ways end at it
            loss = 1e5 * (loss + sum(p.abs().square().mean() for p in parameters))
        loss.backward()
        return loss

    for _ in range(FEWER_STEPS.get(name, STEPS)):
        optimizer.step(closure)
    return [p.detach().numpy() for p in parameters], optimizer.state_dict()


@pytest.mark.parametrize(("name", "dtype"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_an_optimizer_is_pytorchs(name: str, dtype: str) -> None:
    tolerance = COARSE.get(name, TOLERANCES[dtype])
    for given in OPTIMIZERS[name].optim_inputs_func(device="cpu"):
        options = given.kwargs
        expected = trained(torch, name, dtype, copy.deepcopy(options))
        found = trained(rg, name, dtype, {k: translated(v) for k, v in options.items()})
        if isinstance(expected, type):
            assert found is expected
            continue
        for mine, theirs in zip(found[0], expected[0], strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance,
                                       err_msg=str(options))
        for mine, theirs in zip(found[1]["param_groups"], expected[1]["param_groups"],
                                strict=True):
            assert list(mine) == list(theirs)
        for number, theirs in expected[1]["state"].items():
            assert set(found[1]["state"][number]) == set(theirs)


def carried(lib: Any, value: Any) -> Any:
    """A state in the tensors of the other library."""
    if isinstance(value, dict):
        return {key: carried(lib, member) for key, member in value.items()}
    if isinstance(value, (rg.Tensor, torch.Tensor)):
        return lib.tensor(value.detach().numpy().copy())
    return [carried(lib, member) for member in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", sorted(OPTIMIZERS.keys() - {"LBFGS", "Muon", "SparseAdam"}))
def test_a_state_goes_to_pytorch_and_back(name: str) -> None:
    """Three steps here, three there, three here: as if all had been taken by PyTorch."""
    def run(lib: Any, values: list[np.ndarray], saved: Any, steps: range) -> tuple[list, Any]:
        parameters = [lib.nn.Parameter(lib.tensor(v)) for v in values]
        optimizer = getattr(lib.optim, name)(parameters)
        if saved is not None:
            optimizer.load_state_dict(carried(lib, saved))
        for step in steps:
            for number, p in enumerate(parameters):
                p.grad = lib.tensor(np.cos(step + number + np.arange(p.numel()))).reshape(p.shape)
            optimizer.step()
        return [p.detach().numpy() for p in parameters], optimizer.state_dict()

    ends = []
    for library in (rg, torch):
        values, saved = drawn(name, "float64")[0], None
        for first, lib in ((0, library), (3, torch), (6, library)):
            values, saved = run(lib, values, saved, range(first, first + 3))
        ends.append(values)
    for mine, theirs in zip(*ends, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_what_is_missing_is_listed() -> None:
    assert {name for name in OPTIMIZERS if not hasattr(rg.optim, name)} == MISSING


SCHEDULES = {
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9 + 0.01 * epoch),
    "polynomial": lambda s, o: s.PolynomialLR(o, total_iters=5, power=2.0),
    "warm_restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2, eta_min=0.01),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3, step_size_down=2),
    "cyclic2": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="triangular2"),
    "cyclic_exp": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="exp_range",
                                          gamma=0.9),
    "one_cycle": lambda s, o: s.OneCycleLR(o, 0.1, total_steps=14),
    "one_cycle_three": lambda s, o: s.OneCycleLR(o, 0.1, total_steps=14, three_phase=True,
                                                 anneal_strategy="linear"),
    "sequential": lambda s, o: s.SequentialLR(o, [
        s.ConstantLR(o, factor=0.1, total_iters=2), s.ExponentialLR(o, gamma=0.9)], [3]),
    "chained": lambda s, o: s.ChainedScheduler([
        s.ConstantLR(o, factor=0.1, total_iters=2), s.ExponentialLR(o, gamma=0.9)]),
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.filterwarnings("ignore")
def test_a_schedule_is_pytorchs(name: str) -> None:
    found = []
    for lib in (rg, torch):
        optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=0.05, momentum=0.9)
        schedule = SCHEDULES[name](lib.optim.lr_scheduler, optimizer)
        rates = [(schedule.get_last_lr()[0], optimizer.param_groups[0]["momentum"])]
        for _ in range(13):
            optimizer.step()
            schedule.step()
            rates.append((schedule.get_last_lr()[0], optimizer.param_groups[0]["momentum"]))
        found.append(rates)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize("mode", ["min", "max"])
def test_a_plateau_is_noticed_as_by_pytorch(mode: str) -> None:
    metrics = [1.0, 0.9, 0.95, 0.93, 0.94, 0.91, 0.8, 0.85, 0.81, 0.82, 0.83, 0.84]
    found = []
    for lib in (rg, torch):
        optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=0.1)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, mode, factor=0.5, patience=1, cooldown=1, min_lr=0.01)
        rates = []
        for metric in metrics:
            schedule.step(metric)
            rates.append(optimizer.param_groups[0]["lr"])
        found.append((rates, schedule.best, schedule.num_bad_epochs))
    assert found[0] == found[1]


AVERAGES = {
    "swa": lambda swa: {},
    "ema": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9)},
    "ema, one by one": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.9)},
    "one by one": lambda swa: {"avg_fn": lambda mean, new, count: (mean * count + new) / 3},
}


@pytest.mark.parametrize("kind", AVERAGES)
def test_averaged_weights_are_pytorchs(kind: str) -> None:
    found = []
    for lib in (rg, torch):
        model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3))
        for number, parameter in enumerate(model.parameters()):
            with lib.no_grad():
                parameter.fill_(0.1 * (number + 1))
        swa = lib.optim.swa_utils
        averaged = swa.AveragedModel(model, **AVERAGES[kind](swa))
        for _ in range(3):
            averaged.update_parameters(model)
            with lib.no_grad():
                for parameter in model.parameters():
                    parameter.mul_(1.5)
        data = lib.tensor([[1.0, 2.0], [3.0, 5.0]])
        swa.update_bn([data, data + 1], averaged)
        found.append([p.detach().numpy() for p in averaged.state_dict().values()])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
