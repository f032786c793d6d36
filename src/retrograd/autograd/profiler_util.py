"""What a profiler measured: events, their averages, tables and traces."""

from __future__ import annotations

import enum
import gzip
import json
import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from ..base.missing_names import suggest_names as _suggest_names

MEMORY_EVENT_NAME = "[memory]"
OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"


class DeviceType(enum.Enum):
    """Kinds of devices, under PyTorch's names; everything here is measured on the first."""

    CPU = 0
    CUDA = 1
    XPU = 12
    MTIA = 19
    PrivateUse1 = 20


class RecordScope(enum.IntEnum):
    """What an event is of: PyTorch's numbers."""

    FUNCTION = 0
    BACKWARD_FUNCTION = 1
    USER_SCOPE = 7


# ---------------------------------------------------------------- numbers as people read them


def _format_time(time_us: float) -> str:
    """Microseconds in the unit they read best in."""
    for unit, length in (("s", 1e6), ("ms", 1e3)):
        if time_us >= length:
            return f"{time_us / length:.3f}{unit}"
    return f"{time_us:.3f}us"


def _format_time_share(time_us: float, total_time_us: float) -> str:
    """A time as a part of all."""
    if total_time_us:
        return f"{100.0 * time_us / total_time_us:.2f}%"
    if time_us:
        raise AssertionError(f"Expected time_us == 0 but got {time_us}")
    return "NaN"


def _format_memory(nbytes: int) -> str:
    """Bytes in the unit they read best in."""
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(nbytes) >= 1024**power:
            return f"{nbytes / 1024**power:.2f} {unit}"
    return f"{nbytes} B"


def _as_text(name: str) -> property:
    return property(lambda self: _format_time(getattr(self, name)))


class FormattedTimesMixin:
    """Times of events as text, and per call."""

    count: int
    cpu_time_total: Any
    device_time_total: Any
    self_cpu_time_total: Any

    cpu_time = property(lambda self: self.cpu_time_total / self.count if self.count else 0.0)
    device_time = property(lambda self: self.device_time_total / self.count if self.count else 0.0)
    cuda_time = device_time
    cpu_time_str, device_time_str = _as_text("cpu_time"), _as_text("device_time")
    cpu_time_total_str, device_time_total_str = \
        _as_text("cpu_time_total"), _as_text("device_time_total")
    self_cpu_time_total_str, self_device_time_total_str = \
        _as_text("self_cpu_time_total"), _as_text("self_device_time_total")


# ---------------------------------------------------------------- events


class Interval:
    """A stretch of time, in microseconds."""

    def __init__(self, start: float, end: float):
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start


class Kernel(NamedTuple):
    """Something that a device ran; here there is none."""

    name: str
    device: int
    duration: float


