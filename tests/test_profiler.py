"""Profiles: what is measured, whose it is, and that nothing is left switched on."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import gzip
import itertools
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import profiler, recorder
from retrograd.autograd.measured_functions import watch
from retrograd.autograd.profiler_util import EventList, FunctionEvent
from retrograd.base.modes import GRAD, MODE
from retrograd.nn import functional as F
from retrograd.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule


def names(prof: Any) -> list[str]:
    return [event.name for event in prof.events()]


def named(prof: Any, name: str) -> Any:
    (found,) = [event for event in prof.events() if event.name == name]
    return found


@pytest.fixture(autouse=True)
def nothing_is_left_on() -> Any:
    yield
    assert MODE.get() is GRAD and not watch.changed and not watch.users


# ---------------------------------------------------------------- what is an event


def test_ops_and_their_backward() -> None:
    x = torch.ones(3, requires_grad=True)
    with profile() as prof:
        (x * 2).sum().backward()
    assert names(prof) == [
        "aten::mul", "aten::sum",
        "autograd::engine::evaluate_function: SumBackward0", "SumBackward0",
        "autograd::engine::evaluate_function: MulBackward0", "MulBackward0",
        "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
        "torch::autograd::AccumulateGrad"]
    mul, backward = named(prof, "aten::mul"), named(prof, "MulBackward0")
    assert mul.sequence_nr == backward.sequence_nr >= 0
    assert backward.cpu_parent.name.endswith(backward.name) and backward.scope == 1
    assert backward.fwd_thread == mul.thread and mul.fwd_thread == 0
    assert x.grad.tolist() == [2, 2, 2]


def test_a_call_is_one_event() -> None:
    """Also where a function or method of PyTorch's is several ones here."""
    a, b = torch.ones(2, 3), torch.ones(4, 3)
    out = torch.zeros(2, 3)
    with profile() as prof:
        a.add_(1)
        a += 1
        torch.mul(a, 2, out=out)
        a.softmax(1)
        F.linear(a, b)
        a.reshape(3, 2)
        a[0]
        a.to(torch.float64)
        torch.zeros(2)
        a.sum(0)
        a.sum().item()
    assert [e.name for e in prof.events() if e.cpu_parent is None] == [
        "aten::add_", "aten::add_", "aten::mul", "aten::softmax", "aten::linear", "aten::reshape",
        "aten::select", "aten::to", "aten::zeros", "aten::sum", "aten::sum", "aten::item"]


def test_grad_higher_orders_and_functions_of_users() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with profile() as prof:
        (slope,) = torch.autograd.grad(Double.apply(x).exp().sum(), x, create_graph=True)
        torch.autograd.grad(slope.sum(), x)
    assert named(prof, "Double").cpu_children[0].name == "aten::mul"
    first, *_ = [e for e in prof.events() if e.name == "DoubleBackward"]
    assert [child.name for child in first.cpu_children] == ["aten::mul"]
    assert "torch::autograd::AccumulateGrad" not in names(prof)


def test_optimizers_loaders_and_blocks() -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 2)), 2)

    @record_function("a function")
    def loss(batch: Any) -> Any:
        return model(batch).sum()

    with profile() as prof:
        for (batch,) in loader:
            with record_function("a block"):
                loss(batch).backward()
            optimizer.step()
            optimizer.zero_grad()
    found = {event.key: event.count for event in prof.key_averages()}
    assert found["a block"] == found["a function"] == 2
    assert found["Optimizer.step#SGD.step"] == found["Optimizer.zero_grad#SGD.zero_grad"] == 2
    assert found["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"] == 3
    block = next(event for event in prof.events() if event.name == "a block")
    assert block.is_user_annotation and block.cpu_children[0].name == "a function"


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode,
                                  lambda: torch.autocast("cpu")])
def test_other_modes(mode: Any) -> None:
    a = torch.ones(2, 2, requires_grad=True)
    with profile() as outside, mode():
        expected = (a @ a).sum()
    with mode(), profile() as inside:
        found = (a @ a).sum()
    for prof in (outside, inside):  # with casts between them, in autocast
        assert [n for n in names(prof) if n in ("aten::matmul", "aten::sum")] == [
            "aten::matmul", "aten::sum"]
    assert torch.equal(found, expected) and found.dtype is expected.dtype


EVERYTHING = {"record_shapes": True, "profile_memory": True, "with_stack": True,
              "with_modules": True, "with_flops": True}


