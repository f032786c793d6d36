"""Optimizers that move many parameters at once give the bits they give one by one."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import retrograd as torch
from retrograd import nn, optim
from retrograd.backend.numpy import fused, updates
from retrograd.optim import _packing, _single

CASES = [
    (optim.RMSprop, [{}, {"weight_decay": 0.1, "momentum": 0.9}, {"centered": True},
                     {"centered": True, "momentum": 0.5, "maximize": True}]),
    (optim.Adagrad, [{}, {"weight_decay": 0.1, "lr_decay": 0.01, "maximize": True},
                     {"initial_accumulator_value": 0.5}]),
    (optim.Adadelta, [{}, {"weight_decay": 0.1, "maximize": True}]),
    (optim.Adamax, [{}, {"weight_decay": 0.1, "maximize": True}]),
    (optim.NAdam, [{}, {"weight_decay": 0.1, "maximize": True},
                   {"weight_decay": 0.1, "decoupled_weight_decay": True}]),
    (optim.RAdam, [{}, {"weight_decay": 0.1, "maximize": True},
                   {"weight_decay": 0.1, "decoupled_weight_decay": True, "betas": (0.5, 0.7)}]),
    (optim.ASGD, [{}, {"weight_decay": 0.1, "maximize": True}, {"t0": 3, "lambd": 0.1}]),
    (optim.Rprop, [{}, {"maximize": True}]),
]
each_option = pytest.mark.parametrize(
    "make, options", [(make, options) for make, all_options in CASES for options in all_options])
each_optimizer = pytest.mark.parametrize("make", [make for make, _ in CASES])


def drawn(seed, *shapes, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, dtype=dtype, generator=generator) for shape in shapes]


def parameters(*shapes, dtype=torch.float32):
    return [nn.Parameter(value) for value in drawn(1, *shapes, dtype=dtype)]


def set_grads(params, step, absent=()):
    values = drawn(100 + step, *(param.shape for param in params), dtype=params[0].dtype)
    for number, (param, value) in enumerate(zip(params, values)):
        param.grad = None if number in absent else value


def take_steps(optimizer, params, steps):
    for step in steps:
        set_grads(params, step)
        optimizer.step()


def observed(optimizer):
    """Everything a step leaves behind, as bytes."""
    params = [param for group in optimizer.param_groups for param in group["params"]]
    states = [optimizer.state.get(param, {}) for param in params]
    return ([(param.detach().numpy().tobytes(), param._version) for param in params],
            [{name: (value.dtype, value.shape, value.numpy().tobytes())
              for name, value in state.items()} for state in states])


def packed_sizes(optimizer):
    return sorted(len(pack.params) for update in optimizer._group_updates.values()
                  for pack in update.packs)


@each_option
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("chunk", [fused.CHUNK, 3])
def test_packs_move_as_single_parameters_do(make, options, dtype, chunk, monkeypatch):
    monkeypatch.setattr(fused, "CHUNK", chunk)

    def trained(foreach):
        params = parameters((3, 4), (5,), (), (7, 1), (0,), (30,), (2,), dtype=dtype)
        params.append(nn.Parameter(torch.ones(3, 2, dtype=dtype).t()))
        optimizer = make(params, foreach=foreach, **options)
        found = []
        for step in range(20):
            # One is frozen, one comes late, one is missing now and then.
            absent = {6} | ({0} if step < 3 else set()) | ({1} if step in (5, 6, 11) else set())
            if step == 8:
                params[3].data = torch.full((7, 1), 0.25, dtype=dtype)
            if step == 10:
                optimizer.param_groups[0]["lr"] *= 0.5
            if step == 12:
                params.append(nn.Parameter(torch.ones(4, dtype=dtype)))
                optimizer.add_param_group({"params": params[-1], "lr": 0.3})
            if step == 14:
                optimizer.zero_grad(set_to_none=False)
            else:
                set_grads(params, step, absent)
            optimizer.step()
            found.append(observed(optimizer))
        return optimizer, found

    together, found = trained(None)
    singly, expected = trained(False)
    assert found == expected
    assert sum(packed_sizes(together)) >= 8
    assert not singly._group_updates


@each_option
@settings(max_examples=6, deadline=None, derandomize=True, database=None,
          suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_step_in_one_pass_has_the_bits_of_its_operations(make, options, data, monkeypatch):
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    sizes = data.draw(st.lists(st.sampled_from([0, 1, 127, 128, 257, 9_001, 70_000]), min_size=1,
                               max_size=3))
    odd = data.draw(st.sampled_from([None, math.nan, math.inf, -math.inf, 1e-40, 0.0]))
    before = torch.get_num_threads()
    torch.set_num_threads(data.draw(st.sampled_from([1, 2, 3])))

    def trained():
        params = parameters(*[(size,) for size in sizes], dtype=dtype)
        optimizer = make(params, **options)
        for step in range(8):  # RAdam is held back for five
            set_grads(params, step)
            for param in params:
                param.grad[::7] = odd if odd is not None else 1.0
            optimizer.step()
        return [*params, *(value for param in params for value in optimizer.state[param].values())]

    try:
        found = [trained()]
        with monkeypatch.context() as patch:
            patch.delitem(updates.kernels, "update", raising=False)
            found.append(trained())
            patch.setattr(_single, "runs_on", lambda *arrays: False)
            expected = trained()
        for values in found:
            for one, other in zip(values, expected, strict=True):
                assert np.array_equal(one.detach().numpy(), other.detach().numpy(), equal_nan=True)
    finally:
        torch.set_num_threads(before)


@each_option
def test_training_goes_on_from_a_saved_state(make, options):
    params = parameters((3,), (2, 2), ())
    whole = make(params, **options)
    take_steps(whole, params, range(5))
    saved = pickle.loads(pickle.dumps(whole.state_dict()))
    twin = copy.deepcopy(whole)
    thawed = pickle.loads(pickle.dumps(whole))
    runs = [whole, twin, thawed]
    for foreach in (None, False):
        fresh = [nn.Parameter(param.detach().clone()) for param in params]
        runs.append(make(fresh, foreach=foreach, **options))
        runs[-1].load_state_dict(copy.deepcopy(saved))
        runs[-1].param_groups[0]["foreach"] = foreach
    for optimizer in runs:
        take_steps(optimizer, optimizer.param_groups[0]["params"], range(5, 9))
    ends = [[data for data, _ in observed(run)[0]] + observed(run)[1] for run in runs]
    assert all(end == ends[0] for end in ends)
    assert packed_sizes(whole) == packed_sizes(twin) == packed_sizes(runs[3]) == [3]
    assert not runs[4]._group_updates


@each_optimizer
def test_those_that_moved_as_often_move_together(make):
    params = parameters((3,), (2,), (4,), (1,))
    optimizer = make(params)
    for step in range(3):
        set_grads(params, step, absent={2, 3})
        optimizer.step()
    take_steps(optimizer, params, range(3, 6))
    assert packed_sizes(optimizer) == [2, 2]


@each_optimizer
def test_the_state_seen_is_the_state_used(make):
    def trained(foreach):
        params = parameters((2,), (3,))
        optimizer = make(params, foreach=foreach)
        take_steps(optimizer, params, range(3))
        name = make._rows[0]
        optimizer.state[params[0]][name].mul_(2)
        take_steps(optimizer, params, [3])
        optimizer.state[params[1]][name] = torch.full((3,), 0.5)
        take_steps(optimizer, params, [4])
        optimizer.state[params[1]]["step"].fill_(40.0)
        take_steps(optimizer, params, [5])
        optimizer.state[params[0]][name].data = torch.full((2,), 0.25)
        take_steps(optimizer, params, [6])
        del optimizer.state[params[0]]
        take_steps(optimizer, params, range(7, 9))
        return observed(optimizer)

    assert trained(None) == trained(False)


def overlapping():
    memory = torch.ones(6)
    return [nn.Parameter(memory[:4]), nn.Parameter(memory[2:])]


def in_shared_memory():
    params = parameters((3,), (2,))
    for param in params:
        param.share_memory_()
    return params


@pytest.mark.parametrize("make_params, options", [
    (overlapping, {}),
    (in_shared_memory, {}),
    (lambda: parameters((3,), ()), {"lr": torch.tensor(0.1).double()}),
    (lambda: parameters((3,), (2,), dtype=torch.bfloat16), {}),
])
@each_optimizer
def test_what_cannot_lie_end_to_end_is_moved_singly(make, make_params, options):
    def trained(foreach):
        params = make_params()
        optimizer = make(params, foreach=foreach, **options)
        take_steps(optimizer, params, range(4))
        assert packed_sizes(optimizer) == []
        return [param.detach().float().numpy().tobytes() for param in params]

    assert trained(None) == trained(False)


def test_shared_state_stays_shared():
    params = parameters((3,), (2,))
    optimizer = optim.Adagrad(params)
    take_steps(optimizer, params, range(2))
    optimizer.share_memory()
    take_steps(optimizer, params, range(2, 4))
    assert all(optimizer.state[param]["sum"].is_shared() for param in params)


def test_a_state_of_another_form_is_left_to_the_single_step():
    params = parameters((3,), (2,))
    optimizer = optim.RMSprop(params)
    take_steps(optimizer, params, range(2))
    optimizer.state[params[0]]["square_avg"] = torch.ones(3, dtype=torch.float64)
    take_steps(optimizer, params, [2])
    assert packed_sizes(optimizer) == [1]
    assert optimizer.state[params[0]]["square_avg"].dtype == torch.float64


@each_optimizer
def test_repeated_parameters_move_twice(make):
    def trained(foreach):
        (param,) = parameters((2,))
        with pytest.warns(UserWarning, match="duplicate parameters"):
            optimizer = make([param, param], foreach=foreach)
        take_steps(optimizer, [param], range(3))
        return observed(optimizer), optimizer.state[param]["step"].item()

    assert trained(None) == trained(False)
    assert trained(None)[1] == 6


@each_optimizer
def test_a_step_may_be_taken_in_inference_mode(make):
    def trained(foreach):
        params = parameters((2,), (3,))
        optimizer = make(params, foreach=foreach)
        take_steps(optimizer, params, [0])
        set_grads(params, 1)
        with torch.inference_mode():
            optimizer.step()
        take_steps(optimizer, params, [2])
        return observed(optimizer)

    assert trained(None) == trained(False)


@pytest.mark.parametrize("make", [make for make, _ in CASES if make is not optim.Adagrad])
def test_capturable_steps_are_refused(make):
    params = parameters((2,))
    optimizer = make(params, capturable=True)
    set_grads(params, 0)
    with pytest.raises(AssertionError, match="must be on supported devices"):
        optimizer.step()


@pytest.mark.parametrize("make", [optim.SGD, optim.Adam, *(make for make, _ in CASES)])
def test_a_gradient_of_other_data_is_refused(make):
    params = parameters((2,), (3,))
    optimizer = make(params, lr=0.1)
    set_grads(params, 0)
    params[0].data = torch.ones(5)
    before = params[1].detach().clone()
    with pytest.raises(RuntimeError, match="must match the size"):
        optimizer.step()
    assert torch.equal(params[1], before)
    set_grads(params, 1)
    optimizer.state.pop(params[0], None)
    if make is optim.Adagrad:  # whose state is as old as the optimizer
        optimizer.state[params[0]] = optimizer._first_state(optimizer.defaults, params[0])
    take_steps(optimizer, params, [1, 2])
    assert sum(packed_sizes(optimizer)) == 2


def test_a_gradient_narrower_than_new_data_is_used_as_it_is():
    def trained(foreach):
        params = parameters((2,), (3,))
        optimizer = optim.RMSprop(params, foreach=foreach)
        set_grads(params, 0)
        params[0].data = params[0].data.double()
        optimizer.step()
        return observed(optimizer)

    assert trained(None) == trained(False)


PACKED = [(optim.SGD, {"lr": 0.1}), (optim.SGD, {"lr": 0.1, "momentum": 0.9}), (optim.Adam, {}),
          *((make, {}) for make, _ in CASES)]
each_packed = pytest.mark.parametrize("make, options", PACKED, ids=str)


@pytest.fixture
def preparations(monkeypatch):
    """How often was it found out which parameters move together."""
    made = []
    prepare = _packing.GroupUpdate.__init__

    def counted(self, *given):
        made.append(self)
        prepare(self, *given)

    monkeypatch.setattr(_packing.GroupUpdate, "__init__", counted)
    return made


@pytest.mark.parametrize("make, options", PACKED[1:], ids=str)
@pytest.mark.parametrize("turns, most", [
    (["012"] * 6, 2), (["01"] * 6, 2), (["01"] * 4 + ["012"] * 4, 4), (["01", "12"] * 5, 3)])
def test_packs_are_kept_from_step_to_step(make, options, turns, most, preparations):
    """Also those of parameters that have a gradient in some steps alone."""
    params = parameters((2,), (3,), (2, 2))
    optimizer = make(params, **options)
    for step, present in enumerate(turns):
        set_grads(params, step, absent={0, 1, 2} - set(map(int, present)))
        optimizer.step()
    assert 0 < len(preparations) <= most


def names_of_tensors(optimizer, param):
    return [name for name, value in optimizer.state.get(param, {}).items()
            if isinstance(value, torch.Tensor)]


def replaced_data(optimizer, param):
    param.data = param.detach() * 0.5


def a_copied_state(optimizer, param):
    if param in optimizer.state:
        optimizer.state[param] = copy.deepcopy(optimizer.state[param])


def a_lost_state(optimizer, param):
    optimizer.state.pop(param, None)


def another_dtype(optimizer, param):
    param.grad, param.data = None, param.detach().double()
    optimizer.state.pop(param, None)
    param.grad = torch.ones_like(param)


def a_tensor_of_the_state(change, number):
    def changed(optimizer, param):
        for name in names_of_tensors(optimizer, param)[number:][:1]:
            change(optimizer.state[param], name)

    return changed


def exchange(state, name):
    state[name] = state[name] + 1


def exchange_data(state, name):
    state[name].data = state[name] + 1


def widen(state, name):
    state[name] = state[name].double()


def lose(state, name):
    del state[name]


def a_longer_number(optimizer, param):
    state = optimizer.state.get(param, {})
    for name in names_of_tensors(optimizer, param):
        if state[name].ndim == 0:
            state[name] = state[name].reshape(1)


def a_sparse_gradient(optimizer, param):
    param.grad = param.grad.to_sparse()


def another_parameter(optimizer, param):
    group = optimizer.param_groups[0]
    (other,) = parameters((3,))
    other.grad = torch.ones(3)
    group["params"] = [other if p is param else p for p in group["params"]]


def a_parameter_less(optimizer, param):
    group = optimizer.param_groups[0]
    group["params"] = [p for p in group["params"] if p is not param]


def a_parameter_more(optimizer, param):
    (other,) = parameters((4,))
    other.grad = torch.ones(4)
    optimizer.param_groups[0]["params"].append(other)


def another_option(optimizer, param):
    group = optimizer.param_groups[0]
    group["momentum" if isinstance(optimizer, optim.SGD) else "weight_decay"] = 0.5


def a_frozen_parameter(optimizer, param):
    param.grad = None


@each_packed
@pytest.mark.parametrize("change", [
    replaced_data, a_copied_state, a_lost_state, another_dtype, a_longer_number,
    a_sparse_gradient, another_parameter, a_parameter_less, a_parameter_more, another_option,
    a_frozen_parameter, a_tensor_of_the_state(lose, -1),
    *(a_tensor_of_the_state(change, number) for number in (0, -1)
      for change in (exchange, exchange_data, widen))])
def test_what_is_exchanged_between_steps_is_used(make, options, change):
    """One parameter of several, or something of its state, becomes another."""
    found = []
    for foreach in (True, False):
        params = parameters((2,), (3,), (2, 2))
        optimizer = make(params, foreach=foreach, **options)
        take_steps(optimizer, params, range(3))
        set_grads(params, 3)
        change(optimizer, params[1])
        try:
            for _ in range(2):
                optimizer.step()
                found.append(observed(optimizer))
            found.append([param.detach().numpy().tobytes() for param in params])
        except (KeyError, RuntimeError) as error:
            found.append((type(error), str(error)))
    assert found[:len(found) // 2] == found[len(found) // 2:]


def test_packs_of_plain_steps_are_kept(preparations):
    params = parameters((2,), (3,))
    take_steps(optim.SGD(params, 0.1), params, range(5))
    assert len(preparations) == 1