class FunctionEvent(FormattedTimesMixin):
    """One call that was measured.

    ``cpu_memory_usage`` is the memory that tensors took during it, less what they gave back then;
    what became free between two calls is an event of its own, named "[memory]".
    ``module_hierarchy`` says in which modules it ran.
    """

    self_device_time_total = device_time_total = cuda_time_total = self_cuda_time_total = 0
    self_device_memory_usage = self_cuda_memory_usage = 0

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float,
                 overload_name: str | None = None, fwd_thread: int | None = None,
                 input_shapes: Any = None, stack: list[str] | None = None, scope: int = 0,
                 use_device: str | None = None, cpu_memory_usage: int = 0,
                 device_memory_usage: int = 0, is_async: bool = False, is_remote: bool = False,
                 sequence_nr: int = -1, node_id: int = -1,
                 device_type: DeviceType = DeviceType.CPU, device_index: int = 0,
                 is_legacy: bool = False, flops: int | None = None, trace_name: str | None = None,
                 concrete_inputs: Any = None, kwinputs: Any = None,
                 is_user_annotation: bool = False, module_hierarchy: str = ""):
        self.id, self.node_id, self.name = id, node_id, name
        self.overload_name, self.trace_name = overload_name, trace_name
        self.time_range = Interval(start_us, end_us)
        self.thread, self.fwd_thread = thread, fwd_thread
        self.kernels: list[Kernel] = []
        self.count = 1
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.input_shapes, self.concrete_inputs = input_shapes, concrete_inputs
        self.kwinputs, self.stack, self.scope = kwinputs, stack, scope
        self.use_device = use_device
        self.cpu_memory_usage, self.device_memory_usage = cpu_memory_usage, device_memory_usage
        self.is_async, self.is_remote, self.sequence_nr = is_async, is_remote, sequence_nr
        self.device_type, self.device_index, self.is_legacy = device_type, device_index, is_legacy
        self.flops, self.is_user_annotation = flops, is_user_annotation
        self.module_hierarchy = module_hierarchy
        self.self_cpu_percent = self.total_cpu_percent = self.total_device_percent = -1

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Note an event that happened inside this one."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Note the event that this one happened inside of."""
        self.cpu_parent = parent

    @property
    def cpu_time_total(self) -> float:
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        if self.is_async:
            return 0
        return self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children])

    @property
    def self_cpu_memory_usage(self) -> int:
        if self.is_async:
            return 0
        return self.cpu_memory_usage - sum([c.cpu_memory_usage for c in self.cpu_children])

    @property
    def key(self) -> str:
        return self.name

    def ancestors(self) -> Iterator[FunctionEvent]:
        """The events it happened inside of, innermost first."""
        event = self.cpu_parent
        while event is not None:
            yield event
            event = event.cpu_parent

    def __repr__(self) -> str:
        device = self.use_device
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
                f"device_type={self.device_type} node_id={self.node_id} "
                f"cpu_time={self.cpu_time_str} start_us={self.time_range.start} "
                f"end_us={self.time_range.end} cpu_children={[c.id for c in self.cpu_children]} "
                f"{device}_time={self.device_time_str} name={self.name} thread={self.thread} "
                f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
                f"{device}_memory_usage={self.device_memory_usage} is_async={self.is_async} "
                f"is_remote={self.is_remote} seq_nr={self.sequence_nr} "
                f"is_legacy={self.is_legacy}>")


_SUMMED = ("cpu_time_total", "device_time_total", "self_cpu_time_total", "self_device_time_total",
           "cpu_memory_usage", "device_memory_usage", "self_cpu_memory_usage",
           "self_device_memory_usage", "count")
_TAKEN = ("key", "node_id", "is_async", "is_remote", "cpu_parent", "cpu_children", "overload_name",
          "input_shapes", "stack", "scope", "device_type", "is_legacy", "use_device",
          "is_user_annotation")


class FunctionEventAvg(FormattedTimesMixin):
    """Several events as one: sums, and by way of ``cpu_time`` averages."""

    def __init__(self) -> None:
        self.__dict__.update(dict.fromkeys(_TAKEN), **dict.fromkeys(_SUMMED, 0))
        self.key: Any = None
        self.flops: int | None = 0
        self.node_id, self.is_async, self.is_remote, self.is_legacy = 0, False, False, False
        self.device_type = DeviceType.CPU

    def add(self, other: Any) -> FunctionEventAvg:
        """Take in an event, or others that were averaged."""
        if not isinstance(other, FunctionEvent | FunctionEventAvg):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if self.key is None:
            self.__dict__.update({name: getattr(other, name) for name in _TAKEN})
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self._count_in(other, _SUMMED)
        return self

    def _count_in(self, other: Any, names: Iterable[str]) -> None:
        for name in names:
            self.__dict__[name] += getattr(other, name)
        if other.flops is not None:
            self.flops = (self.flops or 0) + other.flops

    __iadd__ = add

    def __repr__(self) -> str:
        device = self.__dict__["use_device"] or "cuda"
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str}  self_{device}_time="
                f"{self.self_device_time_total_str} {device}_time={self.device_time_str} "
                f"input_shapes={self.__dict__['input_shapes']} "
                f"cpu_memory_usage={self.__dict__['cpu_memory_usage']} "
                f"{device}_memory_usage={self.__dict__['device_memory_usage']}>")


# ---------------------------------------------------------------- lists of events