@pytest.mark.parametrize("options", [{}, EVERYTHING], ids=["plain", "everything"])
def test_transforms(options: Any) -> None:
    """Looking at a batch does not look at its values, for which vmap would run a loop."""
    x = torch.tensor([1.0, 2.0])
    with profile(**options) as prof:
        rows = torch.func.vmap(torch.func.grad(torch.sin))(x)
        _, tangent = torch.func.jvp(torch.sin, (x,), (torch.ones(2),))
    assert torch.equal(rows, x.cos()) and torch.equal(tangent, x.cos())
    assert names(prof).count("aten::sin") == 2 and "SinBackward0" in names(prof)
    if options:
        batched, dual = [e for e in prof.events() if e.name == "aten::sin"]
        assert batched.cpu_memory_usage == 8 and dual.cpu_memory_usage == 16  # value and tangent


def test_checkpoint_and_hooks() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: g * 2)
    with profile() as prof:
        torch.utils.checkpoint.checkpoint(torch.exp, y, use_reentrant=False).sum().backward()
    assert names(prof).count("aten::exp") == 2  # the second inside its backward
    assert x.grad.tolist() == pytest.approx([6 * 2.718281828 ** 3] * 2)


def test_values_are_the_same_while_it_is_on() -> None:
    def train() -> list[float]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.GELU(),
                                    torch.nn.Dropout(), torch.nn.Linear(4, 1))
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            F.mse_loss(model(torch.randn(5, 3)), torch.randn(5, 1)).backward()
            optimizer.step()
        return torch.nn.utils.parameters_to_vector(model.parameters()).tolist()

    expected = train()
    with profile(**EVERYTHING):
        assert train() == expected


# ---------------------------------------------------------------- times and bytes


def test_times_add_up() -> None:
    """Self times are the times of ops, each moment once; the block that holds them has the rest."""
    a = torch.randn(256, 256, requires_grad=True)
    with profile() as prof, record_function("all"):
        for _ in range(3):
            (a @ a).tanh().sum().backward()
    events = prof.events()
    block = named(prof, "all")
    ops = sum(event.self_cpu_time_total for event in events if event is not block)
    assert ops == pytest.approx(sum(child.cpu_time_total for child in block.cpu_children))
    assert 0 < ops <= block.cpu_time_total
    assert events.self_cpu_time_total == pytest.approx(block.cpu_time_total)
    assert events.total_average().self_cpu_time_total == pytest.approx(block.cpu_time_total)
    for event in events:
        inside = sum(child.cpu_time_total for child in event.cpu_children)
        assert 0 <= event.self_cpu_time_total == pytest.approx(event.cpu_time_total - inside)


