"""Profiles beside PyTorch's: the names of events, tables and averages of equal events."""

from __future__ import annotations

import concurrent.futures
import inspect
import json
import warnings
from typing import Any

import pytest
import torch

import retrograd
from retrograd.autograd.event_names import functions_to_watch, name_of
from retrograd.core.op import REGISTRY
from retrograd.ops import late

LIBRARIES = (retrograd, torch)
ATEN = {name.partition("::")[2].partition(".")[0]
        for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")}


def test_names_are_pytorch_s() -> None:
    late.load_all()
    shown = [*functions_to_watch().values(), *map(name_of, REGISTRY.values())]
    assert [name for name in shown if name.startswith("aten::") and name[6:] not in ATEN] == []
    assert len(set(shown)) > 600


PROGRAMS = """
(x * y + x / 2 - y).sum().backward()
torch.nn.functional.cross_entropy(x @ y.T, torch.tensor([0, 1, 2])).backward()
torch.nn.Linear(3, 2)(x).relu().mean().backward()
x.exp().log().tanh().sigmoid().softmax(1).log_softmax(0).max().backward()
torch.cat([x, y]).view(-1).reshape(3, 6).transpose(0, 1).contiguous().sum(0).norm().backward()
torch.nn.functional.conv1d(x[None], torch.ones(2, 3, 2)).square().sum().backward()
torch.nn.functional.layer_norm(x, (3,)).pow(2).sum().backward()
torch.where(x > 0, x, y).clamp(min=0).abs().sqrt().sum().backward()
torch.autograd.grad(torch.autograd.grad(x.sin().sum(), x, create_graph=True)[0].sum(), x)
torch.stack([x, y]).mean(dim=0).unsqueeze(0).squeeze(0).t().sum().backward()
y.add_(1).mul_(2).zero_()
torch.zeros(1).fill_(2).item()
torch.optim.Adam([x]).zero_grad()
torch.einsum("ij,kj->ik", x, y).var().backward()
torch.nn.functional.embedding(torch.tensor([0, 2]), x).std().backward()
torch.nn.functional.scaled_dot_product_attention(x[None], y[None], y[None]).sum().backward()
""".strip().splitlines()
ABSENT = {"aten::norm": "PyTorch's method is a Python function, which asks linalg"}


def profiled(program: str, library: Any) -> Any:
    library.manual_seed(0)
    space = {"torch": library, "x": library.rand(3, 3, requires_grad=True),
             "y": library.rand(3, 3)}
    exec(program, dict(space, x=library.rand(3, 3, requires_grad=True), y=library.rand(3, 3)))
    with library.autograd.profiler.profile() as prof:
        exec(program, space)
    return prof.function_events


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_shows_the_same_calls(program: str) -> None:
    """What the program called, and the nodes of its backward pass, are events in both, in order.

    PyTorch shows what its functions call inside as well; so does this package, with its own.
    """
    found, expected = (profiled(program, library) for library in LIBRARIES)
    theirs = [e.name for e in expected]
    top = [e.name for e in found if e.cpu_parent is None
           and not e.name.startswith(("autograd::", "retrograd::")) and e.name not in ABSENT]
    left = iter(theirs)
    assert [name for name in top if name not in left] == [], theirs


def test_backward_events_are_the_same() -> None:
    def shown(library: Any) -> list[tuple[str, int, bool]]:
        events = profiled("(x * y).exp().sum().backward()", library)
        first = next(e.sequence_nr for e in events if e.name == "aten::mul")
        return [(e.name, e.scope, e.sequence_nr - first if e.sequence_nr >= 0 else -1)
                for e in events if "Backward" in e.name or "Accumulate" in e.name]

    ours, theirs = map(shown, LIBRARIES)
    assert ours == theirs


def made(library: Any, **options: Any) -> Any:
    util = library.autograd.profiler_util
    events = util.EventList(profile_memory=options.get("memory", False),
                            with_flops=options.get("flops", False), use_device=None)
    spans = [("aten::linear", 0, 1500, 1), ("aten::addmm", 100, 1400, 1),
             ("aten::mul", 1600, 1601, 1),
             ("a block with a name that is far too long to be shown in a table", 1700, 2.5e6, 1),
             ("aten::mul", 1800, 1900.5, 1), ("aten::mul", 0, 10, 2),
             ("aten::sum", 1800, 1850, 1), ("aten::neg", 5e6, 5e6 + 3, 1),
             ("aten::sub", 5e6, 5e6 + 9, 1)]
    for number, (name, start, end, thread) in enumerate(spans):
        events.append(util.FunctionEvent(
            id=number, name=name, thread=thread, start_us=start, end_us=end, fwd_thread=0,
            overload_name="", sequence_nr=number, input_shapes=[[number % 2, 3], []],
            stack=["deep/" * 20 + f"file.py({number % 2}): f", "main.py(3): <module>"],
            cpu_memory_usage=number * 1000, flops=1000 * (number % 3), is_legacy=False,
            concrete_inputs=[], kwinputs={}, use_device=None))
    events._populate_cpu_children()
    events._tree_built = True
    return events


TABLES: list[dict[str, Any]] = [
    {}, {"sort_by": "cpu_time_total"}, {"sort_by": "self_cpu_time_total", "row_limit": 2},
    {"row_limit": -1, "header": "TITLE", "top_level_events_only": True},
    {"max_name_column_width": 12, "max_src_column_width": 20, "max_shapes_column_width": 7},
    {"max_name_column_width": None, "max_src_column_width": None}, {"time_unit": "ms"},
    {"time_unit": "s", "sort_by": "count"}]


@pytest.mark.parametrize("options", TABLES, ids=str)
@pytest.mark.parametrize("group", [None, {}, {"group_by_input_shapes": True},
                                   {"group_by_stack_n": 1}, {"group_by_stack_n": 5}], ids=str)
@pytest.mark.parametrize("memory", [False, True])
def test_tables(options: dict[str, Any], group: Any, memory: bool) -> None:
    def table(library: Any) -> str:
        events = made(library, memory=memory)
        return (events if group is None else events.key_averages(**group)).table(**options)

    assert table(retrograd) == table(torch)


RARE: dict[str, Any] = {
    "node_id": 3, "is_async": True, "is_remote": True, "overload_name": "Tensor",
    "input_shapes": [], "stack": [], "flops": None, "is_legacy": True, "cpu_memory_usage": -2**31,
    "is_user_annotation": True}


@pytest.mark.parametrize("name", RARE)
@pytest.mark.parametrize("others", [False, True], ids=["first alone", "all but the first"])
def test_tables_of_which_a_part_is_rare(name: str, others: bool) -> None:
    def table(library: Any) -> list[str]:
        events = made(library, memory=True)
        for event in events[1:] if others else events[:1]:
            setattr(event, name, RARE[name])
        averages = events.key_averages(group_by_input_shapes=True)
        return [events.table(), averages.table(sort_by="cpu_memory_usage"),
                repr(events.total_average())]

    assert table(retrograd) == table(torch)


def test_tables_with_arithmetic() -> None:
    """PyTorch puts the numbers under the wrong titles where there are stacks as well."""
    def table(library: Any) -> str:
        events = made(library, flops=True)
        for event in events:
            event.stack = []
        return events.key_averages().table(sort_by="flops")

    assert table(retrograd) == table(torch)


def test_words_of_events() -> None:
    def words(library: Any) -> list[str]:
        events = made(library)
        return [*map(repr, events), *map(repr, events.key_averages()),
                repr(events.total_average()), str(events.self_cpu_time_total),
                *[str(e.cpu_time_str) for e in events], str(library.autograd.profiler.profile())]

    assert words(retrograd) == words(torch)


@pytest.mark.parametrize("arguments", [
    {"wait": 1, "warmup": 1, "active": 2}, {"wait": 0, "warmup": 1, "active": 1, "repeat": 2},
    {"wait": 2, "warmup": 1, "active": 3, "repeat": 1, "skip_first": 4},
    {"wait": 2, "warmup": 1, "active": 1, "skip_first": 3, "skip_first_wait": 1},
    {"wait": 0, "warmup": 0, "active": 1}, {"wait": 1, "warmup": 1, "active": 0},
    {"wait": -1, "warmup": 0, "active": 1}], ids=str)
def test_schedules(arguments: dict[str, int]) -> None:
    def outcome(library: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                plan = library.profiler.schedule(**arguments)
                found: Any = [plan(step).name for step in range(20)]
            except AssertionError as error:
                found = str(error)
        return found, [str(w.message) for w in caught]

    assert outcome(retrograd) == outcome(torch)


@pytest.mark.parametrize("path", [
    "profiler.profile", "profiler._KinetoProfile", "profiler.record_function",
    "profiler.schedule", "autograd.profiler.profile", "autograd.profiler.record_function",
    "autograd.profiler.emit_nvtx", "autograd.profiler_util.EventList",
    "autograd.profiler_util.FunctionEvent", "autograd.profiler_util.FunctionEventAvg",
    "autograd.profiler_util.Interval"])
def test_whatever_programs_call_is_there(path: str) -> None:
    ours, theirs = retrograd, torch
    for name in path.split("."):
        ours, theirs = getattr(ours, name), getattr(theirs, name)
    if inspect.isclass(theirs):
        public = {name for name in vars(theirs) if not name.startswith("_")} - NOT_HERE
        assert {name for name in public if not hasattr(ours, name)} == set()
    ours_take, theirs_take = (set(inspect.signature(f).parameters) for f in (ours, theirs))
    assert theirs_take - ours_take <= ONLY_THERE


NOT_HERE = {"append_kernel", "metadata_json", "config", "create_trace_id", "default_trace_id",
            "set_custom_trace_id_callback", "get_trace_id"}
"""Of devices, and of PyTorch's tracing library."""
ONLY_THERE = {
    "activity_filters", "device_resource_id", "activity_type", "metadata_json", "flow_id",
    "flow_type", "flow_start", "external_id", "linked_correlation_id", "extra_meta",
    "structured_input_shapes", "structured_input_strides", "input_dtypes", "python_id",
    "python_parent_id", "python_module_id", "is_python_function", "use_python_export", "kwargs"}
"""What that library writes into an event."""


def test_memory_is_taken_and_given_back_where_it_is_in_pytorch() -> None:
    """By every call, and what is given back by a block and between calls."""
    def measured(library: Any) -> tuple[dict[str, int], int]:
        x, w = (library.ones(*shape, requires_grad=True) for shape in ((50, 20), (20, 30)))
        for _ in range(2):
            with library.profiler.profile(activities=[library.profiler.ProfilerActivity.CPU],
                                          profile_memory=True) as prof:
                with library.profiler.record_function("block"):
                    h = (x @ w).relu()
                    h = h.exp().reshape(-1)
                (h * h).sum().backward()
                del h
                x.grad = w.grad = None
        memory = {e.name: e.cpu_memory_usage for e in prof.events() if e.name != "[memory]"}
        return memory, prof.key_averages().total_average().self_cpu_memory_usage

    (found, rest), (expected, torchs_rest) = map(measured, LIBRARIES)
    assert rest == torchs_rest == 0
    for name in ("block", "aten::matmul", "aten::relu", "aten::exp", "aten::reshape",
                 "MulBackward0", "ExpBackward0", "ReluBackward0"):
        assert found[name] == expected[name], name


def test_arithmetic_that_is_counted() -> None:
    """Only of products of matrices, convolutions and the plainest elementwise calls."""
    def counted(library: Any) -> dict[str, int]:
        a, b, c = library.ones(2, 3), library.ones(3, 5), library.ones(2, 5)
        with library.profiler.profile(with_flops=True) as seen:
            library.mm(a, b)
            library.addmm(c, a, b)
            library.bmm(a[None], b[None])
            library.add(a, a)
            library.mul(b, b)
            library.sub(b, b)
            library.nn.functional.conv2d(library.ones(1, 2, 5, 5), library.ones(3, 2, 3, 3))
        wanted = ("aten::mm", "aten::addmm", "aten::bmm", "aten::add", "aten::mul", "aten::sub",
                  "aten::conv2d")
        return {e.key: e.flops for e in seen.key_averages() if e.key in wanted}

    assert counted(retrograd) == counted(torch)


def test_arithmetic_of_any_amount() -> None:
    def table(library: Any, flops: int) -> str:
        events = made(library, flops=True)
        for event in events:
            event.stack, event.flops = [], flops * (10 ** 7 if event.name == "aten::sub" else 1)
        return events.key_averages().table()

    for power in range(1, 28, 2):
        assert table(retrograd, 10 ** power) == table(torch, 10 ** power)


def test_devices_that_are_not_there_are_named() -> None:
    heard = []
    for lib in LIBRARIES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for options in ({"use_device": "cuda"}, {"use_device": "xpu"}, {"use_device": None}):
                lib.autograd.profiler.profile(**options)
        heard.append([str(warning.message) for warning in caught])
    assert heard[0] == heard[1] and len(heard[0]) == 2


def test_a_profile_before_it_began() -> None:
    for lib in LIBRARIES:
        profile = lib.autograd.profiler.profile()
        assert repr(profile) == str(profile) == "<unfinished torch.autograd.profile>"
    assert lib.autograd.profiler_util._format_time_share(0, 0) == "NaN"
    assert retrograd.autograd.profiler_util._format_time_share(0, 0) == "NaN"
    for lib in LIBRARIES:
        with pytest.raises(AssertionError, match="Expected time_us == 0 but got 3"):
            lib.autograd.profiler_util._format_time_share(3, 0)


def test_all_calls_as_one() -> None:
    counts = []
    for lib in LIBRARIES:
        x = lib.ones(3)
        with lib.autograd.profiler.profile() as profile:
            (x * x + x).sin()
        total = profile.total_average()
        assert total.key == "Total"
        assert profile.self_cpu_time_total == pytest.approx(
            sum(event.self_cpu_time_total for event in profile.function_events))
        assert total.self_cpu_time_total == pytest.approx(profile.self_cpu_time_total)
        assert str(profile.function_events) == str(profile) and "aten::sin" in repr(profile)
        counts.append(total.count)
    assert counts[0] == counts[1] == 3


def test_measuring_pauses() -> None:
    names = []
    for lib in LIBRARIES:
        x, both = lib.ones(3), {lib.profiler.ProfilerActivity.CPU}
        with lib.autograd.profiler.profile() as profile:
            x.sin()
            profile.toggle_collection_dynamic(False, both)
            x.cos()
            profile.toggle_collection_dynamic(True, both)
            x.exp()
        names.append([event.name for event in profile.function_events])
    assert names[0] == names[1] == ["aten::sin", "aten::exp"]


def test_a_block_that_ends_with_a_future() -> None:
    with retrograd.autograd.profiler.profile() as profile:
        future: Any = concurrent.futures.Future()
        with retrograd.autograd.profiler.record_function("waiting") as block:
            assert block._call_end_callbacks_on_future(future) is future
            with pytest.raises(RuntimeError, match="can only be called once"):
                block._call_end_callbacks_on_future(future)
        retrograd.ones(2).sin()
        future.set_result(3)
    events = {event.name: event.time_range for event in profile.function_events}
    assert events["waiting"].end >= events["aten::sin"].end > events["waiting"].start
    assert [event.name for event in profile.function_events].count("waiting") == 1


def test_what_a_trace_says_of_memory_and_modules(tmp_path: Any) -> None:
    layer, x = retrograd.nn.Linear(4, 8), retrograd.ones(16, 4)
    with retrograd.autograd.profiler.profile(profile_memory=True, with_modules=True) as profile:
        layer(x)
    path = tmp_path / "trace.json"
    profile.export_chrome_trace(str(path))
    events = json.loads(path.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    details = [event["args"] for event in events if event["ph"] == "X"]
    assert any(found.get("Bytes", 0) >= 16 * 8 * 4 for found in details)
    assert any("Linear" in str(found.get("Module Hierarchy")) for found in details)
