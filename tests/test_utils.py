"""Weak dictionaries, timers, the report of a machine, and writing for TensorBoard."""

from __future__ import annotations

import copy
import gc
import importlib
import pickle
import sys
from collections import namedtuple
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd.utils import _pytree, benchmark
from retrograd.utils.weak import WeakIdKeyDictionary, WeakTensorKeyDictionary


def test_weak_dictionaries_know_keys_by_identity() -> None:
    known: Any = WeakTensorKeyDictionary()
    a, b = torch.ones(2), torch.ones(2)
    known[a], known[b] = 1, 2
    assert (known[a], known[b], len(known)) == (1, 2, 2) and a in known
    assert torch.ones(2) not in known and 5 not in known
    assert sorted(known.values()) == [1, 2] and known.get(torch.ones(1), "no") == "no"
    del a
    gc.collect()
    assert len(known) == 1 and next(iter(known)) is b
    del known[b]
    assert not known and len(WeakIdKeyDictionary({b: 3})) == 1


def test_a_timer_measures() -> None:
    timer = benchmark.Timer("x + 1", globals={"x": 1}, label="adding", sub_label="ints",
                            description="plain")
    found = timer.timeit(100)
    assert found.number_per_run == 100 and len(found.times) == 1 and found.median > 0
    several = timer.blocked_autorange(min_run_time=0.002)
    assert len(several.raw_times) >= 2 and several.iqr >= 0 and several.mean > 0
    assert "adding: ints" in repr(several) and "Median" in repr(several)
    assert several.label == "adding" and several.num_threads == 1
    with pytest.raises(AttributeError, match="'Measurement' object has no attribute 'nonsense'"):
        several.nonsense  # noqa: B018
    with pytest.raises(ValueError, match="times Python statements"):
        benchmark.Timer("1;", language="c++")
    assert benchmark.Timer("torch.ones(1)").timeit(2).times  # which knows this library as torch


class Clock:
    """A clock that moves only when work is done; the first work of several takes longer.

    It stops whoever looks at it, or works, for ever.
    """

    def __init__(self, seconds: float, first: dict[int, float] | None = None):
        self.now, self.seconds, self.first, self.done = 0.0, seconds, first or {}, 0
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        assert self.looks < 1000
        return self.now

    def work(self) -> None:
        assert self.done < 2_000_000
        self.now += self.first.get(self.done, self.seconds)
        self.done += 1

    def timer(self, **options: Any) -> Any:
        return benchmark.Timer("work()", timer=self, globals={"work": self.work}, **options)


@pytest.mark.parametrize(("number", "warm_up"), [(1, 2), (250, 2), (1000, 10)])
def test_a_measurement_comes_after_a_warm_up(number: int, warm_up: int) -> None:
    clock = Clock(2**-10)
    assert clock.timer().timeit(number).raw_times == [number * 2**-10]
    assert clock.done == number + warm_up


def test_blocks_are_as_long_as_a_hundredth_of_the_time() -> None:
    seen: list[Any] = []
    clock = Clock(2**-20)
    found = clock.timer().blocked_autorange(lambda *block: seen.append(block), 1.0)
    assert clock.done == 11111 + found.number_per_run * len(found.raw_times)
    assert found.number_per_run == int(2**20 / 100)  # a thousandth of the time is first exceeded
    assert sum(found.raw_times) >= 1.0 > sum(found.raw_times[:-1])
    assert seen == [(found.number_per_run, took) for took in found.raw_times]
    for seconds, tried in ((2**-8, 1), (0.9995 * 2**-8, 11)):
        clock = Clock(seconds)
        found = clock.timer().blocked_autorange(min_run_time=4000 * 2**-10)
        assert found.number_per_run == 10 and clock.done == tried + 10 * len(found.raw_times)
    slow = Clock(1.5).timer().blocked_autorange(min_run_time=1.0)
    assert (slow.number_per_run, slow.raw_times) == (1, [1.5, 1.5])
    exactly = Clock(0.25).timer().blocked_autorange(min_run_time=0.5)
    assert exactly.raw_times == [0.25, 0.25]
    assert benchmark.Timer.autorange is benchmark.Timer.blocked_autorange


