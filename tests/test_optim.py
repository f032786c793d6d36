"""Optimizers: their updates against the textbook, and their state."""

import copy
import gc
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import retrograd as torch
from retrograd import nn, optim
from retrograd.backend.numpy import fused


def parameter_list(*shapes, dtype=torch.float64):
    generator = torch.Generator().manual_seed(1)
    return [nn.Parameter(torch.randn(shape, dtype=dtype, generator=generator)) for shape in shapes]


def set_grads(parameters, step):
    generator = torch.Generator().manual_seed(100 + step)
    for parameter in parameters:
        parameter.grad = torch.randn(parameter.shape, dtype=parameter.dtype, generator=generator)


# ---------------------------------------------------------------- updates


def textbook_sgd(p, grads, lr, momentum=0, dampening=0, weight_decay=0, nesterov=False):
    buffer = None
    for g in grads:
        g = g + weight_decay * p
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p = p - lr * g
    return p


def textbook_adam(p, grads, lr, betas=(0.9, 0.999), eps=1e-8, decay=0, decoupled=False, ams=False):
    first = second = largest = torch.zeros_like(p)
    for count, g in enumerate(grads, start=1):
        if decoupled:
            p = p * (1 - lr * decay)
        else:
            g = g + decay * p
        first = betas[0] * first + (1 - betas[0]) * g
        second = betas[1] * second + (1 - betas[1]) * g * g
        largest = torch.maximum(largest, second)
        corrected = (largest if ams else second) / (1 - betas[1] ** count)
        p = p - lr * (first / (1 - betas[0] ** count)) / (corrected.sqrt() + eps)
    return p


CASES = {
    "sgd": (lambda p: optim.SGD(p, lr=0.1), lambda p, g: textbook_sgd(p, g, 0.1)),
    "momentum": (
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.2, weight_decay=0.1),
        lambda p, g: textbook_sgd(p, g, 0.1, 0.9, 0.2, 0.1),
    ),
    "nesterov": (
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        lambda p, g: textbook_sgd(p, g, 0.1, 0.9, nesterov=True),
    ),
    "maximize": (
        lambda p: optim.SGD(p, lr=0.1, maximize=True),
        lambda p, g: textbook_sgd(p, [-each for each in g], 0.1),
    ),
    "adam": (lambda p: optim.Adam(p, lr=0.1), lambda p, g: textbook_adam(p, g, 0.1)),
    "adam_decay": (
        lambda p: optim.Adam(p, lr=0.1, betas=(0.5, 0.8), eps=1e-3, weight_decay=0.2),
        lambda p, g: textbook_adam(p, g, 0.1, (0.5, 0.8), 1e-3, 0.2),
    ),
    "adamw": (
        lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.2),
        lambda p, g: textbook_adam(p, g, 0.1, decay=0.2, decoupled=True),
    ),
    "amsgrad": (
        lambda p: optim.Adam(p, lr=0.1, amsgrad=True),
        lambda p, g: textbook_adam(p, g, 0.1, ams=True),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("chunk", [fused.CHUNK, 10, 1])
def test_updates_follow_the_textbook(name, chunk, monkeypatch):
    monkeypatch.setattr(fused, "CHUNK", chunk)
    monkeypatch.setattr(fused, "BLOCK", chunk)
    parameters = parameter_list((3, 4), (5,), (), (7, 1), (0,), (30,))
    start = [parameter.detach().clone() for parameter in parameters]
    make, textbook = CASES[name]
    optimizer = make(parameters)
    grads = []
    for step in range(6):
        set_grads(parameters, step)
        grads.append([parameter.grad.clone() for parameter in parameters])
        optimizer.step()
    for number, parameter in enumerate(parameters):
        expected = textbook(start[number], [each[number] for each in grads])
        assert torch.allclose(parameter, expected, rtol=1e-12, atol=1e-12), name


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.complex64, torch.float32])
def test_every_floating_dtype_goes_downhill(dtype):
    for make in (
        lambda p: optim.SGD(p, lr=0.05, momentum=0.5),
        lambda p: optim.Adam(p, lr=0.05),
        lambda p: optim.AdamW(p, lr=0.05),
    ):
        parameter = nn.Parameter(torch.ones(3, dtype=dtype))
        optimizer = make([parameter])
        for _ in range(30):
            optimizer.zero_grad()
            (parameter.abs() ** 2).sum().backward()
            optimizer.step()
        assert parameter.dtype == dtype
        assert parameter.abs().max().item() < 0.5