class EventList(list[Any]):
    """Events in the order of time, or averages of events."""

    def __init__(self, *args: Any, use_device: str | None = None, profile_memory: bool = False,
                 with_flops: bool = False):
        super().__init__(*args)
        self._use_device, self._profile_memory = use_device, profile_memory
        self._with_flops, self._tree_built = with_flops, False

    def __str__(self) -> str:
        return self.table()

    # ---- which event happened inside which

    def _build_tree(self) -> None:
        self._populate_cpu_children()
        self._tree_built = True

    def _populate_cpu_children(self) -> None:
        """Find each event's parent: the shortest of its thread that contains all of it."""
        threads: dict[tuple[int, int], list[FunctionEvent]] = {}
        for event in self:
            if not event.is_async and event.device_type is DeviceType.CPU:
                threads.setdefault((event.thread, event.node_id), []).append(event)
        for events in threads.values():
            open_events: list[FunctionEvent] = []
            for event in sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end)):
                span = event.time_range
                while open_events and (open_events[-1].time_range.end <= span.start
                                       or open_events[-1].time_range.end < span.end):
                    open_events.pop()
                if open_events:
                    open_events[-1].append_cpu_child(event)
                    event.set_cpu_parent(open_events[-1])
                open_events.append(event)

    # ---- sums

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all, each moment counted once."""
        return sum([event.self_cpu_time_total for event in self])

    def total_average(self) -> FunctionEventAvg:
        """All events as one."""
        total = FunctionEventAvg()
        for event in self:
            total.key = None
            total.add(event)
        total.key = "Total"
        return total

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False, *, group_by_line: bool = False,
                     group_by_module: bool = False) -> EventList:
        """The events of each name as one; also by shapes of arguments, or by lines of the stack.

        ``group_by_line`` and ``group_by_module`` put together whatever was called from a line of
        the program, or in a module, with the backward passes of those calls, whose part of the
        time is ``backward_time_total``.
        """
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        if group_by_line or group_by_module:
            return self._by_place(line_of if group_by_line else module_of)

        def group(event: FunctionEvent) -> Hashable:
            return (event.key, event.node_id, event.device_type, event.is_legacy,
                    event.is_user_annotation,
                    str(event.input_shapes) if group_by_input_shapes else "",
                    *(event.stack or ())[:max(group_by_stack_n, 0)])

        found: dict[Hashable, FunctionEventAvg] = {}
        for event in self:
            found.setdefault(group(event), FunctionEventAvg()).add(event)
        for average in found.values():
            own = average.__dict__
            own["stack"] = (own["stack"] or [])[:group_by_stack_n]
            own["overload_name"] = own["overload_name"] or "" if group_by_overload_name else ""
            if not group_by_input_shapes:
                own["input_shapes"] = ""
        return self._with(found.values())

    def _by_place(self, place_of: Callable[[FunctionEvent], str]) -> EventList:
        """Averages of all events of a place; what happens inside another of it counts once."""
        found: dict[str, FunctionEventAvg] = {}
        for event in self:
            place = place_of(event)
            if event.is_user_annotation or not place:
                continue
            average = found.setdefault(place, FunctionEventAvg())
            if average.key is None:
                average.__dict__.update({name: getattr(event, name) for name in _TAKEN},
                                        key=place, stack=[], input_shapes="", cpu_parent=None,
                                        backward_time_total=0.0)
            if is_of_backward(event):
                average.__dict__["backward_time_total"] += event.self_cpu_time_total
            is_inner = any(place_of(outer) == place for outer in event.ancestors()
                           if not outer.is_user_annotation)
            average._count_in(event, [name for name in _SUMMED if not is_inner
                                      or name.startswith("self_")])
        return self._with(found.values())

    def _with(self, events: Iterable[Any]) -> EventList:
        return EventList(events, use_device=self._use_device, with_flops=self._with_flops,
                         profile_memory=self._profile_memory)

    # ---- for people

    def table(self, sort_by: str | None = None, row_limit: int = 100,
              max_src_column_width: int | None = 75, max_name_column_width: int | None = 55,
              max_shapes_column_width: int | None = 80, header: str | None = None,
              top_level_events_only: bool = False, time_unit: str | None = None) -> str:
        """A table of the events; ``sort_by`` names one of their numbers, the largest is first."""
        return _build_table(
            self, sort_by=sort_by, row_limit=row_limit, header=header, time_unit=time_unit,
            max_src_column_width=max_src_column_width, max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width, with_flops=self._with_flops,
            profile_memory=self._profile_memory, top_level_events_only=top_level_events_only)

    # ---- for other programs

    def supported_export_stacks_metrics(self) -> list[str]:
        """The numbers that :meth:`export_stacks` can write."""
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total",
                "self_privateuse1_time_total"]

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write a line for each stack, with its time: what programs that draw flames read."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError("metric should be one of: "
                             f"{self.supported_export_stacks_metrics()}")
        plain = str.maketrans(" ;\t\n", "____")
        number = attrgetter(metric if metric == "self_cpu_time_total" else "self_device_time_total")
        with open(path, "w") as file:
            for event in self:
                if event.stack and int(number(event)) > 0:
                    frames = [frame.translate(plain) for frame in reversed(event.stack)]
                    file.write(f"{';'.join(frames)} {int(number(event))}\n")

    def export_chrome_trace(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        """Write what happened when, for ``chrome://tracing`` or https://ui.perfetto.dev."""
        trace = {"schemaVersion": 1, "displayTimeUnit": "ms", **(metadata or {}),
                 "traceEvents": list(_trace_events(self))}
        with (gzip.open if str(path).endswith(".gz") else open)(path, "wt") as file:
            json.dump(trace, file)