def test_blocks_are_measured_until_they_agree() -> None:
    def times(clock: Clock, **options: float) -> list[float]:
        return clock.timer().adaptive_autorange(min_run_time=2.0, **options).raw_times

    assert times(Clock(1.0)) == [1.0, 1.0]
    assert times(Clock(1.0, {1: 3.0})) == [3.0, *[1.0] * 5]
    assert times(Clock(1.0, {1: 3.0}), max_run_time=4.0) == [3.0, 1.0]
    assert times(Clock(1.0, {1: 1.5}), threshold=0.5) == [1.5, 1.0]
    assert times(Clock(2.0, {1: 3.0}), threshold=0.2) == [3.0, 2.0]


def test_threads_are_given_back_after_an_error() -> None:
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        benchmark.Timer("1 / 0", num_threads=before + 1).timeit(1)
    assert torch.get_num_threads() == before
    seen: list[int] = []
    timer = benchmark.Timer("seen.append(torch.get_num_threads())", globals={"seen": seen},
                            num_threads=before + 1)
    assert timer.timeit(1).num_threads == before + 1
    assert {*seen} == {before + 1} and torch.get_num_threads() == before


def test_equal_statements_are_one_measurement() -> None:
    spec, other = benchmark.TaskSpec("f()"), benchmark.TaskSpec("g()")
    first, second = (benchmark.Measurement(4, [8e-3, 4e-3], each) for each in (spec, other))
    assert benchmark.Measurement.merge([first, second, first]) == [
        benchmark.Measurement(4, first.raw_times * 2, spec), second]


def test_a_table_compares(capsys: pytest.CaptureFixture[str]) -> None:
    spec = [benchmark.TaskSpec("f()", label="f", sub_label=size, description=how, num_threads=n)
            for n in (1, 2) for size in ("small", "large") for how in ("old", "new")]
    results = [benchmark.Measurement(1, [1.2e-6 * (i + 1)], s) for i, s in enumerate(spec[:-1])]
    table = benchmark.Compare(results[1:])
    table.extend_results([results[0]] * 2)
    table.print()
    assert capsys.readouterr().out.splitlines() == [
        "[-------------- f --------------]",
        "                   |  new  |  old",
        " small (1 thread)  |  2.4  |  1.2",
        " large (1 thread)  |  4.8  |  3.6",
        "small (2 threads)  |  7.2  |  6.0",
        "large (2 threads)  |       |  8.4", "",
        "Times are in microseconds (us)."]
    table.trim_significant_figures()
    assert "|    6\n" in str(table) and "8.4" in str(table)
    plain = benchmark.Compare([benchmark.Measurement(1, [2.0], benchmark.TaskSpec("g()"))])
    assert str(plain).splitlines()[1:3] == ["                |  g()", "g() (1 thread)  |  2.0"]


def test_the_report_of_a_machine(capsys: pytest.CaptureFixture[str],
                                 monkeypatch: pytest.MonkeyPatch) -> None:
    from retrograd.utils import collect_env

    for processor, told in (("", "arch"), ("chip", "chip")):
        monkeypatch.setattr("platform.processor", lambda processor=processor: processor)
        monkeypatch.setattr("platform.machine", lambda: "arch")
        assert collect_env.get_env_info().cpu_info == told
    collect_env.main()
    printed = capsys.readouterr().out
    assert f"retrograd {torch.__version__}" in printed and "numpy==" in printed


def test_modules_are_renamed() -> None:
    class Made:
        pass

    torch.utils.set_module(Made, "elsewhere")
    assert Made.__module__ == "elsewhere"
    with pytest.raises(TypeError, match="The mod argument should be a string"):
        torch.utils.set_module(Made, 5)