@settings(max_examples=40, deadline=None)
@given(
    presence=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8),
    name=st.sampled_from(sorted(CASES)),
)
def test_parameters_are_updated_as_if_each_had_its_own_optimizer(presence, name):
    shapes = ((3,), (2, 2), (), (4,))
    together, apart = parameter_list(*shapes), parameter_list(*shapes)
    make, _ = CASES[name]
    joint = make(together)
    alone = [make([parameter]) for parameter in apart]
    for step, present in enumerate(presence):
        for parameters in (together, apart):
            set_grads(parameters, step)
            for parameter, here in zip(parameters, present):
                if not here:
                    parameter.grad = None
        joint.step()
        for optimizer in alone:
            optimizer.step()
    for one, other in zip(together, apart):
        assert torch.allclose(one, other, rtol=1e-12, atol=1e-13)
        assert one._version == other._version


def test_noncontiguous_parameters_are_updated_where_they_lie():
    base = torch.zeros(4, 6)
    parameter = nn.Parameter(base.t())
    optimizer = optim.Adam([parameter], lr=0.1)
    parameter.grad = torch.ones(6, 4)
    optimizer.step()
    assert torch.allclose(base, torch.full((4, 6), -0.1))


def test_overflow_is_silent():
    parameter = nn.Parameter(torch.ones(2))
    parameter.grad = torch.tensor([1e30, math.inf])
    for optimizer in (optim.SGD([parameter], lr=1e30), optim.Adam([parameter])):
        optimizer.step()
    assert not torch.isfinite(parameter).any()


def test_duplicate_parameters_warn_and_move_twice():
    parameter = nn.Parameter(torch.zeros(1))
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = optim.SGD([parameter, parameter], lr=1.0)
    parameter.grad = torch.ones(1)
    optimizer.step()
    assert parameter.item() == -2.0