def test_time_passes_in_the_call_that_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that the program moves: what an op takes is in its event, and nowhere else."""
    ticks = itertools.count()  # one for each look, so that no two moments are the same
    waited = 0

    def wait(microseconds: int) -> None:
        nonlocal waited
        waited += 1000 * microseconds

    for module in (recorder, profiler):
        monkeypatch.setattr(module, "perf_counter_ns", lambda: waited + next(ticks))

    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            wait(3)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            wait(5)
            return g * 2

    x = torch.ones(3, requires_grad=True)
    with profile() as prof, record_function("all"):
        for _ in range(4):
            Slow.apply(x).sum().backward()
        wait(1)
    times = {event.key: round(event.self_cpu_time_total) for event in prof.key_averages()}
    assert {name: time for name, time in times.items() if time} == {
        "Slow": 12, "SlowBackward": 20, "all": 1}
    assert round(named(prof, "all").cpu_time_total) == 33


def test_bytes_are_those_of_new_memory() -> None:
    x = torch.ones(8, 4, requires_grad=True)
    y = torch.ones(8, 4)
    with profile(profile_memory=True) as prof:
        with record_function("block"):
            (x * 2).view(-1).sum().backward()
        y.mul_(2)
        torch.zeros(10, dtype=torch.float64)
    held = {event.name: event.cpu_memory_usage for event in prof.events()}
    assert held["aten::mul"] == held["MulBackward0"] == 8 * 4 * 4
    assert held["aten::view"] == held["aten::mul_"] == 0
    assert held["aten::zeros"] == 80 and held["aten::sum"] == 4
    inside = named(prof, "block").cpu_children
    taken = sum(child.cpu_memory_usage for child in inside)
    assert held["block"] == x.grad.nbytes < taken  # the rest was given back before its end
    assert named(prof, "block").self_cpu_memory_usage == held["block"] - taken
    assert "128 B" in prof.key_averages().table(sort_by="cpu_memory_usage")


def test_memory_that_is_given_back_counts_where_that_happens() -> None:
    old = torch.ones(100)
    with profile(profile_memory=True) as outer:
        kept = old * 2
        with profile(profile_memory=True) as inner:
            del kept  # which the inner one has never met
            with record_function("block"):
                new = old + 1
            del old
        del new
    freed = {prof: [e.cpu_memory_usage for e in prof.events() if e.name == "[memory]"]
             for prof in (outer, inner)}
    assert freed[inner] == [-400, -400] and freed[outer] == [-400, -400, -400]
    assert named(outer, "block").cpu_memory_usage == named(inner, "block").cpu_memory_usage == 400
    total = outer.key_averages().total_average()
    assert total.self_cpu_memory_usage == -400  # what was there before is gone
    assert "[memory]" in outer.key_averages().table()


def test_all_that_a_training_step_takes_and_does_not_keep_is_given_back() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), 0.1, foreach=False)
    net(torch.ones(5, 3)).sum().backward()
    with profile(profile_memory=True) as prof:
        optimizer.zero_grad(set_to_none=False)
        torch.nn.functional.mse_loss(net(torch.ones(5, 3)), torch.zeros(5, 2)).backward()
        optimizer.step()
    gc.collect()
    assert prof.key_averages().total_average().self_cpu_memory_usage == 0
    assert not any(event.cpu_memory_usage for event in prof.events()
                   if event.name.startswith("torch::autograd::Accumulate"))


def test_shapes_and_arithmetic() -> None:
    with profile(record_shapes=True, with_flops=True) as prof:
        F.linear(torch.ones(128, 20), torch.ones(30, 20), torch.ones(30))
        torch.cat([torch.ones(2), torch.ones(3)])
        F.conv2d(torch.ones(1, 2, 5, 5), torch.ones(3, 2, 3, 3))
    linear = named(prof, "aten::linear")
    assert linear.input_shapes == [[128, 20], [30, 20], [30]]
    assert linear.flops == 2 * 128 * 20 * 30
    assert named(prof, "aten::cat").input_shapes[0] == [[2], [3]]
    assert named(prof, "aten::conv2d").flops == 2 * (3 * 3 * 3) * (2 * 3 * 3)
    by_shape = prof.key_averages(group_by_input_shape=True)
    assert [e.input_shapes for e in by_shape if e.key == "aten::linear"] == [linear.input_shapes]
    assert "Total FLOPs" in prof.key_averages().table() and "Input Shapes" in by_shape.table()


# ---------------------------------------------------------------- whose it is


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
        self.head = torch.nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        hidden = self.body(x)
        scaled = [h * 2 for h in [hidden]]
        return self.head(scaled[0])


def line_in(text: str) -> int:
    return 1 + next(n for n, line in enumerate(Path(__file__).read_text().splitlines())
                    if text in line)


def test_lines_and_modules() -> None:
    net, x = Net(), torch.ones(2, 3)
    with profile(with_stack=True, with_modules=True) as prof:
        loss = net(x).sum()
        loss.backward()
    mul = named(prof, "aten::mul")
    backward = named(prof, "MulBackward0")
    assert mul.stack[0].endswith(f"test_profiler.py({line_in('h * 2 for h in')}): "
                                 f"{'<listcomp>' if 'listcomp' in mul.stack[0] else 'forward'}")
    assert mul.stack[-1] != mul.stack[0] and backward.stack == mul.stack
    assert mul.module_hierarchy == backward.module_hierarchy == "TOP(Net)"
    linears = [e.module_hierarchy for e in prof.events() if e.name == "aten::linear"]
    assert linears == ["TOP(Net).body(Sequential).0(Linear)", "TOP(Net).head(Linear)"]

    by_module = {e.key: e for e in prof.key_averages(group_by_module=True)}
    tanh = by_module["TOP(Net).body(Sequential).1(Tanh)"]
    assert tanh.count == 2 and 0 < tanh.backward_time_total < tanh.self_cpu_time_total
    assert "Backward  " in prof.key_averages(group_by_module=True).table()
    lines = prof.key_averages(group_by_line=True)
    by_line = {e.key.rpartition("/")[2].partition(":")[0]: e for e in lines}
    # tanh is called from where the body is: whatever modules of the package do belongs there.
    body = by_line[f"test_profiler.py({line_in('hidden = self.body(x)')})"]
    assert body.count == 4
    own = sum(e.self_cpu_time_total for e in prof.events()
              if e.stack and "hidden =" in line_text(e.stack[0]))
    assert body.self_cpu_time_total == pytest.approx(own)
    assert body.cpu_time_total <= prof.events().self_cpu_time_total * 1.01
    assert "test_profiler.py(" in lines.table(sort_by="self_cpu_time_total")
    stacks = prof.key_averages(group_by_stack_n=2)
    assert all(len(e.stack) <= 2 for e in stacks) and "Source Location" in stacks.table()


def line_text(frame: str) -> str:
    line = int(frame.rpartition("(")[2].partition(")")[0])
    return Path(__file__).read_text().splitlines()[line - 1]


def test_a_node_from_before_has_its_own_line() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    with profile(with_stack=True) as prof:
        y.sum().backward()
    assert named(prof, "ExpBackward0").stack[0].endswith(f"({line_in('y = x.exp()')}): "
                                                         "test_a_node_from_before_has_its_own_line")


def test_what_was_not_kept_is_not_grouped_by() -> None:
    with profile() as prof:
        torch.ones(2)
    with pytest.raises(ValueError, match="with_stack=True"):
        prof.key_averages(group_by_line=True)
    with pytest.raises(ValueError, match="with_modules=True"):
        prof.key_averages(group_by_module=True)
    with pytest.raises(AssertionError, match="requires with_stack=True"):
        prof.export_stacks("nowhere")


# ---------------------------------------------------------------- traces


def test_traces(tmp_path: Path) -> None:
    x = torch.ones(300, 300, requires_grad=True)
    with profile(record_shapes=True, with_stack=True) as prof, record_function("block"):
        (x @ x).sum().backward()
    prof.add_metadata("who", "a test")
    prof.add_metadata_json("number", "[1, 2]")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    prof.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        assert json.load(file) == trace
    assert trace["who"] == "a test" and trace["number"] == [1, 2]
    spans = {e["name"]: e for e in trace["traceEvents"] if e["ph"] == "X"}
    assert spans["aten::matmul"]["args"]["Input Dims"] == [[300, 300], [300, 300]]
    assert spans["block"]["cat"] == "user_annotation"
    assert spans["aten::matmul"]["dur"] > 0
    arrows = [e for e in trace["traceEvents"] if e["ph"] in "sf"]
    assert len(arrows) == 4 and arrows[0]["id"] == arrows[1]["id"]
    prof.export_stacks(str(tmp_path / "stacks"))
    first = (tmp_path / "stacks").read_text().splitlines()[0]
    assert "test_traces" in first.rpartition(";")[2] and int(first.rpartition(" ")[2]) > 0
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(str(tmp_path / "stacks"), "heat")


def test_schedules(tmp_path: Path) -> None:
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    ready: list[list[str]] = []
    with profile(schedule=plan, on_trace_ready=lambda prof: ready.append(names(prof))) as prof:
        for step in range(12):
            torch.ones(2) + step
            assert torch.autograd._profiler_enabled() is (plan(step).value >= 2)
            prof.step()
    steps = ["ProfilerStep*", "aten::ones", "aten::add"] * 2
    assert ready == [steps, steps] and prof.step_num == 12
    assert plan(3) is ProfilerAction.RECORD and plan(4) is ProfilerAction.RECORD_AND_SAVE
    assert prof.events()[0].trace_name == "ProfilerStep#7"
    handler = torch.profiler.tensorboard_trace_handler(str(tmp_path / "logs"), "me", use_gzip=True)
    with profile(on_trace_ready=handler):
        torch.ones(2)
    (written,) = (tmp_path / "logs").iterdir()
    assert written.name.startswith("me.") and written.name.endswith(".pt.trace.json.gz")


def test_events_of_all_cycles() -> None:
    with profile(schedule=schedule(wait=1, warmup=1, active=1), acc_events=True) as prof:
        for _ in range(6):
            torch.ones(2)
            prof.step()
    assert names(prof).count("aten::ones") == 2
    assert names(prof).count("ProfilerStep*") == 2


# ---------------------------------------------------------------- nothing is left on


def test_errors_inside() -> None:
    with pytest.raises(RuntimeError, match="size of tensor"), profile() as prof, \
            record_function("block"):
        torch.ones(2) + torch.ones(3)
    assert names(prof) == ["block", "aten::ones", "aten::ones", "aten::add"]
    assert not torch.autograd._profiler_enabled()


def test_interrupts_at_the_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any) -> Any:
        raise KeyboardInterrupt

    prof = torch.autograd.profiler.profile()
    monkeypatch.setattr("retrograd.autograd.profiler.enter", interrupt)
    with pytest.raises(KeyboardInterrupt), prof:
        pass


def test_nested() -> None:
    with profile() as outer:
        torch.ones(1)
        with profile(record_shapes=True) as inner:
            torch.ones(2) * 3
        torch.zeros(1)
    assert names(inner) == ["aten::ones", "aten::mul"]
    assert names(outer) == ["aten::ones", "aten::ones", "aten::mul", "aten::zeros"]
    assert named(inner, "aten::mul").input_shapes and not named(outer, "aten::mul").input_shapes


KEPT = {"record_shapes": "input_shapes", "with_flops": "input_shapes", "with_stack": "stack",
        "with_modules": "modules", "profile_memory": None}


@pytest.mark.parametrize("option", KEPT)
@pytest.mark.parametrize("outer", [False, True])
@pytest.mark.parametrize("inner", [False, True])
def test_nested_ones_keep_what_any_of_them_asks_for(option: str, outer: bool, inner: bool) -> None:
    """And nothing else, which would take time."""
    model, x = torch.nn.Linear(3, 3), torch.ones(2, 3)
    is_memory = option == "profile_memory"
    with profiler.profile(**{option: outer}) as around:
        with profiler.profile(**{option: inner}) as inside:
            model(x)
        model(x)
    for prof, asked, own in ((around, [outer or inner, outer], outer),
                             (inside, [outer or inner], inner)):
        kept = [{key for key in KEPT.values() if event.get(key)} for event in prof._recorder.found]
        assert kept == [{KEPT[option]} - {None} if is_asked else set() for is_asked in asked]
        assert (prof._recorder.memory is not None) is (is_memory and asked[-1])
        taken = [event.cpu_memory_usage for event in prof.function_events
                 if event.name == "aten::linear"]
        assert taken == [24 if is_memory and own else 0] * len(asked)


def test_not_entered_twice() -> None:
    prof = torch.autograd.profiler.profile()
    with prof, pytest.raises(RuntimeError, match="not reentrant"):
        prof.__enter__()
    with torch.autograd.profiler.profile(enabled=False) as off:
        torch.ones(2)
    assert len(off.function_events) == 0 and off.table() == ""


def test_threads_have_their_own() -> None:
    found: dict[str, list[str]] = {}
    gate = threading.Barrier(2)

    def work(name: str, function: Any) -> None:
        with profile() as prof:
            gate.wait()
            for _ in range(20):
                function(torch.ones(2))
            gate.wait()
        found[name] = names(prof)

    threads = [threading.Thread(target=work, args=args)
               for args in (("sin", torch.sin), ("softmax", lambda x: x.softmax(0)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found["sin"] == ["aten::ones", "aten::sin"] * 20
    assert found["softmax"] == ["aten::ones", "aten::softmax"] * 20


def test_a_context_that_was_copied() -> None:
    """What runs in it is measured while the profile lasts, and switches itself off after that."""
    with profile() as prof:
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(torch.ones, 2))
        thread.start()
        thread.join()
    assert names(prof) == ["aten::ones"]

    def later() -> Any:
        assert MODE.get() is not GRAD
        torch.ones(2) * 2
        return MODE.get()

    assert context.run(later) is GRAD
    assert len(prof.events()) == 1


def test_async_tasks() -> None:
    async def task(name: str) -> None:
        for _ in range(3):
            with record_function(name):
                torch.ones(2)
                await asyncio.sleep(0)

    async def both() -> None:
        with profile() as prof:
            await asyncio.gather(task("a"), task("b"))
        found.extend(names(prof))
        assert prof.events().self_cpu_time_total > 0

    found: list[str] = []
    asyncio.run(both())
    assert found.count("a") == found.count("b") == 3 and found.count("aten::ones") == 6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_is_not_measured() -> None:
    with profile() as prof:
        child = os.fork()
        if child == 0:
            os._exit(0 if MODE.get() is GRAD and float(torch.ones(2).sum()) == 2 else 1)
        assert os.waitpid(child, 0)[1] == 0
        torch.ones(2)
    assert names(prof) == ["aten::ones"]


def test_functions_are_what_they_were() -> None:
    def described() -> list[Any]:
        return [(f.__code__, f.__defaults__, f.__kwdefaults__, vars(f).get("__wrapped__"))
                for f in (torch.softmax, F.cross_entropy, torch.Tensor.to, torch.zeros)]

    before = described()
    with profile():
        assert described() != before
        with profile():
            pass
        assert described() != before
    assert described() == before


def test_functions_that_others_watch_meanwhile() -> None:
    """Autocast exchanges the same functions, for good; both go on working."""
    with profile() as prof, torch.autocast("cpu"):
        found = F.linear(torch.ones(2, 2), torch.ones(2, 2))
    assert found.dtype is torch.bfloat16 and "aten::linear" in names(prof)
    with profile() as again:
        F.linear(torch.ones(2, 2), torch.ones(2, 2))
    assert names(again).count("aten::linear") == 1


def test_record_function_alone() -> None:
    block = record_function("outer")
    with block, record_function("inner"):
        assert float(torch.ones(2).sum()) == 2
    with pytest.raises(RuntimeError, match="Expected a value of type 'str'"), record_function(3):
        pass


# ---------------------------------------------------------------- refusals


def test_refusals() -> None:
    profiler = torch.autograd.profiler
    with pytest.raises(AssertionError, match="CUDA"), profiler.emit_nvtx():
        pass
    with pytest.raises(RuntimeError, match="export_chrome_trace"), profiler.emit_itt():
        pass
    with profiler.emit_nvtx(enabled=False), profiler.emit_itt(enabled=False):
        pass
    with pytest.raises(RuntimeError, match="nvprof"):
        profiler.load_nvprof("x")
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profile(activities=[])
    with pytest.warns(UserWarning, match="nothing is measured"):
        only = profile(activities=[ProfilerActivity.CUDA])
    with only:
        torch.ones(2)
    assert len(only.events()) == 0
    with pytest.raises(RuntimeError, match="execution traces"):
        profile(execution_trace_observer=object())
    with profile() as prof:
        pass
    with pytest.raises(RuntimeError, match="profile_memory=True"):
        prof.export_memory_timeline("x")


def test_events_that_are_made_by_hand() -> None:
    events = EventList(FunctionEvent(id=n, name="f", thread=0, start_us=start, end_us=end)
                       for n, (start, end) in enumerate([(0, 10), (1, 3), (3, 4), (5, 12)]))
    with pytest.raises(AssertionError, match="tree"):
        events.key_averages()
    events._build_tree()
    assert [[child.id for child in event.cpu_children] for event in events] == [[1, 2], [], [], []]


def test_off_means_off() -> None:
    """A call of an op runs the same code, and no other function is called."""
    x = torch.ones(3, requires_grad=True)
    calls: list[str] = []

    def watching(frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            calls.append(frame.f_code.co_name)

    def run() -> list[str]:
        calls.clear()
        sys.setprofile(watching)
        try:
            (x * x).softmax(0)
        finally:
            sys.setprofile(None)
        return calls.copy()

    run()
    before = run()
    with profile():
        assert len(run()) > len(before)
    assert run() == before


def test_events_are_made_once_when_it_is_over_and_anew_before() -> None:
    with profiler.profile() as prof:
        torch.ones(2).sin()
        first = prof.function_events
        torch.ones(2).cos()
        assert len(prof.function_events) > len(first)
    assert prof.function_events is prof.function_events


def test_arguments_that_are_no_tensors_are_kept_with_the_shapes() -> None:
    x = torch.ones(2, 3)
    for options in ({}, {"record_shapes": True}):
        with profiler.profile(**options) as prof:
            torch.sum(x, 1, keepdim=True)
            torch.cat([x, x], 1)
        (total,) = [e for e in prof.function_events if e.name == "aten::sum"]
        (joined,) = [e for e in prof.function_events if e.name == "aten::cat"]
        kept = bool(options)
        assert total.concrete_inputs == ([None, 1] if kept else [])
        assert total.kwinputs == ({"keepdim": True} if kept else {})
        assert joined.concrete_inputs == ([None, 1] if kept else []) and joined.kwinputs == {}