def test_without_tensorboard_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for name in [n for n in sys.modules if n.startswith("tensorboard.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "retrograd.utils.tensorboard", raising=False)
    with pytest.raises(ModuleNotFoundError, match="No module named 'tensorboard'") as caught:
        importlib.import_module("retrograd.utils.tensorboard")
    assert caught.value.name == "tensorboard"


@pytest.mark.skipif(find_spec("tensorboard") is None, reason="tensorboard is not installed")
@pytest.mark.filterwarnings("ignore")
def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    from retrograd.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", torch.tensor(1.5) * step, step)
        writer.add_scalars("both", {"a": 1, "b": 2.5}, 1)
        writer.add_histogram("weights", torch.arange(10.0), 0)
        writer.add_text("note", "hello", 0)
        with pytest.raises(AttributeError, match="add_graph does not exist here yet"):
            writer.add_graph(None)
    events = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    read = events.EventAccumulator(str(tmp_path))
    read.Reload()
    assert [(e.step, e.value) for e in read.Scalars("loss")] == [(0, 0.0), (1, 1.5), (2, 3.0)]
    part = events.EventAccumulator(str(tmp_path / "both_b"))
    part.Reload()
    assert part.Scalars("both")[0].value == 2.5
    assert read.Histograms("weights")[0].histogram_value.num == 10


# ---------------------------------------------------------------- trees


Point = namedtuple("Point", "x y")


def test_specs_are_copied_and_frozen() -> None:
    spec = _pytree.tree_structure([1, Point(2, {"a": 3})])
    assert pickle.loads(pickle.dumps(spec)) == spec and hash(spec) == hash(
        _pytree.tree_structure([1, Point(5, {"a": 6})]))
    assert isinstance(_pytree.treespec_leaf(), _pytree.LeafSpec)
    assert not isinstance(spec, _pytree.LeafSpec)
    with pytest.raises(AttributeError, match="cannot assign to field 'type'"):
        spec.type = dict
    assert spec != 5


def test_registered_classes_enter_transforms() -> None:
    class Pair:
        def __init__(self, a: Any, b: Any):
            self.a, self.b = a, b

    _pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda c, _: Pair(*c))
    try:
        made = torch.vmap(lambda pair: Pair(pair.a * 2, pair.b))(Pair(torch.ones(3), torch.ones(3)))
        assert type(made) is Pair and made.a.tolist() == [2.0] * 3
        _, pull = torch.func.vjp(lambda pair: pair.a * pair.b, Pair(torch.ones(2), torch.zeros(2)))
        assert type(pull(torch.ones(2))[0]) is Pair
    finally:
        _pytree._deregister_pytree_node(Pair)
    with pytest.warns(FutureWarning, match="_register_pytree_node` is deprecated"):
        _pytree._register_pytree_node(Pair, None, None)
    _pytree._deregister_pytree_node(Pair)


def test_facts_of_the_machine_are_printed(capsys: pytest.CaptureFixture[str],
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    collect_env = importlib.import_module("retrograd.utils.collect_env")
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "a machine")
    collect_env.main()
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Collecting environment information..."
    assert "libc version: N/A" in said and "cpu info: a machine" in said
    monkeypatch.setattr("platform.libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.setattr("platform.processor", lambda: "a processor")
    found = collect_env.get_env_info()
    assert (found.libc_version, found.cpu_info) == ("glibc-2.36", "a processor")


def test_what_a_module_of_one_process_says_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrograd.nn.parallel.distributed.default_group", lambda: "group")
    made = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Linear(1, 1), dim=3, static_graph=True, gradient_as_bucket_view=True)
    assert (made.dim, made.device_type, str(made.device), made.device_ids, made.output_device) == (
        3, "cpu", "cpu", None, None)
    assert made.static_graph and made.gradient_as_bucket_view and not made.find_unused_parameters
    assert made.require_backward_grad_sync and made.process_group == "group"
    with made.no_sync():
        assert not made.require_backward_grad_sync
    assert made.require_backward_grad_sync
    state = made.__getstate__()
    assert "process_group" not in state
    monkeypatch.setattr("retrograd.nn.parallel.distributed.default_group", lambda: "another")
    copied = copy.deepcopy(made)
    assert copied.process_group == "another" and copied.dim == 3
    assert [p.tolist() for p in copied.parameters()] == [p.tolist() for p in made.parameters()]