def test_a_step_bumps_the_version_of_what_it_changed():
    moved, still = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    optimizer = optim.Adam([moved, still])
    loss = (moved**2).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    assert (moved._version, still._version) == (1, 0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


# ---------------------------------------------------------------- state


def test_plain_sgd_keeps_no_state():
    parameters = parameter_list((2,))
    optimizer = optim.SGD(parameters)
    set_grads(parameters, 0)
    optimizer.step()
    assert optimizer.state_dict()["state"] == {}


def test_state_tensors_are_live_views_of_what_the_step_uses():
    parameters = parameter_list((2,), (3,))
    optimizer = optim.Adam(parameters, lr=0.1)
    for step in range(3):
        set_grads(parameters, step)
        optimizer.step()
    kept = optimizer.state[parameters[0]]["exp_avg"]
    before = kept.clone()
    set_grads(parameters, 3)
    optimizer.step()
    assert optimizer.state[parameters[0]]["exp_avg"] is kept
    assert not torch.equal(kept, before)
    assert optimizer.state[parameters[0]]["step"].item() == 4
    kept.zero_()
    optimizer.state[parameters[1]]["exp_avg"] = torch.zeros(3, dtype=torch.float64)
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    still = [parameter.detach().clone() for parameter in parameters]
    optimizer.step()
    assert all(torch.equal(a, b) for a, b in zip(still, parameters))


def test_an_optimizer_resumes_from_its_state_dict():
    first, second = parameter_list((3,), (2, 2)), parameter_list((3,), (2, 2))
    whole = optim.AdamW(first, lr=0.1, amsgrad=True)
    for step in range(3):
        set_grads(first, step)
        whole.step()
    saved = pickle.loads(pickle.dumps(whole.state_dict()))
    with torch.no_grad():
        for source, target in zip(first, second):
            target.copy_(source)
    resumed = optim.AdamW(second, lr=9.0, amsgrad=True)
    resumed.load_state_dict(saved)
    for step in range(3, 6):
        for parameters, optimizer in ((first, whole), (second, resumed)):
            set_grads(parameters, step)
            optimizer.step()
    assert all(torch.equal(a, b) for a, b in zip(first, second))


def test_loading_does_not_change_what_was_loaded():
    parameters = parameter_list((2,))
    optimizer = optim.Adam(parameters)
    set_grads(parameters, 0)
    optimizer.step()
    saved = copy.deepcopy(optimizer.state_dict())
    frozen = copy.deepcopy(saved)
    optimizer.load_state_dict(saved)
    optimizer.param_groups[0]["lr"] = 5.0
    assert saved["param_groups"] == frozen["param_groups"]


def test_copies_of_an_optimizer_are_independent():
    parameters = parameter_list((2,))
    optimizer = optim.Adam(parameters)
    set_grads(parameters, 0)
    optimizer.step()
    twin = copy.deepcopy(optimizer)
    assert twin.param_groups[0]["params"][0] is not parameters[0]
    (twin_state,) = twin.state.values()
    optimizer.step()
    assert twin_state["step"].item() == 1


def test_training_leaves_no_garbage():
    parameters = parameter_list((3, 3), (3,))
    optimizer = optim.Adam(parameters)

    def step(number):
        set_grads(parameters, number)
        optimizer.step()
        optimizer.zero_grad()

    step(0)
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for number in range(1, 30):
            step(number)
        assert len(gc.get_objects()) - before < 10
    finally:
        gc.enable()


# ---------------------------------------------------------------- errors and schedules


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda p: optim.SGD(p, lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda p: optim.SGD(p, momentum=-1), ValueError, "Invalid momentum value: -1"),
        (lambda p: optim.SGD(p, nesterov=True), ValueError, "Nesterov momentum requires"),
        (
            lambda p: optim.Adam(p, betas=(0.9, 1.0)),
            ValueError,
            "Invalid beta parameter at index 1",
        ),
        (lambda p: optim.Adam(p, eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda p: optim.Adam([]), ValueError, "optimizer got an empty parameter list"),
        (lambda p: optim.Adam(p[0]), TypeError, "should be an iterable of Tensors or dicts"),
        (lambda p: optim.Adam([p[0] * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda p: optim.Adam([{"params": {p[0]}}]), TypeError, "ordered collections"),
        (lambda p: optim.SGD([1]), TypeError, "one of the params is int"),
    ],
)
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make([nn.Parameter(torch.ones(1))])


def test_a_failed_group_leaves_the_optimizer_as_it_was():
    first = nn.Parameter(torch.ones(1))
    optimizer = optim.SGD([first])
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [nn.Parameter(torch.ones(1)), first]})
    assert len(optimizer.param_groups) == 1


def test_a_closure_is_run_with_gradients():
    parameter = nn.Parameter(torch.ones(1))
    optimizer = optim.SGD([parameter], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (parameter**2).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        loss = optimizer.step(closure)
    assert (loss.item(), parameter.item()) == (1.0, 0.0)


def rates(make, epochs):
    optimizer = optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
    schedule = make(optimizer)
    seen = []
    for _ in range(epochs):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return seen


def test_schedules():
    scheduler = optim.lr_scheduler
    assert rates(lambda o: scheduler.StepLR(o, 2, 0.5), 5) == [1, 1, 0.5, 0.5, 0.25]
    assert rates(lambda o: scheduler.MultiStepLR(o, [1, 3], 0.1), 4) == pytest.approx(
        [1, 0.1, 0.1, 0.01]
    )
    assert rates(lambda o: scheduler.ExponentialLR(o, 0.5), 3) == [1, 0.5, 0.25]
    assert rates(lambda o: scheduler.LambdaLR(o, lambda epoch: 1 / (epoch + 1)), 3) == (
        pytest.approx([1, 1 / 2, 1 / 3])
    )
    cosine = [(1 + math.cos(math.pi * epoch / 4)) / 2 for epoch in range(10)]
    assert rates(lambda o: scheduler.CosineAnnealingLR(o, 4), 10) == pytest.approx(cosine)


def test_a_schedule_before_the_first_step_warns():
    schedule = optim.lr_scheduler.StepLR(optim.SGD([nn.Parameter(torch.ones(1))]), 1)
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
        schedule.step()


@pytest.mark.parametrize(("strategy", "wanted"), [
    ("linear", [1.0, 0.8, 0.6, 0.4, 0.2, 0.2]),
    ("cos", [1.0, 0.2 + 0.4 * (1 + 0.5 ** 0.5), 0.6, 0.2 + 0.4 * (1 - 0.5 ** 0.5), 0.2, 0.2])])
def test_rates_are_annealed_to_that_of_the_average(strategy: str, wanted: list[float]) -> None:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    schedule = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.2, anneal_epochs=4,
                                           anneal_strategy=strategy)
    rates = []
    for _ in wanted:
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert rates == pytest.approx(wanted)