def is_of_backward(event: FunctionEvent) -> bool:
    """Whether an event is of a backward pass, or happened inside one."""
    return any(e.scope == RecordScope.BACKWARD_FUNCTION or e.name.startswith("autograd::engine::")
               for e in (event, *event.ancestors()))


def line_of(event: FunctionEvent) -> str:
    """The line of the program that an event belongs to; nothing where stacks were not kept."""
    here = os.getcwd() + os.sep
    return event.stack[0].removeprefix(here) if event.stack else ""


def module_of(event: FunctionEvent) -> str:
    """The modules that an event belongs to, outermost first."""
    return event.module_hierarchy


# ---------------------------------------------------------------- tables

_COLUMN = 12
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


class _Column(NamedTuple):
    title: str
    width: int
    text: Callable[[Any], Any]
    align: str = ">"

    def put(self, text: Any) -> str:
        return f"{text!s:{self.align}{self.width}}  "


def _build_table(events: Any, sort_by: str | None = None, header: str | None = None,
                 row_limit: int = 100, max_src_column_width: int | None = 75,
                 max_name_column_width: int | None = 55, max_shapes_column_width: int | None = 80,
                 with_flops: bool = False, profile_memory: bool = False,
                 top_level_events_only: bool = False, time_unit: str | None = None) -> str:
    """A table of events, or of averages of events."""
    if not events:
        return ""
    if sort_by is not None:
        by = attrgetter(sort_by.replace("cuda", "device").replace("xpu", "device"))
        events = sorted(events, key=by, reverse=True)
    total = sum([event.self_cpu_time_total for event in events])

    def time(time_us: float) -> str:
        if time_unit not in _UNITS:
            return _format_time(time_us)
        return f"{time_us / _UNITS[time_unit]:.3f}{time_unit}"

    def share(name: str, kept_as: str) -> Callable[[Any], Any]:
        def text(event: Any) -> Any:
            found = 0 if event.is_async and name == "cpu_time_total" else \
                _format_time_share(getattr(event, name), total)
            setattr(event, kept_as, found)
            return found

        return text

    names = _Column("Name", _widest([event.key for event in events], max_name_column_width),
                    lambda event: _cut_end(event.key, max_name_column_width))
    columns = [names]
    if any(event.overload_name for event in events):
        columns.append(_Column("Overload Name", names.width, lambda event: _cut_end(
            event.overload_name, max_name_column_width)))
    columns += [_Column("Self CPU %", _COLUMN, share("self_cpu_time_total", "self_cpu_percent")),
                _Column("Self CPU", _COLUMN, lambda event: time(event.self_cpu_time_total)),
                _Column("CPU total %", _COLUMN, share("cpu_time_total", "total_cpu_percent")),
                _Column("CPU total", _COLUMN, lambda event: time(event.cpu_time_total)),
                _Column("CPU time avg", _COLUMN, lambda event: time(event.cpu_time))]
    if any(hasattr(event, "backward_time_total") for event in events):  # of lines or modules
        columns.append(_Column("Backward", _COLUMN, lambda e: time(e.backward_time_total)))
    if profile_memory:
        columns += [_Column("CPU Mem", _COLUMN, lambda e: _format_memory(e.cpu_memory_usage)),
                    _Column("Self CPU Mem", _COLUMN,
                            lambda e: _format_memory(e.self_cpu_memory_usage))]
    columns.append(_Column("# of Calls", _COLUMN, attrgetter("count")))
    if any(event.node_id != -1 for event in events):
        columns.append(_Column("Node ID", _COLUMN, attrgetter("node_id")))
    if any(event.input_shapes for event in events):
        width = _widest([str(event.input_shapes) for event in events], max_shapes_column_width)
        columns.append(_Column("Input Shapes", width,
                               lambda event: str(event.input_shapes)[:width]))
    counted = [event.flops for event in events if event.flops] if with_flops else []
    if counted:
        power = max(0, min(int(math.log10(min(counted)) / 3), len(_FLOPS) - 1))
        columns.append(_Column(
            f"Total {_FLOPS[power]}", _COLUMN, lambda event:
            f"{event.flops * pow(10, power * -3.0):8.3f}" if event.flops else "--"))
    lines = [line for event in events for line in event.stack or ()]
    if lines:
        source = _widest(lines, max_src_column_width)
        columns.append(_Column("Source Location", source, lambda event: _cut_start(
            event.stack[0], source) if event.stack else "", "<"))
    rule = "".join(["-" * column.width + "  " for column in columns])
    double_rule = "=" * (len(rule) - 2)
    written = []
    if header is not None:
        written += [double_rule, header]
    if top_level_events_only:
        written += [double_rule, "This report only display top-level ops statistics"]
        events = [event for event in events if event.cpu_parent is None]
    written += [rule, "".join([column.put(column.title) for column in columns]), rule]
    for event in events if row_limit < 0 else events[:row_limit]:
        written.append("".join([column.put(column.text(event)) for column in columns]))
        if lines:
            blank = "".join([column.put("") for column in columns[:-1]])
            written += [blank + columns[-1].put(_cut_start(line, source))
                        for line in [*(event.stack or ())[1:], ""]]
    return "\n".join([*written, rule, f"Self CPU time total: {time(total)}", ""])