def moved(make: Any, shapes: list[tuple[int, ...]], sign: int = 1) -> list[torch.Tensor]:
    torch.manual_seed(0)
    params = [torch.randn(shape, requires_grad=True) for shape in shapes]
    optimizer = make(params)
    for _ in range(3):
        for param in params:
            param.grad = sign * torch.randn(param.shape)
        optimizer.step()
    assert len({param._version for param in params}) == 1
    return [param.detach() for param in params]


@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1, "lr": 0.1}, {"d": 1.5}])
def test_adafactor_steps_alike_on_arrays_and_by_operations(options: dict[str, Any]) -> None:
    shapes = [(3, 4), (5,), (2, 3, 4), (70, 80), ()]
    ours = moved(lambda params: torch.optim.Adafactor(params, **options), shapes)
    # The other way round is taken by operations on tensors.
    others = moved(lambda params: torch.optim.Adafactor(params, maximize=True, **options), shapes,
                   -1)
    torch.testing.assert_close(ours, others)


@pytest.mark.parametrize("nesterov", [True, False])
def test_muon_moves_matrices_of_a_shape_as_it_moves_each(nesterov: bool) -> None:
    shapes = [(3, 4), (4, 3), (3, 4), (130, 130), (3, 4)]

    def apart(params: list[torch.Tensor]) -> Any:
        return torch.optim.Muon([{"params": [param]} for param in params], nesterov=nesterov)

    together = moved(lambda params: torch.optim.Muon(params, nesterov=nesterov), shapes)
    torch.testing.assert_close(together, moved(apart, shapes))


def test_muon_refuses_a_method_before_it_moves_anything() -> None:
    param = torch.ones(2, 2, requires_grad=True)
    param.grad = torch.ones(2, 2)
    optimizer = torch.optim.Muon([param], ns_steps=100)
    with pytest.raises(ValueError, match="less than 100"):
        optimizer.step()
    assert not optimizer.state and torch.equal(param, torch.ones(2, 2))


def test_an_optimizer_that_makes_its_own_groups_takes_steps() -> None:
    """As those that wrap another one do, without calling the base class."""

    class Wrapper(torch.optim.Optimizer):
        def __init__(self, inner: torch.optim.Optimizer) -> None:
            self.inner, self.param_groups = inner, inner.param_groups

        def step(self, closure: object = None) -> None:
            self.inner.step()

    weight = torch.ones(2, requires_grad=True)
    optimizer = Wrapper(torch.optim.SGD([weight], lr=0.5))
    weight.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    assert weight.tolist() == [0.5, 0.5] and weight.grad is None


def test_texts_and_mappings_in_a_state_are_loaded_as_they_were():
    weight = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
    optimizer = torch.optim.SGD([weight], 0.1)
    state = optimizer.state_dict()
    state["state"] = {0: {"text": "text", "bytes": b"b", "pair": ("x", torch.ones(1)),
                          "named": {"inner": torch.ones(1)}}}
    optimizer.load_state_dict(state)
    found = optimizer.state[weight]
    assert (found["text"], found["bytes"], found["pair"][0]) == ("text", b"b", "x")
    assert type(found["pair"]) is tuple and found["pair"][1].dtype is torch.float64
    assert found["named"]["inner"].dtype is torch.float64