def _widest(texts: list[str], limit: int | None) -> int:
    found = max(map(len, texts)) + 4
    return found if limit is None else min(found, limit)


def _cut_end(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) < limit - 3 else text[:limit - 3] + "..."


def _cut_start(text: str, limit: int) -> str:
    return text if len(text) <= limit else "..." + text[len(text) - limit + 3:]


# ---------------------------------------------------------------- traces


def _trace_events(events: Iterable[FunctionEvent]) -> Iterator[dict[str, Any]]:
    """The events as Chrome's trace viewer reads them, with arrows from calls to their backward."""
    pid = os.getpid()
    threads: set[int] = set()
    forward: dict[int, FunctionEvent] = {}
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "python"}}
    for event in events:
        if event.thread not in threads:
            threads.add(event.thread)
            yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": event.thread,
                   "args": {"name": f"thread {event.thread} (python)"}}
        where = {"pid": pid, "tid": event.thread, "ts": event.time_range.start}
        details: dict[str, Any] = {"External id": event.id}
        if event.sequence_nr >= 0:
            details |= {"Sequence number": event.sequence_nr, "Fwd thread id": event.fwd_thread}
        if event.input_shapes:
            details["Input Dims"] = event.input_shapes
        if event.stack:
            details["Call stack"] = ";".join(event.stack)
        if event.module_hierarchy:
            details["Module Hierarchy"] = event.module_hierarchy
        if event.cpu_memory_usage:
            details["Bytes"] = event.cpu_memory_usage
        yield {"ph": "X", "cat": "user_annotation" if event.is_user_annotation else "cpu_op",
               "name": event.trace_name or event.name, "dur": event.time_range.elapsed_us(),
               "args": details, **where}
        if event.sequence_nr < 0:
            continue
        arrow = {"cat": "fwdbwd", "name": "fwdbwd", "id": event.sequence_nr, **where}
        if event.scope != RecordScope.BACKWARD_FUNCTION:
            if not event.name.startswith("autograd::"):
                forward[event.sequence_nr] = event
        elif event.sequence_nr in forward:
            origin = forward.pop(event.sequence_nr)
            yield {**arrow, "ph": "s", "tid": origin.thread, "ts": origin.time_range.start}
            yield {**arrow, "ph": "f", "bp": "e"}


__all__ = ["DeviceType", "EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg",
           "Interval", "Kernel", "MEMORY_EVENT_NAME", "OUT_OF_MEMORY_EVENT_NAME", "RecordScope"]

_suggest_names(__name__)
